#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stream.py SERVER SECONDS DOMAIN...: asks for a fresh name in each domain, over and over. When done, a
line for each query: when it was sent (seconds since 1970), its name, and the code of the answer, `-`
if there was none."""
import select
import socket
import sys
import time

SERVER, SECONDS, DOMAINS = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
STEP = 0.002


def query(number, name):
    labels = b"".join(bytes([len(one)]) + one.encode() for one in name.split("."))
    return number.to_bytes(2, "big") + b"\1\0\0\1\0\0\0\0\0\0" + labels + b"\0\0\1\0\1"


def main():
    link = socket.socket(socket.AF_INET6 if ":" in SERVER else socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((SERVER, 53))
    sent, got = [], {}

    def receive(seconds):
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            if not select.select([link], [], [], max(left, 0))[0]:
                return
            answer = link.recv(2048)
            got[int.from_bytes(answer[:2], "big")] = answer[3] & 15

    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for domain in DOMAINS:
            name = "q%d.%s" % (len(sent), domain)
            sent.append((time.time(), name))
            link.send(query(len(sent) - 1, name))
        receive(STEP)
    receive(0.5)
    for number, (when, name) in enumerate(sent):
        print("%.6f %s %s" % (when, name, got.get(number, "-")))


main()
