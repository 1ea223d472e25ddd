#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/e2e/passon.py PATH ADDRESS PORT: listens at a path, and passes on to an address what comes there."""
import socket
import sys
import threading


def copy(source, target):
    while True:
        part = source.recv(65536)
        if not part:
            break
        target.sendall(part)
    target.shutdown(socket.SHUT_WR)


def serve(client):
    server = socket.create_connection((sys.argv[2], int(sys.argv[3])))
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client)
    client.close()


def main():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    main()
