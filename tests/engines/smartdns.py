# SPDX-License-Identifier: GPL-2.0-or-later
"""smartdns: addresses and rules of domains, which one domain inherits from another.

Its releases differ, and the product lists only what all of them refuse that know the line (40 of Debian 12 and 46.1 of
Debian 13 were asked). Release 40 passes over `address /d/0.0.0.0,::`, `*.d`, `-.d` and patterns: what it knows nothing of
is left out of its questions. What the product leaves out although the engine refuses it: domains around which a line
with a pattern, a real address, `-` or a flag decides; release 40 takes `#` there, later ones do not."""
import re

import engine
import forwarders
from forwarders import ANSWERS, NOWHERE

PACKAGES = ("smartdns", "dnsmasq-base")
NAMES = True

OURS = "\nbind 127.0.0.1:53\nserver 127.0.0.1:5300\nspeed-check-mode none\ncache-size 0\ncache-persist no\n"


def name(draw, least=0):
    return ".".join([draw.choice("ab") for _ in range(draw.randrange(least, 4))] + ["example"])


def target(draw):
    return draw.choice(("#",) * 6 + ("#4", "#6", "-", "-6", "192.0.2.9", "2001:db8::9", "0.0.0.0", "0.0.0.0", "::", "0.0.0.0,::"))


def line(draw):
    domain = draw.choice([""] * 24 + [".", ".", "*.", "*.", "*", "-.", "-."]) + name(draw, 1)
    kind = draw.randrange(10)
    if kind < 6:
        return "address /%s/%s" % (domain, target(draw))
    if kind < 9:
        return "domain-rules /%s/ %s" % (domain, draw.choice((
            "-a %s" % target(draw), "-address %s" % target(draw), "-a # -c none", "-c none -a #", "-d no", "-a # -d no",
            "-no-serve-expired", "-no-serve-expired -a #", "-n lan -a #", "-n lan", "-c none")))
    return "nameserver /%s/%s" % (domain, draw.choice(("lan", "-")))


def make(draw):
    lines = [line(draw) for _ in range(draw.randint(1, 6))]
    lines.insert(draw.randrange(len(lines) + 1), "address /z.example/#")
    questions = {name(draw) for _ in range(12)} | {"a" + name(draw) for _ in range(3)} | {"other", "example"}
    return "\n".join(lines) + "\n", sorted(questions), {"format": "smartdns"}


def is_refused(asked):
    """By both families; of AAAA alone what the file says nothing of may go to the servers, if A has an address."""
    first, second = engine.ask(asked), engine.ask(asked, kind=28)
    lenient = ANSWERS if first.addresses else set()
    return set(first.addresses) <= NOWHERE and set(second.addresses) <= NOWHERE | lenient


class Smartdns(forwarders.Forwarder):
    def refused(self, text, questions):
        if "smartdns 40" in self.version and re.search(r"/[*-]|,", text):
            return set(questions)
        self.root.file("conf", text + OURS)
        return self.those(is_refused, questions, "smartdns", "-f", "-c", "/lists/conf", "-p", "/lists/pid")


def engines(root):
    return [Smartdns(root, "smartdns")]


def is_left_out(text, asked, _reading):
    """Something else than `#` or an address that leads nowhere has a say."""
    if re.search(r"/[*-]|,", text):
        return True
    for each in text.splitlines():
        domain = each.split("/")[1]
        if re.search(r" -[dn]|-no|192|2001|::|#[46]|/-|-a -", each) and ("." + asked).endswith("." + domain.lstrip(".")):
            return True
    return False


def may_be_refused(text, _reason):
    """A pattern within a label."""
    return re.search(r"/\*[^.]", text)
