# SPDX-License-Identifier: GPL-2.0-or-later
"""nginx's geo: networks or ranges with values, in a block, of which the narrowest counts, and of equal ones the last."""
import web

PACKAGES = ("nginx-light",)
NAMES = False


def value(draw):
    return draw.choice(("0", "1", "1", "\"1\"", "\"\""))


def networks(draw):
    return ["%s %s;%s" % (web.address(draw), value(draw), draw.choice(("", "", " # x"))) for _ in range(draw.randint(1, 8))]


def ranges(draw):
    """Each inside those before it, the same, or apart: what nginx takes."""
    kept = []
    for _ in range(draw.randint(1, 8)):
        first, last = sorted((draw.randrange(16), draw.randrange(16)))
        if all(last < one or first > two or (one <= first and last <= two) for one, two in kept):
            kept.append((first, last))
    return ["ranges;"] + ["%s-%s %s;" % (web.FOUR % first, web.FOUR % last, value(draw)) for first, last in kept]


def make(draw):
    lines = ranges(draw) if draw.random() < 0.4 else networks(draw)
    if draw.random() < 0.5:
        lines.insert(draw.randint(1, len(lines)), "default %s;" % draw.choice(("0", "\"\"")))
    if draw.random() < 0.1:
        lines.insert(1, draw.choice(("proxy %s;" % web.address(draw), "proxy_recursive;")))
    variable = draw.choice(("",) * 20 + ("$remote_addr ", "$realip_remote_addr ", "$http_x_forwarded_for "))
    return "geo %s$bad {\n%s\n}\n" % (variable, "\n".join(lines)), web.SOURCES, {"format": "geo"}


def engines(root):
    return [web.Nginx(root, "include /lists/list;", "if ($bad) { return 403; }")]


def is_left_out(_text, _asked, _reading):
    return False


def may_be_refused(text, reason):
    if "sources are what a header says" in reason:
        return "proxy " in text or "$http" in text
    return "no entries" in reason or "nothing of it can be listed" in reason
