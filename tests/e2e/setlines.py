# SPDX-License-Identifier: GPL-2.0-or-later
"""setlines.py KIND COUNT SPACE SEED: lines for the tests of set operations, drawn with repeats from a
space of so many."""
import random
import socket
import sys


def address(number):
    return socket.inet_ntoa(number.to_bytes(4, "big")).encode()


def odd(number):
    """Lines that look almost like addresses or numbers, blanks, other bytes, and none at all."""
    return (b"%d" % number, address(number), b"0%d" % (number % 1000), address(number) + b"\r",
            b"x" * (number % 300), b" %d" % number, b"%d.1" % number, bytes([number % 256, 0, 255]).replace(b"\n", b""),
            b"256." + address(number)[:9], b"4294967296", b"%d.%d" % (number, number % 7), b"")[number % 12]


KINDS = {"address": address, "integer": lambda number: b"%d" % number, "odd": odd,
         "text": lambda number: b"%063x" % number ** 7 * 4}


def main():
    line, count, space, seed = KINDS[sys.argv[1]], *map(int, sys.argv[2:])
    chosen = random.Random(seed)
    for number in chosen.choices(range(space), k=count):
        sys.stdout.buffer.write(line(number * 2654435761 % 2 ** 32) + b"\n")


if __name__ == "__main__":
    main()
