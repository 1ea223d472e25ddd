# SPDX-License-Identifier: GPL-2.0-or-later
"""refusing.py SOCKET: a server of a fleet that lets everybody in and refuses all that is asked, as one does that still
loads its data. Prints the time whenever it refuses a look at the log."""
import os
import socket
import sys
import threading
import time


def serve(peer):
    with peer:
        greeted = False
        while True:
            try:
                data = peer.recv(65536)
                if not data:
                    return
                if b"XREVRANGE" in data:
                    print("%.3f" % time.monotonic(), flush=True)
                peer.sendall(b"-LOADING Redis is loading the dataset in memory\r\n" if greeted else b"+PONG\r\n")
            except OSError:
                return
            greeted = True


def main(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path + ".new")
    listener.listen()
    os.rename(path + ".new", path)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
