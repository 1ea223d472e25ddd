# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts of a fleet, their server and the ways between them are disturbed while clients on all hosts change the
shared lists. After some faults everything is healed. Then, in a bounded time,

  - all hosts have the same lists, digests and position, and nothing waits any more;
  - each entry is as the last change of some host made it: what a host has acknowledged is on all of them,
    unless another change of the same entry came later into the log;
  - each host's own list and allowlist are as its own commands left them;
  - each filter in force is one that is built anew from its store.

All the while, before and after deaths and at any moment of a synchronization, no host may lack an entry that it
has had, and that nobody has taken out since and that has not expired.
"""
import collections
import os
import random
import time

from clients import Client, Resident
from hosts import SHARED, Host, Wrong
from outcomes import Outcomes, mark_of
from proxy import Proxy
from redisserver import Server
import faults

HEALED = 240        # seconds until all hosts are equal; the lease of a host that died takes a minute of them
PER_ROUND = 10      # faults
KEEPERS = 3         # entries that nobody takes out, new in each round


class Fleet:
    def __init__(self, lane, hosts, directory, pins, tools, seed):
        self.directory, self.dice = directory, random.Random(seed)
        self.server = Server(tools["redis-server"], directory, 7000 + 10 * lane)
        self.hosts = [Host(i, directory, os.path.join(pins, "h%d-%d" % (lane, i)), "f%d-%d" % (lane, i), tools)
                      for i in range(hosts)]
        self.proxies = [Proxy(host.link, self.server.path) for host in self.hosts]
        self.outcomes = Outcomes()
        self.residents = [Resident(host, random.Random(self.dice.random())) for host in self.hosts]
        self.count = collections.Counter()      # faults by kind
        self.windows = collections.Counter()    # by what happened in them
        self.happened = []                      # lines: when, what, and where the logs of hosts were then
        self.later = []                         # (when, what is to be done)
        self.lost = False                       # the server has lost something in this round
        self.acknowledged = self.rounds = 0
        self.longest = 0.0
        self.watcher = None

    # --- helping hands of faults ---

    def note(self, what):
        sizes = " ".join("%s:%d" % (host.name, os.path.getsize(host.log)) for host in self.hosts)
        self.happened.append("%.3f round %d: %s (logs: %s)" % (time.time(), self.rounds, what, sizes))

    def after(self, seconds, action):
        self.later.append((time.monotonic() + seconds, action))

    def tick(self):
        """Does what is due: those who died come back."""
        now = time.monotonic()
        due = [action for when, action in self.later if when <= now]
        self.later = [each for each in self.later if each[0] > now]
        for action in due:
            action()
        self.server.tick()
        for host in self.hosts:
            if not host.lives() and now >= host.down_until:
                self.note_end(host)
                host.start()

    def note_end(self, host):
        code = host.process.wait()
        if code != -9:
            raise Wrong("%s: bloomd ends with %d: %s" % (host.name, code, host.last_words()))
        if host.point:
            self.count["killed at a point"] += 1
        host.point = ""

    # --- a round ---

    def begin(self):
        for host in self.hosts:
            host.must("attach", host.interface)
            host.start()
        self.settle(time.monotonic())

    def disturb(self, wanted):
        before = sum(self.count.values())
        while sum(self.count.values()) < before + wanted:
            faults.one(self)
            until = time.monotonic() + self.dice.random() * 0.5
            while time.monotonic() < until:
                self.tick()
                self.check_threads()
                time.sleep(0.02)

    def check_threads(self):
        for thread in (*self.clients, *self.residents, self.watcher):
            if thread.wrong:
                raise Wrong(thread.wrong)

    def round(self, wanted):
        self.lost = False
        self.server.backup()
        for proxy in self.proxies:
            proxy.quiet = False
        self.clients = [Client(host, random.Random(self.dice.random()), self.outcomes) for host in self.hosts]
        self.residents = [resident.again() for resident in self.residents]
        for thread in (*self.clients, *self.residents):
            thread.start()
        self.add_keepers()
        self.disturb(wanted)
        for thread in (*self.clients, *self.residents):
            thread.ends = True
        self.note("healed")
        self.heal()
        for thread in (*self.clients, *self.residents):
            thread.join(180)
            if thread.is_alive():
                raise Wrong("a client hangs")
        self.check_threads()
        begun = time.monotonic()
        self.settle(begun)
        self.longest = max(self.longest, time.monotonic() - begun)
        self.rounds += 1

    def add_keepers(self):
        for i in range(KEEPERS):
            key = SHARED[i % len(SHARED)], "10.200.%d.%d" % (self.rounds % 256, i + 1)
            code, _, errors = self.dice.choice(self.hosts).ctl("add", key[1], "--list", key[0], "--comment", "keeper")
            if code not in (0, 3):
                raise Wrong("a keeper: exit %d: %s" % (code, errors))
            if not code:
                self.watcher.keepers.add(key)

    def heal(self):
        for proxy in self.proxies:
            proxy.calm()
        for _, action in self.later:
            action()
        self.later = []
        self.server.tick(at_once=True)
        for host, proxy in zip(self.hosts, self.proxies):
            proxy.heal()
            host.signal(18)
            host.step_clock(0)
            host.free_disk()
            if host.point and host.lives():
                host.kill()
                host.point = ""
                host.start()
        for host in self.hosts:
            host.down_until = 0
            if not host.lives():
                self.note_end(host)
                host.start()
        for host in self.hosts:
            host.wait_until_ready()

    # --- what must hold ---

    def shared(self, host):
        return {key: member for key, member in host.listing().items() if key[0] in SHARED}

    def difference(self):
        """Why the hosts are not equal yet, and what they have."""
        states = [host.fleet() for host in self.hosts]
        for host, state in zip(self.hosts, states):
            if not host.lives():
                raise Wrong("%s: bloomd has ended: %s" % (host.name, host.last_words()))
            if state.get("state") == "held":
                raise Wrong("%s is held: %s" % (host.name, state.get("message")))
            if state.get("state") != "reading" or state.get("outbox"):
                return "%s is %s, %s changes wait: %s" % (host.name, state.get("state"), state.get("outbox"),
                                                          state.get("message")), None
        places = {(state["epoch"], state["position"]) for state in states}
        if len(places) != 1:
            return "they are at different places of the log: %s" % sorted(places), None
        digests = {tuple(sorted((each["name"], each["digest"]) for each in state["lists"])) for state in states}
        listings = [self.shared(host) for host in self.hosts]
        if any(listing != listings[0] for listing in listings):
            return "their lists differ: %s" % self.differing(listings), None
        if any(mark_of(member) == "short" for member in listings[0].values()):
            return "something is to expire", None
        if len(digests) != 1:
            return "their digests differ: %s" % sorted(digests), None
        return "", listings[0]

    def differing(self, listings):
        keys = {key for listing in listings for key in listing}
        return [(key, [listing.get(key) for listing in listings]) for key in sorted(keys)
                if len({listing.get(key) for listing in listings}) > 1][:5]

    def settle(self, begun):
        while True:
            why, listing = self.difference()
            if not why:
                break
            if self.watcher and self.watcher.wrong:
                raise Wrong(self.watcher.wrong)
            if time.monotonic() > begun + HEALED:
                raise Wrong("after %d s the hosts are not equal: %s" % (HEALED, why))
            time.sleep(0.3)
        self.check_outcomes(listing)
        for host, resident in zip(self.hosts, self.residents):
            wrong = resident.check(host.listing())
            if wrong:
                raise Wrong("%s: %s" % (host.name, wrong))
            allowed = resident.allowed
            host.check(["agree"] + ["drop " + key[1] for key in listing if key[1] not in allowed])
        self.acknowledged += self.outcomes.acknowledged()
        self.outcomes.begin(listing)

    def check_outcomes(self, listing):
        keepers = self.watcher.keepers if self.watcher else set()
        if keepers - set(listing):
            raise Wrong("acknowledged, never taken out, and not there: %s" % sorted(keepers - set(listing)))
        for key in set(self.outcomes.before) | set(self.outcomes.changes) | set(listing):
            if key in keepers or (key[1].startswith("10.200.") and key in listing):
                continue
            mark, marks = mark_of(listing.get(key)), self.outcomes.acceptable(key, self.lost)
            if mark not in marks:
                raise Wrong("%s is %s, but may be %s; before the round it was %s\n%s" % (
                    key, mark, marks, self.outcomes.before.get(key),
                    "\n".join("     | %s" % change for change in self.outcomes.changes.get(key, []))))

    # --- what is told ---

    def synced(self):
        """How often hosts did what, from their logs."""
        found = collections.Counter()
        for host in self.hosts:
            with open(host.log, errors="replace") as file:
                text = file.read()
            for words, what in (("resynced (", "resyncs"), ("began a log at", "begins"),
                                ("has lost entries behind", "rewinds"), ("nothing is removed", "partial resyncs"), ("is published again", "given back")):
                found[what] += text.count(words)
        return found

    def end(self):
        if self.watcher:
            self.watcher.ends = True
        for host in self.hosts:
            host.kill()
        for proxy in self.proxies:
            proxy.end()
        self.server.end()
