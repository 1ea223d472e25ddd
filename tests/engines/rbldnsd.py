# SPDX-License-Identifier: GPL-2.0-or-later
"""rbldnsd: data of addresses of its three kinds, with exclusions that lie in each other, prefixes with host bits, and
limits. dnset.py has names."""
import ipaddress
import os
import shutil

import engine
import zones

PACKAGES = ("rbldnsd",)
NAMES = False
KINDS = ("ip4set", "ip4trie", "ip6trie")
ZONE = "bl.test"
PORT = 5310
HEAD = "# %s\n$SOA 3600 ns.test. admin.test. 0 600 300 86400 300\n$TTL 300\n:127.0.0.2:listed, see http://x.test/?$\n"
STAMPS = ("$TIMESTAMP 2020:01:01\n", "$TIMESTAMP 2020-01-01 2035-01-01\n", "#$TIMESTAMP 20200101 0\n",
          "$TIMESTAMP 2020:01:01 +5d\n", ":$TIMESTAMP 2035:01:01\n")


def address4(draw):
    return ipaddress.ip_address(0x14000000 | draw.getrandbits(draw.choice((6, 10, 18))))


def entry4(draw, ranges):
    address = address4(draw)
    how = draw.randrange(7 if ranges else 5)
    if how == 0:
        return str(address)
    if how == 1:
        return ".".join(str(address).split(".")[:draw.randint(2, 3)])
    if how == 2:
        return "%s/%d" % (address, draw.randint(12, 32))
    if how == 5:
        return "%s-%s" % tuple(map(str, sorted((address, address4(draw)))))
    if how == 6:
        octets = str(address).split(".")[:draw.randint(2, 4)]
        return "%s-%d" % (".".join(octets), draw.randint(int(octets[-1]), 255))
    return str(ipaddress.ip_network((int(address), draw.randint(12, 32)), strict=False))


def address6(draw):
    return 0x20010db8 << 96 | draw.getrandbits(6) << 90 | draw.getrandbits(4)


def entry6(draw):
    address = address6(draw)
    if draw.random() < 0.2:
        return "2001:db8:%x" % (address >> 80 & 0xffff)
    length = draw.choice((36, 40, 44, 48, 124, 126, 128))
    if draw.random() < 0.1:
        return "%s/%d" % (ipaddress.ip_address(address), length)
    return str(ipaddress.ip_network((address, length), strict=False))


def entry_of(draw, kind):
    return entry6(draw) if kind == "ip6trie" else entry4(draw, kind == "ip4set")


def question_of(draw, kind):
    return str(ipaddress.ip_address(address6(draw)) if kind == "ip6trie" else address4(draw))


def file_of(draw, kind, entry, asked):
    """entry and asked draw one of these for a kind. The first line says of which kind it is."""
    lines = [draw.choice(STAMPS)] if draw.random() < 0.15 else []
    if kind in ("ip4set", "ip4trie") and draw.random() < 0.3:
        lines.append("$MAXRANGE4 %s\n" % draw.choice(("/24", "64", "/17")))
    for _ in range(draw.randint(1, 40)):
        excluded = "!" if draw.random() < 0.4 else ""
        value = draw.choice(("", "", " :4:why", " only text", " # comment", "\n# a comment", "\n:127.0.0.3:other"))
        lines.append(excluded + entry(draw, kind) + value + "\n")
    questions = {asked(draw, kind) for _ in range(120)}
    return HEAD % kind + "".join(lines), sorted(questions), {"format": kind}


def make(draw):
    return file_of(draw, draw.choice(KINDS), entry_of, question_of)


def queried(text):
    """What a client asks for an address or a name."""
    try:
        return ipaddress.ip_address(text).reverse_pointer.rsplit(".", 2)[0] + "." + ZONE
    except ValueError:
        return text + "." + ZONE


class Rbldnsd:
    """It lists whom it has a record for. The files lie in a folder of their own, which it changes to."""

    def __init__(self, root):
        self.root, self.version = root, root.version("rbldnsd")
        self.folder = root.file("rbldnsd")
        os.makedirs(self.folder, exist_ok=True)
        os.chmod(self.folder, 0o777)

    def put(self, file, text):
        with open(os.path.join(self.folder, file), "w", encoding="utf-8") as out:
            out.write(text)

    def refused(self, text, questions):
        self.put("list", text)
        self.put("probe", HEAD % "dnset" + "probe\n")
        kind = text[2:text.index("\n")]
        server = self.root.start("rbldnsd", "-n", "-u", "nobody", "-r", "/lists/rbldnsd", "-b", "127.0.0.1/%d" % PORT,
                                 "probe.test:dnset:probe", "%s:%s:list" % (ZONE, kind))
        asked = {queried(question): question for question in questions}
        try:
            # It ends if it does not load a file, and says that it is expired by answering nobody.
            engine.wait_for("rbldnsd", lambda: server.poll() is not None or self.is_ready(), None)
            if server.poll() is not None:
                return set()
            answers = zones.ask_all("127.0.0.1", PORT, asked, kinds=(1,))
        finally:
            engine.stop(server)
        return {asked[name] for (name, _), answer in answers.items() if answer and answer.addresses}

    @staticmethod
    def is_ready():
        answer = engine.ask("probe.probe.test", PORT, tries=1, patience=0.2)
        return answer and answer.addresses

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def engines(root):
    return [Rbldnsd(root)]


def is_left_out(_text, _asked, _reading):
    return False


def may_be_refused(text, reason):
    """Data that are not served, and those that exclude all they list."""
    return "no entries" in reason or "no line could be read" in reason or ("$TIMESTAMP" in text and "$TIMESTAMP" in reason)
