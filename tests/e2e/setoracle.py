# SPDX-License-Identifier: GPL-2.0-or-later
"""setoracle.py BLOOMSET FOLDER SEED: set operations on entries, in several formats and spellings, beside
a simple search."""
import collections
import ipaddress
import os
import random
import subprocess
import sys

ROUNDS = 25


def entry(chosen):
    """An entry in its canonical form."""
    kind = chosen.randrange(5)
    if kind == 0:
        return str(ipaddress.IPv4Address(0xc0000200 + chosen.randrange(300)))
    if kind == 1:
        return str(ipaddress.IPv4Network((0x0b000000 + (chosen.randrange(40) << 8), 24)))
    if kind == 2:
        return str(ipaddress.IPv6Address((0x20010db8 << 96) + chosen.randrange(200)))
    if kind == 3:
        return str(ipaddress.IPv6Network(((0x20010db8 << 96) + (chosen.randrange(100) << 64), 64)))
    return str(ipaddress.IPv4Address(chosen.randrange(0x0b000000, 0x0b000100)))


def spelled(chosen, text):
    """Another way to write it."""
    way = chosen.randrange(4)
    if way == 0 and "/" not in text:
        return text + ("/128" if ":" in text else "/32")
    if way == 1 and ":" in text:
        return text.upper()
    if way == 2 and "/" not in text and ":" not in text:
        return "::ffff:" + text
    return text + ("  # a comment" if way == 3 else "")


def run(tool, *words):
    done = subprocess.run([tool, *words], stdout=subprocess.PIPE, check=True, text=True)
    return sorted(done.stdout.splitlines())


def main():
    tool, folder, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    chosen = random.Random(seed)
    for _ in range(ROUNDS):
        lists, names = [], []
        for number in range(chosen.randrange(2, 5)):
            lists.append([entry(chosen) for _ in range(chosen.randrange(1, 600))])
            names.append(os.path.join(folder, "list%d" % number))
            with open(names[-1], "w", encoding="ascii") as file:
                file.writelines(spelled(chosen, text) + "\n" for text in lists[-1])
        sets = [set(each) for each in lists]
        times = collections.Counter(text for each in lists for text in each)
        files = collections.Counter(text for each in sets for text in each)
        least = chosen.randrange(1, len(lists) + 1)
        memory = chosen.choice(["--memory=16M", "--memory=600M", "--memory=3G"])
        wanted = {
            ("common",): set.intersection(*sets),
            ("common", "--min=%d" % least): {text for text in files if files[text] >= least},
            ("once",): {text for text in times if times[text] == 1},
            ("diff",): sets[0].difference(*sets[1:]),
            ("union",): set.union(*sets),
        }
        for words, result in wanted.items():
            got = run(tool, *words, memory, *names)
            assert got == sorted(result), (words, memory, set(got) ^ result)
        assert run(tool, "distinct", memory, *names) == [str(len(files))]


if __name__ == "__main__":
    main()
