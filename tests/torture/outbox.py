# SPDX-License-Identifier: GPL-2.0-or-later
"""A host publishes a list, and a command that changes the list dies before any of its calls; so does the
transaction in which the host takes out of its outbox what the log has. Then the change is whole or
absent, and there if it was acknowledged; and once all is published, another host that follows the
log has the same list.

AMOUNT: deaths, chosen at random, half of them of that transaction; 0: all.
"""
import os
import random

from fleetlog import Fleet
from world import Wrong

LIST = "shared"
KEPT = ["10.1.0.1", "10.1.1.0/24", "2001:db8:1::/48", "kept.example"]
CHANGED = ["10.2.0.1", "10.2.1.0/24", "2001:db8:2::/48", "changed.example"]


class Case:
    """A command on what is KEPT, and CHANGED if `listed`; and what is listed after it."""

    def __init__(self, words, listed, after, text=None):
        self.words, self.listed, self.after, self.text = words, listed, after, text

    def __str__(self):
        return self.words[0]


CASES = [
    Case(["add", *CHANGED], False, KEPT + CHANGED),
    Case(["add", *CHANGED, "--timeout", "100000", "--exist"], True, KEPT + CHANGED),
    Case(["del", *CHANGED], True, KEPT),
    Case(["import", "-", "--include-bogons", "--replace", "--force"], True, CHANGED[:3], "\n".join(CHANGED[:3])),
    Case(["flush", "--yes"], True, []),
]


class Outbox:
    def __init__(self, world):
        self.world, self.fleet = world, Fleet(world, [LIST])

    def begin(self):
        self.world.clear()
        self.fleet.begin()
        self.world.run("attach", "xt0")

    def prepare(self, case):
        self.world.run("add", *KEPT, "--list", LIST, "--exist")
        self.world.run("add" if case.listed else "del", *CHANGED, "--list", LIST, "--exist")

    def listed(self):
        return sorted(line["entry"] for line in self.world.saved() if line.get("list") == LIST and "entry" in line)

    def calls_of(self, attempt):
        """How many it makes if it lives."""
        seen = os.path.join(self.world.directory, "..", "seen")
        attempt(self.world.shimmed(seen=seen))
        with open(seen) as lines:
            count = len(lines.readlines())
        os.remove(seen)
        return count

    def change(self, case, environment):
        code, _, errors = self.world.attempt(*case.words, "--list", LIST, environment=environment, text=case.text)
        if code not in (0, -9):
            raise Wrong("exit %d: %s" % (code, errors))
        return code == 0

    def kill_change(self, case, number):
        self.prepare(case)
        before = self.listed()
        acknowledged = self.change(case, self.world.shimmed(die=number))
        found = self.listed()
        if found != sorted(case.after) and (acknowledged or found != before):
            raise Wrong("%s are listed" % found)

    def publish_and_replace(self):
        """Some of what waits is in the log, and all of it is replaced before the host notes that."""
        self.prepare(CASES[0])
        self.fleet.check()
        self.change(CASES[0], None)
        self.fleet.publish(2)
        self.change(CASES[1], None)

    def kill_taking(self, number):
        self.publish_and_replace()
        before = self.fleet.shared(self.world.paths[0])
        self.fleet.take(self.world.shimmed(die=number))
        self.fleet.compare("after it those here", self.fleet.shared(self.world.paths[0]), before)

    def kill(self, case, number):
        try:
            if case:
                self.kill_change(case, number)
            else:
                self.kill_taking(number)
            self.fleet.check()
        except Wrong as wrong:
            raise Wrong("%s, dead before call %d: %s" % (case or "taking out", number, wrong)) from wrong


def wishes_of(outbox):
    """Each case with each of its calls; and each call of the transaction of the host, with None."""
    wishes = []
    for case in CASES:
        outbox.prepare(case)
        wishes += [(case, number) for number in range(1, 1 + outbox.calls_of(
            lambda environment, case=case: outbox.change(case, environment)))]
    outbox.publish_and_replace()
    return wishes, [(None, number) for number in range(1, 1 + outbox.calls_of(outbox.fleet.take))]


def run(world, amount, seed):
    """Returns what was done; raises Wrong."""
    outbox, dice = Outbox(world), random.Random(seed)
    outbox.begin()
    chosen, count = [], 0
    for wishes in wishes_of(outbox):
        chosen += dice.sample(wishes, min(amount // 2, len(wishes))) if amount else wishes
        count += len(wishes)
    for case, number in chosen:
        outbox.kill(case, number)
    world.ask(["agree"])
    world.clear()
    return "%d deaths of %d, %d changes published" % (len(chosen), count, outbox.fleet.published)
