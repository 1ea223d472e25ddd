#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stream.py SERVER SECONDS ROUNDS DOMAIN...: asks for a fresh name in each domain, over and over, for so long and so
many times at least. When the name in the last domain is answered, all before it have come to the filter. When done, a
line for each query: when it was sent, when that answer had come (seconds since 1970), its name, and the code of the
answer, `-` if there was none."""
import os
import select
import socket
import sys
import time

SERVER, SECONDS, ROUNDS, DOMAINS = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
STEP = 0.002
PATIENCE = 10 * float(os.environ.get("XB_TEST_PATIENCE", 1))    # seconds


def query(number, name):
    labels = b"".join(bytes([len(one)]) + one.encode() for one in name.split("."))
    return number.to_bytes(2, "big") + b"\1\0\0\1\0\0\0\0\0\0" + labels + b"\0\0\1\0\1"


def main():
    link = socket.socket(socket.AF_INET6 if ":" in SERVER else socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((SERVER, 53))
    asked, got = [], {}

    def receive(seconds, last=None):
        """Until that long is over, or the last one is answered."""
        until = time.monotonic() + seconds
        while last is None or last not in got:
            left = until - time.monotonic()
            if not select.select([link], [], [], max(left, 0))[0]:
                return
            answer = link.recv(2048)
            got[int.from_bytes(answer[:2], "big")] = answer[3] & 15

    end = time.monotonic() + SECONDS
    while time.monotonic() < end or len(asked) < ROUNDS * len(DOMAINS):
        begun, names = time.time(), ["q%d.%s" % (len(asked) + i, domain) for i, domain in enumerate(DOMAINS)]
        for i, name in enumerate(names):
            link.send(query(len(asked) + i, name))
        receive(PATIENCE, len(asked) + len(names) - 1)
        asked += [(begun, time.time(), name) for name in names]
        receive(STEP)
    receive(0.5)
    for number, (begun, done, name) in enumerate(asked):
        print("%.6f %.6f %s %s" % (begun, done, name, got.get(number, "-")))


main()
