# SPDX-License-Identifier: GPL-2.0-or-later
"""Durable adds over the socket of bloomd, beside processes of bloomctl and ipset, and ipset restore that
gets a line at a time."""
import os
import subprocess
import time

from bloomd import Agent
from command_peers import INTERFACE, SET, Bloomctl, Ranges, add_interface, timed
from commands import Sync, dotted
from rig import Failed, Samples, both, goal, ratio, row, run, say

K = 1000
BASE = 100 * K          # listed before
NEW = 500 * 1000 * K    # numbers of addresses that are not
NAMES = {"pipelined": "SADD, pipelined by one client", "single": "SADD, one at a time",
         "batch": "bloomctl batch, 100,000 lines", "bloomctl": "bloomctl add, a process each",
         "ipset": "ipset add, a process each", "restore": "ipset restore, a line at a time"}


class Restore:
    """ipset restore, which answers nothing: a line counts when it has read it, and a listing at the end
    shows that all of them were taken."""

    def __init__(self):
        self.process = subprocess.Popen(["ipset", "restore", "-exist"], stdin=subprocess.PIPE)

    def add(self, addresses):
        start = time.perf_counter()
        for address in addresses:
            os.write(self.process.stdin.fileno(), b"add %s %s\n" % (SET.encode(), address.encode()))
        self.process.stdin.close()
        if self.process.wait():
            raise Failed("ipset restore failed")
        return time.perf_counter() - start


class Sockets:
    def __init__(self, scratch, rounds, piped):
        self.rounds, self.piped, self.next = rounds, piped, NEW
        self.samples, self.bloomctl = Samples(), Bloomctl(scratch)

    def fresh(self, count):
        """Addresses that were never listed."""
        first, self.next = self.next, self.next + count
        return [dotted(number) for number in range(first, first + count)]

    def one_round(self, agent, sync, ipset):
        add = self.samples.add
        run(*self.bloomctl.base, "import", "--replace", "--force", self.bloomctl.path("load"), "--include-bogons")
        run(*self.bloomctl.base, "rotate")
        agent.rest()
        for address in self.fresh(20):
            add("sync", sync.seconds())
            add("single", agent.single(address))
        for _ in range(20):
            add("bloomctl", self.bloomctl.add(self.fresh(1)[0])[0])
            if ipset:
                add("ipset", timed("ipset", "add", SET, self.fresh(1)[0])[0])
        add("pipelined", agent.pipelined(self.fresh(self.piped)) / self.piped)
        agent.rest()
        path = self.bloomctl.path("batch")
        with open(path, "w") as out:
            out.writelines("add %s\n" % address for address in self.fresh(100 * K))
        add("batch", self.bloomctl.command("batch", path)[0] / (100 * K))
        if ipset:
            add("restore", Restore().add(self.fresh(20 * K)) / (20 * K))

    def measure(self, ipset):
        add_interface(INTERFACE)
        agent, sync = None, Sync(self.bloomctl.path("sync"))
        try:
            self.bloomctl.begin()
            run(*self.bloomctl.base, "import", Ranges((0, BASE)).write(self.bloomctl.path("load")),
                "--include-bogons")
            if ipset:
                run("ipset", "create", SET, "hash:ip", "maxelem", "10000000")
            agent = Agent(self.bloomctl.base, self.bloomctl.counters)
            for number in range(self.rounds):
                say("socket, round %d of %d" % (number + 1, self.rounds))
                self.one_round(agent, sync, ipset)
        finally:
            if agent:
                agent.end()
            sync.close()
            subprocess.run(["ipset", "destroy", SET], check=False, stderr=subprocess.DEVNULL)
            run("ip", "link", "del", INTERFACE)
            self.bloomctl.close()
        return self.found()

    def found(self):
        samples = self.samples
        seconds = {name: samples.summary(name) for name in (*NAMES, "sync")}
        return {"rounds": self.rounds, "pipelined_adds": self.piped, "seconds": seconds,
                "over_ipset": {name: ratio(seconds[name], seconds["ipset"]) for name in NAMES},
                "over_pipelined": {name: ratio(seconds[name], seconds["pipelined"]) for name in NAMES}}


def measure(scratch, quick, report):
    ipset = not subprocess.run(["ipset", "list", "-n"], check=False, capture_output=True).returncode
    if not ipset:
        report["skipped"].append("the socket beside ipset: it is not installed")
    try:
        report["socket"] = Sockets(scratch, 3 if quick else 9, 200 * K if quick else 500 * K).measure(ipset)
    except Failed as failure:
        report["failed"].append("the socket: %s" % failure)


def goals(report):
    found = report.get("socket")
    piped = found and found["seconds"]["pipelined"]
    over = found and found["over_pipelined"]["bloomctl"]
    single = found and found["over_ipset"]["single"]
    return [goal("durable adds a second over the socket, pipelined", 200 * K,
                 piped and 1 / piped["median"], False),
            goal("the same, times as fast as a process each", 50, over and over["median"], False),
            goal("one add over the socket, in ipset adds", 1, single and single["median"])]


def print_text(report):
    found = report.get("socket")
    if not found:
        return
    print("\nOne durable add, %d listed before, %d rounds" % (BASE, found["rounds"]))
    row("", "us", "a second", "in ipset adds")
    for name, text in NAMES.items():
        one = found["seconds"][name]
        if one:
            over = found["over_ipset"][name]
            row(text, both(one, 1e6), "%.0f" % (1 / one["median"]), "%.3f" % over["median"] if over else "-")
    row("of which a commit of LMDB waits", both(found["seconds"]["sync"], 1e6))
