# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole commands beside those of peers, from text to what is enforced, and the memory it takes."""
import os
import time

from command_peers import INTERFACE, Bloomctl, Lists, Ranges, add_interface, timed, usable
from rig import K, MILLION, Failed, Samples, addresses, amount_of, attempt, first_line, goal, median, quotient, run, say

SIZES = (100 * K, MILLION, 10 * MILLION)
BESIDE_PEERS = MILLION  # more takes them minutes
# Addresses from these numbers on are in no list: of single adds, batches, changed lists.
SINGLE, BATCH, BATCH_1M, CHANGED = (number * 100 * K * K for number in (1, 2, 3, 4))
OPERATIONS = {
    "load": "load from text", "replace": "replace, 1 % changed", "unchanged": "replace, nothing changed",
    "add": "one add", "test": "one test", "delete": "one delete", "batch_100k": "100,000 adds at once", "batch_1m": "1M adds at once",
    "swap": "swap",
}
BATCHES = {"batch_100k": 100 * K, "batch_1m": MILLION}
PAGE = 4096


def lists_of(hosts):
    gone = hosts // 100
    batches = {"batch_100k": Ranges((BATCH, 100 * K))}
    if hosts >= MILLION:
        batches["batch_1m"] = Ranges((BATCH_1M, MILLION))
    if hosts > BESIDE_PEERS:
        return Lists(Ranges((0, hosts)), None, {})
    return Lists(Ranges((0, hosts)), Ranges((gone, hosts - gone), (CHANGED, gone)), batches)


class Sync:
    """What a commit of LMDB waits for, on the file system the state is on: pages and fdatasync, then the page that makes them
    count, through a descriptor that is O_DSYNC."""
    PAGES = 6  # that one add changes

    def __init__(self, path):
        self.pages = os.urandom(PAGE * self.PAGES)
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.meta = os.open(path, os.O_WRONLY | os.O_DSYNC | os.O_CLOEXEC)
        self.seconds()

    def seconds(self):
        start = time.perf_counter()
        os.pwrite(self.file, self.pages, PAGE)
        os.fdatasync(self.file)
        os.pwrite(self.meta, self.pages[:120], 0)
        return time.perf_counter() - start

    def close(self):
        os.close(self.file)
        os.close(self.meta)


def settled_memory():
    """Bytes of the whole machine's kernel that lists can be in, slabs that stay and vmalloc, once what was let go of is freed
    behind our back."""
    last = None
    for _ in range(21):
        now = sum(1024 * int(first_line("/proc/meminfo", name).split()[0]) for name in ("SUnreclaim", "VmallocUsed"))
        if last is not None and abs(now - last) < 256 << 10:
            break
        last = now
        time.sleep(0.15)
    return now


