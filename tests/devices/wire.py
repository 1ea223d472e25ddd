# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames from outside of a machine to the card that is tried: from sockets in the namespace of the second card, "peer",
to sockets beside the first one. What counts as passed is what a program on the machine receives."""
import ctypes
import hashlib
import os
import random
import select
import socket
import struct
import threading
import time

import ask  # pylint: disable=import-error # of tests/e2e, beside this file in the machine

CLONE_NEWNET = 0x40000000
SERVER, OTHER, LISTED = "10.9.0.1", "10.9.0.2", "10.9.0.66"
TAGGED_SERVER, TAGGED_OTHER, TAGGED_LISTED = "10.95.0.1", "10.95.0.2", "10.95.0.66"
NAME = "listed.example"
STREAM, BURST, TRANSFER, DNS = 7000, 7001, 7002, 53
IP_PKTINFO, IP_MTU_DISCOVER, IP_PMTUDISC_DO, SO_RCVBUFFORCE = 8, 10, 2, 33
INTERVAL = 0.025
SIZE = 150000
libc = ctypes.CDLL(None, use_errno=True)


class Peer:
    """with Peer(): sockets that are made here belong to the peer."""

    def __enter__(self):
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open("/run/netns/peer", os.O_RDONLY)
        try:
            if libc.setns(there, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(there)

    def __exit__(self, *_):
        libc.setns(self.home, CLONE_NEWNET)
        os.close(self.home)


def sender(address):
    with Peer():
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((address, 0))
    one.setblocking(False)
    one.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    return one


def receiver(port):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    one.bind(("", port))
    return one


class Stream(threading.Thread):
    """Small datagrams of a listed source and of another one, all the time; when they were sent, and when they came."""

    def __init__(self):
        super().__init__(daemon=True)
        self.senders = {LISTED: sender(LISTED), OTHER: sender(OTHER)}
        self.receiver = receiver(STREAM)
        self.receiver.setblocking(False)
        self.came = {LISTED: [], OTHER: []}
        self.sent, self.arrived = [], set()     # of the other one, each by the time it was sent

    def run(self):
        after = 0
        while True:
            select.select([self.receiver], [], [], max(0, after - time.monotonic()))
            self.take()
            if time.monotonic() >= after:
                after = time.monotonic() + INTERVAL
                for source, one in self.senders.items():
                    now = time.monotonic()
                    if source == OTHER:
                        self.sent.append(now)
                    try:
                        one.sendto(struct.pack("!d", now), (SERVER, STREAM))
                    except OSError:     # no link, or nobody answers for the address
                        pass

    def take(self):
        try:
            while True:
                data, (source, _) = self.receiver.recvfrom(2048)
                if source in self.came:
                    self.came[source].append(time.monotonic())
                if source == OTHER:
                    self.arrived.add(struct.unpack("!d", data)[0])
        except OSError:
            pass

    def since(self, source, start):
        return sum(1 for one in self.came[source] if one >= start)

    def wait(self, source, start, seconds):
        """How long after start the first one came, at most seconds; or None."""
        while time.monotonic() < start + seconds:
            came = self.came[source]
            if came and came[-1] >= start:
                return min(one for one in came[-1000:] if one >= start) - start
            time.sleep(0.02)
        return None


    def away(self, start):
        """For how long at most none of those came that were sent since then."""
        longest, first = 0, None
        for one in [one for one in self.sent if one >= start]:
            if one in self.arrived:
                longest = max(longest, one - first if first else 0)
                first = None
            else:
                first = first or one
        return longest


def burst(size, count, source=OTHER, target=SERVER):
    """How many of count datagrams come that fill frames for an MTU of this size, with what was sent."""
    random.seed(size)
    body = random.randbytes(size - 28 - 4)
    got = set()
    with sender(source) as out, receiver(BURST) as into:
        into.setblocking(False)

        def take(seconds):
            while select.select([into], [], [], seconds)[0]:
                one = into.recv(65536)
                if one[4:] == body:
                    got.add(one[:4])
        for number in range(count):
            try:
                out.sendto(struct.pack("!I", number) + body, (target, BURST))
            except OSError:
                pass
            take(0.004)
        take(0.3)
    return len(got)


def answer_once(listener):
    """Sends back what it gets, and before that the digest of it."""
    try:
        one = listener.accept()[0]
        one.settimeout(15)
        with one:
            data = b""
            while len(data) < SIZE:
                more = one.recv(65536)
                if not more:
                    return
                data += more
            one.sendall(hashlib.sha256(data).digest() + data)
    except OSError:
        pass


def transfer(seconds=8):
    """What is wrong with SIZE bytes by TCP, there and back, or None."""
    data = random.randbytes(SIZE)
    wanted = hashlib.sha256(data).digest() + data
    listener = socket.create_server(("", TRANSFER))
    listener.settimeout(seconds)
    thread = threading.Thread(target=answer_once, args=(listener,), daemon=True)
    thread.start()
    with Peer():
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    back = b""
    end = time.monotonic() + seconds
    try:
        with one:
            one.settimeout(seconds)
            one.bind((OTHER, 0))
            one.connect((SERVER, TRANSFER))
            one.sendall(data)
            while len(back) < len(wanted):
                one.settimeout(max(0.1, end - time.monotonic()))
                more = one.recv(65536)
                if not more:
                    break
                back += more
    except OSError as error:
        return "TCP of %d bytes: %s after %d of them came back" % (SIZE, error, len(back))
    finally:
        listener.close()
    return None if back == wanted else "TCP of %d bytes: others came back" % SIZE


def ask_for_listed(source, target, device, seconds=1.0):
    """What comes back for a query for the listed name, and whether on the device that it left by: "nxdomain", "nxdomain on
    another VLAN", "silence"."""
    with sender(source) as one:
        with Peer():
            wanted = socket.if_nametoindex(device)
        one.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        asked = ask.query(NAME)
        try:
            one.sendto(asked, (target, DNS))
            if not select.select([one], [], [], seconds)[0]:
                return "silence"
            data, control = one.recvmsg(2048, 256)[:2]
        except OSError as error:
            return str(error)
        word = ask.word(asked, data)
        for level, kind, what in control:
            if level == socket.IPPROTO_IP and kind == IP_PKTINFO and struct.unpack_from("i", what)[0] != wanted:
                word += " on another VLAN"
        return word
