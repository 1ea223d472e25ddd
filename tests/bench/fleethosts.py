# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet in network namespaces on one bridge: a server of Redis, and hosts with bloomd and an interface of their own."""
import os
import subprocess

from bloomd import command, connect
from redisserver import ask, server_program
from rig import BUILD, Failed, Installation, children, processor_seconds, run, stop, wait_for, within

SERVER, PORT, FLEET = "10.90.0.1", 6379, "bench"
PREFIX = "xb:{%s}:" % FLEET


def add_bridge(name):
    """Where the server is, and to where all interfaces lead."""
    run("ip", "netns", "add", name)
    for words in ("link set lo up", "link add br0 type bridge", "addr add %s/16 dev br0" % SERVER, "link set br0 up"):
        run("ip", "-n", name, *words.split())


class Redis:
    """The server."""

    def __init__(self, scratch, hub):
        program = server_program()
        if not program:
            raise Failed("redis-server is not installed, nor redis-tools")
        directory = scratch.make("redis")
        self.socket, server = os.path.join(directory, "redis.sock"), os.path.join(directory, "redis-server")
        os.symlink(program, server)
        self.process = subprocess.Popen(
            within(hub, server, "--bind", SERVER, "--port", PORT, "--protected-mode", "no", "--unixsocket", self.socket,
                   "--dir", directory, "--appendonly", "yes", "--save", ""), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("the server", self.answers)

    def answers(self):
        try:
            return self.ask("ping") == "+PONG"
        except OSError:
            return False

    def ask(self, *words):
        """The answer: bytes, a number, a list, or None."""
        return ask(self.socket, *words)

    def info(self, name):
        text = self.ask("info").decode()
        return int(next(line.split(":")[1] for line in text.splitlines() if line.startswith(name + ":")))

    def chunks(self):
        """Names of those that the newest snapshot has; its manifest begins with a version and its identity."""
        name = PREFIX + "chunk:" + self.ask("getrange", PREFIX + "snapshot", "1", "16").hex()
        return ["%s:%d" % (name, number) for number in range(len(self.ask("keys", name.replace("[", "\\[") + ":*")))]

    def end(self):
        stop(self.process)


class Host(Installation):
    """A machine with one interface, whose filter is attached."""

    def __init__(self, scratch, number, hub):
        self.name, self.process, self.directory = "xbf-%d" % number, None, scratch.make("fleet-%d" % number)
        super().__init__(scratch, "fleet-%d" % number, *within(self.name))
        self.config, self.socket = self.path("bloomd.conf"), os.path.join(self.counters, "api.sock")
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", "eth0", "netns", self.name, "type", "veth", "peer", "name", "h%d" % number, "netns", hub)
        run("ip", "-n", hub, "link", "set", "h%d" % number, "master", "br0", "up")
        for words in ("link set lo up", "link set eth0 up", "addr add 10.90.1.%d/16 dev eth0" % (number + 1)):
            run("ip", "-n", self.name, *words.split())
        self.ctl("attach", "eth0")

    def path(self, name):
        return os.path.join(self.directory, name)

    def reads(self):
        try:
            return self.told("fleet")["fleet"]["state"] == "reading"
        except (Failed, LookupError, TypeError):    # it has not said anything yet
            return False

    def listed(self):
        return self.generation()["host4_keys"]

    def configure(self, *lines):
        with open(self.config, "w") as out:
            out.write("\n".join(lines) + "\n")

    def join(self, port=PORT):
        self.configure("[fleet]", "url = redis://%s:%d" % (SERVER, port), "cleartext = yes", "name = " + FLEET,
                       "publish = default", "follow = default")

    def start(self):
        """bloomd, from its start on."""
        with open(self.path("log"), "a") as log:
            self.process = subprocess.Popen(
                within(self.name, os.path.join(BUILD, "bloomd"), "--config", self.config, *self.options), stderr=log)

    def end(self):
        stop(self.process)
        self.process = None

    def forget(self):
        """As if it were new."""
        self.end()
        self.remove()
        self.ctl("attach", "eth0")

    def processor_seconds(self):
        """Of bloomd, and of what talks to the server for it."""
        return sum(map(processor_seconds, [self.process.pid] + children(self.process.pid)))

    def connect(self):
        return connect(self.socket)

    def has(self, link, address):
        link.sendall(command("SISMEMBER", "default", address))
        return link.recv(100) == b":1\r\n"
