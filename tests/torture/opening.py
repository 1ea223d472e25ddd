# SPDX-License-Identifier: GPL-2.0-or-later
"""The opening of the store: several commands open one state directory at once, each of them at the same
moment as the others; some die or fail at a call of the opening, or sleep there, so that the others
wait for what they leave. No interface, no filter: a round is a few milliseconds.

After each round every change that was acknowledged is in the store, each other one whole or not at
all. First every call is taken once, for a writer and for a reader; then AMOUNT rounds at random.
"""
import errno
import json
import os
import random
import shutil
import signal
import subprocess

from world import Wrong

WRITERS, READERS = 2, 2
UNIVERSE = 24           # entries of a writer
NEW_EVERY = 25          # rounds: the store is made anew by whoever comes first
SLEEPS = (0, 2, 5, 12)  # milliseconds
ERRORS = (errno.EIO, errno.ENOMEM, errno.ENOLCK)
PATIENCE = 60           # seconds


class Writer:
    """One who adds and deletes in a list of its own."""

    def __init__(self, number, dice):
        self.list, self.dice = "w%d" % number, dice
        self.entries = ["10.%d.0.%d" % (number + 1, i) for i in range(UNIVERSE)]
        self.listed, self.after = set(), set()

    def words(self):
        some = self.dice.sample(self.entries, self.dice.randint(1, 5))
        if self.listed and self.dice.random() < 0.4:
            self.after = self.listed.difference(some)
            return ["del", *some, "--list", self.list, "--exist"]
        self.after = self.listed.union(some)
        return ["add", *some, "--list", self.list, "--exist"]


class Opening:
    def __init__(self, world, seed):
        self.world, self.dice = world, random.Random(seed)
        self.writers = []
        self.begin()
        self.deaths = self.failures = self.done = 0

    def begin(self):
        """No store at all."""
        shutil.rmtree(self.world.paths[0], ignore_errors=True)
        self.writers = [Writer(number, self.dice) for number in range(WRITERS)]

    def calls_of(self, words):
        """How many calls it makes when none fails."""
        seen = os.path.join(self.world.directory, "seen")
        self.world.attempt(*words, environment=self.world.shimmed(seen=seen))
        with open(seen) as lines:
            count = len(lines.readlines())
        os.remove(seen)
        return count

    def start(self, words, **fate):
        world = self.world
        return subprocess.Popen([world.bloomctl, *world.options, *words],
                                env=world.shimmed(**fate) if fate else os.environ,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, close_fds=False)

    def finish(self, process, fated):
        """Whether it answered."""
        try:
            errors = process.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired as late:
            raise Wrong("%s hangs" % " ".join(process.args[7:])) from late
        code = process.returncode
        if code == 3 and fated:
            self.failures += 1
            self.world.refused(code, errors, " ".join(process.args[7:]))
        elif code == -signal.SIGKILL and fated:
            self.deaths += 1
        elif code not in (0, 1) and not (code == 2 and "there is no store" in errors):
            raise Wrong("%s: exit %d: %s" % (" ".join(process.args[7:]), code, errors))
        self.done += code == 0
        return code == 0

    def saved(self):
        """Nothing where no store is, or its maker died before anything was in it."""
        code, out, errors = self.world.attempt("save")
        if code == 2 and "there is no store" in errors:
            return []
        if code:
            raise Wrong("save: exit %d: %s" % (code, errors))
        return [json.loads(line) for line in out.splitlines()]

    def settle(self, answered, told):
        """Acknowledged: it is there. Killed or failed: whole or not at all."""
        found = [set() for _ in self.writers]
        for line in self.saved():
            if "entry" in line:
                found[int(line["list"][1:])].add(line["entry"])
        for writer, acknowledged, now in zip(self.writers, answered, found):
            if now != writer.after and (acknowledged or now != writer.listed):
                raise Wrong("%s: %s is %s; it was %s, was to be %s%s" % (
                    told, writer.list, sorted(now), sorted(writer.listed), sorted(writer.after),
                    " and was acknowledged" if acknowledged else ""))
            writer.listed = now

    def together(self, commands):
        """Starts (words, fate) of the writers, then of readers; waits for all."""
        told = "; ".join("%s %s" % (" ".join(words), fate) for words, fate in commands)
        started = [(self.start(words, **fate), fate) for words, fate in commands]
        answered = []
        try:
            for process, fate in started:
                answered.append(self.finish(process, fate))
        except Wrong as wrong:
            raise Wrong("%s, of: %s" % (wrong, told)) from wrong
        finally:
            for process, _ in started:
                process.kill()
        self.settle(answered, told)

    def fate(self, calls):
        """What becomes of a command: nothing, mostly of one in three."""
        how, call = self.dice.random(), self.dice.randint(1, calls)
        sleep = {"sleep": "%d:%d" % (call, self.dice.choice(SLEEPS))}
        if how < 0.35:
            return {}
        if how < 0.75:
            return {"die": call, **sleep}
        if how < 0.9:
            return {"fail": "%d:%d" % (call, self.dice.choice(ERRORS)), **sleep}
        return sleep

    def readers(self):
        return [self.dice.choice([["list"], ["test", "10.1.0.1"], ["save"]])
                for _ in range(READERS)]

    def each_call(self, first, calls):
        """The first opens a store that nobody has open, and dies at each of its calls, after a while in
        which another writer and a reader have come to wait for it."""
        for call in range(1, calls + 1):
            one, other = self.writers
            # What can be lost is there beforehand.
            self.together([(one.words(), {}), (other.words(), {})])
            fate = {"die": call, "sleep": "%d:20" % call}
            if first == "reader":
                self.together_behind(["list"], fate, [one.words(), other.words()])
            else:
                self.together([(one.words(), fate), (other.words(), {}), (["list"], {})])

    def together_behind(self, words, fate, changes):
        """The reader begins; the writers come while it sleeps."""
        reader = self.start(words, **fate)
        self.together([(change, {}) for change in changes])
        self.finish(reader, fate)

    def round(self, number, calls):
        if number % NEW_EVERY == 0:
            self.begin()
        commands = [(writer.words(), self.fate(calls)) for writer in self.writers]
        commands += [(words, self.fate(calls)) for words in self.readers()]
        self.together(commands)


def run(world, amount, seed):
    """Returns what was done; raises Wrong."""
    opening = Opening(world, seed)
    words = opening.writers[0].words()
    opening.together([(words, {}), (opening.writers[1].words(), {})])
    writes = opening.calls_of(words)
    reads = opening.calls_of(["list"])
    opening.settle([False] * WRITERS, "counting calls")
    opening.each_call("writer", writes)
    opening.each_call("reader", reads)
    for number in range(amount):
        opening.round(number, writes)
    opening.begin()
    return "%d calls of a writer and %d of a reader, %d rounds: %d deaths, %d failures, %d done" % (
        writes, reads, amount, opening.deaths, opening.failures, opening.done)
