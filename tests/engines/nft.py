# SPDX-License-Identifier: GPL-2.0-or-later
"""nft: rulesets of several tables, sets, maps and chains, as `nft -j list ruleset` writes them. The engine is the kernel:
packets of each source, to several ports, decide."""
import ipaddress
import json
import socket
import struct
import subprocess
import time

import probes

PACKAGES = ("nftables",)
NAMES = False
HERE = {4: "198.51.100.254", 6: "2001:db8:ffff::1"}
DOORS = ("in0", "in1")
PORTS = (22, 53)
SOURCES = {4: ["192.0.2.%d" % last for last in (1, 2, 3, 4, 5, 6, 7, 8, 130, 131, 132, 200)] + ["198.18.7.1", "198.18.7.9"],
           6: ["2001:db8::%x" % last for last in (1, 2, 3, 0x10, 0x11)] + ["2001:db8:7::1"]}


# --- rulesets ---

class Table:
    def __init__(self, draw, family, name):
        self.draw, self.family, self.name = draw, family, name
        self.versions = {"ip": [4], "ip6": [6]}.get(family, [4, 6])
        self.sets, self.maps, self.chains, self.lines = {}, {}, [], []
        self.ingress = draw.random() < 0.12     # where some conditions cannot be asked for


def span(draw, version):
    """A source, or several: an address, a prefix or a range."""
    address = ipaddress.ip_address(draw.choice(SOURCES[version]))
    if draw.random() < 0.55:
        return str(address)
    if draw.random() < 0.6:
        return str(ipaddress.ip_network((address, address.max_prefixlen - draw.randint(1, 8)), strict=False))
    return "%s-%s" % (address, address + draw.randint(1, 5))


def spans(draw, version, most):
    """So many that they do not overlap, which nft refuses."""
    found, taken = [], []
    for _ in range(draw.randint(1, most)):
        text = span(draw, version)
        first, last = ends(text)
        if all(last < other or first > end for other, end in taken):
            taken.append((first, last))
            found.append(text)
    return found


def ends(text):
    if "-" in text:
        return tuple(ipaddress.ip_address(part) for part in text.split("-"))
    network = ipaddress.ip_network(text)
    return network[0], network[-1]


def make_set(table, name, plain):
    draw, version = table.draw, table.draw.choice(table.versions)
    kind = "ipv%d_addr" % version if draw.random() < 0.7 else None
    flags, elements = ["interval"], []
    timed = draw.random() < 0.25
    if timed:
        flags.append("timeout")
    for text in spans(draw, version, 5):
        if timed and draw.random() < 0.6:
            text += " timeout %dh" % draw.randint(2, 9)
        if draw.random() < 0.2:
            text += ' comment "never drop, these }"'
        elements.append(text)
    table.lines += ["  set %s {" % name, "    type %s;" % kind if kind else "    typeof ip%s saddr;" % ("6" * (version == 6)),
                    "    flags %s;" % ", ".join(flags)]
    if timed and draw.random() < 0.3:
        table.lines.append("    timeout 1h;")
    if draw.random() < 0.9:
        table.lines.append("    elements = { %s }" % ", ".join(elements))
    table.lines.append("  }")
    table.sets.setdefault(version, []).append(name)
    if plain or draw.random() < 0.7:
        return
    table.lines += ["  set %sp {" % name, "    type ipv%d_addr . inet_service;" % version, "    elements = { %s }" % ", ".join(
        "%s . %d" % (address, draw.choice(PORTS)) for address in draw.sample(SOURCES[version], 2)), "  }"]
    table.sets.setdefault((version, "port"), []).append(name + "p")


def make_dynamic(table):
    version = table.draw.choice(table.versions)
    table.lines += ["  set dyn {", "    type ipv%d_addr;" % version, "    flags dynamic;", "    size 1000;"]
    if table.draw.random() < 0.7:
        table.lines.append("    elements = { %s }" % ", ".join(table.draw.sample(SOURCES[version], 2)))
    table.lines.append("  }")
    table.sets[(version, "dynamic")] = ["dyn"]
    table.sets.setdefault(version, []).append("dyn")


