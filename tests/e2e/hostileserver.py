# SPDX-License-Identifier: GPL-2.0-or-later
"""hostileserver.py SOCKET KIND: a server of a fleet that means harm, or is no use yet. It lets whoever comes in, and then
answers each request as KIND says. Prints the time whenever it is asked what the log ends with."""
import os
import socket
import sys
import threading
import time

MIB = b"x" * (1 << 20)


def endless(begin, more):
    yield begin
    while True:
        yield more


KINDS = {
    "endless-bulk": lambda: endless(b"$9000000000\r\n", MIB),
    "endless-line": lambda: endless(b"+", MIB),
    "endless-answers": lambda: endless(b"", b"*0\r\n" * 10000),
    "endless-array": lambda: endless(b"*262000\r\n", b"$1000\r\n" + b"x" * 1000 + b"\r\n"),
    "huge-length": lambda: [b"$9223372036854775807\r\n", MIB],
    "many-arrays": lambda: [b"*100000\r\n" * 4],
    "deep": lambda: [b"*1\r\n" * 100000],
    "garbage": lambda: [b"HTTP/1.1 400 Bad Request\r\n\r\n"],
    "half": lambda: [b"*2\r\n$5\r\nhel"],
    "nothing": lambda: [],
    "twice": lambda: [b"*0\r\n*0\r\n"],
    "loading": lambda: [b"-LOADING Redis is loading the dataset in memory\r\n"],
}


def serve(peer, kind):
    greeted = False
    while data := peer.recv(65536):
        if b"XREVRANGE" in data:
            print("%.3f" % time.monotonic(), flush=True)
        if not greeted and kind != "silent":
            peer.sendall(b"-DENIED \x1b[2J\xff" + b"y" * 5000 + b"\r\n" if kind == "denied" else b"+PONG\r\n")
        elif greeted and kind != "mute":
            for part in KINDS[kind]():
                peer.sendall(part)
            if kind in ("half", "nothing"):
                return
        greeted = True


def meet(peer, kind):
    with peer:
        try:
            serve(peer, kind)
        except OSError:
            pass


def main(path, kind):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path + ".new")
    listener.listen()
    os.rename(path + ".new", path)
    while True:
        threading.Thread(target=meet, args=(listener.accept()[0], kind), daemon=True).start()


main(sys.argv[1], sys.argv[2])