class Commands:
    """Every operation at one size, peers in turns."""

    def __init__(self, scratch, report, hosts, rounds, adds, kinds):
        self.report = report
        self.hosts, self.rounds, self.adds = hosts, rounds, adds
        self.lists = lists_of(hosts)
        self.bloomctl = Bloomctl(scratch)
        self.peers = [self.bloomctl] + [kind(scratch) for kind in kinds]
        self.names = {peer.key: peer.name for peer in self.peers}
        self.sync = Sync(self.bloomctl.path("sync"))
        self.samples, self.memory, self.ended = Samples(), {}, []
        self.rebuilt = dict.fromkeys(self.lists.batches, 0)

    def close(self):
        self.sync.close()
        for peer in self.peers + self.ended:
            peer.close()

    def turns(self, number):
        """Those that have not failed; another one begins each time."""
        turn = number % len(self.peers)
        return self.peers[turn:] + self.peers[:turn]

    def attempt(self, peer, operation, what=None):
        """Not a reason to stop, unless it is what ships. Whether it went well."""
        if not peer.has(operation):
            return False
        say("commands at %d hosts, round %d of %d: %s, %s" % (
            self.hosts, self.number + 1, self.rounds, OPERATIONS[operation], peer.name))
        try:
            wall, peak = peer.run(operation, what)
        except Failed as failure:
            if peer is self.bloomctl:
                raise
            self.report["failed"].append("commands at %d hosts, %s: %s" % (self.hosts, peer.name, failure))
            self.peers.remove(peer)
            self.ended.append(peer)
            peer.end()
            return False
        self.samples.add("%s/%s" % (operation, peer.key), wall)
        self.samples.add("%s/%s/peak" % (operation, peer.key), peak)
        return True

    def check(self, peer, wanted):
        found = peer.count()
        if found != wanted:
            raise Failed("%s has %d addresses, not %d" % (peer.name, found, wanted))

    def load(self, peer):
        before = settled_memory()
        peer.begin()
        if not self.attempt(peer, "load"):
            return
        self.samples.add("kernel/" + peer.key, settled_memory() - before)
        if peer.key != "nft" or not self.number:  # to list its set takes longer than to load it
            self.check(peer, self.hosts)
        if peer is self.bloomctl:
            self.memory["bloomctl"] = peer.generation()["memory"]
        elif peer.key == "ipset":
            self.memory["ipset"] = peer.told("Size in memory")

    def singles(self):
        """Adds, then tests and deletes of the same."""
        fresh = addresses(SINGLE + self.number * self.adds, self.adds)
        for number, address in enumerate(fresh, self.number * self.adds):
            self.samples.add("empty", timed("true")[0])
            self.samples.add("sync", self.sync.seconds())
            for peer in self.turns(number):
                self.attempt(peer, "add", address)
        for operation in ("test", "delete"):
            for number, address in enumerate(fresh, self.number * self.adds):
                for peer in self.turns(number):
                    self.attempt(peer, operation, address)

    def batches(self):
        wanted = self.hosts
        for name, batch in self.lists.batches.items():
            wanted += len(batch)
            before = self.bloomctl.generation()["name"]
            for peer in self.turns(self.number):
                if self.attempt(peer, name) and peer.key != "nft":
                    self.check(peer, wanted)
            self.rebuilt[name] += before != self.bloomctl.generation()["name"]

    def one_round(self):
        for peer in self.turns(self.number):
            self.load(peer)
        self.singles()
        if self.lists.changed:
            for operation in ("replace", "unchanged", "swap"):
                for peer in self.turns(self.number):
                    self.attempt(peer, operation)
            for peer in self.peers:
                if peer.key in ("bloomctl", "ipset"):
                    self.check(peer, self.hosts)
        self.batches()
        for peer in self.peers:
            peer.end()

    def measure(self):
        add_interface(INTERFACE)
        try:
            for peer in self.peers:
                peer.prepare(self.lists)
            for self.number in range(self.rounds):
                self.one_round()
        finally:
            run("ip", "link", "del", INTERFACE)
        return self.found()

    def by_peer(self, operation, end=""):
        return {key: self.samples.summary("%s/%s%s" % (operation, key, end)) for key in self.names
                if "%s/%s" % (operation, key) in self.samples.of}

    def less_sync(self, operation):
        found, sync = self.samples.summary(operation + "/bloomctl"), self.samples.summary("sync")
        return {key: found[key] - sync[key] for key in ("median", "min")}

    def found(self):
        samples, maps = self.samples, self.memory["bloomctl"]
        measured = [name for name in OPERATIONS if name + "/bloomctl" in samples.of]
        return {"hosts": self.hosts, "rounds": self.rounds, "peers": self.names,
            "seconds": {name: self.by_peer(name) for name in measured},
            "times_bloomctl": {name: {key: samples.ratio("%s/%s" % (name, key), name + "/bloomctl")
                                      for key in self.by_peer(name) if key != "bloomctl"} for name in measured},
            "peak_bytes": {name: self.by_peer(name, "/peak") for name in measured
                           if name not in ("add", "test", "delete", "swap")},
            "empty_process": samples.summary("empty"), "sync": samples.summary("sync"),
            "less_sync": {name: self.less_sync(name) for name in ("add", "delete")}, "rebuilt_in_rounds": self.rebuilt,
            "memory": {"maps": maps, "bloomctl": sum(maps.values()) - maps["counters"], "counters": maps["counters"],
                       "ipset": self.memory.get("ipset"), "kernel": self.by_peer("kernel")}}


