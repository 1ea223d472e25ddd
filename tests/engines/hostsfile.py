# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts files: the resolver of the C library, and dnsmasq (addn-hosts).

A name is refused if all addresses that it gets lead nowhere, and it gets some; dnsmasq asks servers for addresses of the
family that the file does not have, which lists that say 0.0.0.0 alone do not mean."""
import os
import subprocess

import engine

PACKAGES = ("dnsmasq-base", "libc-bin")
NAMES = True

FORWARDS = {"192.0.2.99", "2001:db8::99"}        # what servers answer
NOWHERE = {"0.0.0.0", "::", "127.0.0.1", "::1", "127.0.0.7"}


def name(draw, least=1):
    return ".".join([draw.choice(("a", "b", "www", "nas")) for _ in range(draw.randrange(least, 3))] + ["example"])


def line(draw):
    kind = draw.randrange(10)
    if kind == 0:
        return draw.choice(("127.0.0.1 localhost", "::1 localhost ip6-localhost", "# a.example", "", "0.0.0.0 0.0.0.0", "255.255.255.255 broadcasthost"))
    address = draw.choice(("0.0.0.0",) * 6 + ("127.0.0.1", "::", "::1", "127.0.0.7", "192.0.2.9", "2001:db8::9"))
    names = " ".join(name(draw) + draw.choice(("",) * 30 + (".",)) for _ in range(draw.choice((1, 1, 2, 3))))
    return "%s%s%s%s" % (address, draw.choice((" ", "\t", "  ")), names, draw.choice(("", "", " # why", "#why")))


def make(draw):
    lines = [line(draw) for _ in range(draw.randint(1, 9))]
    lines.insert(draw.randrange(len(lines) + 1), "0.0.0.0 z.example")
    questions = {name(draw, 1) for _ in range(12)} | {"x." + name(draw) for _ in range(3)} | {"z.example", "x.z.example", "other.test"}
    return "\n".join(lines) + "\n", sorted(questions), {"format": "hosts"}


class Library:
    """In the root, with a file over its own."""
    def __init__(self, root):
        self.root, self.version = root, root.version("libc-bin")
        own = os.path.join(root.path, "etc/hosts")
        with open(own, "a", encoding="utf-8"):
            pass
        subprocess.run(["mount", "--bind", root.file("etc-hosts", ""), own], check=True)

    def refused(self, text, questions):
        self.root.file("etc-hosts", text)
        found = self.root.run("sh", "-c", 'for name; do echo "= $name"; getent -s hosts:files ahosts "$name"; done', "-", *questions)
        addresses, asked = {}, None
        for each in found.stdout.splitlines():
            first, second = each.split()[:2]
            if first == "=":
                asked = second
            else:
                addresses.setdefault(asked, set()).add(first)
        return {asked for asked, given in addresses.items() if given <= NOWHERE}

    def close(self):
        pass


class Dnsmasq:
    def __init__(self, root):
        self.root, self.version = root, root.version("dnsmasq-base")

    def refused(self, text, questions):
        self.root.file("hosts", text)
        server = self.root.start("dnsmasq", "-k", "-C", "/dev/null", "-R", "-h", "-u", "root", "-8", "-", "-a", "127.0.0.1", "-x",
                                 "/lists/pid", "--addn-hosts=/lists/hosts", *["--address=/#/" + each for each in FORWARDS])
        try:
            engine.wait_for("dnsmasq", lambda: engine.ask("probe", tries=1, patience=0.2), server)
            given = {asked: engine.ask(asked).addresses + engine.ask(asked, kind=28).addresses for asked in questions}
        finally:
            engine.stop(server)
        return {asked for asked, addresses in given.items()
                if set(addresses) & NOWHERE and set(addresses) <= NOWHERE | FORWARDS}

    def close(self):
        pass


def engines(root):
    return [Library(root), Dnsmasq(root)]


def is_left_out(_text, _asked, _reading):
    return False
