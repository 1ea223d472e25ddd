#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""customers.py serve READY: accepts connections to port 7800 by a dual-stack socket, so IPv4 comes mapped; echoes.
customers.py connect COUNT FIRST: one after another, a connection from each of COUNT addresses of either family, from
number FIRST on; says how many came through.
customers.py again COUNT ADDRESS [PORT]: the same, all from one address of IPv4.
customers.py strangers COUNT: raw frames of SYNs, each from another source that no customer has, to the server.
customers.py fastopen SOURCE DESTINATION: asks with data in the SYN.
customers.py forged-fastopen IFACE: a SYN with data and without a cookie, from the stranger 10.78.200.200."""
import errno
import random
import socket
import struct
import sys

import echo

PORT = 7800
SERVER = {socket.AF_INET: "10.77.0.1", socket.AF_INET6: "fd77::1"}
LINGER_RESET = struct.pack("ii", 1, 0)  # so many connections leave no sockets in TIME_WAIT


def serve(ready):
    server = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 64)
    server.bind(("::", PORT))
    server.listen(1024)
    with open(ready, "w", encoding="ascii") as file:
        file.write("ready\n")
    while True:
        echo.begin(server.accept()[0])


def address_of(number):
    """Even ones IPv4, odd ones a /64 of their own."""
    half = number // 2
    if number % 2:
        return socket.AF_INET6, "fd78:0:%x:%x::9" % (half >> 16, half & 0xffff)
    return socket.AF_INET, "10.78.%d.%d" % (half >> 8 & 127, half & 255)


def connect(family, address, port=PORT):
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.settimeout(30)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_RESET)
        one.bind((address, 0))
        one.connect((SERVER[family], port))
        one.sendall(b"hello")
        return one.recv(64) == b"hello"


def connect_all(ends):
    through = 0
    for end in ends:
        try:
            through += connect(*end)
        except OSError:
            pass
    print(through)


def syn(source, payload=b"", options=b""):
    """A whole frame; nobody looks at the checksum of TCP, for the filter drops or admits it before."""
    tcp = struct.pack("!HHIIBBHHH", random.getrandbits(14) + 1024, PORT, random.getrandbits(32), 0,
                      (20 + len(options)) // 4 << 4, 2, 65535, 0, 0) + options + payload
    destination = socket.inet_aton(SERVER[socket.AF_INET])
    tcp = tcp[:16] + struct.pack("!H", checksum(source + destination +
                                                struct.pack("!HH", 6, len(tcp)) + tcp)) + tcp[18:]
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, source, destination)
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    return bytes.fromhex("020000000001020000000002") + b"\x08\x00" + head + tcp


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data[:len(data) // 2 * 2]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def raw(iface="x0"):
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    link.bind((iface, 0))
    return link


def send(link, frame):
    """The queue of a busy machine may be full for a moment."""
    while True:
        try:
            return link.send(frame)
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise


def strangers(count):
    link = raw()
    random.seed(20261123)
    for number in range(count):
        send(link, syn(struct.pack("!I", 0x0b000000 + number)))
    print(count)


def fastopen(source, destination):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.settimeout(30)
        one.bind((source, 0))
        one.sendto(b"hello", socket.MSG_FASTOPEN, (destination, PORT))
        sys.exit(one.recv(64) != b"hello")


def main():
    command, words = sys.argv[1], sys.argv[2:]
    if command == "serve":
        serve(words[0])
    elif command == "connect":
        connect_all(address_of(int(words[1]) + i) for i in range(int(words[0])))
    elif command == "again":
        connect_all([(socket.AF_INET, words[1], *map(int, words[2:]))] * int(words[0]))
    elif command == "strangers":
        strangers(int(words[0]))
    elif command == "fastopen":
        fastopen(words[0], words[1])
    else:
        # An empty Fast Open option (RFC 7413), and data: what a server that wants no cookie takes at once.
        raw(words[0]).send(syn(socket.inet_aton("10.78.200.200"), b"hello", b"\x22\x02\x01\x01"))


main()