def saddr(version):
    return "ip saddr" if version == 4 else "ip6 saddr"


def verdict(table, chain, policy_hook):
    """What a rule does; a jump goes to a chain behind this one, so that none leads back."""
    draw = table.draw
    further = [name for name in table.chains if name.startswith("c") and name > chain]
    choices = ["accept"] * 3 + ["drop"] * 8 + ["return"] * 2
    if further:
        choices += ["jump " + draw.choice(further)] * 3 + ["goto " + draw.choice(further)]
    if policy_hook == "input":
        choices += ["reject"]
    return draw.choice(choices)


def of_source(table, version):
    """A condition on the source alone."""
    draw, who = table.draw, saddr(version)
    sets = table.sets.get(version, [])
    unequal = draw.choice(("",) * 6 + ("!= ",))
    kind = draw.randrange(8)
    if sets and kind < 4:
        return "%s %s@%s" % (who, unequal, draw.choice(sets))
    if kind == 4:
        return "%s %s{ %s }" % (who, unequal, ", ".join(spans(draw, version, 4)))
    if kind == 5:
        return "%s %s %s" % (who, draw.choice(("<", ">", "<=", ">=")), draw.choice(SOURCES[version]))
    if kind == 6 and version == 4:
        mask = draw.choice(("255.255.255.252", "255.255.255.0", "0.0.0.3"))
        network = int(ipaddress.ip_address(draw.choice(SOURCES[4]))) & int(ipaddress.ip_address(mask))
        return "ip saddr & %s %s %s" % (mask, draw.choice(("==", "==", "!=")), ipaddress.ip_address(network))
    return "%s %s%s" % (who, unequal, span(draw, version))


def besides(table, version):
    """A condition on something else."""
    draw = table.draw
    choices = ["tcp dport 22", "udp dport { 22, 53 }", "meta l4proto udp", "meta l4proto { tcp, udp } th dport 53",
               "limit rate 5/second", "limit rate over 5/second", "meta mark 1", "quota over 100 bytes",
               "%s %s" % (saddr(version).replace("saddr", "daddr"), HERE[version]),
               "icmp type echo-request" if version == 4 else "icmpv6 type echo-request"]
    if table.family != "netdev" and not table.ingress:
        choices += ['iifname "in0"', 'iifname "in1"', 'iifname "lo"', 'iifname != "lo"', 'iif lo', "ct state new",
                    "ct state established,related", "ct state { new, invalid }", "fib saddr type local"]
    if table.family == "inet":
        choices.append("meta nfproto ipv%d" % version)
    if table.family in ("netdev", "inet"):
        choices.append("meta protocol ip" + "6" * (version == 6))
    pairs = table.sets.get((version, "port"), [])
    if pairs:
        choices += ["%s . udp dport @%s" % (saddr(version), draw.choice(pairs))] * 2
    choices.append("%s . udp dport { %s . 22 }" % (saddr(version), draw.choice(SOURCES[version])))
    if (version, "dynamic") in table.sets:
        choices += ["%s @dyn { %s }" % (draw.choice(("add", "update")), saddr(version))] * 3
        choices += ["delete @dyn { %s }" % saddr(version)]
    return draw.choice(choices)


def vmap(table, chain, version, plain):
    draw = table.draw
    pairs = ["%s : %s" % (text, verdict(table, chain, "").replace("reject", "drop")) for text in spans(draw, version, 4)]
    if plain or draw.random() < 0.6:
        return "%s vmap { %s }" % (saddr(version), ", ".join(pairs))
    return draw.choice(("%s . udp dport vmap { %s . 22 : %s }" % (saddr(version), draw.choice(SOURCES[version]),
                                                                  draw.choice(("accept", "drop"))),
                        "meta l4proto vmap { tcp : drop, udp : %s }" % draw.choice(("accept", "return")),
                        "meta protocol vmap { ip : accept, ip6 : %s }" % draw.choice(("drop", "continue"))
                        if table.family == "inet" else "th dport vmap { 22 : accept, 53 : drop }"))


