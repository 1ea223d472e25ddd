# SPDX-License-Identifier: GPL-2.0-or-later
"""Filter lists: AdGuard's reading for DNS, and two engines of browsers (npm/ has their versions and asks them).

A name is listed if DNS blocks it, and browsers would block every request to it. Lines that only DNS understands (hosts lines,
`|name^`) are asked of DNS alone, and bare names, which browsers take as text to find anywhere, count there only as that name.
What the product leaves out although all engines refuse it:
- What a pattern with `*`, or a name that goes on (`||exam`), blocks beside the domain that can be told of it.
- A name with an exception for some requests (a path, an option) of which no engine says so here, or that only one engine
  takes back (`@@...$badfilter`), and of which several rules block parts."""
import json
import os
import re
import subprocess

import engine

PACKAGES = ()
NAMES = True
HERE = os.path.join(engine.ROOT, "tests/engines/npm")
MODULES = os.path.join(engine.ROOT, "build/engines/npm")


def fetch():
    """By the lock file, once."""
    if not os.path.isdir(os.path.join(MODULES, "node_modules")):
        os.makedirs(MODULES, exist_ok=True)
        for name in "package.json", "package-lock.json":
            subprocess.run(["cp", os.path.join(HERE, name), MODULES], check=True)
        subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=MODULES, check=True, stdout=subprocess.DEVNULL)


def name(draw, least=0):
    return ".".join([draw.choice("ab") for _ in range(draw.randrange(least, 4))] + ["example"])


def line(draw):
    options = draw.choice(("",) * 10 + ("$important",) * 3 + ("$badfilter", "$important,badfilter", "$third-party", "$denyallow=a.example",
                                                              "$dnstype=A", "$client=192.0.2.1", "$ctag=pc", "$all", "$document",
                                                              "$dnsrewrite=192.0.2.9"))
    kind = draw.randrange(20)
    if kind < 9:
        return "||%s^%s" % (name(draw, 1), options)
    if kind < 13:
        return "@@||%s^%s" % (name(draw, 1), options)
    if kind < 14:
        return "||%s" % name(draw, 1)
    if kind < 15:
        return draw.choice(("||*.%s^", "@@||*.%s^")) % name(draw, 1)
    if kind < 16:
        return "|%s^" % name(draw, 1)
    if kind < 17:
        return "0.0.0.0 %s" % name(draw, 1)
    if kind < 18:
        return name(draw, 1)
    return draw.choice(("||%s^|", "|https://%s^", "@@||%s/path", "||%s/path", "||a*%s^", "@@||a*.%s^", "/%s/", "@@|%s^", "192.0.2.7 %s",
                        "%s##.ad")) % name(draw, 1)


def make(draw):
    lines = [line(draw) for _ in range(draw.randint(1, 7))]
    lines.insert(draw.randrange(len(lines) + 1), "||z.example^")
    questions = {name(draw) for _ in range(12)} | {"a" + name(draw) for _ in range(3)} | {"other.test", "z.example"}
    return "\n".join(lines) + "\n", sorted(questions), {"format": "adblock"}


def alone(text):
    """The names of lines that browsers do not understand, and the other lines."""
    names, others = set(), []
    for each in text.splitlines():
        found = re.fullmatch(r"(?:0\.0\.0\.0 |\|)?([a-z.]+)\^?", each)
        if found:
            names.add(found[1])
        else:
            others.append(each)
    return names, "\n".join(others) + "\n"


class Asked:
    """One process for all three."""
    def __init__(self):
        self.process = subprocess.Popen(["node", os.path.join(HERE, "ask.mjs"), MODULES], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, text, names):
        print(json.dumps({"text": text, "names": names}), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


class Engine:
    def __init__(self, asked, kind, package):
        self.asked, self.kind = asked, kind
        with open(os.path.join(MODULES, "node_modules", package, "package.json"), encoding="utf-8") as file:
            self.version = "%s %s%s" % (package, json.load(file)["version"], " (DNS)" if kind == "dns" else "")

    def refused(self, text, questions):
        if self.kind == "dns":
            return set(self.asked.ask(text, questions)["dns"])
        names, others = alone(text)
        return set(self.asked.ask(others, questions)[self.kind]) | names

    def close(self):
        self.asked.process.kill()
        self.asked.process.wait()


def engines(_root):
    asked = Asked()
    return [Engine(asked, "dns", "@adguard/tsurlfilter"), Engine(asked, "tsurlfilter", "@adguard/tsurlfilter"),
            Engine(asked, "ghostery", "@ghostery/adblocker")]


def is_left_out(text, asked, _reading):
    """Something besides plain rules has a say."""
    for each in text.splitlines():
        domain = re.search(r"[a-z*.]*example", each)[0].split("*")[-1].lstrip(".")
        if re.search(r"\$|/|\*|\^\||^192|\|[a-z.]+$", each) and ("." + asked).endswith(domain):
            return True
    return False


def may_be_refused(text, reason):
    return "may let pass any name" in reason and "*" in text
