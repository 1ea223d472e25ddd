# SPDX-License-Identifier: GPL-2.0-or-later
"""bloomd in the foreground of a benchmark."""
import os
import socket
import subprocess
import time

from rig import BUILD, Failed

FLUSH_BYTES = 1 << 20


def command(*words):
    parts = [word.encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


def first(path):
    with open(path) as file:
        return file.readline()


class Agent:
    """bloomd in the foreground, and one client of it."""

    def __init__(self, base, counters, config="/dev/null"):
        self.path = os.path.join(counters, "api.sock")
        options = [word for word in base[1:] if word != "-q"]
        self.log = open(os.path.join(os.path.dirname(counters), "bloomd.log"), "w+")
        self.process = subprocess.Popen([os.path.join(BUILD, "bloomd"), *options, "--config", config],
                                        stderr=self.log)
        self.link = self.connect()

    def connect(self):
        for _ in range(200):
            link = socket.socket(socket.AF_UNIX)
            try:
                link.connect(self.path)
                return link
            except OSError:
                link.close()
                time.sleep(0.02)
        raise Failed("bloomd does not listen on %s" % self.path)

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
        path = "/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)
        while first(path):
            time.sleep(0.05)
        time.sleep(0.2)

    def end(self):
        self.link.close()
        self.process.terminate()
        self.process.wait()
        self.log.close()
