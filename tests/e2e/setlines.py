# SPDX-License-Identifier: GPL-2.0-or-later
"""setlines.py KIND COUNT SPACE SEED: lines for the tests of set operations, drawn with repeats from a
space of so many."""
import random
import sys


def address(number):
    return b"%d.%d.%d.%d" % tuple(number.to_bytes(4, "big"))


def odd(number):
    """Lines that look almost like addresses or numbers, blanks, other bytes, and none at all."""
    return (b"%d" % number, address(number), b"0%d" % (number % 1000), address(number) + b"\r",
            b"x" * (number % 300), b" %d" % number, b"%d.1" % number, bytes([number % 256, 0, 255]).replace(b"\n", b""),
            b"256." + address(number)[:9], b"4294967296", b"%d.%d" % (number, number % 7), b"")[number % 12]


def line(kind, number):
    spread = number * 2654435761 % 2 ** 32
    if kind == "address":
        return address(spread)
    if kind == "integer":
        return b"%d" % spread
    if kind == "short":
        return b"%x" % spread
    return odd(spread) if kind == "odd" else b"%063x" % (spread ** 7)


def main():
    kind, count, space, seed = sys.argv[1], *map(int, sys.argv[2:])
    chosen = random.Random(seed)
    for start in range(0, count, 65536):
        numbers = range(start, min(start + 65536, count))
        sys.stdout.buffer.write(b"".join(line(kind, chosen.randrange(space)) + b"\n" for _ in numbers))


if __name__ == "__main__":
    main()
