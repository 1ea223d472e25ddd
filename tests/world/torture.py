# SPDX-License-Identifier: GPL-2.0-or-later
"""The torture of the world: one step after another, and what must hold after each of them."""
import random

from ground import Wrong
from trials import Trials

# How often each comes.
WEIGHTS = {
    "create": 10, "delete": 4, "again": 5, "rename": 6, "swap": 3, "replace": 3, "other_name": 6,
    "move": 6, "up_or_down": 5, "network": 6, "mtu": 2, "other_program": 5, "bare": 3, "lose": 2, "reboot": 2,
    "up": 10, "attach": 22, "detach": 9, "add": 7, "delete_entries": 5, "bring": 3, "batch": 3,
    "allow": 4, "policy": 5, "rotate": 3, "restore": 3, "trial": 1, "attach_trial": 1}


def steps(amount, seed, without=()):
    dice, kinds = random.Random(seed), [kind for kind in WEIGHTS if kind not in without]
    chosen = ["create"] * 3 + ["attach"] + \
        dice.choices(kinds, [WEIGHTS[kind] for kind in kinds], k=max(0, amount - 4))
    return [(kind, *(dice.randrange(1 << 16) for _ in range(3))) for kind in chosen]


class Torture(Trials):
    def begin(self):
        for words in (["add", "192.0.2.1", "198.51.100.0/24", "2001:db8::/48", "192.0.2.77",
                       "10.99.0.0/24", "--list", "base"], ["allow", "add", "192.0.2.77"]):
            done = self.ground.run(*words)
            if done.code:
                raise Wrong(str(done))

    def step(self, kind, a, b, c):
        self.begin_step()
        try:
            getattr(self, kind)(a, b, c)
        except OSError as error:
            self.tell("%s: cannot: %s" % (kind, error))
        self.check()


def run(directory, programs, some, tell, without=(), dispatched=False):
    """Does the steps, and raises Wrong. Returns how often an interface was seen to filter."""
    torture = Torture(directory, programs, tell, without, dispatched)
    torture.begin()
    for number, step in enumerate(some):
        tell("-- %d: %s %d %d %d" % (number, *step))
        try:
            torture.step(*step)
        except Wrong:
            tell("== " + torture.model.told())
            tell("== " + torture.ground.run("-j", "status").out)
            raise
    return torture.filtering
