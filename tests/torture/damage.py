# SPDX-License-Identifier: GPL-2.0-or-later
"""The store file is damaged: bytes changed, pages emptied, swapped, older than the rest, the end cut
off. No command crashes or hangs; one that sees the damage says so in a line and changes nothing; what
was enforced goes on. With the good file back all is as before.

AMOUNT: damages.
"""
import os
import random

from world import Wrong

PAGE = 4096
HEADER = range(10, 16)  # of a page of LMDB: its flags, and where its free place begins and ends
METAS = (0, 1)          # pages of which the newer one is in force, which dice seldom meet
HOSTS = ["10.%d.%d.%d" % (1 + i // 20000, i // 100 % 200, i % 100) for i in range(3000)]
OTHERS = ["2001:db8:%x::/48" % i for i in range(1, 500)] + ["d%d.example" % i for i in range(500)]
DELETED = HOSTS[-1]     # by a command of ours
COMMANDS = (["save"], ["list"], ["test", HOSTS[7]], ["status"], ["add", "192.0.2.1", "--exist"],
            ["del", DELETED, "--exist"], ["allow", "add", "198.51.100.1", "--exist"],
            ["import", "-", "--list", "more", "--include-bogons"], ["rotate"], ["up"],
            ["policy", "enforce"], ["attach", "xt1"])


class Damage:
    def __init__(self, world, seed):
        self.world, self.dice = world, random.Random(seed)
        self.file = os.path.join(world.paths[0], "store.mdb")
        self.seen = self.unseen = 0
        self.sample = self.dice.sample([one for one in HOSTS + OTHERS if one != DELETED], 200) + HOSTS[:1]

    def read(self):
        with open(self.file, "rb") as store:
            return store.read()

    def write(self, data):
        with open(self.file, "r+b") as store:
            store.write(data)
            store.truncate()

    def begin(self):
        """A store with a history, and what it was before the last change."""
        world = self.world
        world.run("attach", "xt0")
        world.run("import", "-", "--include-bogons", text="\n".join(HOSTS[:2000]))
        world.run("batch", "-", text="".join("add %s --comment c%d\n" % (entry, number)
                                             for number, entry in enumerate(HOSTS[2000:] + OTHERS)))
        world.run("allow", "add", "203.0.113.9")
        self.old = self.read()
        world.run("del", "198.51.100.7", HOSTS[0], "--exist")
        world.run("add", HOSTS[0])
        # With the newest meta page as it was, the store is that of one commit before, in which all is to be listed, too.
        world.run("allow", "add", "203.0.113.10")
        self.good = self.read()

    def spoil(self, meta):
        """Returns what it did. meta: the page that is to be as it was; None: anything."""
        data, dice = bytearray(self.good), self.dice
        pages = len(data) // PAGE
        kind, page = (4, meta * PAGE) if meta is not None else (dice.randrange(7), dice.randrange(pages) * PAGE)
        if kind <= 1:
            for _ in range(dice.randint(1, 64)):
                data[page + dice.randrange(PAGE)] = dice.randrange(256)
            told = "bytes of page %d" % (page // PAGE)
        elif kind == 2:
            data[page:page + PAGE] = bytes(PAGE)
            told = "page %d emptied" % (page // PAGE)
        elif kind == 3:
            other = dice.randrange(pages) * PAGE
            data[page:page + PAGE], data[other:other + PAGE] = \
                data[other:other + PAGE], data[page:page + PAGE]
            told = "pages %d and %d swapped" % (page // PAGE, other // PAGE)
        elif kind == 4:
            old = self.old[page:page + PAGE]
            data[page:page + len(old)] = old
            told = "page %d as it was" % (page // PAGE)
        elif kind == 6:
            # Whether a page is full, and of what kind it is: by that LMDB copies it to write it.
            for place in dice.sample(HEADER, 2):
                data[page + place] = dice.randrange(256)
            told = "header of page %d" % (page // PAGE)
        else:
            del data[dice.randrange(1, len(data)):]
            told = "cut to %d bytes" % len(data)
        self.write(data)
        return told

    def try_all(self):
        for words in self.dice.sample(COMMANDS, 4):
            text = "10.200.0.1\n10.200.0.2" if "import" in words else None
            code, _, errors = self.world.attempt(*words, text=text)
            what = " ".join(words)
            if code == 3 and words[0] != "status":
                self.seen += 1
                self.world.refused(code, errors, what)
            elif code not in (0, 1, 3):
                raise Wrong("%s: exit %d: %s" % (what, code, errors))
            else:
                self.unseen += 1
            try:
                self.world.ask(["drop " + entry for entry in self.sample])
            except Wrong as wrong:
                raise Wrong("%s (exit %d): %s" % (what, code, wrong)) from wrong

    def once(self, meta=None):
        told = self.spoil(meta)
        try:
            self.try_all()
            self.write(self.good)
            self.world.run("up")
            self.world.ask(["drop " + entry for entry in self.sample])
        except Wrong as wrong:
            raise Wrong("%s: %s" % (told, wrong)) from wrong


def run(world, amount, seed):
    """Returns what was done; raises Wrong."""
    damage = Damage(world, seed)
    damage.begin()
    for meta in METAS:
        damage.once(meta)
    for _ in range(amount - len(METAS)):
        damage.once()
    world.clear()
    return "%d damages, %d commands saw them, %d did not meet them" % (
        amount, damage.seen, damage.unseen)
