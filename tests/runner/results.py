# SPDX-License-Identifier: GPL-2.0-or-later
"""What is shown: lines that begin with "ok", "FAIL" or "skip", each with how long it took, and what
belongs to them; at the end the slowest, and how many there were of each."""
import os
import re
import threading
import time

SLOWEST = 10
TIMES = os.path.join("build", "times.tsv")
KINDS = ("ok", "FAIL", "skip")
TOOK = re.compile(r" \((\d+\.\d) s\)$")
# What a suite says when it begins: the seed that repeats it, and how much it does.
SEED = re.compile(r"seed (\d+)(?:, (.*))?$")


def show_most(title, times):
    if len(times) > SLOWEST:
        print(title)
        for seconds, name in sorted(times, reverse=True)[:SLOWEST]:
            print("  %6.1f s  %s" % (seconds, name.rstrip(":")))


class Part:
    """A suite, or all programs of a kind of tests."""

    def __init__(self):
        self.counts = dict.fromkeys(KINDS, 0)
        self.failed = []  # names
        self.seconds, self.seed, self.amount = 0.0, "", ""


class Lines:
    """The lines of one program: a line and what follows it stay together."""

    def __init__(self, report, name):
        self.report, self.name = report, name
        self.group, self.failed = [], False
        self.begun = self.last = time.monotonic()
        self.part = report.part(name)

    def flush(self):
        self.report.print(self.group)
        self.group = []

    def take(self, line):
        seed = SEED.match(line)
        if seed and not self.part.seed:
            self.part.seed, self.part.amount = seed[1], seed[2] or ""
        kind = line.split(" ", 1)[0]
        if kind in KINDS:
            self.flush()
            with self.report.lock:
                self.part.counts[kind] += 1
                if kind == "FAIL":
                    self.part.failed.append(line.split()[1].rstrip(":"))
            now = time.monotonic()
            if not TOOK.search(line):
                line += " (%.1f s)" % (now - self.last)
            self.last = now
            self.failed |= line.startswith("FAIL")
        self.group.append(line)

    def used(self, seconds):
        """Of processors, all that the program started included."""
        self.report.used_by(self.name, time.monotonic() - self.begun, seconds)

    def end(self, why):
        """why: a reason why it failed that no line gave, and lines that show it; or "". """
        reason, _, shown = why.partition("\n")
        if reason:
            self.take("FAIL %s: %s" % (self.name, reason))
        self.group += shown.splitlines()
        self.flush()
        with self.report.lock:
            self.part.seconds += time.monotonic() - self.begun


class Results:
    """left: lines that say what the run does not do."""

    def __init__(self, left):
        self.left = left
        self.counts = dict.fromkeys(KINDS, 0)
        self.times, self.lock, self.begun = [], threading.Lock(), time.monotonic()
        self.parts, self.used, self.took = {}, [], []

    def lines(self, name):
        return Lines(self, name)

    def used_by(self, name, took, seconds):
        """seconds: of processors."""
        with self.lock:
            self.used.append((seconds, name))
            self.took.append((name, took, seconds))

    def part(self, name):
        """That to which a program belongs."""
        with self.lock:
            return self.parts.setdefault(name.split("/")[0] + "/", Part())

    def tell(self, line):
        self.print([line])

    def show(self, text):
        self.print(["     | " + line for line in text.splitlines()[-60:]])

    def print(self, group):
        with self.lock:
            for line in group:
                kind = line.split(" ", 1)[0]
                if kind in KINDS:
                    self.counts[kind] += 1
                    took = TOOK.search(line)
                    if took:
                        self.times.append((float(took[1]), line.split()[1]))
                print(line, flush=True)

    def keep_times(self):
        """Of each program, in seconds: how long it ran, and what it had of processors."""
        with open(TIMES, "w", encoding="utf-8") as file:
            file.writelines("%s\t%.1f\t%.1f\n" % one for one in sorted(self.took, key=lambda one: -one[2]))

    def end(self):
        """The exit code."""
        self.keep_times()
        show_most("the slowest:", self.times)
        show_most("most time of processors:", self.used)
        print("%.0f s in all, %.0f s of processors" % (
            time.monotonic() - self.begun, sum(seconds for seconds, _ in self.used)))
        print("".join(line + "\n" for line in self.left), end="")
        print("%d passed, %d failed, %d skipped" % tuple(self.counts[kind] for kind in KINDS),
              flush=True)
        return 1 if self.counts["FAIL"] else 0
