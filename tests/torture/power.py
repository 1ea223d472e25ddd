# SPDX-License-Identifier: GPL-2.0-or-later
"""The power goes between any two writes. A trace of what several changes write, and of what is safe on
the disk when, is cut at any place; of what was not safe there any part may have got to the disk, in
sectors, in any order. What is found after the next start is the last acknowledged state, or the one
that was being made; it can be put in force, and changed. The list is published to a fleet all the while;
from the log as it was at that moment, and what is found in the outbox, another host gets the same list.

AMOUNT: cuts.
"""
import os
import random
import shutil
import struct

from fleetlog import Fleet
from world import Wrong

RECORD = struct.Struct("=IIQQII")
WRITE, TRUNCATE, SYNC, CREATE, MKDIR = range(5)
SECTOR = 512
ENTRIES = ["10.1.%d.%d" % (i // 200, i % 200) for i in range(400)] + \
    ["2001:db8:%x::/48" % i for i in range(1, 200)] + ["n%d.example" % i for i in range(200)]


class Call:
    """One record of the trace."""

    def __init__(self, kind, path, offset, size, durable, data):
        self.kind, self.path, self.offset, self.size = kind, path, offset, size
        self.durable, self.data = durable, data


def read_trace(path):
    calls = []
    with open(path, "rb") as trace:
        while head := trace.read(RECORD.size):
            kind, path_size, offset, size, durable, _ = RECORD.unpack(head)
            name = trace.read(path_size).decode()
            data = trace.read(size) if kind == WRITE else b""
            calls.append(Call(kind, name, offset, size, durable, data))
    return calls


class Disk:
    """The bytes of files, and which names are there."""

    def __init__(self, dice):
        self.dice = dice
        self.files, self.names = {}, set()  # what is safe
        self.pending = []                   # calls that are not, in order

    def apply(self, call, whole=True):
        if call.kind == CREATE:
            self.names.add(call.path)
            return
        data = self.files.setdefault(call.path, bytearray())
        if call.kind == TRUNCATE:
            del data[call.size:]
            data.extend(bytes(call.size - len(data)))
            return
        for at in range(0, len(call.data), SECTOR):
            if whole or self.dice.random() < 0.5:
                end = min(at + SECTOR, len(call.data))
                data.extend(bytes(max(0, call.offset + end - len(data))))
                data[call.offset + at:call.offset + end] = call.data[at:end]

    def is_safe(self, call, synced):
        """fsync of a file makes its bytes safe, of a directory the names in it."""
        if call.kind == CREATE:
            return os.path.dirname(call.path) == synced
        return call.path == synced

    def take(self, call):
        """The next call."""
        if call.kind == SYNC:
            for one in self.pending:
                if self.is_safe(one, call.path):
                    self.apply(one)
            self.pending = [one for one in self.pending if not self.is_safe(one, call.path)]
        elif call.durable:
            self.apply(call)
        else:
            self.pending.append(call)

    def crash(self):
        """The power goes now. Returns the files."""
        for call in self.pending:
            if self.dice.random() < 0.5:
                self.apply(call, whole=self.dice.random() < 0.5)
        return {name: self.files.get(name, b"") for name in self.names}


class Power:
    def __init__(self, world, seed):
        self.world, self.dice = world, random.Random(seed)
        self.acknowledged = []  # (calls in the trace by then, what is listed)
        self.fleet = Fleet(world, ["all"])
        self.log, self.logs = b"", []   # (calls in the trace by then, bytes of the log)

    def change(self, number, listed):
        """One command's words and text, and what is listed after it."""
        some = self.dice.sample(ENTRIES, self.dice.randint(1, 60))
        if number % 3 == 2 and listed:
            some = [entry for entry in some if entry in listed] or [next(iter(listed))]
            return ["del", *some], None, listed - set(some)
        if number % 3 == 1:
            some = [entry for entry in some if "example" not in entry] or ENTRIES[:1]
            return ["import", "-", "--include-bogons", "--replace", "--force"], \
                "\n".join(some), set(some)
        return ["add", *some, "--exist"], None, listed | set(some)

    def publish(self, trace, environment):
        """The log has it before the store knows that."""
        if self.fleet.publish(self.dice.randint(1, 100)):
            self.logs.append((len(read_trace(trace)), os.path.getsize(self.fleet.log)))
            self.fleet.take(environment)

    def record(self, commands, trace):
        """A new store is made, and changed."""
        listed = set()
        environment = self.world.shimmed(trace=trace)
        self.fleet.begin(environment)
        self.logs.append((len(read_trace(trace)), 0))
        for number in range(commands):
            words, text, listed = self.change(number, listed)
            self.world.run(*words, "--list", "all", environment=environment, text=text)
            self.acknowledged.append((len(read_trace(trace)), listed))
            self.publish(trace, environment)
        with open(self.fleet.log, "rb") as file:
            self.log = file.read()
        return read_trace(trace)

    def check_fleet(self, cut):
        """Unless the host had not joined it."""
        sizes = [size for count, size in self.logs if count <= cut]
        if not sizes:
            return
        with open(self.fleet.log, "wb") as file:
            file.write(self.log[:sizes[-1]])
        self.fleet.renew_other()
        self.fleet.check()

    def restart(self, calls, cut, thorough):
        state = self.world.paths[0]
        shutil.rmtree(state, ignore_errors=True)
        disk = Disk(self.dice)
        for call in calls[:cut]:
            # Other files are in memory.
            if call.kind != MKDIR and call.path.startswith(state):
                disk.take(call)
        os.mkdir(state)
        for name, data in disk.crash().items():
            with open(name, "wb") as out:
                out.write(data)
        last = [listed for count, listed in self.acknowledged if count <= cut]
        coming = [listed for count, listed in self.acknowledged if count > cut]
        allowed = (last[-1:] or [set()]) + coming[:1]
        code, out, errors = self.world.attempt("save")
        if code and (last or "nothing to save" not in errors):
            raise Wrong("exit %d: %s" % (code, errors))
        found = {entry for entry in ENTRIES if '"%s"' % entry in out}
        if found not in allowed:
            raise Wrong("%d entries are listed, of %d acknowledged: missing %s, surplus %s" % (
                len(found), len(allowed[0]), sorted(allowed[0] - found)[:5],
                sorted(found - allowed[0])[:5]))
        if cut % 4 == 0:
            self.check_fleet(cut)
        if thorough:
            self.world.run("attach", "xt0")
            self.world.run("add", "192.0.2.1", "--exist")
            self.world.ask(["%s %s" % ("drop" if entry in found else "pass", entry)
                            for entry in ENTRIES] + ["agree"])
            self.world.reboot()


def run(world, amount, seed):
    """Returns what was done; raises Wrong."""
    power = Power(world, seed)
    trace = os.path.join(world.directory, "..", "trace")
    calls = power.record(12, trace)
    if not [call for call in calls if call.kind == SYNC]:
        raise Wrong("nothing is ever synced")
    for count in range(amount):
        cut = power.dice.randint(0, len(calls))
        try:
            power.restart(calls, cut, count % 20 == 0)
        except Wrong as wrong:
            raise Wrong("the power went after call %d of %d (%s): %s" % (
                cut, len(calls), count, wrong)) from wrong
    world.clear()
    return "%d cuts through %d writes and syncs" % (amount, len(calls))
