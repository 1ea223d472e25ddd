#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""peer.py serve READY [PORT]: echoes TCP and UDP, IPv4 and IPv6, on port 7777 unless told otherwise.
peer.py tcp|udp SOURCE DESTINATION [SECONDS [PORT]]: exits 0 if what it says comes back."""
import selectors
import socket
import sys

import echo

PORT = 7777


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def serve(ready, port):
    chosen = selectors.DefaultSelector()
    for address in ("0.0.0.0", "::"):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            one = socket.socket(family(address), kind)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if ":" in address:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind((address, port))
            if kind == socket.SOCK_STREAM:
                one.listen(64)
            chosen.register(one, selectors.EVENT_READ, kind)
    with open(ready, "w") as file:
        file.write("ready\n")
    while True:
        for key, _ in chosen.select():
            if key.data == socket.SOCK_DGRAM:
                data, who = key.fileobj.recvfrom(2048)
                key.fileobj.sendto(data, who)
                continue
            echo.begin(key.fileobj.accept()[0])


def ask(kind, source, destination, seconds, port):
    with socket.socket(family(source), kind) as one:
        one.settimeout(seconds)
        one.bind((source, 0))
        one.connect((destination, port))
        one.sendall(b"hello")
        return one.recv(2048) == b"hello"


if sys.argv[1] == "serve":
    serve(sys.argv[2], int((sys.argv + [PORT])[3]))
KIND = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}[sys.argv[1]]
try:
    SECONDS = float((sys.argv + ["1"])[4])
    sys.exit(not ask(KIND, sys.argv[2], sys.argv[3], SECONDS, int((sys.argv + [PORT])[5])))
except OSError:
    sys.exit(1)