def measure(scratch, quick, report):
    report["commands"] = []
    kinds = usable(report)
    if quick:
        report["skipped"].append("whole commands at 1M and 10M addresses (--quick)")
    for hosts in SIZES[:1] if quick else SIZES:
        beside = kinds if hosts <= BESIDE_PEERS else []
        if kinds and not beside:
            report["skipped"].append("whole commands, peers at 10M addresses: a round takes each of them a minute")
        bench = Commands(scratch, report, hosts, 3 if quick else 9, 5 if quick else 6, beside)
        try:
            found = attempt(report, "commands at %d hosts" % hosts, bench.measure)
            report["commands"] += [found] if found else []
        finally:
            bench.close()


# What is promised at 1M: what is divided by what, whether it is the most.
GOALS = (("import of %s, times faster than ipset restore", 8, ("seconds", "load", "ipset"),
          ("seconds", "load", "bloomctl"), False),
         ("import of %s, times faster than nft -f", 8, ("seconds", "load", "nft"), ("seconds", "load", "bloomctl"), False),
         ("replace 1 %% of %s, times faster than ipset restore", 20, ("seconds", "load", "ipset"),
          ("seconds", "replace", "bloomctl"), False),
         ("replace 0 %% of %s, times faster than ipset restore", 60, ("seconds", "load", "ipset"),
          ("seconds", "unchanged", "bloomctl"), False),
         ("one add at %s, whole process, in ipset adds", 2, ("seconds", "add", "bloomctl"), ("seconds", "add", "ipset"), True),
         ("one add at %s less its syncs, in ipset adds", 2, ("less_sync", "add"), ("seconds", "add", "ipset"), True),
         ("one delete at %s less its syncs, in ipset deletes", 2, ("less_sync", "delete"), ("seconds", "delete", "ipset"), True),
         ("one test at %s, in ipset tests", 2, ("seconds", "test", "bloomctl"), ("seconds", "test", "ipset"), True),
         ("kernel memory at %s, in ipset sets", 1 / 3, ("memory", "bloomctl"), ("memory", "ipset"), True),
         ("kernel memory at %s, in nft sets", 1 / 10, ("memory", "bloomctl"), ("memory", "kernel", "nft"), True),
         ("bits at %s, bytes per entry", 3, ("memory", "maps", "host4"), ("hosts",), True),
         ("counters at %s, bytes per entry", 13, ("memory", "maps", "counters"), ("hosts",), True))
# And at 10M, where ipset was not measured: in what it takes with fewer addresses.
GOALS_LARGE = (("one add at 10M less its syncs, in ipset adds at 1M", 2, ("less_sync", "add"), ("seconds", "add", "ipset")),
               ("one delete at 10M less its syncs, in ipset deletes at 1M", 2, ("less_sync", "delete"),
                ("seconds", "delete", "ipset")),
               ("one test at 10M, in ipset tests at 1M", 2, ("seconds", "test", "bloomctl"), ("seconds", "test", "ipset")))


def goals(report):
    """At 1M addresses; at fewer, if no more were listed."""
    by_size = {command["hosts"]: command for command in report.get("commands", [])}
    hosts = max((hosts for hosts in by_size if hosts <= MILLION), default=MILLION)
    found, large = by_size.get(hosts), by_size.get(10 * MILLION)
    add = median(large, "seconds", "add", "bloomctl")
    return [goal(text % amount_of(hosts), limit, quotient(median(found, *one), median(found, *other)), at_most)
            for text, limit, one, other, at_most in GOALS] + [
        goal("batch of 1M adds to 1M, adds a second", MILLION,
             quotient(MILLION, median(by_size.get(MILLION), "seconds", "batch_1m", "bloomctl")), False),
        goal("import of 10M, s", 8, median(large, "seconds", "load", "bloomctl")),
        goal("one add at 10M, ms", 5, add and 1e3 * add)] + [
        goal(text, limit, quotient(median(large, *one), median(found, *other))) for text, limit, one, other in GOALS_LARGE]
