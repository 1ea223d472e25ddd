# SPDX-License-Identifier: GPL-2.0-or-later
"""A writer to a fleet's server, without the fleet's secret, may keep hosts from passing changes on, as long as he goes on, and
nothing else: he forges entries of the log with ids at all edges, repeats entries and snapshots that are sealed, cuts the log,
takes it away, and puts other things in the place of keys. What a host has stays, nothing comes that no host has listed,
commands end, bloomd answers; and when he has gone, the hosts have the same lists again."""
import os
import socket
import struct
import time

from attacked import PATIENCE, Deadline, Machine, Wrong
from fleetforger import mac, number
from redisserver import Instance

PREFIX = "xb:{test}:"
LOG = PREFIX + "log"
EDGES = (0, 1, 2, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1)
# Seconds until the hosts are equal: a log that leads nowhere is given up after 90, and a host tries again after 60 at most.
HEALED = 240 * PATIENCE
KEPT = 60                   # entries and values of keys that are remembered, to be repeated
LONGEST = 10                # seconds of an attack; what follows takes ten and more


class Forger:
    def __init__(self, server, dice):
        self.server, self.dice = server, dice
        self.sealed, self.dumps = [], []

    def ask(self, *words):
        try:
            return self.server.ask(*words)
        except OSError:
            return None

    def remember(self):
        """What the hosts have written."""
        found = self.ask("XREVRANGE", LOG, "+", "-", "COUNT", 20)
        if isinstance(found, list):
            self.sealed = (self.sealed + [each[1][1] for each in found])[-KEPT:]
        for key in self.keys():
            dump = self.ask("DUMP", key)
            if isinstance(dump, bytes):
                self.dumps = (self.dumps + [(key, dump)])[-KEPT:]

    def keys(self):
        found = self.ask("KEYS", PREFIX + "*")
        return sorted(found) if isinstance(found, list) else []

    def end_of_log(self):
        found = self.ask("XREVRANGE", LOG, "+", "-", "COUNT", 1)
        return (int(found[0][0].split(b"-")[0]), found[0][1][1]) if isinstance(found, list) and found else (0, b"")

    def identity(self):
        last = self.end_of_log()[0]
        return "%d-%d" % (self.dice.choice(EDGES + (last, last + 1, last + 1, last + 1, last + 2)),
                          self.dice.choice((0, 0, 0) + EDGES))

    def own(self):
        """An entry that lists or deletes, as the publisher of the last one would make it, but for its seal."""
        position, last = self.end_of_log()
        end = 2
        while end < len(last) and last[end] & 128:
            end += 1
        flags, address = self.dice.choice((0, 1)), self.dice.choice(("203.0.113.1", "5.33.0.1", "5.34.0.1"))
        entry = b"\1\1" + last[2:end + 33] + number(1764000000000) + number(1 << 40) + b"\0\1\7default\1" + bytes([flags, 0]) + \
            b"\2" + socket.inet_aton(address) + b"\40" + (struct.pack(">I", 1764000000) if flags else b"")
        return entry + mac(b"entry\0", last[-16:], number(position + 1), entry)

    # --- what it does -------------------------------------------------------------------------------

    def entry(self):
        text = self.dice.choice((self.own(), self.own(), self.dice.randbytes(self.dice.choice((0, 1, 50, 5000, 200000))),
                                 *([self.dice.choice(self.sealed)] * 3 if self.sealed else [])))
        return self.ask("XADD", LOG, self.identity(), self.dice.choice((b"e", b"e", b"e", b"f")), text)

    def many_fields(self):
        return self.ask("XADD", LOG, self.identity(), *[b"e", b"x"] * self.dice.randint(2, 30))

    def burst(self):
        """The next positions, one after the other."""
        last = self.end_of_log()[0]
        for i in range(1, self.dice.randint(2, 300)):
            self.ask("XADD", LOG, "%d-0" % min(last + i, EDGES[-1]), "e", self.dice.choice(self.sealed) if self.sealed else b"x")
        return "burst behind %d" % last

    def trim(self):
        return self.ask("XTRIM", LOG, "MAXLEN", self.dice.randint(0, 5))

    def remove(self):
        last = self.end_of_log()[0]
        return self.ask("XDEL", LOG, "%d-0" % self.dice.randint(0, min(last + 1, 1 << 60)))

    def end(self):
        """Without an entry."""
        return self.ask("XSETID", LOG, self.identity())

    def delete(self):
        keys = self.keys()
        return self.ask("DEL", self.dice.choice(keys)) if keys else None

    def repeat(self):
        """What some key was before."""
        if not self.dumps:
            return None
        key, dump = self.dice.choice(self.dumps)
        return key, self.ask("RESTORE", key, 0, dump, "REPLACE")

    def repeat_all(self):
        """As of a backup."""
        for key, dump in dict(self.dumps[:self.dice.randint(1, KEPT)]).items():
            self.ask("RESTORE", key, 0, dump, "REPLACE")
        return "all of before"

    def exchange(self):
        keys = self.keys()
        if len(keys) < 2:
            return None
        one, other = self.dice.sample(keys, 2)
        first, second = self.ask("DUMP", one), self.ask("DUMP", other)
        if first and second:
            self.ask("RESTORE", one, 0, second, "REPLACE")
            self.ask("RESTORE", other, 0, first, "REPLACE")
        return one, other

    def overwrite(self):
        key = self.dice.choice(self.keys() + [(PREFIX + each).encode() for each in ("snapshot", "lease", "reports", "log")])
        # A lease is over some time.
        words = ["PX", self.dice.randint(1, 3000)] if b"lease" in key else []
        if key == LOG.encode() or self.dice.randrange(2):
            return key, self.ask("DEL", key), self.ask("RPUSH", key, "x"), self.ask("PEXPIRE", key, self.dice.randint(1, 3000))
        value = self.ask("GET", key)
        if isinstance(value, bytes) and value and self.dice.randrange(2):
            at = self.dice.randrange(len(value))
            value = value[:at] + self.dice.choice((b"", bytes([value[at] ^ 1]) + value[at + 1:], self.dice.randbytes(100)))
        else:
            value = self.dice.randbytes(self.dice.choice((0, 1, 100, 100000)))
        return key, self.ask("SET", key, value, *words)

    def flush(self):
        return self.ask("FLUSHALL")

    def tidy(self):
        """By the operator, who is told of it: what has the wrong type, and a lease that does not end."""
        for name, kind in ("log", "+stream"), ("reports", "+hash"), ("snapshot", "+string"), ("lease", "+string"):
            key = PREFIX + name
            if self.ask("TYPE", key) not in (kind, "+none") or (name == "lease" and self.ask("PTTL", key) == -1):
                self.ask("DEL", key)

    def step(self):
        self.remember()
        what = self.dice.choice((self.entry,) * 6 + (self.many_fields, self.burst, self.trim, self.remove, self.end, self.delete,
                                 self.repeat, self.repeat, self.repeat_all, self.exchange, self.overwrite, self.overwrite, self.flush))
        return "%s: %s" % (what.__name__, str(what())[:100])


