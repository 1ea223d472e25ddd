# SPDX-License-Identifier: GPL-2.0-or-later
"""Every verb with too few descriptors, too little stack, address space, room in the run directory or
memory in its cgroup: below what it needs, at it, and above. It is done, or says in one line that it
could not be; it is never killed by a signal; what is listed is dropped all the while, what is not
passes; a change is whole or absent.

AMOUNT: so many of the commands under a limit, chosen at random; 0: all, and around the value where
one begins to fail it is looked at closely.
"""
import os
import random
import select
import socket
import struct
import subprocess
import threading
import time

import scoped
from errors import CHANGED, CLEAN, KEPT, Case, Errors, drops, passes
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
    Case(["watch", "--count", "1"]), Case(["stats"]), Case(["status"]), Case(["doctor"]), Case(["plan", "--entries", "1000"]),
]
KIB, MIB = 1 << 10, 1 << 20
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


def frame(source, number):
    """To nobody's address, so that the network stack has no work with it."""
    return struct.pack("!6s6sH", b"\x02\xfe\0\0\0\1", struct.pack("!HI", 0x0200, number), 0x800) + \
        struct.pack("!BBHHHBBH", 0x45, 0, 28, 0, 0, 64, 253, 0) + socket.inet_aton(source) + \
        socket.inet_aton("192.0.2.254") + bytes(26)


class Flood(threading.Thread):
    """Frames of a listed source, and of another, into xt0 all the time."""

    LISTED, OTHER = 1, 2

    def __init__(self):
        super().__init__(daemon=True)
        self.frames = [frame(KEPT[0], self.LISTED)] * 4 + [frame(CLEAN[0], self.OTHER)]
        self.sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sender.bind(("xt0p", 0))
        self.receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.receiver.bind(("xt0", 3))
        self.receiver.setblocking(False)
        self.listed = self.other = 0
        self.ends = False

    def run(self):
        while not self.ends:
            for one in self.frames:
                self.sender.send(one)
            ready = select.select([self.receiver], [], [], 0.002)[0]
            while ready:
                try:
                    got = self.receiver.recv(64)
                except BlockingIOError:
                    break
                number = int.from_bytes(got[8:12], "big") if got[6:8] == b"\x02\x00" else 0
                self.listed += number == self.LISTED
                self.other += number == self.OTHER

    def check(self):
        if self.listed:
            raise Wrong("%d listed packets came through" % self.listed)

    def await_other(self):
        """That traffic goes on is seen when some comes from now on."""
        before, end = self.other, time.monotonic() + 60
        while self.other == before:
            if time.monotonic() > end:
                raise Wrong("what is not listed does not come through")
            time.sleep(0.001)


class Limits:
    def __init__(self, world, goes_on):
        """goes_on: after what is wrong with one, the next."""
        self.world, self.goes_on, self.wrongs = world, goes_on, []
        self.errors = Errors(world)
        self.room, self.group = Room(world), Group()
        self.room.open()
        self.flood = Flood()
        self.flood.start()
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
        self.flood.await_other()
        self.flood.listed = 0

    def close(self):
        self.flood.ends = True
        self.flood.join()
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
        if code == 3 and case.words[0] in ("status", "doctor") and out:
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
        self.flood.await_other()
        self.flood.check()
        return done.returncode == 0

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
