#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""odd.py IFACE LISTED: queries that few clients send, made byte by byte, from IFACE over IPv4 and
IPv6. LISTED: a domain that is answered NXDOMAIN. Every answer is checked to the last bit. Says what
was not as it must be, then a line `reason NUMBER` for what the counters must have more, and
exits 0 if all was as it must be. Debian's own Python, which has scapy."""
import logging
import os
import select
import sys
import time

logging.getLogger("scapy").setLevel(logging.ERROR)
# pylint: disable=wrong-import-position
from scapy.layers.dns import DNSRR, DNSRROPT, EDNS0TLV
from scapy.layers.inet import IP, UDP, IPOption_NOP, fragment
from scapy.layers.inet6 import (IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                                fragment6)
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.config import conf

IFACE, LISTED = sys.argv[1:]
PATIENCE = int(os.environ.get("XB_TEST_PATIENCE", "1"))
HERE, THERE = "02:00:00:00:00:02", "02:00:00:00:00:01"
ENDS = {4: ("10.77.0.2", "10.77.0.1"), 6: ("fd77::2", "fd77::1")}
UNLISTED = "other.example"
OPTIONS = [EDNS0TLV(optcode=3, optdata=b""), EDNS0TLV(optcode=10, optdata=b"12345678"),
           EDNS0TLV(optcode=8, optdata=b"\0\1\x18\0\xc0\0\2"), EDNS0TLV(optcode=12, optdata=bytes(300))]


def wire(name):
    return b"".join(bytes([len(one)]) + one.encode() for one in name.split(".")) + b"\0"


def question(name, qtype=1, qclass=1):
    """Scapy would write names its own way."""
    return wire(name) + qtype.to_bytes(2, "big") + qclass.to_bytes(2, "big")


def header(identity, flags=0x0100, counts=(1, 0, 0, 0)):
    return b"".join(one.to_bytes(2, "big") for one in (identity, flags) + counts)


class Case:
    """What goes out, what must come back: `answer` from the filter, `resolver`, or `silence`."""

    def __init__(self, family, wanted, reason, **given):
        self.family, self.wanted, self.reason, self.given = family, wanted, reason, given
        self.name = given.pop("name")
        self.identity = 0
        self.got = []

    def body(self):
        given = self.given
        if "raw" in given:
            return self.identity.to_bytes(2, "big") + given["raw"]
        counts = given.get("counts", (1, 0, 0, 1 if "opt" in given else 0))
        return (header(self.identity, given.get("flags", 0x0100), counts) +
                given.get("question", question("Odd-One." + LISTED)) +
                (bytes(given["opt"]) if "opt" in given else b"") + given.get("more", b""))

    def frames(self):
        given, (source, destination) = self.given, ENDS[self.family]
        ether = Ether(src=HERE, dst=given.get("to", THERE))
        ip = (IP if self.family == 4 else IPv6)(src=given.get("src", source), dst=destination)
        if "ip" in given:
            ip = given["ip"](ip)
        udp = UDP(sport=given.get("sport", 20000 + self.identity), dport=53, **given.get("udp", {}))
        packet = ip / udp / Raw(self.body()) / Raw(given.get("behind", b""))
        if "behind" in given:
            packet[UDP].len = 8 + len(self.body())
        if "pieces" in given:
            return [ether / one for one in given["pieces"](packet)]
        return [ether / packet]

    def wrong(self):
        """None, or what is wrong with what came back."""
        if self.wanted == "silence":
            return "an answer" if self.got else None
        if len(self.got) != 1:
            return "%d answers" % len(self.got)
        frame = self.got[0]
        if self.wanted == "resolver":
            return None if frame[UDP].sport == 53 else "another port"
        return self.wrong_answer(frame)

    def wrong_answer(self, frame):
        sent, asked = self.frames()[0], self.body()
        answer = bytes(frame[UDP].payload)[:frame[UDP].len - 8]
        flags = self.given.get("flags", 0x0100)
        end = 12 + len(self.given.get("question", question("Odd-One." + LISTED)))
        opt = b""
        if "opt" in self.given:
            opt = b"\0\0\x29" + (1232).to_bytes(2, "big") + b"\0\0"
            opt += (self.given["opt"].z & 0x8000).to_bytes(2, "big") + b"\0\0"
        wanted = (header(self.identity, 0x8083 | flags & 0x0110, (1, 0, 0, 1 if opt else 0)) +
                  asked[12:end] + opt)
        if answer != wanted:
            return "message %s, not %s" % (answer.hex(), wanted.hex())
        there = IP if self.family == 4 else IPv6
        if ((frame.src, frame.dst) != (sent.dst, sent.src) or
                (frame[there].src, frame[there].dst) != (sent[there].dst, sent[there].src) or
                (frame[UDP].sport, frame[UDP].dport) != (53, sent[UDP].sport)):
            return "addresses or ports: " + frame.summary()
        again = frame[there].copy()
        del again[UDP].chksum, again[UDP].len
        if self.family == 4:
            del again.chksum, again.len
        else:
            del again.plen
        again[UDP].remove_payload()
        again = again / Raw(answer)
        carried = bytes(frame[there])[:len(bytes(again))]
        if bytes(again) != carried:
            return "sums or lengths: %s, not %s" % (carried.hex(), bytes(again).hex())
        if not frame[UDP].chksum:
            return "no sum"
        long = max(14 + len(carried), min(len(sent), 60))
        return None if len(frame) == long else "%d bytes, not %d" % (len(frame), long)


