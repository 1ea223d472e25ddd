# SPDX-License-Identifier: GPL-2.0-or-later
"""fleetforger.py SOCKET NAME WHAT [WORD...]: puts into the log and the snapshot of the fleet NAME what somebody can who
may write to the server, but has not the fleet's secret. WHAT:

    put ADDRESS, del ADDRESS   an entry of the log as if the publisher of the last one had made it
    begin                      an entry that begins a later epoch
    garbage SIZE               an entry of that many bytes
    again POSITION             that entry, once more at the end
    gap ADDRESS                as put, but not at the next position
    at ID                      as put, with that id
    fields                     an entry with other fields than those of a log
    manifest                   the manifest, with a MAC that another secret makes
    damage                     the first chunk, with another last byte"""
import hashlib
import hmac
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "fleets"))
import redisserver  # pylint: disable=wrong-import-position

NOBODY = bytes(32)      # the key of a fleet without a secret


def number(value):
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def mac(*parts):
    return hmac.new(NOBODY, b"".join(parts), hashlib.sha256).digest()[:16]


class Forger:
    def __init__(self, path, name):
        self.path = path
        self.prefix = "xb:{%s}:" % name
        self.log = self.prefix + "log"
        key, fields = self.ask("XREVRANGE", self.log, "+", "-", "COUNT", 1)[0]
        self.position = int(key.split(b"-")[0])
        self.last = fields[1]
        end = 2
        while self.last[end] & 128:
            end += 1
        self.term, self.whose = self.last[2:end + 1], self.last[end + 1:end + 33]

    def ask(self, *words):
        answer = redisserver.ask(self.path, *words)
        assert not isinstance(answer, str) or answer[:1] != "-", answer
        return answer

    def add(self, entry, identity=None):
        self.ask("XADD", self.log, identity or "%d-0" % (self.position + 1), "e", entry)

    def sign(self, entry, before, position):
        return entry + mac(b"entry\0", before, number(position), entry)

    def change(self, flags, address, position, identity=None):
        key = b"\2" + socket.inet_aton(address) + b"\40"
        entry = b"\1\1" + self.term + self.whose + number(1764000000000) + number(1 << 40) + b"\0" \
            + b"\1\7default\1" + bytes([flags, 0]) + key + (struct.pack(">I", 1764000000) if flags else b"")
        self.add(self.sign(entry, self.last[-16:], position), identity or "%d-0" % position)

    def put(self, address):
        self.change(1, address, self.position + 1)

    def delete(self, address):
        self.change(0, address, self.position + 1)

    def gap(self, address):
        self.change(1, address, self.position + 5)

    def at_id(self, identity):
        self.change(1, "203.0.113.1", int(identity.split("-")[0]), identity)

    def fields(self):
        self.ask("XADD", self.log, "%d-0" % (self.position + 1), "one", "1", "two", "2")

    def begin(self):
        entry = b"\1\2" + number(1 << 50) + os.urandom(16) + self.whose[16:] + number(1764000000000) + os.urandom(16)
        self.add(self.sign(entry, bytes(16), self.position + 1))

    def garbage(self, size):
        self.add(os.urandom(16) * (int(size) // 16))

    def again(self, position):
        self.add(self.ask("XRANGE", self.log, position + "-0", position + "-0")[0][1][1])

    def manifest(self):
        bare = self.ask("GET", self.prefix + "snapshot")[:-16]
        self.ask("SET", self.prefix + "snapshot", bare + mac(b"manifest\0", bare))

    def damage(self):
        snapshot = self.ask("GET", self.prefix + "snapshot")[1:17].hex()
        first = self.prefix + "chunk:%s:0" % snapshot
        whole = self.ask("GET", first)
        self.ask("SET", first, whole[:-1] + bytes([whole[-1] ^ 1]))


def main():
    forger = Forger(*sys.argv[1:3])
    {"put": forger.put, "del": forger.delete, "gap": forger.gap, "at": forger.at_id, "fields": forger.fields,
     "begin": forger.begin, "garbage": forger.garbage, "again": forger.again, "manifest": forger.manifest,
     "damage": forger.damage}[sys.argv[3]](*sys.argv[4:])


if __name__ == "__main__":
    main()
