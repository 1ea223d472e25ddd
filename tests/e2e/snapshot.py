# SPDX-License-Identifier: GPL-2.0-or-later
"""snapshot.py SOCKET: of the newest snapshot of the fleet `test`: its id, its maker and its position in the log. Then how
many chunks and Bloom digests the server has of any snapshot, and how many of them do not expire."""
import socket
import sys


class Server:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def ask(self, *words):
        coded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(coded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in coded))
        return self.answer()

    def answer(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        return int(rest) if kind == b":" else rest


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def main(path):
    server = Server(path)
    manifest = server.ask("GET", "xb:{test}:snapshot")
    if manifest is None:
        return 1
    at = number(manifest, number(manifest, 33)[1])[1] + 16     # behind time, term and epoch
    chunks = server.ask("KEYS", "xb:{test}:chunk:*") + server.ask("KEYS", "xb:{test}:bloom:*")
    lasting = [key for key in chunks if server.ask("TTL", key) == -1]
    print(manifest[1:17].hex(), manifest[17:33].hex(), number(manifest, at)[0], len(chunks), len(lasting))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
