#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guests.py DIRECTORY PID TEST: processes that are not Postfix ask at its sockets. PID is bloomd's. 10.77.0.3 is on
the list bad. Ends with 1 and says what was not as it must be."""
import os
import socket
import sys
import time

DIRECTORY, PID, TEST = sys.argv[1], int(sys.argv[2]), sys.argv[3]
LISTED = b"35:OK REJECT 10.77.0.3 is listed (bad),"
NOT_FOUND = b"9:NOTFOUND ,"
REFUSED = b"action=REJECT 10.77.0.3 is listed (bad)\n\n"
UNLISTED = b"action=DUNNO\n\n"
GUESTS = 1000  # at a time


def must(holds, what):
    if not holds:
        sys.exit("not as it must be: %s" % what)


def connect(name):
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(60)
    one.connect(os.path.join(DIRECTORY, name))
    return one


def netstring(text):
    return b"%d:%s," % (len(text), text)


def question(address, more=b""):
    return b"request=smtpd_access_policy\n" + more + b"client_address=%s\n\n" % address


def receive(one, size):
    got = b""
    while len(got) < size:
        piece = one.recv(size - len(got))
        if not piece:
            break
        got += piece
    return got


def is_closed(one):
    try:
        while one.recv(65536):
            pass
        return True
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def memory():
    with open("/proc/%d/status" % PID, encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS:")).split()[1])


def ask():
    """Both sockets answer as ever."""
    one = connect("socketmap")
    one.sendall(netstring(b"bad 10.77.0.3"))
    must(receive(one, len(LISTED)) == LISTED, "the answer of the socketmap")
    one = connect("policy")
    one.sendall(question(b"10.77.0.3"))
    must(receive(one, len(REFUSED)) == REFUSED, "the answer of the policy")


def pieces():
    """A byte at a time, and many at once; attributes may have any length."""
    one = connect("socketmap")
    for byte in netstring(b"bad 10.77.0.3"):
        one.sendall(bytes([byte]))
        time.sleep(0.001)
    must(receive(one, len(LISTED)) == LISTED, "the answer to pieces")
    one.sendall(netstring(b"bad 10.77.0.3") * 500)
    must(receive(one, 500 * len(LISTED)) == 500 * LISTED, "the answers to many")
    one.sendall(netstring(b"bad " + b"x" * 99000) + netstring(b"bad 10.77.0.3"))
    must(receive(one, len(NOT_FOUND) + len(LISTED)) == NOT_FOUND + LISTED, "the answers to a long key, and behind it")
    one = connect("policy")
    for byte in question(b"10.77.0.3"):
        one.sendall(bytes([byte]))
        time.sleep(0.001)
    must(receive(one, len(REFUSED)) == REFUSED, "the answer to pieces")
    one.sendall(question(b"10.77.0.3", b"sender=%s\n" % (b"x" * 3000000)))
    must(receive(one, len(REFUSED)) == REFUSED, "the answer to a long attribute")
    one.sendall(question(b"10.77.0.3" + b" " * 3000) + question(b"unknown") + b"request=smtpd_access_policy\n\n")
    must(receive(one, 3 * len(UNLISTED)) == 3 * UNLISTED, "the answers without an address")
    one.sendall(question(b"10.77.0.3") * 500)
    one.shutdown(socket.SHUT_WR)
    must(receive(one, 500 * len(REFUSED)) == 500 * REFUSED, "the answers to many, then the end")
    must(is_closed(one), "the end")
    ask()


def crowd():
    """Idle ones do not shut others out: the one that has been silent for longest goes."""
    first = connect("policy")
    ask()
    many = [connect("policy" if i % 2 else "socketmap") for i in range(GUESTS + 20)]
    ask()
    must(is_closed(first), "the oldest is gone")
    many[-1].sendall(question(b"10.77.0.3"))
    must(receive(many[-1], len(REFUSED)) == REFUSED, "the newest is answered")
    must(memory() < 65536, "memory: %d KiB" % memory())


{"pieces": pieces, "crowd": crowd}[TEST]()
