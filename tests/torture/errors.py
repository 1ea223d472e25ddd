# SPDX-License-Identifier: GPL-2.0-or-later
"""Each call that a command makes on a file, and each of bpf(2), fails once, and once with all that come
after it; a full disk. The command says so in one line, or did
without; the change is whole or absent, what is listed drops, the next command repairs, nothing is
left behind.

AMOUNT: of all these failures so many, chosen at random; 0: all, which are thousands.
"""
import errno
import os
import random
import signal
import subprocess
import time

import scoped
from world import Wrong

KEPT = ["10.1.0.1", "10.1.1.0/24", "2001:db8:1::/48", "2001:db8:2::1", "kept.example"]
CHANGED = ["10.2.0.1", "10.2.1.0/24", "2001:db8:3::/48", "2001:db8:4::1", "changed.example"]
CLEAN = ["10.3.0.1", "2001:db8:5::1", "clean.example"]
# Calls that the shim can stop behind.
STOPS = ("pwrite", "pwritev", "writev", "write", "ftruncate", "fsync", "fdatasync", "bpf")
ERRORS = (errno.EIO, errno.ENOSPC, errno.ENOMEM)


class Case:
    """A command; whether CHANGED is listed before and after it; commands that bring its known state
    about, and that take it back."""

    def __init__(self, words, listed=(False, False), text=None, before=None, after=None):
        self.words, self.listed, self.text = words, listed, text
        self.before, self.after = self.commands(before), self.commands(after)

    @staticmethod
    def commands(words):
        """words: of one command, or of several, or None."""
        return words if words and isinstance(words[0], list) else [words] if words else []

    def __str__(self):
        return " ".join(self.words)[:60]


CASES = [
    Case(["add", *CHANGED], (False, True)),
    Case(["del", *CHANGED], (True, False)),
    Case(["import", "-", "--include-bogons", "--list", "other"], text="10.8.0.1\n2001:db8:9::/48"),
    Case(["restore", "-"], (False, True), text="\n".join(
        ['{"schema":1,"saved":"xdp-bloom"}', '{"interface":"xt0","mode":"native"}'] +
        scoped.SAVED + ['{"entry":"%s","list":"default"}' % entry for entry in KEPT + CHANGED])),
    Case(["batch", "-"], (False, True), text="\n".join("add " + entry for entry in CHANGED)),
    Case(["scope", scoped.MAIL, scoped.WIDE], before=["scope", scoped.MAIL, scoped.NARROW]),
    Case(["add", scoped.GUEST, "--list", scoped.MAIL], before=["del", scoped.GUEST, "--exist"]),
    Case(["del", scoped.GUEST], before=["add", scoped.GUEST, "--list", scoped.MAIL, "--exist"]),
    Case(["allow", "del", "10.9.0.1"], before=["allow", "add", "10.9.0.1", "--exist"]),
    Case(["rotate"]),
    Case(["rotate", "--no-confirm"], before=["rotate", "--confirm"]),
    Case(["attach", "xt1"], before=["detach", "xt1"]),
    Case(["detach", "xt1"], before=["attach", "xt1"]),
    Case(["policy", "enforce"]),
    Case(["up"]),
    Case(["save"]),
    Case(["list"]),
    Case(["test", KEPT[0]]),
    Case(["stats"]),
    Case(["status"]),
]


def drops(entries):
    return ["drop " + entry for entry in entries]


def passes(entries):
    return ["pass " + entry for entry in entries]


class Errors:
    def __init__(self, world):
        self.world = world
        self.failed = 0
        self.numbers = 0

    def next_number(self):
        self.numbers += 1
        return self.numbers

    def begin(self):
        self.world.clear()
        self.world.run("attach", "xt0")
        self.world.run("add", *KEPT)
        self.world.run("allow", "add", "10.9.9.9")
        scoped.begin(self.world)

    def prepare(self, case):
        for words in (["add" if case.listed[0] else "del", *CHANGED, "--exist"], *case.before):
            code, _, errors = self.world.attempt(*words)
            if code not in (0, 1):
                raise Wrong("%s: exit %d: %s" % (words, code, errors))

    def calls_of(self, case):
        """The names of the calls it makes when none fails."""
        seen = os.path.join(self.world.directory, "..", "seen")
        self.prepare(case)
        self.world.run(*case.words, environment=self.world.shimmed(seen=seen), text=case.text)
        with open(seen) as lines:
            names = [line.split()[1] for line in lines]
        os.remove(seen)
        return names

    @staticmethod
    def is_changed(saved):
        listed = {line["entry"] for line in saved if "entry" in line}
        found = [entry in listed for entry in CHANGED]
        if any(found) != all(found):
            raise Wrong("the change is there by half: %s" % listed)
        return found[0]

    def look(self, case, code):
        """After it failed, or did not."""
        saved = self.world.saved()
        changed = self.is_changed(saved)
        if changed not in case.listed or code == 0 and changed != case.listed[1]:
            raise Wrong("exit %d, and the change is %s" % (code, "there" if changed else "absent"))
        throughout = all(case.listed)
        self.world.ask(drops(KEPT + (CHANGED if throughout else [])) + scoped.always())
        self.world.run("add", "192.0.2.1", "--exist")
        self.world.ask(drops(KEPT) + (drops if changed else passes)(CHANGED) + passes(CLEAN) +
                       scoped.as_saved(saved))

    def fail(self, case, wish):
        self.prepare(case)
        code, _, errors = self.world.attempt(*case.words, text=case.text,
                                             environment=self.world.shimmed(fail=wish))
        try:
            if code:
                self.failed += 1
            # What is not as it should be is status's answer.
            if code and (case.words != ["status"] or code != 3):
                self.world.refused(code, errors, "it")
            self.look(case, code)
        except Wrong as wrong:
            raise Wrong("%s, with the failing call %s: %s" % (case, wish, wrong)) from wrong

    def nothing_is_left(self):
        """One generation with its counters; no text of a trial."""
        self.world.run("up")
        state, pins, run = self.world.paths
        trial, pins, run = (sorted(os.listdir(path))
                            for path in (os.path.join(state, "trial"), pins,
                                         os.path.join(run, "counters")))
        if len([name for name in pins if name.startswith("gen-")]) != 1 or len(run) != 1 or \
                trial:
            raise Wrong("left behind: %s, %s, %s" % (trial, pins, run))
        self.world.ask(["agree"])


