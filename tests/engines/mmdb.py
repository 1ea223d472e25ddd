# SPDX-License-Identifier: GPL-2.0-or-later
"""MMDB databases, and libmaxminddb's mmdblookup: what it says of an address decides whether the address is meant."""
import ipaddress
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "support"))
# pylint: disable=wrong-import-position
import mmdbfile

PACKAGES = ("mmdb-bin",)
NAMES = False

COUNTRIES = ("DE", "AT", "FR", "ZZ", "EU", "XK", "de")
NOWHERE = {"ZZ", "XX", "EU", "AP", None}
ASNS = (1, 64500, 64501, 4294967295)
# What is asked, and how to find out, of each file by its text.
ASKED = {}
UNKNOWN = object()      # the database does not have the address
# The other ways by which a tree leads to IPv4.
ALIASES = [ipaddress.ip_network(alias) for alias in mmdbfile.ALIASES]


def geolite(draw):
    record = {"registered_country": {"iso_code": draw.choice(COUNTRIES)}, "continent": {"code": draw.choice(("EU", "AS"))}}
    if draw.random() < 0.8:
        record["country"] = {"geoname_id": draw.randrange(1 << 23), "names": {"en": "n" * draw.randrange(400)},
                             "iso_code": draw.choice(COUNTRIES)}
    return record


def ipinfo(draw):
    record = {"asn": "AS%d" % draw.choice(ASNS), "as_name": "x" * draw.randrange(40),
              "continent_code": draw.choice(("EU", "AS"))}
    if draw.random() < 0.8:
        record.update({"country": "Somewhere", "country_code": draw.choice(COUNTRIES)})
    return record


def asn(draw):
    return {"autonomous_system_organization": "x" * draw.randrange(40), "autonomous_system_number": draw.choice(ASNS)}


def own(draw):
    record = {"tags": [draw.choice("abc") for _ in range(draw.randrange(4))], "x": {"y": [True, 1.5, -3, b"z"]}}
    if draw.random() < 0.7:
        record["score"] = mmdbfile.Uint(draw.randrange(5), draw.choice((mmdbfile.UINT16, mmdbfile.UINT32, mmdbfile.UINT64)))
    if draw.random() < 0.7:
        record["vpn"] = draw.random() < 0.5
    return record


def among(codes):
    return lambda said: said is not None and said.upper() in codes and said.upper() not in NOWHERE


def beside(codes):
    return lambda said: said is not None and said.upper() not in NOWHERE and said.upper() not in codes


# Of each kind: what is said, the path of the engine, the options of ours, and which answers mean a network.
CASES = [
    (geolite, "country iso_code", {"country": "DE,at"}, among({"DE", "AT"})),
    (geolite, "country iso_code", {"not-country": "DE"}, beside({"DE"})),
    (geolite, "country iso_code", {"not-country": "XK,FR"}, beside({"XK", "FR"})),
    (geolite, "continent code", {"continent": "AS"}, lambda said: said == "AS"),
    (geolite, "registered_country iso_code", {"mmdb-path": "registered_country.iso_code=FR|ZZ"},
     lambda said: said in ("FR", "ZZ")),
    (ipinfo, "country_code", {"country": "FR"}, among({"FR"})),
    (ipinfo, "country_code", {"not-country": "FR,AT"}, beside({"FR", "AT"})),
    (ipinfo, "continent_code", {"continent": "EU"}, lambda said: said == "EU"),
    (ipinfo, "asn", {"asn": "64500,AS1"}, lambda said: said in ("AS64500", "AS1")),
    (asn, "autonomous_system_number", {"asn": "64501,4294967295"}, lambda said: said in ("64501", "4294967295")),
    (own, "score", {"mmdb-path": "score=1|3"}, lambda said: said in ("1", "3")),
    (own, "score", {"mmdb-path": "score"}, lambda said: said not in (None, "0")),
    (own, "vpn", {"mmdb-path": "vpn=false"}, lambda said: said == "false"),
    (own, "vpn", {"mmdb-path": "vpn"}, lambda said: said == "true"),
    (own, "tags 0", {"mmdb-path": "."}, lambda said: True),
]


def network(draw, version):
    if version == 4 or draw.random() < 0.5:
        length = draw.choice((draw.randint(5, 32), draw.randint(20, 28)))
        number = draw.choice((10, 10, 192, 223)) << 24 | draw.getrandbits(6) << draw.randrange(18)
        return ipaddress.ip_network((number, length), strict=False)
    length = draw.choice((draw.randint(13, 128), draw.randint(24, 48)))
    number = draw.choice((0x2001_0db8, 0x2a01_0000, 0x3000_0000)) << 96 | draw.getrandbits(8) << draw.randrange(100)
    return ipaddress.ip_network((number, length), strict=False)


def near(draw, one):
    """An address in the network, or next to it."""
    number = draw.choice((int(one.network_address), int(one.broadcast_address), int(one.network_address) + draw.randrange(
        one.num_addresses), int(one.network_address) - 1, int(one.broadcast_address) + 1))
    return str(type(one.network_address)(min(max(number, 0), (1 << one.max_prefixlen) - 1)))


def make(draw):
    say, path, options, means = draw.choice(CASES)
    version = draw.choice((4, 6, 6, 6))
    tree = mmdbfile.Tree(version, draw.choice((24, 28, 32)), say.__name__, draw.random() < 0.7, draw.random() < 0.7)
    # mmdblookup takes what is at the very beginning for nothing.
    tree.data.place("nothing")
    said = [say(draw) for _ in range(draw.randint(1, 6))]
    networks = [network(draw, version) for _ in range(draw.randint(1, 40))]
    for one in networks:
        tree.put(one, draw.choice(said))
    questions = {near(draw, draw.choice(networks)) for _ in range(24)}
    if version == 6:
        alias = draw.choice(("::ffff:a00:%x", "2002:a00:%x::1", "2001:0:a00:%x::"))
        questions |= {alias % draw.getrandbits(16) for _ in range(2)}
    text = tree.bytes().decode("utf-8", "surrogateescape")
    ASKED[text] = (path, means)
    return text, sorted(questions), dict(options)


class Mmdblookup:
    def __init__(self, root):
        self.root, self.version = root, root.version("libmaxminddb0")

    def refused(self, text, questions):
        path, means = ASKED[text]
        self.root.file("list", text)
        # It has no way to ask for several addresses at once.
        ask = "for one in %s; do echo \"== $one\"; mmdblookup -f /lists/list -i $one %s 2>&1; done"
        done = self.root.run("sh", "-c", ask % (" ".join(questions), path))
        found = {}
        for part in done.stdout.split("== ")[1:]:
            asked, answer = part.split("\n", 1)
            value = re.search(r'^ *(?:"(.*)"|(\S+)) <(?:utf8_string|uint\d+|boolean)>$', answer, re.M)
            if value:
                found[asked] = value.group(1) or value.group(2)
            elif "Could not find an entry" in answer:
                found[asked] = UNKNOWN
            elif "does not match the data" in answer or "No data was found" in answer:
                found[asked] = None
            else:
                raise RuntimeError("mmdblookup says: %s" % answer)
        return {asked for asked in questions if found[asked] is not UNKNOWN and means(found[asked])}

    def close(self):
        pass


def engines(root):
    return [Mmdblookup(root)]


def is_left_out(_text, asked, _reading):
    """IPv4 is listed once, not below the other ways to it."""
    return ":" in asked and any(ipaddress.ip_address(asked) in alias for alias in ALIASES)


def may_be_refused(_text, reason):
    return re.search("none of its networks (is among those that were asked for|has an? )", reason)
