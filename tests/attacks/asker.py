# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of query.sock is trusted with nothing: whatever it asks, leaves unread or half said, by however many connections,
lists and filter stay, and bloomd answers root, and other clients of both sockets, before its loop has worked for long."""
import os
import resource
import socket

from attacked import COMMAND, Deadline, Machine, Wrong
from redisserver import ask
from shapes import NONE, READS, WRITES, encode, no_request, request

MOST = 1200         # connections, and so more than bloomd takes
MEMORY = 400        # MiB that bloomd may take for clients
OUTSIDER = 54323    # a user, and a group
WORDS = 65000


class Asker:
    def __init__(self, machine, dice, path):
        self.machine, self.dice, self.path = machine, dice, path
        self.connections = []
        self.unsent = {}        # by connection: what bloomd has not taken yet

    def connect(self):
        if len(self.connections) >= MOST:
            self.leave()
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        try:
            connection.connect(self.path)
        except OSError:
            connection.close()
            return None
        self.connections.append(connection)
        return connection

    def leave(self):
        if self.connections:
            self.drop(self.dice.choice(self.connections))

    def drop(self, connection):
        self.connections.remove(connection)
        self.unsent.pop(connection, None)
        connection.close()

    def some(self):
        return self.dice.choice(self.connections) if self.connections and self.dice.randrange(2) else self.connect()

    def send(self, text, connection=None):
        connection = connection or self.some()
        if connection:
            self.unsent[connection] = memoryview(bytes(self.unsent.get(connection, b"")) + text)
            self.push(connection)

    def push(self, connection):
        try:
            while len(self.unsent[connection]):
                self.unsent[connection] = self.unsent[connection][connection.send(self.unsent[connection]):]
            del self.unsent[connection]
        except BlockingIOError:
            pass
        except OSError:
            self.drop(connection)

    def push_all(self):
        for connection in list(self.unsent):
            self.push(connection)

    # --- what it says -----------------------------------------------------------------------------

    def text(self, most=1):
        return request(self.dice, READS + WRITES + NONE, most)

    def ahead(self):
        return request(self.dice, READS, 30)

    def costly(self):
        return request(self.dice, ("BF.MEXISTS", "HMGET", "SMISMEMBER", "ZMSCORE", "SSCAN", "EXISTS", "COMMAND"), WORDS)

    def wrong(self):
        return no_request(self.dice)

    # --- what it does -----------------------------------------------------------------------------

    def one(self):
        """One request, of any size."""
        self.send(self.text(self.dice.choice((1, 30, 1000, WORDS))))

    def many(self):
        """Before it reads an answer."""
        self.send((self.ahead() * self.dice.randint(2, 3000))[:1 << 20])

    def nonsense(self):
        self.send(self.wrong())

    def half(self):
        text = self.ahead()
        self.send(text[:self.dice.randrange(len(text))])

    def by_many(self, text, count):
        for _ in range(count):
            connection = self.connect()
            if connection:
                self.send(text, connection)

    def flood(self):
        """The same costly request from many, of which nobody reads the answer."""
        self.by_many(self.costly(), self.dice.choice((3, 24, 100)))

    def covering(self):
        """What costs bloomd most: each word is looked up with all prefixes that could cover it."""
        words = ["2400:9::%x" % self.dice.randrange(1 << 16) for _ in range(50)]
        self.by_many(encode(["BF.MEXISTS", "roots"] + words * 400), 24)

    def crowd(self):
        for _ in range(self.dice.choice((10, 100, 1000))):
            self.connect()

    def read(self):
        """A little, or all, of what is there."""
        most = self.dice.choice((1, 100, 1 << 20))
        for connection in list(self.connections):
            try:
                if not connection.recv(most):
                    self.drop(connection)
            except BlockingIOError:
                pass
            except OSError:
                self.drop(connection)

    def go(self):
        for _ in range(self.dice.randint(1, max(1, len(self.connections) // 2))):
            self.leave()

    def step(self):
        what = self.dice.choice((self.one, self.one, self.one, self.many, self.many, self.nonsense, self.half, self.flood,
                                 self.covering, self.crowd, self.read, self.read, self.go))
        self.machine.place.note("%s, %d connections" % (what.__name__, len(self.connections)))
        what()
        self.push_all()


def must_serve_root(machine, number):
    """Writes of api.sock, whoever asks at query.sock."""
    entry = "5.99.%d.%d" % (number >> 8 & 255, number & 255)
    begun = machine.worked()
    for words, wanted in (("SADD", "mine", entry), 1), (("SISMEMBER", "mine", entry), 1), (("SREM", "mine", entry), 1):
        said = ask(machine.path, *words, patience=COMMAND)
        if said != wanted:
            raise Wrong("%s is answered with %s" % (" ".join(words), said))
    if machine.worked() - begun > 3:
        raise Wrong("three requests are answered after %.1f s of work" % (machine.worked() - begun))


def may_connect(path):
    """Whether somebody of no group can."""
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setgroups([])
            os.setresgid(OUTSIDER, OUTSIDER, OUTSIDER)
            os.setresuid(OUTSIDER, OUTSIDER, OUTSIDER)
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(path)
            code = 0
        except OSError:
            pass
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def press(machine, askers, seconds, serves, memory, last=lambda: None):
    """They go on for so long, and bloomd serves others meanwhile: serves(steps) asks it, and last() beside all that are left
    at the end."""
    before, most, steps, deadline = machine.memory(), 0.0, 0, Deadline(seconds)
    while not deadline.is_over():
        asker = askers[steps % len(askers)]
        asker.step()
        steps += 1
        machine.must_answer()
        asker.push_all()
        machine.must_answer()
        if steps % 4 == 0:
            serves(steps)
        if steps % 16 == 0:
            machine.look()
        most = max(most, machine.memory() - before)
        if most > memory:
            raise Wrong("bloomd has taken %.0f MiB" % most)
    last()
    for asker in askers:
        for connection in list(asker.connections):
            asker.drop(connection)
    machine.end()
    return "%d steps, %.0f MiB at most for clients" % (steps, most)


def run(place, dice, seconds):
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    machine = Machine(place, "[api]\nquery-mode = 0666\n")
    machine.begin()
    os.chmod(machine.directory, 0o755)
    os.chmod(machine.runs, 0o755)
    if may_connect(machine.path) or not may_connect(machine.query):
        raise Wrong("who may connect: api.sock %s, query.sock %s" % (may_connect(machine.path), may_connect(machine.query)))
    asker = Asker(machine, dice, machine.query)
    return press(machine, [asker], seconds, lambda steps: must_serve_root(machine, steps), MEMORY,
                 lambda: machine.must_answer(machine.query))
