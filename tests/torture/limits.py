# SPDX-License-Identifier: GPL-2.0-or-later
"""Every verb with too few descriptors, too little stack, address space, room in the run directory or
memory in its cgroup: below what it needs, at it, and above. It is done, or says in one line that it
could not be; it is never killed by a signal; what is listed is dropped all the while, what is not
passes; a change is whole or absent.

First what takes much memory in a cgroup with little of it: filters of many entries, a long list, a filter that
is built because its pins are lost.

AMOUNT: so many of the commands under a limit, chosen at random; 0: all, and around the value where
one begins to fail it is looked at closely.
"""
import glob
import os
import random
import shutil
import subprocess
import time

import scoped
from errors import CHANGED, CLEAN, KEPT, Case, Errors, drops, passes
from listedframes import Flood
from world import Wrong

CASES = [
    Case(["add", *CHANGED], (False, True)),
    Case(["del", *CHANGED], (True, False)),
    Case(["import", "-", "--include-bogons", "--list", "other", "--replace", "--force"],
         text="10.8.0.1\n2001:db8:9::/48"),
    Case(["import", "-", "--include-bogons", "--dry-run"], text="10.8.0.2\n"),
    Case(["restore", "-"], (False, True), text="\n".join(
        ['{"schema":1,"saved":"xdp-bloom"}', '{"interface":"xt0","mode":"auto"}'] +
        scoped.SAVED + ['{"entry":"%s","list":"default"}' % entry for entry in KEPT + CHANGED] +
        ['{"allow":"10.9.9.9","list":"default"}'])),
    Case(["batch", "-"], (False, True), text="\n".join("add " + entry for entry in CHANGED)),
    Case(["flush", "--list", "other", "--yes"], before=["add", "10.8.0.3", "--list", "other",
                                                        "--exist"]),
    Case(["allow", "add", "10.9.0.2", "--exist"]),
    Case(["allow", "del", "10.9.0.1"], before=["allow", "add", "10.9.0.1", "--exist"]),
    Case(["allow", "list"]), Case(["allow", "test", "10.9.9.9"]),
    Case(["allow", "refuse", "time"], before=["allow", "accept", "time"]),
    Case(["rotate"]),
    Case(["rotate", "--no-confirm"], before=["rotate", "--confirm"]),
    Case(["attach", "xt1"], before=["detach", "xt1"]),
    Case(["attach", "xt1", "--mode", "skb"], before=["attach", "xt1", "--mode", "native"]),
    Case(["detach", "xt1"], before=["attach", "xt1"]),
    Case(["policy", "enforce"]), Case(["policy"]),
    Case(["rotate", "--rollback", "1"]),
    Case(["verdict", "more", "nxdomain"], before=["verdict", "more", "drop"]),
    Case(["scope", scoped.MAIL, scoped.WIDE], before=["scope", scoped.MAIL, scoped.NARROW]),
    Case(["scope"]),
    Case(["add", scoped.GUEST, "--list", scoped.MAIL], before=["del", scoped.GUEST, "--exist"]),
    Case(["del", scoped.GUEST], before=["add", scoped.GUEST, "--list", scoped.MAIL, "--exist"]),
    Case(["ports", "tls", "443"], before=["ports", "tls", "off"]),
    Case(["up"]), Case(["save"]), Case(["list"]), Case(["test", KEPT[0]]),
    Case(["limit", "500"], before=["limit", "1000"]), Case(["expire"]), Case(["help", "add"]),
    Case(["commit"], before=[["detach", "xt1"], ["attach", "xt1", "--rollback", "120"]], after=["detach", "xt1"]),
    Case(["watch", "--count", "1"]), Case(["stats"]), Case(["status"]), Case(["check"]), Case(["doctor"]),
    Case(["plan", "--entries", "1000"]),
]
KIB, MIB = 1 << 10, 1 << 20
BIG = "".join("%d.%d.%d.1\n" % (11 + i // 50000, i // 200 % 250, i % 200) for i in range(200000))
BUILDS = Case(["add", "10.8.0.5", "--exist"])    # since the pins of the filter in force are lost
# What takes much memory, and MiB that are less than that, near it, and enough.
LARGE = [
    (Case(["rotate", "--capacity", "2000000"]), (2, 4, 6, 8, 12, 16, 20, 24, 28, 29, 30, 31, 32, 34, 35, 36, 37, 40)),
    (Case(["rotate"]), (2, 4, 8, 12, 16, 20, 24, 28, 30, 32, 33, 34, 35, 36, 38, 40, 48)),
    (Case(["import", "-", "--include-bogons", "--list", "big"], text=BIG,
          before=[["add", "10.8.0.4", "--list", "big", "--exist"], ["flush", "--list", "big", "--yes"]]),
     (2, 8, 16, 24, 32)),
    (BUILDS, (1, 2, 4, 8, 16, 32)),
]
CLOSER = 6      # halvings of the step in which a command begins to fail
SPEAKS = ("policy", "verdict", "import", "rotate")      # also when all went well


class Limit:
    """values: what is tried first; words(value): what runs a command so; step: closer is not looked."""

    def __init__(self, name, values, words, step=1):
        self.name, self.values, self.words, self.step = name, values, words, step


def prlimit(option):
    return lambda value: ["prlimit", "--%s=%d:%d" % (option, value, value)]


def steps_to(first, last, factor):
    values = [first]
    while values[-1] < last:
        values.append(int(values[-1] * factor))
    return values


class Room:
    """A run directory on a small disk of its own."""

    def __init__(self, world):
        self.path = world.paths[2]

    def open(self):
        os.makedirs(self.path, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0700,size=1g", "xbt", self.path], check=True)

    def resize(self, free):
        """free: bytes; None: plenty."""
        used = os.statvfs(self.path)
        size = (used.f_blocks - used.f_bfree) * used.f_frsize + (1 << 30 if free is None else free)
        subprocess.run(["mount", "-o", "remount,size=%d" % size, self.path], check=True)

    def close(self):
        subprocess.run(["umount", "-l", self.path], check=True)


class Group:
    """A memory cgroup of our own, of whichever version there is."""

    def __init__(self):
        self.path = self.limit = None
        for base, limit, used in (
                ("/sys/fs/cgroup", "memory.max", "memory.current"),
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")):
            path = os.path.join(base, "xbt-torture-%d" % random.SystemRandom().randrange(10**9))
            try:
                os.mkdir(path)
            except OSError:
                continue
            if os.path.exists(os.path.join(path, limit)):
                self.path, self.limit, self.used = path, limit, used
                return
            os.rmdir(path)

    def words(self, value):
        with open(os.path.join(self.path, self.used)) as used:
            limit = int(used.read()) + value
        with open(os.path.join(self.path, self.limit), "w") as out:
            out.write(str(limit // 4096 * 4096))
        return ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', self.path]

    def close(self):
        end = time.monotonic() + 10
        while self.path:
            try:
                os.rmdir(self.path)
                return
            except OSError:
                if time.monotonic() > end:
                    return
                time.sleep(0.05)


class Limits:
    def __init__(self, world, goes_on):
        """goes_on: after what is wrong with one, the next."""
        self.world, self.goes_on, self.wrongs = world, goes_on, []
        self.errors = Errors(world)
        self.room, self.group = Room(world), Group()
        self.room.open()
        self.flood = Flood("xt0", KEPT[0], CLEAN[0])
        self.begin()
        self.done = self.refused = 0
        self.known = {}     # limits under which no program of ours begins
        self.limits = [
            Limit("descriptors", list(range(3, 33)), prlimit("nofile")),
            Limit("bytes of stack", [kib * KIB for kib in (32, 40, 48, 64, 80, 96, 128, 256)],
                  prlimit("stack"), 4 * KIB),
            Limit("bytes of address space", steps_to(6 * MIB, 1 << 38, 1.5), prlimit("as"), 64 * KIB),
            Limit("bytes of the run directory", [0] + steps_to(4 * KIB, 8 * MIB, 2), None, 4 * KIB)]
        if self.group.path:
            self.limits.append(Limit("bytes of memory", steps_to(MIB, 64 * MIB, 1.4),
                                     self.group.words, 128 * KIB))

    def begin(self):
        self.errors.begin()
        self.world.run("add", "more.example", "--list", "more")
        self.flood.forget()

    def close(self):
        self.flood.end()
        self.world.clear()
        self.room.close()
        self.group.close()

    def begins(self, limit, value):
        """Whether a program of ours comes so far that it can say anything."""
        if not limit.words:
            return True
        if (limit, value) not in self.known:
            done = subprocess.run([*limit.words(value), self.world.bloomctl, "--help"], check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.known[limit, value] = done.returncode == 0
        return self.known[limit, value]

    @staticmethod
    def spoken(case, code, out, errors):
        """It is done, or one line says why not."""
        lines = [line for line in errors.splitlines() if not line.startswith("bloomctl: warning: ")]
        if code == 3 and case.words[0] in ("status", "check", "doctor") and out:
            return
        if code not in (0, 3):
            raise Wrong("exit %d: %s" % (code, errors or "nothing"))
        if code == 3 and (len(lines) != 1 or not errors.startswith("bloomctl: ")):
            raise Wrong("exit 3, and says: %s" % (errors or "nothing"))
        if code == 0 and lines and case.words[0] not in SPEAKS:
            raise Wrong("done, and says: %s" % errors)

    def attempt(self, limit, value, case):
        """Whether it was done."""
        world = self.world
        self.errors.prepare(case)
        for place in glob.glob(os.path.join(world.paths[1], "gen-*")) if case is BUILDS else ():
            shutil.rmtree(place)
        words = limit.words(value) if limit.words else []
        if not limit.words:
            self.room.resize(value)
        try:
            done = subprocess.run([*words, world.bloomctl, *world.options, *case.words],
                                  input=case.text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, errors="replace", timeout=120, check=False)
        except subprocess.TimeoutExpired as late:
            raise Wrong("hangs") from late
        finally:
            if not limit.words:
                self.room.resize(None)
        self.flood.check()
        self.spoken(case, done.returncode, done.stdout, done.stderr)
        if "--rollback" in case.words and done.returncode == 0:
            time.sleep(1.1)
        saved = world.saved()
        changed = self.errors.is_changed(saved)
        if changed not in case.listed or done.returncode == 0 and changed != case.listed[1]:
            raise Wrong("exit %d, and the change is %s" % (
                done.returncode, "there" if changed else "absent"))
        world.run("add", "192.0.2.1", "--exist")
        world.ask(drops(KEPT) + (drops if changed else passes)(CHANGED) + passes(CLEAN) +
                  scoped.as_saved(saved))
        for words in case.after:
            world.run(*words)
        self.flood.check()
        return done.returncode == 0

    def large(self):
        limit = self.limits[-1]
        if limit.name != "bytes of memory":
            return
        for case, values in LARGE:
            done = [self.judged(limit, mib * MIB, case) for mib in values]
            if all(done):
                raise Wrong("%s fits into %d MiB" % (case, values[0]))
            self.world.run(*case.words, text=case.text)
        done = self.world.attempt("rotate", "--capacity", "20000000", before=limit.words(32 * MIB))
        if "MiB are available" not in done[2]:
            raise Wrong("so much is not refused: %s" % (done,))
        self.begin()

    def judged(self, limit, value, case):
        try:
            done = self.attempt(limit, value, case)
        except Wrong as wrong:
            told = "%s with %d %s: %s" % (case, value, limit.name, wrong)
            if not self.goes_on:
                raise Wrong(told) from wrong
            print("# WRONG " + told, flush=True)
            self.wrongs.append(told)
            self.world.clear()
            self.begin()
            return False
        self.done += done
        self.refused += not done
        return done

    def sweep(self, limit, case):
        """All values; closer where the answer changes."""
        outcomes = [(value, self.judged(limit, value, case)) for value in limit.values
                    if self.begins(limit, value)]
        for (low, one), (high, other) in zip(outcomes, outcomes[1:]):
            if one == other:
                continue
            for _ in range(CLOSER):
                middle = (low + high) // 2 // limit.step * limit.step
                if not low < middle < high:
                    break
                if self.judged(limit, middle, case) == one:
                    low = middle
                else:
                    high = middle
        least = next((value for value, done in outcomes if done), None)
        print("# %s: done with %s %s" % (case, least, limit.name), flush=True)


def run(world, amount, seed):
    """Returns what was done; raises Wrong."""
    dice, limits = random.Random(seed), Limits(world, not amount)
    tasks = [(limit, case) for limit in limits.limits for case in CASES]
    try:
        limits.large()
        amount += (limits.done + limits.refused) * bool(amount)
        if not amount:
            for limit, case in tasks:
                limits.sweep(limit, case)
        while limits.done + limits.refused < amount:
            limit, case = dice.choice(tasks)
            value = dice.choice(limit.values)
            if limits.begins(limit, value):
                limits.judged(limit, value, case)
        limits.errors.nothing_is_left()
    finally:
        limits.close()
    if limits.wrongs:
        raise Wrong("%d wrong, the first: %s" % (len(limits.wrongs), limits.wrongs[0]))
    return "%d commands under limits, %d done, %d refused" % (
        limits.done + limits.refused, limits.done, limits.refused)
