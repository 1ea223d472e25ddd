# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets of many kinds from many sources, sent to the network namespace of the caller by another one, and which of them
get past its packet filter: what a raw socket sees has passed ingress, prerouting and input."""
import ctypes
import ipaddress
import os
import select
import socket
import struct
import subprocess
import time

import engine

CLONE_NEWNET = 0x40000000
HERE4, HERE6 = "198.18.0.1", "2001:db8:ffff::1"
OWN_PORT, THEIR_PORT = 9999, 7777
TCP, UDP, ICMP, ICMP6 = 6, 17, 1, 58
# What a packet is, and over which interface it comes.
KINDS = [("udp", 22, 0), ("udp", 53, 0), ("tcp", 22, 0), ("tcp", 80, 0), ("icmp", 0, 0), ("udp", 22, 1), ("tcp", 22, 1),
         ("answer", OWN_PORT, 0)]
SENDER = b"\x02\0\0\0\0\1"
ALL_FRAMES = 3
libc = ctypes.CDLL(None, use_errno=True)


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def setting(name, value):
    with open("/proc/sys/net/" + name, "w", encoding="ascii") as file:
        file.write(value)


class Tap:
    """Sees what comes in over an interface before any filter does. Who finds no packet has waited for all of them."""

    def __init__(self, interface, sender):
        """sender: a socket of the other end. What it sends before the link is up is lost, though nobody says so."""
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_FRAMES))
        self.sock.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)    # SO_RCVBUFFORCE
        self.sock.bind((interface, ALL_FRAMES))
        self.sock.settimeout(0.01)
        engine.wait_for("the link of " + interface, lambda: sender.send(b"\xff" * 6 + SENDER + b"\x88\xb5") and self._next())

    def _next(self):
        """The type of a frame that the sender has sent."""
        try:
            head = self.sock.recv(14)
        except TimeoutError:
            return None
        return head[12:] if head[6:12] == SENDER else None

    def wait(self, count):
        """Until so many packets of IP have come in, and have been filtered."""
        until = time.monotonic() + engine.PATIENCE
        while count:
            count -= self._next() in (b"\x08\0", b"\x86\xdd")
            if time.monotonic() > until:
                raise RuntimeError("%d packets do not come in" % count)


class Field:
    """Interfaces eth0 and eth1 here, with a neighbour behind them that has every address."""

    def __init__(self):
        self.neighbour = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
        self._wait_for_neighbour()
        self.round = 0
        self.senders = []
        for number in 0, 1:
            self._run("ip", "link", "add", "eth%d" % number, "type", "veth", "peer", "name", "peer%d" % number, "netns",
                      str(self.neighbour.pid))
            self._run("ip", "link", "set", "eth%d" % number, "address", "02:00:00:00:01:0%d" % number, "arp", "off", "up")
        for name in "all", "default", "eth0", "eth1":
            setting("ipv4/conf/%s/rp_filter" % name, "0")
        self._run("ip", "address", "add", HERE4 + "/32", "dev", "eth0")
        self._run("ip", "address", "add", HERE6 + "/128", "dev", "eth0", "nodad")
        self._run("ip", "route", "add", "default", "dev", "eth0")
        self._run("ip", "-6", "route", "add", "default", "dev", "eth0")
        self._enter_neighbour()
        self.taps = [Tap("eth%d" % number, sender) for number, sender in enumerate(self.senders)]
        self.receivers = [(socket.socket(socket.AF_INET, socket.SOCK_RAW, number), True, number)
                          for number in (UDP, TCP, ICMP)]
        self.receivers += [(socket.socket(socket.AF_INET6, socket.SOCK_RAW, number), False, number)
                           for number in (UDP, TCP, ICMP6)]
        self.asking = [socket.socket(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_INET6)]
        for sock, address in zip(self.asking, ("0.0.0.0", "::")):
            if address == "::":
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((address, OWN_PORT))
            sock.setblocking(False)
        for sock, _ipv4, _number in self.receivers:
            sock.setblocking(False)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)

    @staticmethod
    def _run(*words):
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)

    def _wait_for_neighbour(self):
        own = os.readlink("/proc/self/ns/net")
        until = time.monotonic() + 10
        while True:
            try:
                if os.readlink("/proc/%d/ns/net" % self.neighbour.pid) != own:
                    return
            except FileNotFoundError:
                pass
            if time.monotonic() > until:
                raise RuntimeError("the neighbour does not come")
            time.sleep(0.005)

    def _enter_neighbour(self):
        """Opens the sockets by which the neighbour sends, and comes back."""
        with open("/proc/self/ns/net", "rb") as own, open("/proc/%d/ns/net" % self.neighbour.pid, "rb") as other:
            if libc.setns(other.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
            try:
                for number in 0, 1:
                    self._run("ip", "link", "set", "peer%d" % number, "arp", "off", "up")
                    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
                    sock.bind(("peer%d" % number, 0))
                    self.senders.append(sock)
            finally:
                if libc.setns(own.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")

    def _packet(self, source, kind, number):
        """A frame whose transport header or payload ends with the number."""
        source = ipaddress.ip_address(source)
        ipv4 = source.version == 4
        here = ipaddress.ip_address(HERE4 if ipv4 else HERE6)
        what, port, interface = kind
        mark = struct.pack("!L", number)
        own = 1024 + self.round % 50000
        if what == "tcp":
            protocol, at = TCP, 16
            data = struct.pack("!HH4sLBBHHH", own, port, mark, 0, 0x50, 2, 1024, 0, 0)
        elif what == "icmp":
            protocol, at = (ICMP if ipv4 else ICMP6), 2
            data = struct.pack("!BBHHH4s", 8 if ipv4 else 128, 0, 0, own, 1, mark)
        else:
            protocol, at = UDP, 6
            data = struct.pack("!HHHH4s", THEIR_PORT if what == "answer" else own, port, 12, 0, mark)
        pseudo = source.packed + here.packed + struct.pack("!LL", len(data), protocol)
        pseudo = b"" if protocol == ICMP else pseudo
        data = data[:at] + struct.pack("!H", checksum(pseudo + data)) + data[at + 2:]
        if ipv4:
            header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(data), 0, 0, 64, protocol, 0, source.packed, here.packed)
            header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        else:
            header = struct.pack("!LHBB16s16s", 6 << 28, len(data), protocol, 64, source.packed, here.packed)
        frame = b"\x02\0\0\0\x01" + bytes([interface]) + SENDER + struct.pack("!H", 0x0800 if ipv4 else 0x86dd)
        return interface, frame + header + data

    def _drain(self, found):
        """Takes the numbers of packets that have come."""
        places = {UDP: 8, TCP: 4, ICMP: 8, ICMP6: 8}
        for sock, ipv4, protocol in self.receivers:
            while True:
                try:
                    data = sock.recv(2048)
                except BlockingIOError:
                    break
                at = places[protocol] + (20 if ipv4 else 0)
                if len(data) >= at + 4:
                    found.add(struct.unpack("!L", data[at:at + 4])[0])
        for sock in self.asking:
            while True:
                try:
                    sock.recv(2048)
                except (BlockingIOError, ConnectionRefusedError):
                    break

    def passing(self, sources, kinds=None):
        """Of the sources those of which some packet comes through, with the kinds that do."""
        self.round += 1
        kinds = KINDS if kinds is None else kinds
        base, sent, found = self.round << 16, {}, set()
        self._drain(set())
        for source in sources:
            if any(kind[0] == "answer" for kind in kinds):
                self._ask(source)
            for kind in kinds:
                number = base + len(sent)
                sent[number] = (source, kind)
                interface, frame = self._packet(source, kind, number)
                self.senders[interface].send(frame)
        for interface, tap in enumerate(self.taps):
            tap.wait(sum(kind[2] == interface for _, kind in sent.values()))
        self._drain(found)
        while select.select([sock for sock, _ipv4, _number in self.receivers], [], [], 0.003)[0]:
            self._drain(found)
        through = {}
        for number in found & sent.keys():
            source, kind = sent[number]
            through.setdefault(source, []).append(kind)
        return through

    def _ask(self, source):
        """A question to which a later packet is the answer."""
        ipv4 = ipaddress.ip_address(source).version == 4
        try:
            self.asking[0 if ipv4 else 1].sendto(b"x", (source, THEIR_PORT))
        except OSError:
            pass        # its rules do not let it out, or an error came back of an earlier one

    def close(self):
        self.neighbour.kill()
        self.neighbour.wait()