def rule(table, chain, hook, plain):
    draw, version = table.draw, table.draw.choice(table.versions)
    words = []
    if draw.random() < 0.1:
        return vmap(table, chain, version, plain)
    if draw.random() < 0.93:
        words.append(of_source(table, version))
    if draw.random() < 0.08:
        words.append(of_source(table, version))
    if not plain and draw.random() < 0.25:
        words.insert(draw.randrange(len(words) + 1), besides(table, version))
    if not words and table.family == "inet" and draw.random() < 0.5:
        words.append("meta nfproto %s%s" % (draw.choice(("", "!= ")), draw.choice(("ipv4", "ipv6", "{ ipv4, ipv6 }"))))
    if not words:
        words.append(besides(table, version) if not plain else of_source(table, version))
    if draw.random() < 0.2:
        words.append("counter")
    if draw.random() < 0.1:
        words.append("meta mark set 1")
    does = verdict(table, chain, hook)
    of_sources = all(" saddr " in word and " . " not in word for word in words)
    if does == "reject" and not plain and of_sources and draw.random() < 0.5:
        does = "reject with tcp reset"
    words.append(does)
    if draw.random() < 0.1:
        words.append('comment "accept, drop"')
    return " ".join(words)


def make_map(table):
    draw, version = table.draw, table.draw.choice(table.versions)
    pairs = ["%s : %s" % (text, draw.choice(("accept", "drop", "drop", "return"))) for text in spans(draw, version, 4)]
    table.lines += ["  map m {", "    type ipv%d_addr : verdict;" % version, "    flags interval;",
                    "    elements = { %s }" % ", ".join(pairs), "  }"]
    table.maps[version] = "m"


def base(table, number, plain):
    draw = table.draw
    hooks = {"netdev": ["ingress"], "inet": ["ingress"] * 2 if table.ingress else ["input", "input", "prerouting", "forward", "output"],
             "bridge": ["input"], "arp": ["input"]}.get(table.family, ["input", "input", "prerouting", "forward"])
    hook = draw.choice(hooks)
    kind, device = "filter", ""
    if hook == "ingress":
        device = ' device "%s"' % ("in0" if plain or draw.random() < 0.7 else "in1")
    if hook == "prerouting" and draw.random() < 0.2:
        kind = "nat"
    policy = "drop" if draw.random() < 0.15 and kind == "filter" and hook != "output" else "accept"
    name = "b%d" % number
    if not number and not table.ingress and hook in ("forward", "output"):
        hook, policy = "input", "accept"
    table.lines += ["  chain %s {" % name, "    type %s hook %s%s priority %d; policy %s;" % (
        kind, hook, device, draw.choice((-100 if kind == "nat" else -300, -150 if kind == "filter" else -100, 0, 10)), policy)]
    if table.family in ("bridge", "arp"):
        table.lines += ["    drop"]
    elif kind == "nat":
        table.lines += ["    %s %s" % (of_source(table, version), draw.choice(("accept", "return")))
                        for version in table.versions]
    else:
        for _ in range(draw.randint(1, 6)):
            table.lines.append("    " + rule(table, name, hook if hook == "input" else "", plain))
        for version, found in table.maps.items():
            if draw.random() < 0.5:
                table.lines.append("    %s vmap @%s" % (saddr(version), found))
    table.lines.append("  }")


