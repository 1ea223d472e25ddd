# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients of bloomd's socket add and delete, and so does bloomctl, while bloomd is killed: with -9 at any
moment, or at a point where a change is half done. After each death, before anybody repairs anything

  - each request that was answered is in the store and in force;
  - of those that were not, the first ones of each client are, each whole, and the others not at all;
  - nothing else has changed: other lists, the allowlist, the settings, a source listed from the start.

Then a new bloomd starts, the clients connect to it again, and all is in force once it has written.
All the while a source that is listed from the start, and that nobody takes out, sends frames: none may pass.
Ends at the first thing that is wrong.
"""
import os
import random
import signal
import socket
import subprocess
import threading
import time

from kills import universe
from listedframes import Flood
from world import Wrong

CLIENTS = 16
POINTS = ("apply-dirty", "apply-half", "apply-step", "apply-done", "commit-before", "commit-after",
          "publish-before", "publish-swapped", "rotate-built", "rotate-replayed", "rotate-recorded")
ANSWERS = 300       # in a round, at most, before the kill
LONGEST = 20        # seconds of a round
PIPELINED = 8       # requests of a client, at most
START = 20          # seconds in which bloomd has to listen
FIXED = "192.0.2.77"
ALLOWED = "192.0.2.78"
LATER = 4000000000


def encode(words):
    words = [word.encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class Client(threading.Thread):
    """Sends requests to a list of its own, some at a time, until it is cut off or told to stop."""

    def __init__(self, number, dice, path):
        super().__init__(daemon=True)
        self.list, self.dice, self.path = "c%d" % number, dice, path
        self.entries = sorted(set(universe(number)))
        self.listed = set()     # as answered
        self.open = []          # requests without an answer
        self.answered = 0
        self.wrong = ""
        self.ends = False

    def again(self):
        """Another thread, with the same list."""
        other = Client(0, self.dice, self.path)
        other.list, other.entries, other.listed = self.list, self.entries, self.listed
        return other

    def request(self):
        entries = self.dice.sample(self.entries, self.dice.randint(1, 12))
        kind = self.dice.choice(("SADD", "SADD", "SREM", "ZADD", "BF.MADD", "SCARD"))
        if kind == "SCARD":
            return kind, [], [kind, self.list]
        if kind == "ZADD":
            return kind, entries, [kind, self.list] + [word for one in entries for word in (str(LATER), one)]
        return kind, entries, [kind, self.list, *entries]

    @staticmethod
    def after(kind, entries, listed):
        if kind == "SREM":
            return listed.difference(entries)
        return listed.union(entries)

    def expected(self, kind, entries):
        after = self.after(kind, entries, self.listed)
        if kind == "SCARD":
            return b":%d\r\n" % len(self.listed)
        if kind == "BF.MADD":
            return b"*%d\r\n" % len(entries) + b"".join(b":%d\r\n" % (one not in self.listed) for one in entries)
        return b":%d\r\n" % abs(len(after) - len(self.listed))

    def take_answer(self, file):
        kind, entries, _ = self.open[0]
        line = file.readline()
        if line.startswith(b"*"):
            line += b"".join(file.readline() for _ in entries)
        if not line.endswith(b"\n") or line.count(b"\n") < 1 + (line[:1] == b"*") * len(entries):
            raise EOFError
        del self.open[0]
        if line.startswith(b"-TRYAGAIN"):
            return
        if line != self.expected(kind, entries):
            self.wrong = "%s %s: the answer is %r, not %r" % (kind, entries, line, self.expected(kind, entries))
            raise EOFError
        self.listed = self.after(kind, entries, self.listed)
        self.answered += 1

    def run(self):
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(60)
                connection.connect(self.path)
                file = connection.makefile("rb")
                while not self.ends:
                    self.open = [self.request() for _ in range(self.dice.randint(1, PIPELINED))]
                    connection.sendall(b"".join(encode(words) for _, _, words in self.open))
                    while self.open:
                        self.take_answer(file)
        except (EOFError, ConnectionError):
            pass
        except OSError as error:
            self.wrong = "no answer: %s" % error

    def settle(self, found):
        """Adopts what is in the store: what was answered, and the first of the requests that were not."""
        state, states = self.listed, [self.listed]
        for kind, entries, _ in self.open:
            if kind != "SCARD":
                state = self.after(kind, entries, state)
                states.append(state)
        if found not in states:
            raise Wrong("%s: the store differs from what was answered by %s; open: %s" % (
                self.list, sorted(found ^ self.listed)[:9], [words for _, _, words in self.open]))
        touched = {entry for _, entries, _ in self.open for entry in entries}
        self.listed, self.open = found, []
        return touched


class Hand(threading.Thread):
    """Somebody who uses bloomctl meanwhile."""

    def __init__(self, world, dice):
        super().__init__(daemon=True)
        self.world, self.dice, self.ends, self.wrong = world, dice, False, ""

    def run(self):
        while not self.ends:
            verb = self.dice.choice(("add", "del"))
            code, _, errors = self.world.attempt(verb, "203.0.113.%d" % self.dice.randrange(200), "--list", "hand",
                                                 "--exist")
            if code:
                self.wrong = "bloomctl %s: exit %d: %s" % (verb, code, errors)
                return
            time.sleep(self.dice.random() * 0.05)


class Torture:
    def __init__(self, world, seed):
        self.world, self.dice = world, random.Random(seed)
        self.path = os.path.join(world.paths[2], "api.sock")
        self.config = os.path.join(world.directory, "bloomd.conf")
        with open(self.config, "w"):
            pass
        self.log = os.path.join(world.directory, "bloomd.log")
        self.clients = [Client(number, random.Random(self.dice.random()), self.path) for number in range(CLIENTS)]
        self.rounds = self.answered = self.unanswered = self.at_points = 0
        self.others = None
        self.agent, self.fate, self.flood = None, "", None

    def start(self):
        environment, program = dict(os.environ), self.world.bloomd
        self.fate = "killed"
        if self.dice.random() < 0.5:
            program = self.world.faulty_bloomd
            self.fate = "%s:%d" % (self.dice.choice(POINTS), self.dice.randint(1, 20))
            environment["XB_FAULT"] = self.fate
        with open(self.log, "a") as log:
            self.agent = subprocess.Popen([program, "--config", self.config, *self.world.options[1:]], env=environment,
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + START
        while not self.listens():
            if self.agent.poll() == -signal.SIGKILL:
                return
            if self.agent.poll() is not None or time.monotonic() > until:
                with open(self.log) as log:
                    raise Wrong("bloomd does not listen: %s" % log.read()[-500:])
            time.sleep(0.01)

    def listens(self):
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(self.path) == 0

    def let_die(self):
        """At its point, or by our hand."""
        wanted, until = self.dice.randint(0, ANSWERS), time.monotonic() + LONGEST
        while sum(client.answered for client in self.clients) < wanted and self.agent.poll() is None and \
                time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(self.dice.random() * 0.01)
        if self.agent.poll() is None:
            self.agent.kill()
        else:
            self.at_points += 1
        code = self.agent.wait()
        if code != -signal.SIGKILL:
            raise Wrong("bloomd ends with %d" % code)

    def saved(self):
        """Entries of each client's list, and all other lines."""
        lists, others = {client.list: set() for client in self.clients}, []
        for line in self.world.saved():
            if line.get("list") in lists and "entry" in line:
                lists[line["list"]].add(line["entry"])
            elif line.get("list") != "hand" and "sequence" not in line and "saved" not in line:
                others.append(line)
        return lists, others

    def check_store(self):
        """Returns the entries of requests that were not answered."""
        lists, others = self.saved()
        touched = set()
        for client in self.clients:
            if client.wrong:
                raise Wrong("%s: %s" % (client.list, client.wrong))
            self.answered += client.answered
            self.unanswered += len(client.open)
            client.answered = 0
            touched |= client.settle(lists[client.list])
        if self.others is None:
            self.others = others
        if others != self.others:
            raise Wrong("other lines of the store: %s, not %s" % (others[:9], self.others[:9]))
        return touched

    def verdicts(self, without):
        return ["drop " + FIXED, "pass " + ALLOWED] + [
            "%s %s" % ("drop" if entry in client.listed else "pass", entry)
            for client in self.clients for entry in client.entries if entry not in without]

    def round(self):
        hand = Hand(self.world, random.Random(self.dice.random()))
        self.clients = [client.again() for client in self.clients]
        hand.start()
        for client in self.clients:
            client.start()
        self.let_die()
        hand.ends = True
        for thread in [hand, *self.clients]:
            thread.join(90)
            if thread.is_alive():
                raise Wrong("a client hangs")
        if hand.wrong:
            raise Wrong(hand.wrong)
        self.world.ask(self.verdicts(self.check_store()))
        self.start()
        self.flood.check()
        self.rounds += 1

    def told(self):
        return "%d rounds, %d requests answered, %d not, %d deaths at points, %d listed frames" % (
            self.rounds, self.answered, self.unanswered, self.at_points, self.flood.sent)


def run(world, rounds, seed):
    """Returns what was done; raises Wrong."""
    torture = Torture(world, seed)
    world.run("attach", "xt0")
    world.run("add", FIXED, "--comment", "from the start")
    world.run("allow", "add", ALLOWED)
    torture.flood = Flood("xt0", FIXED, ALLOWED)
    try:
        torture.flood.check()
        torture.start()
        while torture.rounds < rounds:
            torture.round()
            if torture.rounds % 50 == 0:
                print("# " + torture.told(), flush=True)
        torture.agent.kill()
        torture.agent.wait()
        torture.flood.check()
        if torture.answered < rounds:
            raise Wrong("only %d requests were answered" % torture.answered)
        world.run("add", "192.0.2.1")
        world.ask(torture.verdicts(set()) + ["agree"])
    except Wrong as wrong:
        raise Wrong("round %d (%s): %s" % (torture.rounds, torture.fate, wrong)) from wrong
    finally:
        torture.flood.end()
        if torture.agent:
            torture.agent.kill()
    world.clear()
    return torture.told()
