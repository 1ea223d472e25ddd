#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""answering.py SECONDS SERVER4 SERVER6 SOURCE...: pings the server from each source, and connects to its ports 22 and 80, all at
once; says "SOURCE ping", "SOURCE 22" and "SOURCE 80" for what is answered within that time."""
import select
import socket
import sys
import time

PORTS = (22, 80)
# Echo requests without data: the kernel puts in the checksum of IPv6 alone.
PING4, PING6 = bytes((8, 0, 0xf7, 0xff, 0, 0, 0, 0)), bytes((128, 0, 0, 0, 0, 0, 0, 0))
HEADER4, REPLY4, REPLY6 = 20, 0, 129


def ping(family, source, server):
    is_ipv6 = family == socket.AF_INET6
    one = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_ICMPV6 if is_ipv6 else socket.IPPROTO_ICMP)
    one.setblocking(False)
    one.bind((source, 0))
    one.connect((server, 0))
    one.send(PING6 if is_ipv6 else PING4)
    return one


def connect(family, source, server, port):
    one = socket.socket(family, socket.SOCK_STREAM)
    one.setblocking(False)
    one.bind((source, 0))
    one.connect_ex((server, port))
    return one


def is_answered(one, kind):
    """Whether what came is the answer; None: it is something else."""
    if kind != "ping":
        return not one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    try:
        data = one.recv(2048)
    except OSError:
        return False
    answered = data[0] == REPLY6 if one.family == socket.AF_INET6 else data[HEADER4] == REPLY4
    return answered or None


def main():
    seconds, server4, server6 = float(sys.argv[1]), *sys.argv[2:4]
    waiting = {}
    poll = select.poll()
    for source in sys.argv[4:]:
        family, server = (socket.AF_INET6, server6) if ":" in source else (socket.AF_INET, server4)
        for kind, one in [("ping", ping(family, source, server))] + \
                [(str(port), connect(family, source, server, port)) for port in PORTS]:
            waiting[one.fileno()] = one, source, kind
            poll.register(one, select.POLLIN if kind == "ping" else select.POLLOUT)
    end = time.monotonic() + seconds
    while waiting:
        ready = poll.poll(max(0, end - time.monotonic()) * 1000)
        if not ready:
            break
        for number, _ in ready:
            one, source, kind = waiting[number]
            answered = is_answered(one, kind)
            if answered is None:
                continue
            if answered:
                print(source, kind)
            poll.unregister(one)
            del waiting[number]


main()