def ruleset(draw):
    plain = draw.random() < 0.5
    text = []
    for number in range(draw.choice((1, 1, 2, 2, 3))):
        family = draw.choice(("inet", "inet", "inet", "ip", "ip", "ip6", "netdev", "bridge", "arp")[:9 if number else 6])
        table = Table(draw, family, "t%d" % draw.randrange(2) if number else "t")
        if any(line == "table %s %s {" % (family, table.name) for line in text):
            continue
        text.append("table %s %s {" % (family, table.name))
        if number and draw.random() < 0.12:
            table.lines.append("  flags dormant;")
        if family not in ("bridge", "arp"):
            for name in draw.sample(("s", "bad", "admins"), draw.randint(0, 3)):
                make_set(table, name, plain)
            if not plain and draw.random() < 0.3:
                make_dynamic(table)
            if draw.random() < 0.3:
                make_map(table)
            table.chains = ["c%d" % chain for chain in range(draw.randint(0, 3))]
        for name in reversed(table.chains):
            table.lines += ["  chain %s {" % name]
            table.lines += ["    " + rule(table, name, "", plain) for _ in range(draw.randint(1, 4))]
            if draw.random() < 0.4:
                table.lines.append("    " + draw.choice(("drop", "drop", "accept", "return")))
            table.lines.append("  }")
        for chain in range(draw.choice((1, 1, 2))):
            base(table, chain, plain)
        text += table.lines + ["}"]
    return "\n".join(text) + "\n"


# --- packets ---

def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def packet(source, protocol, port, mark):
    """An IP packet to this machine: ICMP echo, UDP, or a SYN."""
    version = 6 if ":" in source else 4
    family = socket.AF_INET6 if version == 6 else socket.AF_INET
    pair = socket.inet_pton(family, source) + socket.inet_pton(family, HERE[version])
    if protocol in (1, 58):
        load, at = struct.pack("!BBHHH", 8 if protocol == 1 else 128, 0, 0, mark, 1), 2
    elif protocol == 17:
        load, at = struct.pack("!HHHH", mark, port, 8, 0), 6
    else:
        load, at = struct.pack("!HHIIBBHHH", mark, port, 1, 0, 5 << 4, 2, 1024, 0, 0), 16
    pseudo = b"" if protocol == 1 else pair + struct.pack("!IxxxB", len(load), protocol) if version == 6 \
        else pair + struct.pack("!BBH", 0, protocol, len(load))
    value = checksum(pseudo + load) or 0xffff
    load = load[:at] + struct.pack("!H", value) + load[at + 2:]
    if version == 6:
        return struct.pack("!IHBB", 6 << 28, len(load), protocol, 64) + pair + load
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(load), 1, 0, 64, protocol, 0) + pair
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + load


