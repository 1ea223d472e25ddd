# SPDX-License-Identifier: GPL-2.0-or-later
"""Set operations of bloomset beside sort, comm and uniq, on the same files with the same memory."""
import os
import shutil
import subprocess

from command_peers import timed
from rig import BUILD, PROGRAMS, Failed, Samples, both, goal, row, run, say, spread

BLOOMSET = os.path.join(BUILD, "bloomset")
LINES = os.path.join(PROGRAMS, "bench_lines")
MILLION = 1000000
MEMORY = 2 << 30
# Lines of each of two files, half of them in both, and how often all take a turn: what takes minutes evens out by itself.
SIZES = ((100 * MILLION, 1), (250 * MILLION, 1))
QUICK = ((4 * MILLION, 3),)
KINDS = {"addresses": ("addresses", "bench_addresses", 15), "text": ("lines of 64 bytes", "bench_lines", 64)}
LEAST = {"addresses": 5, "text": 3}     # times as fast
OPERATIONS = ("common", "once")
# Two sorts at once, each with half of the memory and a processor, are as fast as one after the other, and
# nothing of them has to be kept. By itself sort merges 16 files at once, which here means a second pass.
SORT = "sort --batch-size=64"
PEERS = {
    "common": "comm -12 <(%(sort)s -u -S %(half)db --parallel=1 a) <(%(sort)s -u -S %(half)db --parallel=1 b) >out",
    "once": "%(sort)s -S %(all)db --parallel=2 a b | uniq -u >out",
}


def disk(kind, lines):
    """Bytes: both files, as much again that sort writes, and the result of once, half of it."""
    return 2 * lines * KINDS[kind][2] * 5 // 2


class Sets:
    """Two files of a kind, and what bloomset and the peers make of them."""

    def __init__(self, scratch, kind, lines):
        self.kind, self.lines = kind, lines
        self.directory = scratch.path("sets")
        self.samples = Samples()
        self.peaks = []

    def begin(self):
        os.makedirs(self.directory)
        program = os.path.join(PROGRAMS, KINDS[self.kind][1])
        for name, first in (("a", 0), ("b", self.lines // 2)):
            say("sets: writing %d %s" % (self.lines, KINDS[self.kind][0]))
            with open(self.path(name), "wb") as out:
                run_into(out, program, first, self.lines)

    def path(self, name):
        return os.path.join(self.directory, name)

    def end(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def result(self):
        return run("sh", "-c", '"$1" sum <"$2"', "sh", LINES, self.path("out"))

    def ours(self, operation):
        # Neither waits for the disk: -o would.
        seconds, peak = timed("env", "TMPDIR=" + self.directory, "sh", "-c", 'exec "$@" >"$0"', self.path("out"),
                              BLOOMSET, "-q", operation, "--lines", "--memory", str(MEMORY), self.path("a"),
                              self.path("b"))
        self.peaks.append(peak)
        self.samples.add(operation, seconds)
        return self.result()

    def theirs(self, operation):
        words = PEERS[operation] % {"sort": SORT, "half": MEMORY // 2, "all": MEMORY}
        seconds, _ = timed("env", "LC_ALL=C", "TMPDIR=" + self.directory, "bash", "-o", "pipefail", "-c",
                           'cd "$1" && ' + words, "bash", self.directory)
        self.samples.add(operation + " by sort", seconds)
        return self.result()

    def turn(self, number):
        for operation in OPERATIONS:
            say("sets: %s of %d %s, round %d" % (operation, self.lines, KINDS[self.kind][0], number + 1))
            results = [self.ours(operation), self.theirs(operation)]
            if len(set(results)) > 1:
                raise Failed("%s of %d %s: the results differ: %s" % (operation, self.lines, self.kind, results))

    def found(self):
        return {"kind": self.kind, "lines": self.lines, "memory_bytes": MEMORY,
                "peak_bytes": max(self.peaks),
                "operations": {operation: {
                    "seconds": self.samples.summary(operation),
                    "seconds_by_sort": self.samples.summary(operation + " by sort"),
                    "times_as_fast": self.samples.ratio(operation + " by sort", operation)}
                    for operation in OPERATIONS}}


def run_into(out, program, first, count):
    if subprocess.run([program, str(first), str(count)], stdout=out, check=False).returncode:
        raise Failed("%s does not write its lines" % program)


def measure(scratch, quick, report):
    report["sets"] = []
    for lines, rounds in QUICK if quick else SIZES:
        for kind, (name, _, _) in KINDS.items():
            free = shutil.disk_usage(scratch.top).free
            if free < disk(kind, lines):
                report["skipped"].append("sets of %d %s: %.1f GiB of disk are free, not %.1f" % (
                    lines, name, free / 2**30, disk(kind, lines) / 2**30))
                continue
            sets = Sets(scratch, kind, lines)
            try:
                sets.begin()
                for number in range(rounds):
                    sets.turn(number)
                report["sets"].append(sets.found())
            except Failed as failure:
                report["failed"].append("sets of %d %s: %s" % (lines, name, failure))
            finally:
                sets.end()


def goals(report):
    found = []
    for each in report.get("sets", []):
        name = "%dM %s" % (each["lines"] // MILLION, KINDS[each["kind"]][0])
        for operation, taken in each["operations"].items():
            found.append(goal("%s of %s, times as fast as sort" % (operation, name), LEAST[each["kind"]],
                              taken["times_as_fast"]["median"], at_most=False))
        found.append(goal("sets of %s, MiB of memory" % name, (each["memory_bytes"] >> 20) + 16,
                          each["peak_bytes"] / 2**20))
    return found or [goal("set operations beside sort", None, None)]


def print_text(report):
    for each in report.get("sets", []):
        print("\nTwo files of %d %s, %d MiB of memory (bloomset took %.0f)" % (
            each["lines"], KINDS[each["kind"]][0], each["memory_bytes"] >> 20, each["peak_bytes"] / 2**20))
        row("", "bloomset", "sort, comm, uniq", "times as fast")
        for operation, taken in each["operations"].items():
            row(operation, both(taken["seconds"], digits=2) + " s", both(taken["seconds_by_sort"], digits=2) + " s",
                spread(taken["times_as_fast"], digits=1))
