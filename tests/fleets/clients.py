# SPDX-License-Identifier: GPL-2.0-or-later
"""Those who change lists on a host, by the socket of its bloomd or by bloomctl, one change after the other."""
import itertools
import socket
import threading
import time

from hosts import SHARED
from outcomes import ACKNOWLEDGED, LATER, NOTHING, Change
from redisserver import encode, read_answer

UNIVERSE = 48
SOON = 4        # seconds until an entry expires, at least
numbers = itertools.count(1)


def entry_of(number):
    """None within another."""
    return ("192.0.2.%d" % number, "198.51.%d.0/24" % number, "2001:db8::%x" % number, "e%d.example" % number,
            "=f%d.example" % number, "203.0.113.%d" % number)[number % 6]


class Client(threading.Thread):
    """Changes the shared lists of one host until it is told to stop."""

    def __init__(self, host, dice, outcomes):
        super().__init__(daemon=True)
        self.host, self.dice, self.outcomes = host, dice, outcomes
        self.ends, self.wrong = False, ""
        self.connection = self.file = None

    def run(self):
        try:
            while not self.ends:
                self.change()
                time.sleep(self.dice.random() * 0.2)
        except Exception as error:  # pylint: disable=broad-except
            self.wrong = repr(error)
        self.hang_up()

    # --- the socket ---

    def hang_up(self):
        if self.connection:
            self.file.close()
            self.connection.close()
        self.connection = None

    def reaches(self):
        if self.connection:
            return True
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(60)
        try:
            self.connection.connect(self.host.path)
        except OSError:
            self.connection.close()
            self.connection = None
            return False
        self.file = self.connection.makefile("rb")
        return True

    def ask(self, words):
        """None: not answered."""
        try:
            self.connection.sendall(encode(words))
            return read_answer(self.file)
        except OSError:
            self.hang_up()
            return None

    # --- changes ---

    def change(self):
        key = self.dice.choice(SHARED), entry_of(self.dice.randrange(UNIVERSE))
        kind = self.dice.choices(("put", "soon", "take", "add", "del"), (40, 8, 22, 18, 12))[0]
        if kind in ("add", "del") or not self.reaches():
            self.by_bloomctl(key, kind in ("add", "put"))
        else:
            self.by_socket(key, kind)

    def by_socket(self, key, kind):
        name, entry = key
        if kind == "take":
            mark, words = None, ("SREM", name, entry)
        elif kind == "soon":
            mark, words = "short", ("ZADD", name, "CH", str(int(time.time()) + SOON + self.dice.randrange(3)), entry)
        else:
            score = LATER + next(numbers)
            mark, words = "z%d" % score, ("ZADD", name, "CH", str(score), entry)
        change = Change(self.host.name, words, mark, kind != "put")
        self.outcomes.note(key, change)
        answer = self.ask(words)
        if isinstance(answer, int):
            change.state = ACKNOWLEDGED if answer else NOTHING
        elif isinstance(answer, str) and answer.startswith("-TRYAGAIN"):
            change.state = NOTHING
        change.ended = time.time()

    def by_bloomctl(self, key, puts):
        name, entry = key
        mark = "c%d" % next(numbers) if puts else None
        words = ("add", entry, "--list", name, "--comment", mark) if puts else ("del", entry, "--list", name)
        change = Change(self.host.name, words, mark, not puts)
        self.outcomes.note(key, change)
        code, _, _ = self.host.ctl(*words)
        change.state = {0: ACKNOWLEDGED, 1: NOTHING, 2: NOTHING}.get(code, change.state)
        change.ended = time.time()


class Resident(threading.Thread):
    """Changes what is the host's own: a list that is not shared, and its allowlist."""

    def __init__(self, host, dice):
        super().__init__(daemon=True)
        self.host, self.dice = host, dice
        self.ends, self.wrong = False, ""
        self.listed, self.allowed = set(), set()
        self.open = None        # what was not answered: (set, entry)

    def again(self):
        other = Resident(self.host, self.dice)
        other.listed, other.allowed = self.listed, self.allowed
        return other

    def run(self):
        while not self.ends and not self.open:
            allow = self.dice.random() < 0.3
            have = self.allowed if allow else self.listed
            entry = "10.%d.0.%d" % (self.host.number if allow else 100, self.dice.randrange(30))
            takes = entry in have
            words = (("allow", "del" if takes else "add", entry) if allow else
                     ("del" if takes else "add", entry, "--list", "own"))
            code, _, errors = self.host.ctl(*words)
            if code == 0:
                have.symmetric_difference_update({entry})
            elif code == 3:
                self.open = have, entry
            else:
                self.wrong = "%s: exit %d: %s" % (" ".join(words), code, errors)
                return
            time.sleep(0.1 + self.dice.random() * 0.4)

    def check(self, listing):
        """What is wrong, or ""."""
        listed = {entry for name, entry in listing if name == "own"}
        # bloomctl adds addresses of the machine.
        allowed = {entry for entry in self.host.allowed() if entry.startswith("10.%d.0." % self.host.number)}
        for have, found, what in (self.listed, listed, "list"), (self.allowed, allowed, "allowlist"):
            differs = have ^ found
            if self.open and self.open[0] is have:
                differs -= {self.open[1]}
            if differs:
                return "its own %s has changed by %s" % (what, sorted(differs))
        if self.open:
            have, entry = self.open
            now = entry in (allowed if have is self.allowed else listed)
            have.discard(entry)
            if now:
                have.add(entry)
        return ""
