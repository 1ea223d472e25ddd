# SPDX-License-Identifier: GPL-2.0-or-later
"""Durable adds over the socket of bloomd, beside processes of bloomctl and ipset, and ipset restore that gets a line at a
time."""
import os
import subprocess
import time

from bloomd import Installed
from command_peers import SET, timed
from commands import Sync
from rig import K, Failed, Samples, addresses, attempt, goal, median, quotient, run, say
from tables import cell, table

BASE = 100 * K          # listed before
NEW = 500 * K * K       # numbers of addresses that are not
NAMES = {"pipelined": "SADD, pipelined by one client", "single": "SADD, one at a time",
         "batch": "bloomctl batch, 100,000 lines", "bloomctl": "bloomctl add, a process each",
         "ipset": "ipset add, a process each", "restore": "ipset restore, a line at a time"}


def restore(addresses):
    """ipset restore answers nothing: a line counts when it has read it, and its end shows that all of them were taken."""
    process = subprocess.Popen(["ipset", "restore", "-exist"], stdin=subprocess.PIPE)
    start = time.perf_counter()
    for address in addresses:
        os.write(process.stdin.fileno(), b"add %s %s\n" % (SET.encode(), address.encode()))
    process.stdin.close()
    if process.wait():
        raise Failed("ipset restore failed")
    return time.perf_counter() - start


class Sockets:
    def __init__(self, installed, piped, ipset):
        self.bloomctl, self.agent, self.piped, self.ipset = installed.bloomctl, installed.agent, piped, ipset
        self.next, self.samples, self.sync = NEW, Samples(), Sync(self.bloomctl.path("sync"))

    def fresh(self, count):
        """Addresses that were never listed."""
        first, self.next = self.next, self.next + count
        return addresses(first, count)

    def one_round(self):
        add = self.samples.add
        self.bloomctl.ctl("import", "--replace", "--force", self.bloomctl.path("load"), "--include-bogons")
        self.bloomctl.ctl("rotate")
        self.agent.rest()
        for address in self.fresh(20):
            add("sync", self.sync.seconds())
            add("single", self.agent.single(address))
        for _ in range(20):
            add("bloomctl", self.bloomctl.run("add", self.fresh(1)[0])[0])
            if self.ipset:
                add("ipset", timed("ipset", "add", SET, self.fresh(1)[0])[0])
        add("pipelined", self.agent.pipelined(self.fresh(self.piped)) / self.piped)
        self.agent.rest()
        with open(self.bloomctl.path("batch"), "w") as out:
            out.writelines("add %s\n" % address for address in self.fresh(100 * K))
        add("batch", self.bloomctl.run("batch")[0] / (100 * K))
        if self.ipset:
            add("restore", restore(self.fresh(20 * K)) / (20 * K))


def measured(scratch, rounds, piped, ipset):
    with Installed(scratch, BASE) as installed:
        sockets = Sockets(installed, piped, ipset)
        try:
            if ipset:
                run("ipset", "create", SET, "hash:ip", "maxelem", "10000000")
            for number in range(rounds):
                say("socket, round %d of %d" % (number + 1, rounds))
                sockets.one_round()
        finally:
            sockets.sync.close()
            subprocess.run(["ipset", "destroy", SET], check=False, stderr=subprocess.DEVNULL)
    seconds = {name: sockets.samples.summary(name) for name in (*NAMES, "sync")}
    return {"rounds": rounds, "pipelined_adds": piped, "seconds": seconds,
            "over_ipset": {name: quotient(median(seconds, name), median(seconds, "ipset")) for name in NAMES}}


def measure(scratch, quick, report):
    ipset = not subprocess.run(["ipset", "list", "-n"], check=False, capture_output=True).returncode
    if not ipset:
        report["skipped"].append("the socket beside ipset: it is not installed")
    report["socket"] = attempt(report, "the socket", measured, scratch, 3 if quick else 9, (200 if quick else 500) * K, ipset)


def goals(report):
    piped, process, single, ipset = (median(report, "socket", "seconds", name)
                                     for name in ("pipelined", "bloomctl", "single", "ipset"))
    return [goal("durable adds a second over the socket, pipelined", 200 * K, quotient(1, piped), False),
            goal("the same, times as fast as a process each", 50, quotient(process, piped), False),
            goal("one add over the socket, in ipset adds", 1, quotient(single, ipset))]


def chapter(data, _page):
    found = data["socket"]
    seconds, over = found["seconds"], found["over_ipset"]
    rows = [[text, cell(seconds[name], 1e6), "%.0f" % (1 / seconds[name]["median"]), cell(over[name], digits=3)]
            for name, text in NAMES.items() if seconds[name]]
    return table(["one durable add, %d listed before, %d rounds" % (BASE, found["rounds"]), "us", "a second", "in ipset adds"],
                 rows + [["of which a commit of LMDB waits", cell(seconds["sync"], 1e6), "", ""]])
