# SPDX-License-Identifier: GPL-2.0-or-later
"""ipset: what `ipset restore` makes of a file, and `ipset test` of sources."""
import ipaddress
import re

PACKAGES = ("ipset",)
NAMES = False
SETS = ("a", "b", "c")
QUESTIONS = ["10.0.0.%d" % number for number in range(66)] + ["2001:db8::%x" % number for number in range(66)]


def address(draw, ipv6):
    number = draw.randrange(64)
    return "2001:db8::%x" % number if ipv6 else "10.0.0.%d" % number


def member(draw, kind, ipv6):
    """Of one address, some, or many; a set of addresses of IPv6 has no prefixes, and none has /0."""
    first = address(draw, ipv6)
    if ipv6 and kind != "hash:net":
        return first
    what = draw.randrange(6)
    if what < 3 and kind == "hash:net" or what == 0:
        most = 128 if ipv6 else 32
        return "%s/%d" % (first, draw.randint(most - 6, most))
    if what == 3 and not ipv6:
        return "%s-10.0.0.%d" % (first, draw.randint(int(first.split(".")[3]), 63))
    return first


def elements(text, kind, netmask):
    """What ipset keeps of an entry: networks, or single addresses."""
    first, _, last = text.partition("-")
    if last:
        networks = list(ipaddress.summarize_address_range(ipaddress.ip_address(first), ipaddress.ip_address(last)))
    else:
        networks = [ipaddress.ip_network(text, strict=False)]
    if kind == "hash:net":
        return set(networks)
    return {ipaddress.ip_network("%s/%s" % (one, netmask or one.max_prefixlen), strict=False) for each in networks for one in each}


def adds(draw, name, kind, ipv6, options):
    """The lines. ipset sends many in one message, for which the first says whether what is there may be added again: so all
    lines say so, or none adds anything twice."""
    lines, seen, again = [], set(), draw.random() < 0.4
    netmask = re.search(r"netmask (\d+)", options)
    for _ in range(draw.randrange(7)):
        text = member(draw, kind, ipv6)
        kept = elements(text, kind, netmask and netmask[1])
        if not again and (kept & seen or len(kept) > 1 and kind != "hash:net" and netmask):
            continue
        seen |= kept
        words = ["add", name, text]
        if kind == "hash:net" and draw.random() < 0.35:
            words.append("nomatch")
        if "timeout" in options and draw.random() < 0.5:
            words += ["timeout", str(draw.choice((0, 500, 900)))]
        if "comment" in options and draw.random() < 0.5:
            words += ["comment", draw.choice(("word", '"two words"', '"nomatch"', '"a # b"'))]
        if again:
            words.insert(draw.choice((0, 1, 3, len(words))), draw.choice(("-exist", "-!")))
        lines.append(" ".join(words))
        if draw.random() < 0.04:
            lines.append("flush " + name)
    return lines


def one_set(draw, name):
    kind = draw.choice(("hash:ip", "hash:net", "hash:net", "hash:net", "bitmap:ip"))
    ipv6 = kind != "bitmap:ip" and draw.random() < 0.3
    options = {"bitmap:ip": "range 10.0.0.0/24", "hash:ip": "", "hash:net": ""}[kind]
    if kind != "bitmap:ip":
        options += draw.choice(("", " family inet")) if not ipv6 else " family inet6"
    if kind == "hash:ip" and draw.random() < 0.3:
        options += " netmask %d" % (draw.randint(123, 128) if ipv6 else draw.randint(27, 32))
    options += draw.choice(("", " timeout 0", " timeout 700")) + draw.choice(("", " comment", " counters"))
    create = ["create %s %s %s" % (name, kind, options)]
    return create, adds(draw, name, kind, ipv6, options)


def make(draw):
    names = SETS[:draw.choice((1, 1, 2, 3))]
    parts = [one_set(draw, name) for name in names]
    lines = [line for create, _ in parts for line in create]
    rest = [line for _, more in parts for line in more]
    if draw.random() < 0.5:         # else as ipset writes it: a set after the other
        draw.shuffle(rest)
        lines += rest
    else:
        lines = [line for create, more in parts for line in create + more]
    chosen = draw.choice(names)
    options = {"format": "ipset"}
    if len(names) > 1 and draw.random() < 0.9 or draw.random() < 0.2:
        options["set"] = chosen
    else:
        chosen = names[0]
    text = "# %s\n" % chosen + "\n".join(lines) + "\n"
    return text, QUESTIONS, options


class Ipset:
    def __init__(self, root):
        self.root, self.version = root, root.version("ipset")

    def refused(self, text, questions):
        return self.tested(text, questions)

    def tested(self, text, questions, more=()):
        """text: its second word names the set; more: lines, of which each that ipset refuses is passed over."""
        name = text[2]
        self.root.run("ipset", "destroy")
        with open(self.root.file("sets", text), encoding="utf-8") as file:
            done = self.root.run("ipset", "restore", stdin=file)
        if done.returncode:
            raise RuntimeError("%s of:\n%s" % (done.stdout, text))
        ipv6 = re.search("create %s .*inet6" % name, text)
        asked = [address for address in questions if (":" in address) == bool(ipv6)]
        lines = [*more, *("test %s %s" % (name, one) for one in asked)]
        with open(self.root.file("questions", "\n".join(lines) + "\n"), encoding="utf-8") as file:
            said = self.root.run("ipset", "-", stdin=file).stdout
        answers = re.findall(r"\S+ is (in|NOT in) set", said)
        if len(answers) != len(asked):
            raise RuntimeError("%d answers to %d questions: %s" % (len(answers), len(asked), said))
        return {one for one, answer in zip(asked, answers) if answer == "in"}

    def close(self):
        self.root.run("ipset", "destroy")


def engines(root):
    return [Ipset(root)]


def is_left_out(_text, _asked, _reading):
    return False


def may_be_refused(text, reason):
    return ("a second set" in reason and text.count("create") > 1) or reason.endswith(": no entries")
