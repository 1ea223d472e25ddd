# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole commands beside those of peers, from text to what is enforced, and the memory it takes."""
import json
import os
import time

from command_peers import INTERFACE, Bloomctl, Lists, Ranges, Timed, add_interface, timed, usable
from rig import PROGRAMS, Failed, Samples, both, first_line, goal, ratio, row, run, say, spread

K, MILLION = 1000, 1000000
SIZES = (100 * K, MILLION, 10 * MILLION)
BESIDE_PEERS = MILLION  # more takes them minutes
# Addresses from these numbers on are in no list: of single adds, batches, changed lists.
SINGLE, BATCH, BATCH_1M, CHANGED = (number * 100 * MILLION for number in (1, 2, 3, 4))
OPERATIONS = {
    "load": "load from text", "replace": "replace, 1 % changed", "unchanged": "replace, nothing changed",
    "add": "one add", "test": "one test", "delete": "one delete", "batch_100k": "100,000 adds at once", "batch_1m": "1M adds at once",
    "swap": "swap",
}
BATCHES = {"batch_100k": 100 * K, "batch_1m": MILLION}
# What reads a file: which, and the least it has to do with it. One that is the same again need not be split into lines.
READS = {"load": ("load", "lines"), "replace": ("replace", "lines"), "unchanged": ("replace", "bytes"),
         "batch_100k": ("batch_100k", "lines"), "batch_1m": ("batch_1m", "lines")}
PAGE = 4096
TRANSACTIONS = ("open", "first", "read", "write")


def lists_of(hosts):
    gone = hosts // 100
    batches = {"batch_100k": Ranges((BATCH, 100 * K))}
    if hosts >= MILLION:
        batches["batch_1m"] = Ranges((BATCH_1M, MILLION))
    if hosts > BESIDE_PEERS:
        return Lists(Ranges((0, hosts)), None, {})
    return Lists(Ranges((0, hosts)), Ranges((gone, hosts - gone), (CHANGED, gone)), batches)


def dotted(number):
    """The same address bench_addresses prints for it."""
    x = (number + 0x7f4a7c15) & 0xffffffff
    x ^= x >> 16
    x = x * 0x85ebca6b & 0xffffffff
    x ^= x >> 13
    x = x * 0xc2b2ae35 & 0xffffffff
    x ^= x >> 16
    return "%d.%d.%d.%d" % (x >> 24, x >> 16 & 255, x >> 8 & 255, x & 255)


class Sync:
    """What a commit of LMDB waits for, on the file system the state is on: pages and fdatasync, then
    the page that makes them count, through a descriptor that is O_DSYNC."""
    PAGES = 6  # that one add changes

    def __init__(self, path):
        self.pages = os.urandom(PAGE * self.PAGES)
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.meta = os.open(path, os.O_WRONLY | os.O_DSYNC | os.O_CLOEXEC)
        self.seconds()

    def seconds(self, pages=PAGES):
        if len(self.pages) < PAGE * pages:
            self.pages = os.urandom(PAGE * pages)
        wanted = memoryview(self.pages)[:PAGE * pages]
        start = time.perf_counter()
        os.pwrite(self.file, wanted, PAGE)
        os.fdatasync(self.file)
        os.pwrite(self.meta, self.pages[:120], 0)
        return time.perf_counter() - start

    def close(self):
        os.close(self.file)
        os.close(self.meta)


def kernel_memory():
    """Bytes of the whole machine's kernel that lists can be in: slabs that stay, and vmalloc."""
    return sum(1024 * int(first_line("/proc/meminfo", name).split()[0])
               for name in ("SUnreclaim", "VmallocUsed"))


def settled_memory():
    """What was let go of is freed behind our back."""
    last = kernel_memory()
    for _ in range(20):
        time.sleep(0.15)
        now = kernel_memory()
        if abs(now - last) < 256 << 10:
            break
        last = now
    return now


