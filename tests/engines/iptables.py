# SPDX-License-Identifier: GPL-2.0-or-later
"""iptables: tables as iptables-restore reads them, with chains, conditions and exceptions, by both of its kernels' ways."""
import subprocess

import probes

PACKAGES = ("iptables",)
NAMES = False
TABLES = {"filter": ("INPUT", "FORWARD", "OUTPUT"), "raw": ("PREROUTING", "OUTPUT"),
          "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING")}
EMPTY = "".join("*%s\n%sCOMMIT\n" % (table, "".join(":%s ACCEPT\n" % chain for chain in chains))
                for table, chains in TABLES.items())
CHAINS = ("f2b", "friends", "LOGDROP", "x")
CONDITIONS = ("-p udp --dport 22", "-p udp -m udp --dport 53", "-p tcp -m tcp --dport 22",
              "-p tcp -m multiport --dports 22,80", "-i eth0", "! -i eth1", "-i lo", "! -i lo",
              "-m conntrack --ctstate NEW", "-m state --state ESTABLISHED", "-m conntrack ! --ctstate INVALID", "-d %s",
              "! -d %s", "-m limit --limit 1/hour --limit-burst 1", "-m mark --mark 0x1", "-m mark ! --mark 0x1", "-p all",
              "-f", "! -p tcp")
CONDITIONS6 = tuple(each for each in CONDITIONS if each != "-f")


def address(draw, ipv6):
    number = draw.randrange(16)
    return "2001:db8::%x" % number if ipv6 else "203.0.113.%d" % number


def prefix(draw, ipv6):
    length = draw.randint(1, 4)
    number = draw.randrange(16) >> length << length
    return ("2001:db8::%x/%d" % (number, 128 - length)) if ipv6 else "203.0.113.%d/%d" % (number, 32 - length)


def source(draw, ipv6):
    kind = draw.random()
    if kind < 0.12:
        return ""
    if kind < 0.7:
        return "-s %s " % address(draw, ipv6)
    if kind < 0.82:
        return "%s-s %s " % (draw.choice(("", "", "! ")), prefix(draw, ipv6))
    if kind < 0.92:
        one, two = sorted((draw.randrange(16), draw.randrange(16)))
        form = "2001:db8::%x-2001:db8::%x" if ipv6 else "203.0.113.%d-203.0.113.%d"
        return "-m iprange %s--src-range %s " % (draw.choice(("", "! ")), form % (one, two))
    return "-s %s,%s " % (address(draw, ipv6), prefix(draw, ipv6))


def rule(draw, table, ipv6, later):
    """later: chains to which it may jump."""
    text = source(draw, ipv6)
    if draw.random() < 0.25:
        condition = draw.choice(CONDITIONS6 if ipv6 else CONDITIONS)
        condition = "-i eth0" if "," in text and "! -d" in condition else condition
        text += condition.replace("%s", probes.HERE6 if ipv6 else probes.HERE4) + " "
    if draw.random() < 0.1:
        text += "-m comment --comment \"a -j b\" "
    targets = ["ACCEPT"] * 3 + ["DROP"] * 4 + ["RETURN", "LOG", ""] + list(later) * 2
    if table == "filter":
        targets += ["REJECT"]
    if table == "mangle":
        targets += ["MARK --set-mark 0x1"]
    target = draw.choice(targets)
    if target in later and draw.random() < 0.25:
        return text + "-g " + target
    return text + "-j " + target if target else text


def table_of(draw, table, ipv6):
    made = list(CHAINS[:draw.randrange(4)])
    own = [chain for chain in TABLES[table] if chain in ("INPUT", "PREROUTING")]
    lines = [":%s %s [0:0]" % (chain, draw.choice(("ACCEPT", "ACCEPT", "DROP")) if chain in own else "ACCEPT")
             for chain in TABLES[table]] + [":%s - [0:0]" % chain for chain in made]
    rules, counts = [], {}
    for chain in own + made:
        later = made[made.index(chain) + 1:] if chain in made else made
        for _ in range(draw.randint(0, 3) if chain in made else draw.randint(1, 6)):
            rules.append((chain, rule(draw, table, ipv6, later)))
    if draw.random() < 0.3:
        draw.shuffle(rules)
    for chain, text in rules:
        several = text.split("-s ")[1].split(" ")[0].count(",") if "-s " in text else 0
        if draw.random() < 0.15:
            number = draw.randint(1, counts.get(chain, 0) + 1)
            lines.append("-I %s %s%s" % (chain, "" if number == 1 and draw.random() < 0.5 else "%d " % number, text))
        else:
            lines.append("%s-A %s %s" % ("[1:2] " if draw.random() < 0.05 else "", chain, text))
        counts[chain] = counts.get(chain, 0) + 1 + several
    return "*%s\n%s\nCOMMIT\n" % (table, "\n".join(lines))


def make(draw):
    ipv6 = draw.random() < 0.25
    tables = ["filter"] + [table for table in ("raw", "mangle") if draw.random() < 0.2]
    draw.shuffle(tables)
    form = "2001:db8::%x" if ipv6 else "203.0.113.%d"
    return ("".join(table_of(draw, table, ipv6) for table in tables), [form % number for number in range(17)],
            {"format": "iptables"})


class Iptables:
    def __init__(self, root, field, way):
        self.root, self.field, self.way = root, field, way
        self.version = "%s (%s)" % (root.version("iptables"), way)

    def _load(self, text, ipv6):
        program = "ip%stables-%s-restore" % ("6" if ipv6 else "", self.way)
        done = subprocess.run(["chroot", self.root.path, program], check=False, input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise RuntimeError("%s: %s" % (program, done.stdout))

    def refused(self, text, questions):
        ipv6 = ":" in questions[0]
        self._load(text, ipv6)
        try:
            return set(questions) - self.field.passing(questions).keys()
        finally:
            self._load(EMPTY, ipv6)

    def close(self):
        if self.way == "nft":
            self.field.close()


def engines(root):
    field = probes.Field()
    everybody = ["203.0.113.%d" % number for number in range(17)] + ["2001:db8::%x" % number for number in range(17)]
    through = field.passing(everybody)
    if any(len(through.get(source, ())) != len(probes.KINDS) for source in everybody):
        raise RuntimeError("without rules not all packets come through")
    return [Iptables(root, field, way) for way in ("legacy", "nft")]


def is_left_out(_text, _asked, reading):
    """By a condition, a policy or a rule for all others, which a note names."""
    return bool(reading.notes)


def may_be_refused(_text, reason):
    return "refuses all that are not named" in reason or "no entries" in reason or "no line could be read" in reason