class Kernel:
    def __init__(self, root):
        self.root, self.version, self.mark = root, root.version("nftables"), 20000
        self.senders, self.macs = {}, {}
        for number, door in enumerate(DOORS):
            self.link("add", door, "type", "veth", "peer", "name", "out%d" % number)
            self.link("set", door, "up", "arp", "off")
            self.link("set", "out%d" % number, "up", "arp", "off")
            self.macs[door] = self.mac(door)
            sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            sender.bind(("out%d" % number, 0))
            self.senders[door] = sender
        for words in (["address", "add", HERE[4] + "/32", "dev", "in0"], ["address", "add", HERE[6] + "/128", "dev", "in0", "nodad"],
                      ["route", "add", "default", "dev", "in0"], ["-6", "route", "add", "default", "dev", "in0"]):
            subprocess.run(["ip", *words], check=True)
        self.taps = {door: probes.Tap(door, sender) for door, sender in self.senders.items()}
        self.receivers = []
        for family, protocols in ((socket.AF_INET, (1, 6, 17)), (socket.AF_INET6, (58, 6, 17))):
            for protocol in protocols:
                receiver = socket.socket(family, socket.SOCK_RAW, protocol)
                receiver.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
                receiver.setblocking(False)
                self.receivers.append(receiver)

    @staticmethod
    def link(*words):
        subprocess.run(["ip", "link", *words], check=True)

    @staticmethod
    def mac(door):
        told = json.loads(subprocess.run(["ip", "-j", "link", "show", door], check=True, stdout=subprocess.PIPE).stdout)
        return bytes.fromhex(told[0]["address"].replace(":", ""))

    def nft(self, *words, text=None):
        if text is not None:
            self.root.file("rules", text)
        done = self.root.run("nft", *words)
        if done.returncode:
            raise RuntimeError("nft: %s\n%s" % (done.stdout, text))
        return done.stdout

    def load(self, text):
        """What nft writes of the ruleset."""
        self.nft("-f", "/lists/rules", text="flush ruleset\n" + text)
        return self.nft("-j", "list", "ruleset")

    def send(self, door, source, protocol, port):
        kind = b"\x86\xdd" if ":" in source else b"\x08\x00"
        self.senders[door].send(self.macs[door] + probes.SENDER + kind + packet(source, protocol, port, self.mark))

    def arrived(self):
        """The sources of packets with this mark that came through: earlier ones may be late."""
        found = set()
        for receiver in self.receivers:
            while True:
                try:
                    data, address = receiver.recvfrom(2048)
                except BlockingIOError:
                    break
                load = data[20:] if ":" not in address[0] else data
                mark = load[4:6] if receiver.proto in (1, 58) else load[:2]
                if mark == struct.pack("!H", self.mark):
                    found.add(address[0].split("%")[0])
        return found

    def connect(self, source):
        """This machine asks the source, which answers."""
        version = 6 if ":" in source else 4
        with socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.bind((HERE[version], 0))
            try:
                asking.sendto(b"?", (source, self.mark))
            except OSError:
                return None
            return asking.getsockname()[1]

    def refused(self, _text, questions):
        doors = [door for door in DOORS if door == "in0" or '"in1"' in SCRIPT[0]]
        if LISTED:
            self.nft("-f", "/lists/rules", text=(
                "add chain %(place)s drops { type filter hook input priority 5; }\n"
                "add rule %(place)s drops %(who)s @%(name)s drop\n") % LISTED[0])
        self.arrived()
        self.mark = 20000 + (self.mark + 1) % 10000
        sent = dict.fromkeys(doors, 0)
        for source in questions:
            echo = 58 if ":" in source else 1
            answer = self.connect(source)
            for door in doors:
                for protocol, port in [(echo, 1)] + [(kind, port) for kind in (6, 17) for port in PORTS + (9,)]:
                    self.send(door, source, protocol, port)
                    sent[door] += 1
                if answer:
                    self.send(door, source, 17, answer)
                    sent[door] += 1
        for door, count in sent.items():
            self.taps[door].wait(count)
        time.sleep(0.003)
        return set(questions) - self.arrived()

    def close(self):
        self.root.run("nft", "flush", "ruleset")
        for door in DOORS:
            self.link("del", door)


# --- the module ---

ENGINE, SCRIPT, LISTED = [], [""], []


def one_set(draw):
    """A table of sets alone, of which one is written: as text or as JSON, by itself or by its name."""
    table = Table(draw, draw.choice(("inet", "ip", "ip6")), "t")
    names = draw.sample(("s", "bad", "admins"), draw.randint(1, 3))
    for name in names:
        make_set(table, name, True)
    place, name = "%s %s" % (table.family, table.name), draw.choice(names)
    SCRIPT[0] = "\n".join(["table %s {" % place] + table.lines + ["}", ""])
    ENGINE[0].load(SCRIPT[0])
    version = 4 if name in table.sets.get(4, []) else 6
    LISTED[:] = [{"place": place, "name": name, "who": saddr(version)}]
    form = draw.choice((["-j"], []))
    if draw.random() < 0.5:
        return ENGINE[0].nft(*form, "list", "set", *place.split(), name), {}
    return ENGINE[0].nft(*form, "list", "ruleset"), {"set": draw.choice((name, "%s %s" % (place, name)))}


