# SPDX-License-Identifier: GPL-2.0-or-later
"""firewalld: sets as its own reader takes them, put into ipset, which says of sources whether they are in."""
import json
import subprocess

import ipset

PACKAGES = ("python3-firewall", "ipset")
NAMES = False

# In the root: a file after the other, named on standard input.
READER = """
import json, sys
sys.path.insert(0, "/usr/lib/python3/dist-packages")
from firewall.core.io.ipset import ipset_reader
for line in sys.stdin:
    try:
        read = ipset_reader("set.xml", "/lists")
        said = {"type": read.type, "options": read.options, "entries": read.entries}
    except Exception as error:
        said = {"error": str(error)}
    print(json.dumps(said), flush=True)
"""


def entry(draw, kind, ipv6):
    """Mostly of the family, and mostly right."""
    text = ipset.member(draw, draw.choice(("hash:net", kind)), ipv6 if draw.random() < 0.9 else not ipv6)
    wrong = draw.random()
    if wrong < 0.04:
        text = draw.choice((" %s", "%s ", "%s nomatch", "!%s", "%s,tcp:25", "[%s]", "%s\n")) % text
    elif wrong < 0.06:
        text = draw.choice(("0.0.0.0", "0.0.0.0/0", "::/0", "10.0.0.0/255.255.255.0", "bad.example", "", "10.0.0.1/33"))
    return text


def make(draw):
    kind = draw.choice(("hash:net", "hash:ip"))
    ipv6 = draw.random() < 0.4
    parts = ["<entry>%s</entry>" % entry(draw, kind, ipv6) for _ in range(draw.randrange(9))]
    if ipv6 or draw.random() < 0.5:
        parts.insert(draw.choice((0, len(parts))), '<option name="family" value="%s"/>' % ("inet6" if ipv6 else "inet"))
    if draw.random() < 0.1:
        parts.append('<option name="family" value="%s"/>' % draw.choice(("inet", "inet6")))
    if draw.random() < 0.1:
        parts.insert(0, '<option name="timeout" value="%s"/>' % draw.choice(("0", "60")))
    if draw.random() < 0.3:
        parts.insert(0, '<option name="maxelem" value="100"/><short>s</short><description>10.0.0.1\n</description>')
    text = '<?xml version="1.0" encoding="utf-8"?>\n<ipset type="%s">\n%s\n</ipset>\n' % (kind, "\n".join(parts))
    return text, ipset.QUESTIONS, {}


class Firewalld:
    def __init__(self, root):
        self.sets = ipset.Ipset(root)
        self.root, self.version = root, root.version("python3-firewall")
        self.reader = subprocess.Popen(["chroot", root.path, "python3", "-c", READER], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def refused(self, text, questions):
        self.root.file("set.xml", text)
        self.reader.stdin.write("set.xml\n")
        self.reader.stdin.flush()
        read = json.loads(self.reader.stdout.readline())
        if "error" in read:
            return set()
        family = read["options"].get("family", "inet")
        # firewalld gives all to one `ipset restore`, which ends at the first that ipset refuses: here each counts alone. What
        # has a blank it puts in single quotes, which ipset does not know.
        lines = ["create a %s family %s" % (read["type"], family)]
        return self.sets.tested("# a\n" + lines[0] + "\n", questions, ["add a %s -exist" % one for one in read["entries"] if " " not in one])

    def close(self):
        self.reader.stdin.close()
        self.reader.wait()
        self.sets.close()


def engines(root):
    return [Firewalld(root)]


def is_left_out(text, _asked, _reading):
    """firewalld takes addresses in brackets; the product tells that it left them out."""
    return "<entry>[" in text


def may_be_refused(text, reason):
    return reason.endswith(": no entries") or "nothing of it can be listed" in reason or "reads none of its entries" in reason and 'value="60"' in text