def opt(z=0, rdata=(), **more):
    return DNSRROPT(rrname=".", rclass=4096, z=z, rdata=list(rdata), **more)


def cases(family):
    def answer(name, **given):
        yield Case(family, "answer", "name_nxdomain", name=name, **given)

    def resolver(name, reason="name_clean", **given):
        yield Case(family, "resolver", reason, name=name, **given)

    def silence(name, reason, **given):
        yield Case(family, "silence", reason, name=name, **given)

    deep = ".".join(["a"] * ((253 - len(LISTED)) // 2)) + "." + LISTED
    yield from answer("plain")
    yield from answer("source port 53", sport=53)
    yield from answer("capitals", question=question("_DmArC.wWw." + LISTED.upper()))
    yield from answer("as deep as can be", question=question(deep))
    yield from answer("63 bytes in a label", question=question("x" * 63 + "." + LISTED))
    yield from answer("bytes that are no letters", question=b"\4\0.\xff " + question(LISTED))
    yield from answer("type ANY", question=question(LISTED, 255))
    yield from answer("type HTTPS, class CH", question=question(LISTED, 65, 3))
    yield from answer("no RD", flags=0)
    yield from answer("AD, CD and Z", flags=0x0170)
    yield from answer("rcode in the query", flags=0x0105)
    yield from answer("AA, TC and RA", flags=0x0780)
    yield from answer("EDNS", opt=opt())
    yield from answer("EDNS, DO", opt=opt(0x8000))
    yield from answer("EDNS, all bits of Z", opt=opt(0xffff))
    yield from answer("EDNS, extended rcode", opt=opt(extrcode=7))
    yield from answer("EDNS, options", opt=opt(rdata=OPTIONS))
    yield from answer("EDNS, DO, options, deep", opt=opt(0x8000, OPTIONS), question=question(deep))
    yield from answer("more in the packet than UDP says", behind=b"behind")
    if family == 4:
        yield from answer("no checksum", udp={"chksum": 0})

    yield from resolver("unlisted", question=question("Odd." + UNLISTED))
    yield from resolver("the root", question=question("")[1:])
    yield from resolver("listed, but with a letter before", question=question("x" + LISTED))
    yield from resolver("listed, but with a label behind", question=question(LISTED + ".example"))
    yield from resolver("listed as one label", question=b"\x0d" + LISTED.encode()[:13] +
                        question("example"))

    for name, given in {
            "EDNS of another version": {"opt": opt(version=1)},
            "something behind the question": {"more": b"\0"},
            "something behind OPT": {"opt": opt(), "more": b"\0"},
            "an additional record that is no OPT":
                {"more": bytes(DNSRR(rrname="x", rdata="192.0.2.1")), "counts": (1, 0, 0, 1)},
            "an answer in the query":
                {"more": bytes(DNSRR(rrname="x", rdata="192.0.2.1")), "counts": (1, 1, 0, 0)},
            "an authority in the query":
                {"more": bytes(DNSRR(rrname="x", rdata="192.0.2.1")), "counts": (1, 0, 1, 0)},
            "two additional records": {"opt": opt(), "more": bytes(opt()), "counts": (1, 0, 0, 2)},
            "OPT that is announced but missing": {"counts": (1, 0, 0, 1)},
            "to everybody": {"to": "ff:ff:ff:ff:ff:ff"},
            "to a group": {"to": "33:33:00:00:00:01"},
            "source port 0": {"sport": 0},
            "from nobody": {"src": "0.0.0.0" if family == 4 else "::"},
            "from this host": {"src": "127.0.0.1" if family == 4 else "::1"},
            "from a group": {"src": "224.0.0.1" if family == 4 else "ff02::1"}}.items():
        yield from silence(name, "name_unanswered", **given)
    if family == 4:
        yield from silence("IP options", "name_unanswered",
                           ip=lambda ip: IP(src=ip.src, dst=ip.dst, options=[IPOption_NOP()] * 4))
    else:
        yield from silence("hop-by-hop options", "name_unanswered",
                           ip=lambda ip: ip / IPv6ExtHdrHopByHop())
        yield from silence("destination options twice", "name_unanswered",
                           ip=lambda ip: ip / IPv6ExtHdrDestOpt() / IPv6ExtHdrDestOpt())
        yield from silence("a fragment that is whole", "name_unanswered",
                           ip=lambda ip: ip / IPv6ExtHdrFragment())

    # What is no whole query with one name is not for the filter to judge.
    head = header(0)[2:]
    for name, reason, given in (
            ("cut in the name", "dns_short", {"raw": head + b"\7exa"}),
            ("cut behind the name", "dns_short", {"raw": head + wire(LISTED) + b"\0\1\0"}),
            ("cut in the header", "dns_short", {"raw": b"\1\0\0\1"}),
            ("a response", "dns_response", {"flags": 0x8180}),
            ("NOTIFY", "dns_opcode", {"flags": 0x2000}),
            ("two questions", "dns_questions", {"counts": (2, 0, 0, 0), "more": question(LISTED)}),
            ("no question", "dns_questions", {"counts": (0, 0, 0, 0)}),
            ("a compressed name", "dns_compressed", {"question": b"\3www\xc0\x0c\0\1\0\1"}),
            ("a label of a reserved type", "dns_label", {"question": b"\x41\0" + question(LISTED)}),
            ("a name too long", "dns_long",
             {"question": question(".".join(["x" * 49] * 5 + [LISTED]))})):
        yield Case(family, "either", reason, name=name, **given)
    pieces = (lambda packet: fragment(packet, 32)) if family == 4 else \
             (lambda packet: fragment6(IPv6(src=packet.src, dst=packet.dst) /
                                       IPv6ExtHdrFragment() / packet.payload, 96))
    whole = Case(family, "resolver", "dns_fragment", name="in fragments", opt=opt(rdata=OPTIONS[:1]),
                 question=question("in-pieces." + "y" * 60 + "." + LISTED), pieces=pieces)
    yield whole


def receive(link, asked, seconds):
    until = time.monotonic() + seconds
    while select.select([link], [], [], max(until - time.monotonic(), 0))[0]:
        frame = link.recv(2048)
        if frame is None or UDP not in frame or frame.src != THERE or frame[UDP].sport != 53:
            continue
        one = asked.get((4 if IP in frame else 6, int.from_bytes(bytes(frame[UDP].payload)[:2], "big")))
        if one:
            one.got.append(frame)


def main():
    conf.checkIPaddr = False
    asked, counted, bad = {}, {}, 0
    for family in ENDS:
        for number, one in enumerate(cases(family), 1):
            one.identity = number
            asked[family, number] = one
    link = conf.L2socket(iface=IFACE)
    for one in asked.values():
        frames = one.frames()
        for frame in frames:
            link.send(frame)
        counted[one.reason] = counted.get(one.reason, 0) + len(frames)
        receive(link, asked, 0)
    until = time.monotonic() + 20 * PATIENCE
    receive(link, asked, 0.4)
    while time.monotonic() < until and any(one.wanted in ("answer", "resolver") and not one.got
                                           for one in asked.values()):
        receive(link, asked, 0.1)
    for (family, _), one in asked.items():
        wrong = None if one.wanted == "either" else one.wrong()
        if wrong:
            bad += 1
            print("IPv%d, %s: %s" % (family, one.name, wrong))
    for reason in sorted(counted):
        print(reason, counted[reason])
    return bad > 0


sys.exit(main())