def call_failures(world, amount, seed):
    errors, dice = Errors(world), random.Random(seed)
    errors.begin()
    wishes = [(case, "%d%s:%d" % (number, often, error))
              for case in CASES for number in range(1, len(errors.calls_of(case)) + 1)
              for often in ("", "+") for error in ERRORS]
    chosen = dice.sample(wishes, min(amount, len(wishes))) if amount else wishes
    for count, (case, wish) in enumerate(chosen):
        errors.fail(case, wish)
        if count % 50 == 49:
            errors.nothing_is_left()
    errors.nothing_is_left()
    return "%d failures of %d, %d commands gave up" % (len(chosen), len(wishes), errors.failed)


def is_refused(world, *words, text=None):
    code, _, errors = world.attempt(*words, text=text)
    world.refused(code, errors, " ".join(words)[:60])
    world.ask(drops(KEPT))


def state_of(process):
    """One letter, see proc(5); Z: it is dead."""
    with open("/proc/%d/stat" % process.pid) as stat:
        return stat.read().rpartition(") ")[2][0]


def waits_for_a_lock(process):
    with open("/proc/locks") as locks:
        return any("->" in line and " %d " % process.pid in line for line in locks)


def wait_until(condition):
    while not condition():
        time.sleep(0.005)


def first_and_waiting(errors, case, number):
    """One stopped right after its call of that number, and one that waits for it."""
    world = errors.world
    first = world.start(*case.words, environment=world.shimmed(stop=number))
    wait_until(lambda: state_of(first) in "TZ")
    second = world.start("add", "192.0.%d.1" % errors.next_number(), "--exist")
    wait_until(lambda: waits_for_a_lock(second) or state_of(second) == "Z")
    return first, second


def deaths_before_another(world):
    """A command dies right after each of its calls, as LMDB's last write; another that has the store
    open already waits for the writer lock, and goes on from what it finds."""
    errors, case = Errors(world), CASES[0]
    errors.begin()
    stops = [number for number, name in enumerate(errors.calls_of(case), 1) if name in STOPS]
    for number in ["commit", *stops]:
        errors.prepare(case)
        first, second = first_and_waiting(errors, case, number)
        first.kill()
        said = [process.communicate()[1] for process in (first, second)]
        try:
            if first.returncode not in (0, -signal.SIGKILL) or second.returncode:
                raise Wrong("exits %d and %d: %s" % (first.returncode, second.returncode, said))
            errors.look(case, first.returncode)
        except Wrong as wrong:
            raise Wrong("%s, dead after call %s: %s" % (case, number, wrong)) from wrong
    errors.nothing_is_left()


def full_disk(world):
    """State and run directory on a small disk, each filled in turn."""
    errors = Errors(world)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "xbt", world.directory], check=True)
    try:
        errors.begin()
        many = "".join("11.%d.%d.%d\n" % (i >> 16, i >> 8 & 255, i & 255)
                       for i in range(600000))
        is_refused(world, "import", "-", text=many)
        is_refused(world, "rotate", "--capacity", "30000000")
        filler = os.path.join(world.directory, "filler")
        subprocess.run(["dd", "if=/dev/zero", "of=" + filler, "bs=4k"], check=False,
                       stderr=subprocess.DEVNULL)
        os.truncate(filler, os.path.getsize(filler) - 60000)
        added = []
        for number in range(5000):
            entry = "12.0.%d.%d" % (number >> 8, number & 255)
            code, _, said = world.attempt("add", entry, "--comment",
                                          "%d" % number * 50)
            if code:
                world.refused(code, said, "add on a full disk")
                break
            added.append(entry)
        else:
            raise Wrong("the disk is not full")
        is_refused(world, "rotate", "--capacity", "100000")
        os.remove(filler)
        world.run("add", *CHANGED)
        world.run("rotate")
        world.ask(drops(KEPT + CHANGED + added) + passes(CLEAN) + ["agree"])
        world.clear()
    finally:
        subprocess.run(["umount", "-l", world.directory], check=True)


def run(world, amount, seed):
    """Returns what was done; raises Wrong."""
    full_disk(world)
    deaths_before_another(world)
    told = call_failures(world, amount, seed)
    world.clear()
    return told
