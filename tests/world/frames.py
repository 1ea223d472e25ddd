# SPDX-License-Identifier: GPL-2.0-or-later
"""What really becomes of frames: from the far end of each interface one of every source, behind them one
that every filter passes. What has not come when that has was dropped."""
import os
import select
import socket
import struct
import time

ALL, MARK = 3, 0x88b5
OTHER_MAC = b"\x02\xfe\0\0\0\1"     # nobody's: the network stack has no work with it
WAIT = 2.0 * int(os.environ.get("XB_TEST_PATIENCE", "1"))   # seconds


def frame(source):
    """Behind the addresses of Ethernet; source: an address as text."""
    if ":" in source:
        return struct.pack("!HIHBB", 0x86dd, 6 << 28, 8, 253, 64) + \
            socket.inet_pton(socket.AF_INET6, source) + \
            socket.inet_pton(socket.AF_INET6, "2001:db8:ffff::1") + bytes(26)
    return struct.pack("!HBBHHHBBH", 0x800, 0x45, 0, 28, 0, 0, 64, 253, 0) + \
        socket.inet_aton(source) + socket.inet_aton("192.0.2.254") + bytes(26)


def packet_socket(protocol=ALL):
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
    made.setblocking(False)
    return made


class Frames:
    """sender: a packet socket where the far ends are; receivers: where the near ones may be."""

    def __init__(self, sender, receivers, sources):
        self.sender, self.receivers = sender, receivers
        self.bodies = [frame(source) for source in sources]
        self.burst = 0

    def send(self, far_ends):
        """far_ends: the name of each interface's far end, by number."""
        self.burst = (self.burst + 1) % 65536
        for number, name in far_ends.items():
            tag = struct.pack("!BHH", 2, self.burst, number)
            where = (name, 0)
            for index, body in enumerate(self.bodies):
                self.sender.sendto(OTHER_MAC + tag + bytes([index]) + body, where)
            self.sender.sendto(OTHER_MAC + tag + b"\xff" + struct.pack("!H", MARK) + bytes(46),
                               where)

    def receive(self, numbers):
        """Which sources came, by number of interface; None where not even the mark did."""
        came, missing = {number: set() for number in numbers}, set(numbers)
        end = time.monotonic() + WAIT
        while missing:
            ready = select.select(self.receivers, [], [], max(0, end - time.monotonic()))[0]
            if not ready:
                break
            for each in ready:
                self.drain(each, came, missing)
        return {number: None if number in missing else seen for number, seen in came.items()}

    def drain(self, receiver, came, missing):
        while True:
            try:
                got = receiver.recv(64)
            except BlockingIOError:
                return
            tag, burst, number, index = struct.unpack_from("!BHHB", got, 6)
            if tag != 2 or burst != self.burst or number not in came:
                continue
            if index == 0xff:
                missing.discard(number)
            else:
                came[number].add(index)

    def empty(self):
        for each in [*self.receivers, self.sender]:
            try:
                while True:
                    each.recv(64)
            except BlockingIOError:
                pass

    def judge(self, far_ends):
        self.empty()
        self.send(far_ends)
        return self.receive(far_ends)