class Commands:
    """Every operation at one size, peers in turns."""

    def __init__(self, scratch, report, hosts, rounds, adds, kinds):
        self.report = report
        self.hosts, self.rounds, self.adds = hosts, rounds, adds
        self.lists = lists_of(hosts)
        self.bloomctl = Bloomctl(scratch)
        self.bloomctl.timed = Timed()
        self.peers = [self.bloomctl] + [kind(scratch) for kind in kinds]
        self.names = {peer.key: peer.name for peer in self.peers}
        self.sync = Sync(self.bloomctl.path("sync"))
        self.samples = Samples()
        self.memory = {}
        self.rebuilt = dict.fromkeys(self.lists.batches, 0)
        self.ended = []

    def close(self):
        self.sync.close()
        for peer in self.peers + self.ended:
            peer.close()

    def turns(self, number):
        """Those that have not failed; another one begins each time."""
        turn = number % len(self.peers)
        return self.peers[turn:] + self.peers[:turn]

    def attempt(self, peer, operation, *words):
        """Not a reason to stop, unless it is what ships. Whether it went well."""
        if not peer.has(operation.split("_")[0]):
            return False
        say("commands at %d hosts, round %d of %d: %s, %s" % (
            self.hosts, self.number + 1, self.rounds, OPERATIONS[operation], peer.name))
        try:
            wall, peak = getattr(peer, operation.split("_")[0])(*words)
        except Failed as failure:
            if peer is self.bloomctl:
                raise
            self.report["failed"].append("commands at %d hosts, %s: %s" % (self.hosts, peer.name,
                                                                           failure))
            self.peers.remove(peer)
            self.ended.append(peer)
            peer.end()
            return False
        self.samples.add("%s/%s" % (operation, peer.key), wall)
        self.samples.add("%s/%s/peak" % (operation, peer.key), peak)
        if peer is self.bloomctl:
            self.least(operation)
        return True

    def least(self, operation):
        """What any program would take that reads the same file and waits until as much is on the disk."""
        written = self.bloomctl.timed.written
        self.samples.add(operation + "/written", written)
        if operation in READS:
            name, how = READS[operation]
            self.samples.add(operation + "/reading", timed(os.path.join(PROGRAMS, "bench_read"), how,
                                                           self.bloomctl.path(name))[0])
            self.samples.add(operation + "/sync", self.sync.seconds(written // PAGE) if written else 0)

    def transactions(self):
        """Of the store, which nobody uses meanwhile."""
        found = json.loads(run(os.path.join(PROGRAMS, "bench_transactions"), self.bloomctl.state, "1000"))
        for name in TRANSACTIONS:
            self.samples.add("transaction/" + name, found[name])

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
            self.memory["bloomctl"] = peer.status()["memory"]
        elif peer.key == "ipset":
            self.memory["ipset"] = peer.own_account()

    def singles(self):
        """Adds, then tests and deletes of the same."""
        first = SINGLE + self.number * self.adds
        for number in range(first, first + self.adds):
            self.samples.add("empty", timed("true")[0])
            self.samples.add("sync", self.sync.seconds())
            for peer in self.turns(number):
                self.attempt(peer, "add", dotted(number))
        for operation in ("test", "delete"):
            for number in range(first, first + self.adds):
                for peer in self.turns(number):
                    self.attempt(peer, operation, dotted(number))

    def batches(self):
        wanted = self.hosts
        for name, batch in self.lists.batches.items():
            wanted += len(batch)
            before = self.bloomctl.status()["name"]
            for peer in self.turns(self.number):
                if self.attempt(peer, name, name) and peer.key != "nft":
                    self.check(peer, wanted)
            self.rebuilt[name] += before != self.bloomctl.status()["name"]

    def one_round(self):
        for peer in self.turns(self.number):
            self.load(peer)
        self.transactions()
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

    def by_peer(self, operation, what, end=""):
        return {key: what("%s/%s%s" % (operation, key, end)) for key in self.names
                if "%s/%s" % (operation, key) in self.samples.of}

    def less_sync(self, operation):
        found, sync = self.samples.summary(operation + "/bloomctl"), self.samples.summary("sync")
        return {key: found[key] - sync[key] for key in ("median", "min")}

    def found(self):
        samples = self.samples
        measured = [name for name in OPERATIONS if name + "/bloomctl" in samples.of]
        return {
            "hosts": self.hosts, "rounds": self.rounds, "adds_a_round": self.adds,
            "peers": self.names,
            "seconds": {name: self.by_peer(name, samples.summary) for name in measured},
            "times_bloomctl": {
                name: {key: samples.ratio("%s/%s" % (name, key), name + "/bloomctl")
                       for key in self.by_peer(name, samples.summary) if key != "bloomctl"}
                for name in measured},
            "peak_bytes": {name: self.by_peer(name, samples.summary, "/peak") for name in measured
                           if name not in ("add", "test", "delete", "swap")},
            "empty_process": samples.summary("empty"), "sync": samples.summary("sync"),
            "least": {name: {key: samples.summary("%s/%s" % (name, key)) for key in ("reading", "sync")}
                      for name in READS if name in measured},
            "written_bytes": {name: samples.summary(name + "/written") for name in measured},
            "transactions": {name: samples.summary("transaction/" + name) for name in TRANSACTIONS},
            "add_less_sync": self.less_sync("add"), "delete_less_sync": self.less_sync("delete"),
            "add_over_ipset": samples.ratio("add/bloomctl", "add/ipset"),
            "add_less_sync_over_ipset": ratio(self.less_sync("add"), samples.summary("add/ipset")),
            "delete_less_sync_over_ipset": ratio(self.less_sync("delete"), samples.summary("delete/ipset")),
            "test_over_ipset": samples.ratio("test/bloomctl", "test/ipset"),
            "restore_over_replace": samples.ratio("load/ipset", "replace/bloomctl"),
            "restore_over_unchanged": samples.ratio("load/ipset", "unchanged/bloomctl"),
            "adds_per_second": {
                name: {key: {"median": BATCHES[name] / found["median"],
                             "best": BATCHES[name] / found["min"]}
                       for key, found in self.by_peer(name, samples.summary).items()}
                for name in self.lists.batches if name in measured},
            "rebuilt_in_rounds": self.rebuilt,
            "memory": self.memory_found(),
        }

    def memory_found(self):
        maps = self.memory["bloomctl"]
        return {"maps": maps, "bloomctl": sum(maps.values()) - maps["counters"],
                "counters": maps["counters"], "ipset": self.memory.get("ipset"),
                "kernel": self.by_peer("kernel", self.samples.summary)}


def measure(scratch, quick, report):
    report["commands"] = []
    kinds = usable(report)
    if quick:
        report["skipped"].append("whole commands at 1M and 10M addresses (--quick)")
    for hosts in SIZES[:1] if quick else SIZES:
        beside = kinds if hosts <= BESIDE_PEERS else []
        if kinds and not beside:
            report["skipped"].append("whole commands, peers at 10M addresses: a round takes each "
                                     "of them a minute")
        bench = Commands(scratch, report, hosts, 3 if quick else 9, 5 if quick else 6, beside)
        try:
            report["commands"].append(bench.measure())
        except Failed as failure:
            report["failed"].append("commands at %d hosts: %s" % (hosts, failure))
        finally:
            bench.close()


def size(hosts):
    return "%dM" % (hosts // MILLION) if hosts >= MILLION else "%dk" % (hosts // K)


def median(command, *names):
    """Of what is found below these names, or None."""
    for name in names:
        command = command and command.get(name)
    return command.get("median") if isinstance(command, dict) else command


def goals_of_size(found, hosts):
    """What is promised at 1M."""
    name, memory = size(hosts), found and found["memory"]
    nft = median(memory, "kernel", "nft")
    return [
        goal("import of %s, times faster than ipset restore" % name, 8,
             median(found, "times_bloomctl", "load", "ipset"), False),
        goal("import of %s, times faster than nft -f" % name, 8,
             median(found, "times_bloomctl", "load", "nft"), False),
        goal("replace 1 %% of %s, times faster than ipset restore" % name, 20,
             median(found, "restore_over_replace"), False),
        goal("replace 0 %% of %s, times faster than ipset restore" % name, 60,
             median(found, "restore_over_unchanged"), False),
        goal("one add at %s, whole process, in ipset adds" % name, 2,
             median(found, "add_over_ipset")),
        goal("one add at %s less its syncs, in ipset adds" % name, 2,
             median(found, "add_less_sync_over_ipset")),
        goal("one delete at %s less its syncs, in ipset deletes" % name, 2,
             median(found, "delete_less_sync_over_ipset")),
        goal("one test at %s, in ipset tests" % name, 2, median(found, "test_over_ipset")),
        goal("kernel memory at %s, in ipset sets" % name, 1 / 3,
             memory and memory["ipset"] and memory["bloomctl"] / memory["ipset"]),
        goal("kernel memory at %s, in nft sets" % name, 1 / 10,
             nft and memory["bloomctl"] / nft if nft and nft > 0 else None),
        goal("bits at %s, bytes per entry" % name, 3,
             memory and memory["maps"]["host4"] / hosts),
        goal("counters at %s, bytes per entry" % name, 13, memory and memory["counters"] / hosts),
    ]


def goals(report):
    """At 1M addresses; at fewer, if no more were listed."""
    by_size = {command["hosts"]: command for command in report.get("commands", [])}
    hosts = max((hosts for hosts in by_size if hosts <= MILLION), default=MILLION)
    large = by_size.get(10 * MILLION)
    add = median(large, "seconds", "add", "bloomctl")

    def over_ipset(ours, operation):
        """In what ipset takes with fewer addresses: with more it was not measured."""
        its = by_size.get(hosts, {}).get("seconds", {}).get(operation, {}).get("ipset")
        return median(ratio(ours, its))

    return goals_of_size(by_size.get(hosts), hosts) + [
        goal("batch of 1M adds to 1M, adds a second", MILLION,
             median(by_size.get(MILLION), "adds_per_second", "batch_1m", "bloomctl"), False),
        goal("import of 10M, s", 8, median(large, "seconds", "load", "bloomctl")),
        goal("one add at 10M, ms", 5, add and 1e3 * add),
        goal("one add at 10M less its syncs, in ipset adds at 1M", 2, over_ipset(large and large["add_less_sync"], "add")),
        goal("one delete at 10M less its syncs, in ipset deletes at 1M", 2,
             over_ipset(large and large["delete_less_sync"], "delete")),
        goal("one test at 10M, in ipset tests at 1M", 2,
             over_ipset(large and large["seconds"]["test"]["bloomctl"], "test")),
    ]


def print_operations(command):
    peers = command["peers"]
    print("\nWhole commands at %d addresses, %d rounds: ms" % (command["hosts"],
                                                               command["rounds"]))
    row("", *peers.values())
    for name, found in command["seconds"].items():
        row(OPERATIONS[name], *(both(found.get(key), 1e3, 2) for key in peers))
    row("one add less its syncs", both(command["add_less_sync"], 1e3, 2))
    print("An empty process: %s ms; what a commit writes and syncs, where the state is: %s ms"
          % (both(command["empty_process"], 1e3, 2), both(command["sync"], 1e3, 2)))
    print("bloomctl has written, KiB: %s" % ", ".join(
        "%s %.0f" % (name, found["median"] / 2**10) for name, found in command["written_bytes"].items()))
    row("the least of what reads a file", "reading process", "sync of as much")
    for name, found in command["least"].items():
        row("  " + OPERATIONS[name], both(found["reading"], 1e3, 2), both(found["sync"], 1e3, 2))
    print("A transaction of the store that looks for an address, us: %s" % ", ".join(
        "%s %s" % (name, both(found, 1e6)) for name, found in command["transactions"].items()))


def print_ratios(command):
    others = {key: name for key, name in command["peers"].items() if key != "bloomctl"}
    if not others:
        return
    row("times bloomctl, quartiles of rounds", "", *others.values())
    for name, found in command["times_bloomctl"].items():
        row("  " + OPERATIONS[name], "", *(spread(found.get(key)) for key in others))
    for name, key in (("one add, in ipset adds", "add_over_ipset"),
                      ("  less its syncs", "add_less_sync_over_ipset"),
                      ("one delete less its syncs, in ipset deletes", "delete_less_sync_over_ipset"),
                      ("one test, in ipset tests", "test_over_ipset"),
                      ("ipset restore, in replaces of 1 %", "restore_over_replace"),
                      ("ipset restore, in replaces of 0 %", "restore_over_unchanged")):
        row(name, spread(command[key]))


def print_memory(command):
    peers, memory = command["peers"], command["memory"]
    for name, found in command["adds_per_second"].items():
        row("adds a second, " + OPERATIONS[name],
            *("%.0f" % found[key]["median"] if key in found else "-" for key in peers))
        row("  rounds in which a filter was built anew", "%d" % command["rebuilt_in_rounds"][name])
    for name, found in command["peak_bytes"].items():
        row("peak memory of the process, MiB: " + name,
            *(both(found.get(key), 2**-20) for key in peers))
    row("kernel memory, packet path, MiB: as told", *(
        "%.1f" % (memory[key] / 2**20) if memory.get(key) else "-" for key in peers))
    row("  by what the whole kernel has more", *(both(memory["kernel"].get(key), 2**-20)
                                                 for key in peers))
    row("  apart: counters, in the run directory", "%.1f" % (memory["counters"] / 2**20))


def print_text(report):
    for command in report.get("commands", []):
        print_operations(command)
        print_ratios(command)
        print_memory(command)
