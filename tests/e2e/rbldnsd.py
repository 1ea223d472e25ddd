#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rbldnsd.py make DIRECTORY SEED | compare PORT KIND SAVED ANSWER: writes data of each kind for rbldnsd,
with exclusions that lie in each other; compares what its server answers with the entries (the output
of `bloomctl save`) that import made of them. Names in lines that import left out, as its answer in
JSON says, are passed over. No name has `*.` in front: such a line is listed with the domain itself."""
import ipaddress
import json
import os
import random
import socket
import struct
import sys

ZONE = "bl.test"
KINDS = ("ip4set", "ip4trie", "ip6trie", "dnset")
HEAD = """$SOA 3600 ns.test. admin.test. 0 600 300 86400 300
$NS 3600 ns.test.
$TTL 300
:127.0.0.2:listed, see http://example.test/?$
# what follows is random
"""
QUERIES = 4000
TELLS_LITTLE = 3    # exit code


def address4():
    return ipaddress.ip_address(0x14000000 | random.getrandbits(random.choice((6, 10, 18))))


def entry4(ranges):
    address = address4()
    how = random.randrange(6 if ranges else 4)
    if how == 0:
        return str(address)
    if how == 1:
        return ".".join(str(address).split(".")[:random.randint(2, 3)])
    if how == 4:
        first, last = sorted((int(address), int(address4())))
        return "%s-%s" % (ipaddress.ip_address(first), ipaddress.ip_address(last))
    if how == 5:
        octets = [int(octet) for octet in str(address).split(".")[:random.randint(2, 4)]]
        return "%s-%d" % (".".join(map(str, octets)), random.randint(octets[-1], 255))
    net = ipaddress.ip_network((int(address), random.randint(12, 32)), strict=False)
    return str(net) if random.random() < 0.8 else str(net.network_address)


def entry6():
    address = 0x20010db8 << 96 | random.getrandbits(6) << 90 | random.getrandbits(4)
    if random.random() < 0.2:
        return "2001:db8:%x" % (address >> 80 & 0xffff)
    return str(ipaddress.ip_network((address, random.choice((36, 40, 44, 48, 124, 126, 128))),
                                    strict=False))


def name():
    labels = [random.choice("abc") for _ in range(random.randint(1, 3))] + ["example"]
    return ".".join(labels)


def entry_of(kind):
    if kind == "dnset":
        return random.choice(("", ".")) + name()
    return entry6() if kind == "ip6trie" else entry4(kind == "ip4set")


def make(directory):
    for kind in KINDS:
        with open(os.path.join(directory, kind), "w", encoding="ascii") as data:
            data.write(HEAD)
            for _ in range(60 if kind != "dnset" else 16):
                excluded = random.random() < (0.25 if kind == "dnset" else 0.4)
                value = random.choice(("", "", " :4:why", " only text", " # comment"))
                data.write(("!" if excluded else "") + entry_of(kind) + value + "\n")


def asked(kind):
    """A query's name and what it is about."""
    if kind == "dnset":
        domain = random.choice(("", "a.", "b.a.", "x.")) + name()
        # A zone may list all below "example".
        if random.random() < 0.1:
            domain = domain.replace("example", "elsewhere")
        return domain, domain
    if kind == "ip6trie":
        about = ipaddress.ip_address(0x20010db8 << 96 | random.getrandbits(6) << 90 |
                                     random.getrandbits(4))
    else:
        about = address4()
    return about.reverse_pointer.rsplit(".", 2)[0], about


def is_served(server, number, domain):
    query = struct.pack(">6H", number, 0, 1, 0, 0, 0)
    for label in (domain + "." + ZONE).split("."):
        query += bytes([len(label)]) + label.encode()
    server.send(query + struct.pack(">xHH", 1, 1))
    answer = server.recv(4096)
    ident, flags, _, answers = struct.unpack(">4H", answer[:8])
    assert ident == number and flags & 15 in (0, 3), (domain, flags)
    return answers > 0


class Imported:
    """What the filter would do about an address or a name."""

    def __init__(self, path, name_of_list):
        self.networks, self.names, self.allowed = {}, set(), set()
        with open(path, encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                if line.get("list") == name_of_list and ("entry" in line or "allow" in line):
                    self.add(line.get("entry") or line["allow"], "allow" in line)

    def add(self, entry, allow):
        try:
            network = ipaddress.ip_network(entry)
        except ValueError:
            (self.allowed if allow else self.names).add(entry)
            return
        assert not allow, entry
        host_bits = network.max_prefixlen - network.prefixlen
        self.networks.setdefault((network.version, host_bits), set()).add(int(network.network_address) >> host_bits)

    def lists(self, about):
        if isinstance(about, str):
            return self.covers(self.names, about) and not self.covers(self.allowed, about)
        return any(version == about.version and int(about) >> host_bits in networks
                   for (version, host_bits), networks in self.networks.items())

    @staticmethod
    def covers(names, domain):
        labels = domain.split(".")
        return "=" + domain in names or any(".".join(labels[i:]) in names
                                            for i in range(len(labels)))


def left_out(path):
    """The domains in quotes at the beginning of what is told of lines."""
    with open(path, encoding="utf-8") as answer:
        lines = json.load(answer)["first_unknown_lines"]
    return {line["text"].split("'")[1].lstrip("=") for line in lines}


def compare(port, kind, path, answer_path):
    imported = Imported(path, kind)
    unclear = left_out(answer_path)
    served = compared = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.settimeout(60)
        server.connect(("127.0.0.1", port))
        for number in range(QUERIES):
            domain, about = asked(kind)
            if kind == "dnset" and Imported.covers(unclear, domain):
                continue
            compared += 1
            answer = is_served(server, number, domain)
            served += answer
            assert imported.lists(about) == answer, "%s %s: rbldnsd says %s" % (kind, about, answer)
    # The dice may make a zone that lists next to nothing, or of which little is clear.
    if compared <= QUERIES / 10 or not 5 <= served < compared:
        print("%s: %d of %d are listed" % (kind, served, compared))
        sys.exit(TELLS_LITTLE)


if sys.argv[1] == "make":
    random.seed(int(sys.argv[3]))
    make(sys.argv[2])
else:
    compare(int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5])
