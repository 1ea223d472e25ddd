#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bloomdoc.py PAGE PROGRAM: runs what docs/bloom.md shows, in this directory, and compares what it prints. Where
keys are random, numbers may differ, and a stranger may hit. Then compiles what it shows in C."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ANIMALS = {"ant", "bee", "cat", "dog", "elk"}
SNIPPET = """#include <stdio.h>
#include <string.h>
#include <xdp_bloom/bloom.h>
#include "base/error.h"
static int fail(const char *message) { return fputs(message, stderr) < 0 ? 2 : 1; }
static void look_closer(const char *address) { puts(address); }
int main(int argc, char **argv)
{
const char *address = argv[argc - 1];
%s
return 0;
}
"""


def shown(page):
    """Each command, and the lines below it."""
    for block in re.findall(r"^```\n(\$ .*?)^```", page, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.splitlines()


def masked(line):
    name, _, answer = line.partition(": ")
    if answer in ("perhaps", "surely not"):
        return line if name in ANIMALS else name + ": one of both"
    if " put, " in line:
        return re.sub(r"[0-9.e-]+( of them new| bits set: expected rate [0-9.e-]+)", "some", line)
    if " are missing there" in line:
        return re.sub(r"^[0-9]+ of|about [0-9.]+", "some", line)
    return line


def is_as_shown(command, wanted, program):
    environment = dict(os.environ, PATH=os.path.dirname(program) + ":" + os.environ["PATH"])
    found = subprocess.run(["/bin/bash", "-c", command], env=environment, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False).stdout.splitlines()
    # What ends early was cut on the page.
    if "digest --lines" not in command and [masked(line) for line in found[:len(wanted)]] != [masked(line) for line in wanted]:
        print("$ %s\n%s\ninstead of\n%s" % (command, "\n".join(found), "\n".join(wanted)))
        return False
    return True


def compiles(page):
    code = re.search(r"^```c\n(.*?)^```", page, re.M | re.S)[1]
    return subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                           "-I%s/include" % ROOT, "-I%s/user" % ROOT, "-x", "c", "-"], input=SNIPPET % code,
                          text=True, check=False).returncode == 0


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    with open("ours", "w", encoding="utf-8") as file:
        file.write("".join("word%d\n" % i for i in range(1, 20001)))
    with open("theirs", "w", encoding="utf-8") as file:
        file.write("".join("word%d\n" % i for i in range(501, 26001)))
    results = [is_as_shown(command, wanted, sys.argv[2]) for command, wanted in shown(page)]
    print("%d commands" % len(results))
    sys.exit(not (len(results) >= 8 and all(results) and compiles(page)))


main()
