#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""forges6.py DESTINATION PORT COUNT SOURCE: sends so many datagrams over IPv6 from this source, whosever it is."""
import socket
import struct
import sys

IPV6_HDRINCL = 36

destination, port, count, source = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
one = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
one.setsockopt(socket.IPPROTO_IPV6, IPV6_HDRINCL, 1)
packet = struct.pack("!IHBB", 6 << 28, 8, socket.IPPROTO_UDP, 64) + socket.inet_pton(socket.AF_INET6, source) + \
    socket.inet_pton(socket.AF_INET6, destination) + struct.pack("!HHHH", 9, port, 8, 0)
for _ in range(count):
    one.sendto(packet, (destination, 0))
