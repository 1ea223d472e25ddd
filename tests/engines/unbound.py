# SPDX-License-Identifier: GPL-2.0-or-later
"""unbound: local zones in each other and twice, with local data, tags and overrides."""
import re

import zones

PACKAGES = ("unbound",)
NAMES = True
REFUSING = ("always_nxdomain", "always_refuse", "always_deny", "always_nodata", "always_null", "refuse", "deny", "static",
            "inform_deny", "redirect", "inform_redirect")
PASSING = ("transparent", "inform", "typetransparent", "always_transparent")
DATA = ("A 0.0.0.0", "AAAA ::", "A 127.0.0.1", "A 192.0.2.9", "AAAA 2001:db8::7", "60 IN A 192.0.2.9", "TXT x",
        "MX 1 mail.org.", "CNAME garden.org.")


def name(draw, most=3):
    return ".".join([draw.choice("abc") for _ in range(draw.randrange(most))] + [draw.choice(("x.org", "y.org"))])


def written(draw, text):
    mark = draw.choice(("", '"', "'"))
    text = text.upper() if draw.random() < 0.05 else text
    return mark + text + draw.choice(("", ".")) + mark


def zone_of(draw, kinds):
    owner = name(draw)
    kind = draw.choice(REFUSING if draw.random() < 0.65 else PASSING)
    kinds[owner] = kind
    between = draw.choice((" ", " ", "\t", "\n  "))
    return "local-zone: %s%s%s" % (written(draw, owner), between, kind)


def nearest(kinds, owner):
    labels = owner.split(".")
    return next((".".join(labels[i:]) for i in range(len(labels)) if ".".join(labels[i:]) in kinds), None)


def data_of(draw, kinds, said):
    """Data of a redirect zone are of its own name; a name has a CNAME record, or others."""
    owner, data = name(draw, 4), draw.choice(DATA)
    zone = nearest(kinds, owner)
    if zone and "redirect" in kinds[zone]:
        owner = zone
    if any("CNAME" in one or "CNAME" in data for one in said.get(owner, ())):
        return None
    said.setdefault(owner, []).append(data)
    mark = draw.choice("\"'")
    return "local-data: %s%s%s %s%s" % (mark, owner, draw.choice(("", ".")), data, mark)


def make(draw):
    kinds, said, lines = {}, {}, []
    zones_of = [zone_of(draw, kinds) for _ in range(draw.randint(1, 6))]
    data = [data_of(draw, kinds, said) for _ in range(draw.randint(0, 6))]
    lines = [line for line in data if line]
    for line in zones_of:
        lines.insert(draw.randint(0, len(lines)), line)
    # The order of zones stays: the last of a name counts.
    places = sorted(lines.index(line) for line in set(zones_of))
    for place, line in zip(places, dict.fromkeys(zones_of)):
        lines[place] = line
    if draw.random() < 0.2:
        lines.append(draw.choice(("local-zone-override: %s 192.0.2.0/24 transparent", "local-zone-tag: %s \"t\"")) %
                     draw.choice(list(kinds)))
    joined = "".join(line + draw.choice(("\n", "\n", " # why\n", "\n\n", " ")) for line in lines)
    questions = {name(draw, 5) for _ in range(15)} | {"x.org", "y.org", "elsewhere.org"} | set(kinds) | set(said)
    for owner in list(kinds) + list(said):
        questions |= {"z." + owner, "0.z." + owner}
    return "server:\n" + joined + "\n", sorted(questions), {"format": "unbound"}


class Unbound(zones.Resolver):
    def start(self, path):
        conf = self.put("conf", """server:
            module-config: "iterator"\n define-tag: "t u"\n interface: 127.0.0.1@%d\n do-daemonize: no\n chroot: ""
            username: ""\n directory: "/lists"\n pidfile: ""\n use-syslog: no\n do-not-query-localhost: no\n do-ip6: no\n num-threads: 1
            forward-zone:\n name: .\n forward-addr: %s\n include: %s\n""" % (self.port, zones.UPSTREAM, path))
        return self.root.start("unbound", "-d", "-c", conf)


def engines(root):
    return [zones.First(Unbound(root, "unbound", 5321, "local-zone: probe always_nxdomain\n"))]


def is_left_out(text, asked, _reading):
    """What a tag or an override makes conditional; this client has none."""
    owners = re.findall(r"local-zone-(?:tag|override): (\S+)", text)
    return any(asked == owner or asked.endswith("." + owner) for owner in owners)


def may_be_refused(_text, reason):
    return "no line could be read" in reason or "no entries" in reason
