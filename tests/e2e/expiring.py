#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""expiring.py CLIENT SERVER IFACE SECONDS: sends frames from sources that expire, and judges by those that
arrive. Standard input has a line for each source: its address and the second at which it expires. Each
is sent shortly before its time, when none may arrive, and from its time on every tenth of a second until
it arrives. Prints the number of sources, how many arrived too early, and the longest time from an expiry
to the first frame that arrived, for each second at which some expire. A machine that stands still makes that
long, but not for all of them: one at least must not be longer than SECONDS."""
import ctypes
import ipaddress
import select
import socket
import struct
import sys
import time

CLIENT, SERVER, IFACE = sys.argv[1:4]
LIMIT = float(sys.argv[4])
SO_RCVBUFFORCE = 33
EARLY = 0.15        # s before the time, so that the frame is there before it
STEP = 0.1
LAST = 30           # s after which nobody waits any more
FRAME = bytes.fromhex("020000000001" "020000000002" "0800")


def inside(netns):
    """A socket for all frames of the interface there."""
    home = open("/proc/self/ns/net", "rb")
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/run/netns/" + netns, "rb") as there:
        if libc.setns(there.fileno(), 0):
            sys.exit("cannot enter " + netns)
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    link.bind((IFACE, 0x0800))
    link.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 27)
    libc.setns(home.fileno(), 0)
    return link


def frame(source):
    """An IPv4 packet of a protocol that nobody listens to."""
    return FRAME + struct.pack("!BBHHHBBH", 0x45, 0, 20, 0, 0, 64, 253, 0) + source + socket.inet_aton("10.77.0.1")


class Judge:
    def __init__(self, due):
        self.due = due              # source -> second
        self.early, self.late = set(), {}
        self.sender, self.receiver = inside(CLIENT), inside(SERVER)

    def receive(self, seconds):
        until = time.time() + seconds
        while True:
            left = until - time.time()
            if not select.select([self.receiver], [], [], max(left, 0))[0]:
                return
            source, now = self.receiver.recv(64)[26:30], time.time()
            if source not in self.due:
                continue
            if now < self.due[source]:
                self.early.add(source)
            else:
                self.late.setdefault(source, now - self.due[source])

    def send(self, sources):
        for number, source in enumerate(sources):
            self.sender.send(frame(source))
            if number % 64 == 63:
                self.receive(0)

    def second(self, when, sources):
        """All that expire at this second."""
        self.receive(max(when - EARLY - time.time(), 0))
        self.send(sources)
        self.receive(max(when - time.time(), 0))

    def follow(self, waiting):
        """Those that have expired and did not arrive yet."""
        now = time.time()
        late = [source for source in waiting if source not in self.late and self.due[source] <= now]
        self.send(late)
        return [source for source in waiting if source not in self.late and now < self.due[source] + LAST]


def main():
    due = {}
    for line in sys.stdin:
        address, when = line.split()
        due[ipaddress.ip_address(address).packed] = int(when)
    judge, by_second = Judge(due), {}
    for source, when in due.items():
        by_second.setdefault(when, []).append(source)
    waiting, left = [], sorted(by_second)
    while waiting or left:
        if left and time.time() >= left[0] - EARLY:
            judge.second(left[0], by_second[left[0]])
            waiting += by_second[left.pop(0)]
        waiting = judge.follow(waiting)
        judge.receive(STEP)
    missing = len(due) - len(judge.late)
    latest = [max(judge.late.get(source, LAST) for source in by_second[when]) for when in sorted(by_second)]
    print("%d sources, %d early, %d never, at most %s s late" % (len(due), len(judge.early), missing,
                                                             " ".join("%.2f" % one for one in latest)))
    sys.exit(bool(judge.early or missing or min(latest) > LIMIT))


main()
