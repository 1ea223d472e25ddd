#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ask.py SOURCE DESTINATION NAME [PORT [SECONDS]]: a DNS query, and a word for what comes back:
nxdomain, refused, truncated, another answer's code, passed (nobody listens there), silence."""
import random
import socket
import struct
import sys

WORDS = {3: "nxdomain", 5: "refused"}
TRUNCATED = 0x0200


def query(name):
    labels = b"".join(bytes([len(one)]) + one for one in name.encode().split(b"."))
    head = struct.pack("!6H", random.randrange(65536), 0x0100, 1, 0, 0, 0)
    return head + labels + b"\0" + struct.pack("!2H", 1, 1)


def word(asked, answer):
    flags = struct.unpack("!H", answer[2:4])[0]
    if answer[:2] != asked[:2] or answer[12:] != asked[12:] or not flags & 0x8000:
        return "garbled"
    return "truncated" if flags & TRUNCATED else WORDS.get(flags & 15, str(flags & 15))


def ask(source, destination, name, port, seconds):
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.settimeout(seconds)
        one.bind((source, 0))
        one.connect((destination, port))
        asked = query(name)
        one.send(asked)
        try:
            return word(asked, one.recv(2048))
        except ConnectionRefusedError:
            return "passed"
        except TimeoutError:
            return "silence"


if __name__ == "__main__":
    GIVEN = sys.argv[4:] + ["53", "0.3"][len(sys.argv[4:]):]
    print(ask(sys.argv[1], sys.argv[2], sys.argv[3], int(GIVEN[0]), float(GIVEN[1])))
