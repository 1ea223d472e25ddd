# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet in network namespaces on one bridge: a server of Redis, and hosts with bloomd and an interface of
their own."""
import json
import os
import shutil
import socket
import subprocess
import time

from bloomd import command
from rig import BLOOMCTL, BUILD, Failed, run

SERVER, PORT, FLEET = "10.90.0.1", 6379, "bench"
PREFIX = "xb:{%s}:" % FLEET
PATIENCE = 60   # seconds until a host reads the log


def wait_for(what, question, seconds=PATIENCE, every=0.05):
    """Until the question is answered with something; that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = question()
        if found:
            return found
        time.sleep(every)
    raise Failed("%s does not come in %d s" % (what, seconds))


def stop(process):
    if process and process.poll() is None:
        process.terminate()
        process.wait()


def within(name, *words):
    """The command, in the namespace."""
    return ("nsenter", "--net=/run/netns/" + name) + words


def add_bridge(name):
    """Where the server is, and to where all interfaces lead."""
    run("ip", "netns", "add", name)
    for words in (("link", "set", "lo", "up"), ("link", "add", "br0", "type", "bridge"),
                  ("addr", "add", SERVER + "/16", "dev", "br0"), ("link", "set", "br0", "up")):
        run("ip", "-n", name, *words)


class Redis:
    """The server: that of Debian's redis-tools, which has it under another name."""

    def __init__(self, scratch, hub):
        program = shutil.which("redis-check-rdb")
        if not program:
            raise Failed("redis-check-rdb is not installed (redis-tools)")
        self.directory = scratch.make("redis")
        self.socket = os.path.join(self.directory, "redis.sock")
        server = os.path.join(self.directory, "redis-server")
        os.symlink(program, server)
        self.process = subprocess.Popen(
            within(hub, server, "--bind", SERVER, "--port", str(PORT), "--protected-mode", "no",
                   "--unixsocket", self.socket, "--dir", self.directory, "--appendonly", "yes", "--save", ""),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("the server", self.answers)

    def answers(self):
        try:
            return self.ask("ping") == b"PONG"
        except OSError:
            return False

    def ask(self, *words):
        """The answer: bytes, a number, a list, or None."""
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(self.socket)
            link.sendall(command(*words))
            with link.makefile("rb") as file:
                return read_answer(file)

    def info(self, name):
        text = self.ask("info").decode()
        return int(next(line.split(":")[1] for line in text.splitlines() if line.startswith(name + ":")))

    def chunks(self):
        """Names of those that the newest snapshot has; its manifest begins with a version and its identity."""
        name = self.ask("getrange", PREFIX + "snapshot", "1", "16").hex()
        return ["%schunk:%s:%d" % (PREFIX, name, number)
                for number in range(self.count(PREFIX + "chunk:" + name + ":*"))]

    def count(self, pattern):
        return len(self.ask("keys", pattern.replace("[", "\\[")))

    def end(self):
        stop(self.process)


def read_answer(file):
    line = file.readline()
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        raise Failed("the server: %s" % rest.decode())
    if kind == b":":
        return int(rest)
    if kind == b"+":
        return rest
    size = int(rest)
    if size < 0:
        return None
    if kind == b"$":
        return file.read(size + 2)[:-2]
    return [read_answer(file) for _ in range(size)]


def ticks(pid):
    """Of processor time, of the process."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


def memory(pid):
    """Bytes of the process, its part of what it shares."""
    with open("/proc/%d/smaps_rollup" % pid) as file:
        return sum(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))


class Host:
    """A machine with one interface, whose filter is attached."""

    def __init__(self, scratch, number, hub):
        self.name, self.number, self.process = "xbf-%d" % number, number, None
        self.directory = scratch.make("fleet-%d" % number)
        self.state, self.config = self.path("state"), self.path("bloomd.conf")
        self.run, self.pins = (os.path.join(top, "fleet-%d" % number) for top in (scratch.run, scratch.pins))
        self.socket = os.path.join(self.run, "api.sock")
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", "eth0", "netns", self.name, "type", "veth", "peer", "name", "h%d" % number,
            "netns", hub)
        run("ip", "-n", hub, "link", "set", "h%d" % number, "master", "br0", "up")
        for words in (("link", "set", "lo", "up"), ("link", "set", "eth0", "up"),
                      ("addr", "add", "10.90.1.%d/16" % (number + 1), "dev", "eth0")):
            run("ip", "-n", self.name, *words)
        self.base = within(self.name, BLOOMCTL, "--state", self.state, "--pin", self.pins, "--run", self.run, "-q")
        self.ctl("attach", "eth0")

    def path(self, name):
        return os.path.join(self.directory, name)

    def ctl(self, *words):
        return run(*self.base, *words)

    def told(self, word):
        done = subprocess.run([*self.base, "-j", word], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def fleet(self, name):
        return (self.told("fleet").get("fleet") or {}).get(name)

    def reads(self):
        return self.fleet("state") == "reading"

    def listed(self):
        return self.told("status")["generation"]["host4_keys"]

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
                within(self.name, os.path.join(BUILD, "bloomd"), "--config", self.config, "--state", self.state,
                       "--pin", self.pins, "--run", self.run), stderr=log)

    def end(self):
        stop(self.process)
        self.process = None

    def forget(self):
        """As if it were new."""
        self.end()
        self.ctl("detach", "--all")
        shutil.rmtree(self.state)
        self.ctl("attach", "eth0")

    def ticks(self):
        """Of bloomd, and of what talks to the server for it."""
        return sum(ticks(pid) for pid in [self.process.pid] + children(self.process.pid))

    def connect(self):
        def attempt():
            link = socket.socket(socket.AF_UNIX)
            try:
                link.connect(self.socket)
                return link
            except OSError:
                link.close()
                return None
        return wait_for("the socket of bloomd", attempt)

    def has(self, link, address):
        link.sendall(command("SISMEMBER", "default", address))
        return link.recv(100) == b":1\r\n"