def make(draw):
    """The kernel has the ruleset then."""
    LISTED.clear()
    if draw.random() < 0.15:
        text, options = one_set(draw)
    else:
        SCRIPT[0] = ruleset(draw)
        text, options = ENGINE[0].load(SCRIPT[0]), {}
    return text, SOURCES[4] + SOURCES[6], options


def engines(root):
    ENGINE[:] = [Kernel(root)]
    return ENGINE


class Document:
    """What a ruleset says of sources, where nothing else counts."""
    HARMLESS = ("counter", "mangle", "accept", "drop", "reject", "return", "continue", "jump", "goto")

    def __init__(self, text):
        self.spans, self.plain, self.sets, objects = [], True, {}, json.loads(text)["nftables"]
        for one in objects:
            for kind in ("set", "map"):
                if kind in one:
                    self.sets[self.place(one[kind]) + (one[kind]["name"],)] = one[kind].get("elem", [])
            if one.get("chain", {}).get("hook") == "ingress":
                self.plain = False
            self.plain &= one.get("chain", {}).get("policy") != "drop"
        for one in objects:
            if "rule" in one:
                self.take(one["rule"])

    @staticmethod
    def place(one):
        return one["family"], one["table"]

    def elements(self, rule, value):
        if isinstance(value, str) and value.startswith("@"):
            return self.sets[self.place(rule) + (value[1:],)]
        return value["set"] if isinstance(value, dict) and "set" in value else [value]

    def span(self, value):
        if isinstance(value, dict) and "elem" in value:
            self.plain &= "timeout" not in value["elem"] and "expires" not in value["elem"]
            value = value["elem"]["val"]
        if isinstance(value, dict) and "prefix" in value:
            return ends("%(addr)s/%(len)d" % value["prefix"])
        if isinstance(value, dict):
            return ends("-".join(value["range"]))
        return ends(value)

    def take(self, rule):
        """The spans that a rule names and drops, or sends elsewhere."""
        named, does = [], [next(iter(one)) for one in rule["expr"]]
        for one in rule["expr"]:
            kind, value = next(iter(one.items()))
            if kind in ("match", "vmap"):
                left = value.get("left", value.get("key"))
                if left.get("payload", {}).get("field") != "saddr":
                    self.plain &= kind == "match" and left.get("meta", {}).get("key") in ("nfproto", "protocol")
                    continue
                if kind == "match" and value["op"] in ("==", "!="):
                    found = [self.span(span) for span in self.elements(rule, value["right"])]
                    named += found if value["op"] == "==" else []
                elif kind == "vmap":
                    self.spans += [self.span(key) for key, verdict in self.elements(rule, value["data"])
                                   if next(iter(verdict)) in ("drop", "jump", "goto")]
            elif kind not in self.HARMLESS or value == {"type": "tcp reset"}:
                self.plain = False
        if {"drop", "reject", "jump", "goto"}.intersection(does):
            self.spans += named
            # Who is dropped before, by a rule that does not name him, is not listed.
            self.plain &= bool(named) or rule["chain"].startswith("c") and len(rule["expr"]) == 1

    def names(self, asked):
        asked = ipaddress.ip_address(asked)
        return any(first.version == asked.version and first <= asked <= last for first, last in self.spans)


def is_left_out(text, asked, _reading):
    """Whom no rule names, and who is refused only because of what the questions do not ask."""
    if LISTED:
        return False
    document = Document(text)
    return not document.plain or not document.names(asked)


def may_be_refused(_text, reason):
    """nft 1.0.6 writes no JSON of a table that is dormant: whatever is in memory stands where it should say so."""
    dormant = "flags dormant" in SCRIPT[0] and ("not JSON" in reason or "binary data" in reason)
    empty = LISTED and "elements" not in SCRIPT[0] or "no set '" in reason
    nobody = ("no entries", "nothing of it can be listed", "refuses all that are not named")
    return dormant or empty or any(words in reason for words in nobody)
