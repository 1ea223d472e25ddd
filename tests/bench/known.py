# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs a server to remember who connects: connections a second, in turns with and without."""
import ctypes
import glob
import json
import os

from command_peers import Bloomctl
from rig import PROGRAMS, Failed, Samples, both, goal, row, run, say, spread

CLONE_NEWCGROUP = 0x02000000
CLIENTS, LINK = "xbt-bench-clients", "xbtk0"
SERVER, FIRST = "10.91.0.1", "10.92.0.1"
WAYS = ("off", "new", "again")


def cgroup_mount():
    """Where cgroup v2 has its root; None: nowhere."""
    found = None
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        for line in mounts:
            words = line.split()
            if words[3] == "/" and " - cgroup2 " in line:
                found = words[4]
    return found


class OwnGroup:
    """A group that is the root of cgroup v2 for this process: no connection of others is heard. One that was left,
    since its process was killed, goes with the next."""

    def __enter__(self):
        base = cgroup_mount()
        if not base:
            raise Failed("cgroup v2 is not mounted")
        for left in glob.glob(os.path.join(base, "xbt-bench-*-sockets")):
            try:
                os.rmdir(left)
            except OSError:
                pass
        self.base = base
        self.group = os.path.join(base, "xbt-bench-%d-sockets" % os.stat("/proc/self/ns/mnt").st_ino)
        os.mkdir(self.group)
        self.enter(self.group)
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWCGROUP):
            raise Failed("unshare: " + os.strerror(ctypes.get_errno()))
        return self

    @staticmethod
    def enter(group):
        with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as procs:
            procs.write("0")

    def __exit__(self, *_):
        self.enter(self.base)
        os.rmdir(self.group)


class Known:
    def __init__(self, scratch, quick, clients_group):
        self.clients_group = clients_group
        self.count, self.rounds = (5000, 5) if quick else (10000, 15)
        self.samples, self.bloomctl = Samples(), Bloomctl(scratch)
        self.group = scratch.make("cgroup")

    def network(self):
        run("ip", "netns", "add", CLIENTS)
        run("ip", "link", "add", LINK, "type", "veth", "peer", "name", LINK, "netns", CLIENTS)
        for where in ([], ["-n", CLIENTS]):
            run("ip", *where, "link", "set", LINK, "up")
        run("ip", "-n", CLIENTS, "link", "set", "lo", "up")
        run("ip", "addr", "add", SERVER + "/24", "dev", LINK)
        run("ip", "-n", CLIENTS, "addr", "add", "10.91.0.2/24", "dev", LINK)
        run("ip", "route", "add", "10.92.0.0/16", "via", "10.91.0.2")
        run("ip", "-n", CLIENTS, "route", "add", "local", "10.92.0.0/16", "dev", "lo")

    def connect(self):
        found = json.loads(run(os.path.join(PROGRAMS, "bench_connections"), "/run/netns/" + CLIENTS,
                               SERVER, FIRST, str(self.count), self.clients_group))
        if found["accepted"] < 0.99 * self.count:
            raise Failed("%d of %d connections were accepted" % (found["accepted"], self.count))
        return found["accepted"] / found["seconds"]

    def prepare(self, way):
        """Nothing is attached; or nobody is known; or those who come are."""
        if way == "off":
            run(*self.bloomctl.base, "known", "off")
        elif way == "new":
            run(*self.bloomctl.base, "known", "on", "--capacity", "1000000")
            run(*self.bloomctl.base, "known", "clear")

    def check(self, way):
        if way == "off":
            return
        found = json.loads(run(*self.bloomctl.base, "-j", "known", "status"))
        if not found["learning"] or abs(found["sources"] / self.count - 1) > 0.05:
            raise Failed("of %d sources %.0f are known" % (self.count, found["sources"]))

    def measure(self):
        self.network()
        run("mount", "-t", "cgroup2", "cgroup2", self.group)
        self.connect()
        for number in range(self.rounds):
            say("known: round %d of %d" % (number + 1, self.rounds))
            for way in WAYS:
                self.prepare(way)
                self.samples.add(way, self.connect())
                self.check(way)
        run(*self.bloomctl.base, "known", "off")
        return {"connections": self.count, "per_second": {
            way: self.samples.summary(way) for way in WAYS},
            "cost": {way: self.cost(way) for way in WAYS[1:]}}

    def cost(self, way):
        """By how much a connection takes longer: 0.02 is 2 %."""
        found = self.samples.ratio("off", way)
        return {key: value - 1 for key, value in found.items()}


def measure(scratch, quick, report):
    try:
        with OwnGroup() as group:
            report["known"] = Known(scratch, quick, group.base).measure()
    except (Failed, OSError) as failure:
        report["failed"].append("known sources: %s" % failure)


def goals(report):
    found = report.get("known")
    return [goal("learning who connects, of the time of a connection", 0.02,
                 found and found["cost"][way]["median"]) for way in WAYS[1:]]


def print_text(report):
    found = report.get("known")
    if not found:
        return
    print("\nA server that accepts connections and does nothing else, connections a second")
    row("", "a second", "cost")
    for way, name in (("off", "nobody is remembered"), ("new", "all are new"),
                      ("again", "all have come before")):
        row(name, both(found["per_second"][way], digits=0),
            spread(found["cost"][way], digits=3) if way != "off" else "")
