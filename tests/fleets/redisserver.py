# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of Redis that is killed, comes back with all, some or nothing of what it had, or leaves its place to
a replica that has not got everything."""
import os
import shutil
import signal
import socket
import subprocess
import time

START = 30      # seconds in which it has to answer


def server_program():
    """What Debian's packages without a service have under another name; see tests/e2e/fleet.sh."""
    names = (os.environ.get("XB_TEST_FLEET_SERVER"), "redis-server", "redis-check-rdb", "valkey-server",
             "valkey-check-rdb")
    return next((path for path in (shutil.which(name) for name in names if name) if path), None)


def encode(words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def read_answer(file):
    line = file.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("the server is gone")
    kind, rest = line[:1], line[1:-2]
    if kind in (b"+", b"-"):
        return line[:-2].decode()
    if kind == b":":
        return int(rest)
    size = int(rest)
    if size < 0:
        return None
    if kind == b"$":
        return file.read(size + 2)[:size]
    return [read_answer(file) for _ in range(size)]


def ask(path, *words, patience=20):
    """The answer; an error is a text that begins with "-"."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(patience)
        connection.connect(path)
        connection.sendall(encode(words))
        with connection.makefile("rb") as file:
            return read_answer(file)


class Instance:
    """A process, and where it keeps what it has."""

    def __init__(self, program, directory, port):
        self.program, self.directory, self.port = program, directory, port
        self.path = os.path.join(directory, "redis.sock")
        self.log = os.path.join(directory, "redis.log")
        self.process = None
        os.makedirs(directory)

    def start(self, *options):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.path, "--dir",
                 self.directory, "--save", "", "--appendfsync", "always", "--repl-diskless-sync-delay", "0", *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + START
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("redis-server does not answer: see %s" % self.log)
            time.sleep(0.02)

    def answers(self):
        try:
            return ask(self.path, "PING") == "+PONG"
        except OSError:
            return False

    def ask(self, *words):
        return ask(self.path, *words)

    def signal(self, number):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def keep_from_now_on(self):
        self.ask("CONFIG", "SET", "appendonly", "yes")
        while True:
            told = self.ask("INFO", "persistence").decode()
            if "aof_rewrite_in_progress:0" in told and "aof_rewrite_scheduled:0" in told:
                return
            time.sleep(0.02)

    def forget(self):
        """What it has on its disk."""
        shutil.rmtree(os.path.join(self.directory, "appendonlydir"), ignore_errors=True)
        if os.path.exists(self.dump()):
            os.unlink(self.dump())

    def dump(self):
        return os.path.join(self.directory, "dump.rdb")


class Server:
    """The one that the hosts reach; which process that is changes."""

    def __init__(self, program, directory, port):
        self.instances = [Instance(program, os.path.join(directory, "redis%d" % i), port + i) for i in range(2)]
        self.present = 0
        self.backups = []
        self.down_until = None          # killed; when and how it comes back
        self.comeback = None
        self.one.start("--appendonly", "yes")

    @property
    def one(self):
        return self.instances[self.present]

    @property
    def other(self):
        return self.instances[1 - self.present]

    def path(self):
        return self.one.path

    def ask(self, *words):
        """None if it does not answer, or is paused."""
        try:
            return ask(self.one.path, *words, patience=1)
        except OSError:
            return None

    def backup(self):
        """A copy of all that it has."""
        if self.ask("SAVE") == "+OK":
            with open(self.one.dump(), "rb") as file:
                self.backups = self.backups[-7:] + [file.read()]

    def die(self, seconds, comeback):
        """Is killed, and comes back by comeback() after so many seconds; see tick()."""
        if self.down_until is None:
            self.one.signal(signal.SIGKILL)
            self.down_until, self.comeback = time.monotonic() + seconds, comeback

    def tick(self, at_once=False):
        if self.down_until is not None and (at_once or time.monotonic() >= self.down_until):
            self.one.kill()
            self.comeback()
            self.down_until = self.comeback = None

    def come_back_whole(self):
        self.one.start("--appendonly", "yes")

    def come_back_empty(self):
        self.one.forget()
        self.one.start("--appendonly", "yes")

    def come_back_from(self, backup):
        self.one.forget()
        with open(self.one.dump(), "wb") as file:
            file.write(backup)
        self.one.start("--appendonly", "no")
        self.one.keep_from_now_on()

    def begin_replica(self):
        """Another one that follows this one, and has all that it has for now."""
        self.other.kill()
        self.other.forget()
        self.other.start("--appendonly", "no")
        self.other.ask("REPLICAOF", "127.0.0.1", self.one.port)
        until = time.monotonic() + START
        while "master_link_status:up" not in self.other.ask("INFO", "replication").decode():
            if time.monotonic() > until:
                raise RuntimeError("the replica does not follow: see %s" % self.other.log)
            time.sleep(0.02)

    def promote(self):
        """The replica takes the place of the one that was killed."""
        self.one.kill()
        self.other.signal(signal.SIGCONT)
        if not self.other.answers():
            self.come_back_whole()
            return
        self.other.ask("REPLICAOF", "NO", "ONE")
        self.other.keep_from_now_on()
        self.present = 1 - self.present

    def end(self):
        for instance in self.instances:
            instance.kill()
