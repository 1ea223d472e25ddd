# SPDX-License-Identifier: GPL-2.0-or-later
"""A list that holds for services, beside all else that a torture lists: its scope changes between two, and
one address comes into it and leaves it."""

MAIL = "mail"
ENTRIES = ["10.4.0.1", "10.4.1.0/24", "2001:db8:6::/48", "2001:db8:7::9"]
GUEST = "10.4.2.1"
NARROW, WIDE = "tcp/25", "tcp/25,tcp/465,udp/53"
# The list in the text of `save`.
SAVED = ['{"list":"%s","scope":"%s"}' % (MAIL, NARROW)] + [
    '{"entry":"%s","list":"%s"}' % (entry, MAIL) for entry in ENTRIES]


def begin(world):
    world.run("add", *ENTRIES, "--list", MAIL)
    world.run("scope", MAIL, NARROW)


def always():
    """For the checker: what holds whatever is done, or half done."""
    return ["drop %s tcp/25" % entry for entry in ENTRIES]


def as_saved(saved):
    """For the checker: what has to become of packets to each service, after these lines of `save`."""
    scope = next((line["scope"] for line in saved if line.get("list") == MAIL and "scope" in line), "")
    listed = {line["entry"] for line in saved if "entry" in line and line["list"] == MAIL}
    lines = []
    for service in ("tcp/25", "tcp/465", "udp/53", "tcp/26", "icmp"):
        lines += ["%s %s %s" % ("drop" if entry in listed and service in scope.split(",") else "pass",
                                entry, service) for entry in ENTRIES + [GUEST]]
    return lines
