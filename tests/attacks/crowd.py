# SPDX-License-Identifier: GPL-2.0-or-later
"""1,500 clients of both sockets, with requests of any shape, and some that read slowly or go away: the longest turn of bloomd's
loop, and the memory that it has when they are gone, once and then again."""
import os
import re
import resource
import select
import socket
import struct
import time

from attacked import PATIENCE, Machine, Wrong
from redisserver import ask
from shapes import NONE, READS, WRITES, no_request, request

CLIENTS = 1500
THOUSAND = 1000
SLOWEST = 200 / PATIENCE    # requests a second
SHAPES = 2000
TURN = 0.5          # seconds
GROWTH = 8          # MiB
KEPT = 32           # MiB, when all have gone
AHEAD = 20          # requests without an answer, of each
WAITS = 60 * PATIENCE


class Client:
    """answered: how many requests were, at least; those of which the answer is an array count by its first line."""

    def __init__(self, path):
        self.path, self.socket, self.slow = path, None, False
        self.out = b""
        self.last = 0.0

    def connect(self, dice):
        self.close()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.setblocking(False)
        self.socket.connect(self.path)
        self.slow = not dice.randrange(50)
        self.out = b""

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


class Crowd:
    def __init__(self, machine, dice, clients):
        self.machine, self.dice = machine, dice
        self.clients = [Client((machine.path, machine.query)[i % 2]) for i in range(clients)]
        self.shapes = [request(dice, READS + WRITES + NONE, dice.choice((1, 3, 30, 30, 300, 3000) + (60000,) * (i % 100 == 0)))
                       for i in range(SHAPES)]
        self.read = self.ended = 0
        self.poll = select.poll()
        self.by_file = {}

    def connect(self, client):
        if client.socket:
            self.poll.unregister(client.socket)
            self.by_file.pop(client.socket.fileno())
        try:
            client.connect(self.dice)
        except OSError:
            client.close()
            return
        self.by_file[client.socket.fileno()] = client
        self.poll.register(client.socket, select.POLLIN | select.POLLOUT)

    def serve(self, client, events):
        try:
            if events & select.POLLIN and not (client.slow and self.dice.randrange(200)):
                got = client.socket.recv(1 << 18)
                self.read += len(got)
                if not got:
                    raise ConnectionError
            if events & select.POLLOUT:
                if not client.out:
                    count = self.dice.randint(1, AHEAD)
                    client.out = b"".join(self.dice.choice(self.shapes) for _ in range(count))
                    if not self.dice.randrange(100):
                        client.out += no_request(self.dice)
                client.out = client.out[client.socket.send(client.out):]
            if events & (select.POLLHUP | select.POLLERR) and not events & select.POLLIN:
                raise ConnectionError
        except BlockingIOError:
            pass
        except OSError:
            self.ended += 1
            self.connect(client)

    def answered(self):
        """Requests, as bloomd tells it."""
        return sum(int(re.search(rb"total_commands_processed:(\d+)", ask(path, "INFO", patience=WAITS))[1])
                   for path in (self.machine.path, self.machine.query))

    def must_be_gone(self):
        """Until bloomd has heard that all have ended: it has their requests until then."""
        until = time.monotonic() + WAITS
        while any(int(re.search(rb"connected_clients:(\d+)", ask(path, "INFO", patience=WAITS))[1]) > 1
                  for path in (self.machine.path, self.machine.query)):
            if time.monotonic() > until:
                raise Wrong("clients that have ended are still there")
            time.sleep(0.1)

    def ask(self, requests):
        """Until so many more are answered; then all go."""
        before, answered, look = self.answered(), 0, 0
        until = time.monotonic() + WAITS + requests / SLOWEST
        for client in self.clients:
            self.connect(client)
        while answered < requests:
            for file, events in self.poll.poll(1000):
                if file in self.by_file:
                    self.serve(self.by_file[file], events)
            if not self.dice.randrange(20):
                self.connect(self.dice.choice(self.clients))
            if time.monotonic() > look:
                self.machine.must_live()
                answered, look = self.answered() - before, time.monotonic() + 0.5
            if time.monotonic() > until:
                raise Wrong("%d of %d requests are answered in %.0f s" % (answered, requests, WAITS + requests / SLOWEST))
        for client in self.clients:
            if client.socket:
                self.poll.unregister(client.socket)
                client.close()
        self.by_file = {}
        return answered


def turns(path):
    """Their number, the longest one and the mean, in seconds."""
    with open(path, "rb") as file:
        count, longest, everything = struct.unpack("=QQQ", file.read(24))
    return count, longest / 1e9, everything / 1e9 / max(1, count)


def run(place, dice, seconds):
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    requests, told = seconds * THOUSAND, os.path.join(place.directory, "turns")
    machine = Machine(place)
    os.environ["XB_TURNS"] = told
    place.tools["wallclock"] += ":" + place.tools["turns"]
    machine.begin()
    crowd, memory = Crowd(machine, dice, CLIENTS), [machine.memory()]
    answered = 0
    begun = time.monotonic()
    for part in requests // 10, requests * 45 // 100, requests * 45 // 100:
        answered += crowd.ask(part)
        # What the others of its socket have asked comes first.
        machine.must_answer(most=WAITS)
        crowd.must_be_gone()
        memory.append(machine.memory())
    took = time.monotonic() - begun
    count, longest, mean = turns(told)
    figures = "%d requests of %d clients in %.0f s, %d ended; %d turns, %.4f s on average, %.3f s the longest; %s MiB before and " \
        "after each part" % (answered, CLIENTS, took, crowd.ended, count, mean, longest, ", ".join("%.1f" % each for each in memory))
    if longest > TURN:
        raise Wrong("a turn is too long: " + figures)
    if memory[3] > memory[2] + GROWTH:
        raise Wrong("bloomd grows: " + figures)
    # The sanitizers keep what is freed.
    if max(memory[1:]) > KEPT and "ASAN_OPTIONS" not in os.environ:
        raise Wrong("bloomd keeps what clients had: " + figures)
    machine.must_live()
    return figures
