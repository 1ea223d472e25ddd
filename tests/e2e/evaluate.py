#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""evaluate.py: for the json and of_json of lib.sh, expressions about JSON until it is killed: to start Python for each takes ten
times as long as all else that they do. Standard input is a FIFO, open for writing, too. A line of it has, with the byte 31 between
them, the FIFO that takes the answer, the file with the JSON, the expression, and words. The answer is "=" and what the expression
is, or why it cannot be told, and ends with the byte 0."""
import json
import os
import sys


def evaluate(path, expression, words):
    with open(path, encoding="utf-8") as file:
        names = {"d": json.load(file), "w": words, "json": json, "sys": sys}
    return "=%s" % (eval(expression, names),)  # pylint: disable=eval-used


def reply(place, answer):
    try:
        out = os.open(place, os.O_WRONLY | os.O_NONBLOCK)
        os.set_blocking(out, True)
        with open(out, "wb") as file:
            file.write(answer.encode() + b"\0")
    except OSError:     # whoever asked was killed
        pass


def main():
    pending = b""
    while True:
        *lines, pending = (pending + os.read(0, 65536)).split(b"\n")
        for line in lines:
            place, path, expression, *words = line.decode().split("\x1f")
            try:
                answer = evaluate(path, expression, words)
            except Exception as error:  # pylint: disable=broad-except
                answer = repr(error)
            reply(place, answer)


if __name__ == "__main__":
    main()
