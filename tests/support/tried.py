#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/support/tried.py: the sources that unit tests link: those of the headers that the tests include, that these sources
include, and so on. For the Makefile: with the sanitizers to compile the others takes long."""
import functools
import glob
import os
import re

INCLUDED = re.compile(r'^#include "([^"]+)"', re.M)


@functools.cache
def names_in(path):
    with open(path, encoding="utf-8") as file:
        return INCLUDED.findall(file.read())


def included(path):
    """Of the headers that are there, each with its sources: that of its name, or those in its folder and below that include it."""
    for name in names_in(path):
        header = next((found for found in (os.path.join(folder, name) for folder in ("user", "tests", os.path.dirname(path)))
                       if os.path.exists(found)), None)
        if header:
            yield header
            yield from sources(header)


@functools.cache
def sources(header):
    folder, name = os.path.split(header)
    own = os.path.splitext(header)[0] + ".c"
    if os.path.exists(own):
        return [own]
    return [path for path in glob.glob(folder + "/**/*.c", recursive=True) if name in map(os.path.basename, names_in(path))]


def main():
    found, todo = set(), glob.glob("tests/unit/**/test_*.c", recursive=True)
    while todo:
        new = set(included(todo.pop())) - found
        found |= new
        todo += new
    print("\n".join(sorted(path for path in found if path.endswith(".c"))))


if __name__ == "__main__":
    main()
