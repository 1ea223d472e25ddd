#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A listed source sends all the while, by a process of its own: frames go into the one end of a veth pair, and what
the filter at its other end lets pass is counted there. A source that is not dropped sends among them, so that it
shows if nothing arrives for another reason.

As a program: listedframes.py FROM TO LISTED OTHER; answers each line on stdin with how many frames of the listed source
were sent, how many of it passed, and how many of the other one passed."""
import ipaddress
import os
import select
import socket
import struct
import subprocess
import sys
import time

from world import Wrong

STEP = 0.0003   # seconds between frames, about
LATE = 60       # seconds after which what is sent does not come
OTHERS = 8      # one frame in so many is of the other source
ETH_P_IP = 0x0800
SO_RCVBUFFORCE = 33
SOURCE = slice(26, 30)


class Flood:
    """Between the interface and its peer, whose name has a p behind it; goes on from the first check() to end()."""

    def __init__(self, interface, listed, other):
        self.listed, self.sent, self.passed, self.others = listed, 0, 0, 0
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), interface + "p", interface, listed, other],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def counts(self):
        """Frames that were sent, and those of either source that passed, from the start."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            return [int(word) for word in self.process.stdout.readline().split()]
        except (OSError, ValueError) as error:
            raise Wrong("the flood ended with %s" % self.process.wait(10)) from error

    def check(self):
        """Since the last time frames were sent, and only those of the other source have passed."""
        begun, (sent, passed, others) = time.monotonic(), self.counts()
        while others <= self.others and time.monotonic() < begun + LATE:
            sent, passed, others = self.counts()
        if passed > self.passed:
            raise Wrong("%d of %d frames from %s, which is listed, have passed" % (passed - self.passed, sent, self.listed))
        if sent <= self.sent or others <= self.others:
            raise Wrong("the flood stands still: %d sent, %d of the other source arrived" % (sent, others))
        self.sent, self.others = sent, others

    def forget(self):
        """What has passed until now may have passed."""
        self.sent, self.passed, self.others = self.counts()

    def end(self):
        self.process.kill()
        self.process.wait()


def frame(source):
    """UDP to port 9, without a checksum."""
    address = ipaddress.ip_address(source).packed
    udp = struct.pack("!HHHH", 40000, 9, 13, 0) + b"flood"
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0) + address + bytes((198, 18, 0, 1))
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xffff) + (total >> 16)
    header = header[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xffff) + header[12:]
    return bytes(6 * [0xff]) + b"\x02\0\0\0\0\x02" + struct.pack("!H", ETH_P_IP) + header + udp


def attach(interface, protocol):
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    end.bind((interface, protocol))
    return end


def count_arrived(end, counts):
    while True:
        try:
            source = end.recv(64, socket.MSG_DONTWAIT)[SOURCE]
        except BlockingIOError:
            return
        if source in counts:
            counts[source] += 1


def main():
    sending, watching = attach(sys.argv[1], 0), attach(sys.argv[2], ETH_P_IP)
    watching.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
    listed, other = (frame(source) for source in sys.argv[3:])
    counts, sent = {listed[SOURCE]: 0, other[SOURCE]: 0}, 0
    while True:
        for _ in range(OTHERS):
            sending.send(listed)
            sent += 1
            asked, _, _ = select.select([sys.stdin], [], [], STEP)
            if asked:
                break
        sending.send(other)
        count_arrived(watching, counts)
        if asked:
            if not sys.stdin.readline():
                return
            print(sent, counts[listed[SOURCE]], counts[other[SOURCE]], flush=True)


if __name__ == "__main__":
    main()
