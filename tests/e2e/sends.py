#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sends.py KIND "SOURCE..." DESTINATION PORT COUNT [BYTES]: sends so many datagrams, queries or responses of DNS (with BYTES bytes
each), queries for random names below victim.example (subdomain), or TCP segments: syn begins a connection, ack belongs to none."""
import random
import socket
import struct
import sys

MESSAGES = {"udp": b"", "query": b"\0\1\1\0\0\1\0\0\0\0\0\0\0\0\1\0\1", "response": b"\0\1\x81\0\0\1\0\0\0\0\0\0\0\0\1\0\1"}
FLAGS = {"syn": 2, "ack": 16}


def subdomain():
    label = b"%x" % random.getrandbits(60)
    return (struct.pack("!6H", random.getrandbits(16), 0x0100, 1, 0, 0, 0) + bytes([len(label)]) + label +
            b"\6victim\7example\0\0\1\0\1")


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def segment(kind, source, destination, port, number):
    head = struct.pack("!HHIIBBHHH", 20000 + number, port, 1, 1, 5 << 4, FLAGS[kind], 1024, 0, 0)
    ends = socket.inet_aton(source) + socket.inet_aton(destination) + struct.pack("!HH", socket.IPPROTO_TCP, len(head))
    return head[:16] + struct.pack("!H", checksum(ends + head)) + head[18:]


def send(kind, source, destination):
    port, count, size = (int(word) for word in (sys.argv[4:] + ["0"])[:3])
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    if kind in FLAGS:
        link, port_of = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_TCP), 0
    else:
        link, port_of = socket.socket(family, socket.SOCK_DGRAM), port
    link.bind((source, 0))
    for number in range(count):
        if kind == "subdomain":
            data = subdomain()
        else:
            data = segment(kind, source, destination, port, number) if kind in FLAGS else MESSAGES[kind].ljust(size or 1, b"x")
        link.sendto(data, (destination, port_of))


def main():
    kind, sources, destination = sys.argv[1:4]
    for source in sources.split():
        send(kind, source, destination)


main()
