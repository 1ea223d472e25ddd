#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""forges.py DESTINATION PORT SECONDS RATE: sends so many datagrams a second, each two from another address of 10.128.0.0/10."""
import socket
import struct
import sys
import time

NETWORK = 0x0a800000


def main():
    destination, port, seconds, rate = sys.argv[1], *(int(word) for word in sys.argv[2:5])
    one = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    begun = time.monotonic()
    for number in range(seconds * rate):
        source = struct.pack("!I", NETWORK + number // 2)
        header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 64, socket.IPPROTO_UDP, 0, source,
                             socket.inet_aton(destination))
        one.sendto(header + struct.pack("!HHHH", 9, port, 8, 0), (destination, 0))
        time.sleep(max(0, begun + number / rate - time.monotonic()))


main()
