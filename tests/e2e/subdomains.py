#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""subdomains.py SOURCE DESTINATION DOMAIN COUNT RATE BURST: queries for random names below the domain, with letters of
either case, one after the other. Fails unless each brings an answer, of the resolver or a truncated one that has the
question and no more, and no more come from the resolver than rate and burst allow in that time. Prints how many do, and
how many are truncated."""
import random
import socket
import string
import struct
import sys
import time

OPT = b"\0\0\x29\x04\xd0\0\0\0\0\0\0"
TICK = 0.02     # seconds: the filter's clock goes on by as much


def query(domain):
    name = "%s.%s" % ("".join(random.choices(string.ascii_lowercase + string.digits, k=random.randint(1, 20))), domain)
    name = "".join(random.choice((letter.upper(), letter.lower())) for letter in name)
    labels = b"".join(bytes([len(one)]) + one for one in name.encode().split(b"."))
    opt = random.choice((b"", OPT))
    head = struct.pack("!6H", random.randrange(65536), 0x0100, 1, 0, 0, bool(opt))
    return head, labels + b"\0" + struct.pack("!2H", 1, 1), opt


def is_truncated(head, question, opt, answer):
    flags, *counts = struct.unpack("!5H", answer[2:12])
    if answer[:2] != head[:2] or not flags & 0x8000 or answer[12:12 + len(question)] != question:
        sys.exit("this is no answer to its query: %s" % answer.hex())
    if not flags & 0x0200:
        return False
    if counts != [1, 0, 0, bool(opt)] or flags & 0xf or len(answer) != len(head + question + opt):
        sys.exit("a truncated answer with more than the question: %s" % answer.hex())
    return True


def main():
    source, destination, domain = sys.argv[1:4]
    count, rate, burst = (int(word) for word in sys.argv[4:])
    truncated, begin = 0, time.monotonic()
    with socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(60)
        one.bind((source, 0))
        one.connect((destination, 53))
        for _ in range(count):
            head, question, opt = query(domain)
            one.send(head + question + opt)
            truncated += is_truncated(head, question, opt, one.recv(4096))
    most = burst + rate * (time.monotonic() - begin + TICK) + 1
    print(count - truncated, truncated)
    if count - truncated > most:
        sys.exit("the resolver answers %d, more than %.1f" % (count - truncated, most))


main()
