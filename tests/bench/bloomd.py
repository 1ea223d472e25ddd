# SPDX-License-Identifier: GPL-2.0-or-later
"""bloomd in the foreground of a benchmark, and an installation for it."""
import os
import socket
import subprocess
import time

from redisserver import encode
from command_peers import INTERFACE, Bloomctl, Ranges, add_interface
from rig import BUILD, Failed, children, run, stop, wait_for

FLUSH_BYTES = 1 << 20


def command(*words):
    return encode(words)


def connect(path):
    def attempt():
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(path)
            return link
        except OSError:
            link.close()
            return None
    return wait_for("the socket of bloomd", attempt)


class Agent:
    """bloomd, and one client of it."""

    def __init__(self, bloomctl, config="/dev/null"):
        self.path = os.path.join(bloomctl.counters, "api.sock")
        with open(bloomctl.path("bloomd.log"), "w") as log:
            self.process = subprocess.Popen([os.path.join(BUILD, "bloomd"), *bloomctl.options, "--config", config], stderr=log)
        self.link = connect(self.path)

    def single(self, address):
        start = time.perf_counter()
        self.link.sendall(command("SADD", "default", address))
        answer = self.link.recv(100)
        if answer != b":1\r\n":
            raise Failed("SADD: %s" % answer)
        return time.perf_counter() - start

    def pipelined(self, addresses):
        """Seconds from the first byte sent to the last reply; as fast as bloomd takes them."""
        text = b"".join(command("SADD", "default", address) for address in addresses)
        left, replies = memoryview(text), 0
        wanted = len(addresses) * len(b":1\r\n")
        start = time.perf_counter()
        self.link.setblocking(False)
        while replies < wanted:
            try:
                if left:
                    left = left[self.link.send(left[:FLUSH_BYTES]):]
            except BlockingIOError:
                pass
            try:
                got = self.link.recv(FLUSH_BYTES)
                if not got or b"-" in got:
                    raise Failed("SADD: %s" % got[:200])
                replies += len(got)
            except BlockingIOError:
                if not left:
                    time.sleep(0.0001)
        self.link.setblocking(True)
        return time.perf_counter() - start

    def rest(self):
        """Until it has no child any more that builds a larger filter."""
        while children(self.process.pid):
            time.sleep(0.05)
        time.sleep(0.2)

    def end(self):
        self.link.close()
        stop(self.process)


class Installed:
    """bloomctl with a veth attached and so many addresses listed, and bloomd."""

    def __init__(self, scratch, hosts=0, config=None):
        self.bloomctl, self.hosts, self.config, self.agent = Bloomctl(scratch), hosts, config, None

    def __enter__(self):
        add_interface(INTERFACE)
        try:
            self.bloomctl.begin()
            if self.hosts:
                self.bloomctl.ctl("import", Ranges((0, self.hosts)).write(self.bloomctl.path("load")), "--include-bogons")
            path = "/dev/null"
            if self.config:
                path = self.bloomctl.path("bloomd.conf")
                with open(path, "w") as out:
                    out.write(self.config % self.bloomctl.directory)
            self.agent = Agent(self.bloomctl, path)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.agent:
            self.agent.end()
        run("ip", "link", "del", INTERFACE)
        self.bloomctl.close()