class Member(Machine):
    """A host of the fleet."""

    def __init__(self, place, number, server):
        super().__init__(place, number=number)
        os.symlink(server.path, self.link)
        self.configure("[fleet]\nurl = unix:%s\nname = test\nkey-file = %s/key\npublish = default\nfollow = default\n"
                       "snapshot-every = 5\n" % (self.link, place.directory))
        self.mine = set()

    def list(self, entry):
        code, _, errors = self.control("add", entry)
        if code:
            raise Wrong("%s: add ends with %d: %s" % (self.name, code, errors))
        self.mine.add(entry)

    def must_keep(self, ever):
        self.must_answer()
        now = self.of_list("default")
        if self.mine - now or now - ever:
            raise Wrong("%s: gone %s, come from nowhere %s" % (self.name, sorted(self.mine - now)[:5], sorted(now - ever)[:5]))
        told = self.fleet()
        if not 0 <= told.get("position", 0) < 1 << 63:
            raise Wrong("%s is at the position %s" % (self.name, told["position"]))
        # What it has seen stays as well.
        self.mine |= now


def differing(hosts, ever):
    """Why the hosts are not equal, or ""."""
    for host in hosts:
        told = host.fleet()
        if told.get("state") != "reading" or told.get("outbox"):
            return "%s is %s, %s changes wait: %s" % (host.name, told.get("state"), told.get("outbox"), told.get("message"))
        if host.of_list("default") != ever:
            return "%s lacks %s" % (host.name, sorted(ever - host.of_list("default"))[:5])
    return ""


def settle(hosts, ever):
    until = time.monotonic() + HEALED
    while True:
        for host in hosts:
            host.must_keep(ever)
        why = differing(hosts, ever)
        if not why:
            return
        if time.monotonic() > until:
            raise Wrong("%d s after the last step: %s" % (HEALED, why))
        time.sleep(0.2)


def run(place, dice, seconds):
    server = Instance(place.tools["redis-server"], os.path.join(place.directory, "redis"), 7000)
    server.start("--appendonly", "no")
    hosts = [Member(place, number, server) for number in range(2)]
    for host in hosts:
        host.begin()
    ever, steps, longest = set(), 0, 0.0

    def add():
        entry = "5.33.%d.%d" % (len(ever) >> 8, len(ever) & 255)
        ever.add(entry)
        dice.choice(hosts).list(entry)
    for _ in range(5):
        add()
    settle(hosts, ever)
    forger, deadline = Forger(server, dice), Deadline(seconds)
    while not deadline.is_over():
        attack = Deadline(min(seconds, LONGEST))
        while not attack.is_over():
            place.note(forger.step())
            steps += 1
            if not dice.randrange(3):
                add()
            for host in hosts:
                host.must_keep(ever)
            time.sleep(dice.random() * 0.2)
        place.note("healed")
        forger.tidy()
        begun = time.monotonic()
        settle(hosts, ever)
        longest = max(longest, time.monotonic() - begun)
    for host in hosts:
        host.end()
    server.kill()
    return "%d steps, %d entries, equal %.0f s after an attack at most" % (steps, len(ever), longest)
