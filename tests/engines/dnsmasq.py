# SPDX-License-Identifier: GPL-2.0-or-later
"""dnsmasq: domains with addresses that lead nowhere, servers to ask, records, and patterns.

What the product leaves out although the engine refuses A and AAAA:
- `*a.example`, a pattern that ends within a label: no entry can say it. Where it lets pass, all of the domain around does.
- A domain that has a server or a record beside its addresses: queries of other types pass there.
- `.example.com` of which dnsmasq takes the dots away is no difference.
What it lists although the engine sends queries for AAAA to the servers that it asks for everything else:
- A name with 0.0.0.0 alone, since 2.86: lists are written so for all versions, and before 2.86 AAAA got no answer."""
import re

import engine
import forwarders
from forwarders import ANSWERS, NOWHERE

PACKAGES = ("dnsmasq-base",)
NAMES = True


def name(draw, least=0):
    return ".".join([draw.choice("ab") for _ in range(draw.randrange(least, 4))] + ["example"])


def pattern(draw):
    return draw.choice([""] * 12 + [".", "*.", "*"]) + name(draw, 1)


def line(draw):
    kind = draw.randrange(12)
    domains = "/".join(pattern(draw) for _ in range(draw.choice((1, 1, 1, 2))))
    if kind < 5:
        return "address=/%s/%s" % (domains, draw.choice(("", "#", "0.0.0.0", "::", "127.0.0.1", "::1")))
    if kind < 6:
        return "address=/%s/%s" % ("#" if draw.random() < 0.3 else domains, draw.choice(("192.0.2.9", "2001:db8::9")))
    if kind < 8:
        return "local=/%s/" % domains
    if kind < 10:
        return "server=/%s/%s" % (domains, draw.choice(("#", "127.0.0.1#5300", "")))
    record = draw.choice(("host-record=%s,192.0.2.9", "mx-host=%s,mail.example,5", "host-record=%s,0.0.0.0", "txt-record=%s,x",
                          "cname=%s,elsewhere.test", "cname=%s,known.test", "cname=%s,%s,known.test", "cname=%s,%s,known.test,60",
                          "host-record=%s,%s,192.0.2.9,60"))
    return re.sub("%s", lambda _: name(draw, 1), record)


def without_repeats(lines):
    """dnsmasq takes no second cname of a name."""
    seen, kept = set(), []
    for each in lines:
        aliases = re.findall(r"\b[ab.]+example", each) if each.startswith("cname") else []
        if len(seen.union(aliases)) == len(seen) + len(aliases):
            seen.update(aliases)
            kept.append(each)
    return kept


def make(draw):
    lines = without_repeats([line(draw) for _ in range(draw.randint(1, 7))])
    if draw.randrange(3) == 0:
        lines = ["%s # why" % each for each in lines]
    questions = {name(draw) for _ in range(12)} | {"a" + name(draw) for _ in range(3)} | {"other", "example"}
    lines.insert(draw.randrange(len(lines) + 1), "host-record=known.test,192.0.2.9")        # else a cname counts for nothing
    lines.insert(draw.randrange(len(lines) + 1), "local=/z.example/")       # a file that lists nothing is refused
    return "\n".join(lines) + "\n", sorted(questions), {"format": "dnsmasq"}


def is_refused(asked):
    """By both families; what the file says nothing of goes to the servers."""
    first = engine.ask(asked)
    second = engine.ask(asked, kind=28)
    return (set(first.addresses) <= NOWHERE and set(second.addresses) <= NOWHERE | ANSWERS)


class Dnsmasq(forwarders.Forwarder):
    def refused(self, text, questions):
        self.root.file("conf", text)
        return self.those(is_refused, questions, "dnsmasq", "-k", "-C", "/lists/conf", "-R", "-h", "-u", "root", "-8", "-", "-a",
                          "127.0.0.1", "-x", "/lists/pid", "--server=127.0.0.1#%d" % forwarders.SERVERS)


def engines(root):
    return [Dnsmasq(root, "dnsmasq-base")]


def may_be_refused(text, reason):
    return "gives all names an address" in reason and "/#/2001" in text


def is_left_out(text, asked, _reading):
    """A server, a record, or a pattern decides of the name."""
    for each in text.splitlines():
        option, value = each.split(" #")[0].split("=", 1)
        if option in ("address", "local") and "*" not in each:
            continue
        domains = value.split("/")[1:-1] if "/" in value else value.split(",")
        for domain in domains:
            if domain.startswith("*"):
                domain = domain.split(".", 1)[1]
            if ("." + asked).endswith("." + domain.lstrip(".")):
                return True
    return False
