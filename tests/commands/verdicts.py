# SPDX-License-Identifier: GPL-2.0-or-later
"""What has to become of a frame, by what is stored; and the frames: from each source one of no service, one to a port
that some scopes have, one to a port that few have, and ICMP; and queries for names to two ports."""
import ipaddress
import socket
import struct

import values

TCP, UDP, ICMP, ICMP6, NONE = 6, 17, 1, 58, 253
SERVICES = (("none", 0), ("tcp", 25), ("udp", 9), ("icmp", 0))
ASKED_PORTS = (53, 5300)
ASKING = "45.33.7.8"


class Frame:
    def __init__(self, source, service, port, name=None):
        self.source, self.service, self.port, self.name = source, service, port, name

    def __str__(self):
        return "%s %s/%d%s" % (self.source, self.service, self.port, " for " + self.name if self.name else "")

    def body(self):
        """Behind the addresses of Ethernet."""
        v6 = ":" in self.source
        protocol = {"none": NONE, "tcp": TCP, "udp": UDP, "icmp": ICMP6 if v6 else ICMP}[self.service]
        load = self.load(v6)
        if v6:
            return struct.pack("!HIHBB", 0x86dd, 6 << 28, len(load), protocol, 64) + \
                socket.inet_pton(socket.AF_INET6, self.source) + socket.inet_pton(socket.AF_INET6, "2a02:ffff::1") + load
        return struct.pack("!HBBHHHBBH", 0x800, 0x45, 0, 20 + len(load), 0, 0, 64, protocol, 0) + \
            socket.inet_aton(self.source) + socket.inet_aton("45.33.99.99") + load

    def load(self, v6):
        if self.service == "tcp":
            return struct.pack("!HHIIBBHHH", 40000, self.port, 1, 0, 0x50, 2, 1000, 0, 0) + bytes(8)
        if self.service == "icmp":
            return struct.pack("!BBHHH", 128 if v6 else 8, 0, 0, 1, 1) + bytes(20)
        if self.service == "none":
            return bytes(28)
        asked = b"" if not self.name else struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(
            bytes([len(label)]) + label.encode() for label in self.name.split(".")) + b"\0\0\1\0\1"
        asked = asked or bytes(20)
        return struct.pack("!HHHH", 40000, self.port, 8 + len(asked), 0) + asked


FRAMES = [Frame(source, service, port) for source in values.ADDRESSES for service, port in SERVICES] + \
    [Frame(ASKING, "udp", port, name) for name in values.DOMAINS for port in ASKED_PORTS]
NETWORKS = {}


def network(entry):
    if entry not in NETWORKS:
        NETWORKS[entry] = None if values.is_name(entry) else ipaddress.ip_network(entry)
    return NETWORKS[entry]


SOURCES = {source: ipaddress.ip_address(source) for source in values.ADDRESSES}


def covers(entry, source):
    found = network(entry)
    return found is not None and found.version == SOURCES[source].version and SOURCES[source] in found


def is_below(name, entry):
    if entry.startswith("="):
        return name == entry[1:]
    return name == entry or name.endswith("." + entry)


def holds(scope, frame):
    """Whether a scope, None or text, has the service of the frame."""
    for service in (scope or "").split(","):
        protocol, _, ports = service.partition("/")
        first, _, last = ports.partition("-")
        if protocol == frame.service and (not ports or int(first) <= frame.port <= int(last or first)):
            return True
    return scope is None


def passes(store, frame):
    """True, False; None: nobody can say, since the look-up is not exact, or it has a limit."""
    said = passes_unlimited(store, frame)
    return None if said and is_limited(store, frame) else said


def is_limited(store, frame):
    if store.policy == "monitor" or any(covers(entry, frame.source) for entry, _ in store.allowed):
        return False
    return any(limit["over"] != "count" and holds(None if limit["to"] == "all" else limit["to"], frame)
               for limit in store.limits.values())


def passes_unlimited(store, frame):
    allowed = any(covers(entry, frame.source) for entry, _ in store.allowed)
    listed = any(covers(entry, frame.source) and store.verdict(name) != "count" and holds(store.scope(name), frame)
                 for entry, name in store.listed)
    if store.policy == "allow-only":
        if not listed and not allowed:
            return None if store.admits_known else False
    elif listed and not allowed:
        # What is monitored for its source is not looked at further.
        return store.policy == "monitor"
    elif not store.confirm and not allowed:
        return None
    return passes_by_name(store, frame)


def passes_by_name(store, frame):
    if not frame.name or frame.port not in store.ports["dns"] or store.policy == "monitor":
        return True
    if any(values.is_name(entry) and is_below(frame.name, entry) for entry, _ in store.allowed):
        return True
    if not store.confirm:
        return None
    return not any(values.is_name(entry) and is_below(frame.name, entry) and store.verdict(name) != "count"
                   for entry, name in store.listed)
