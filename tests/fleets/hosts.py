# SPDX-License-Identifier: GPL-2.0-or-later
"""A host of the fleet: a bloomd with a state, a clock, a disk and a filter of its own."""
import json
import os
import re
import signal
import subprocess
import time

import cage
from redisserver import ask

SHARED = ("default", "bans")
READY = 60          # seconds in which bloomd has to listen


class Wrong(Exception):
    """An invariant that does not hold."""


def key_in(directory):
    """The file with the secret of the fleet that lives there, which its server does not have."""
    path = os.path.join(directory, "key")
    if not os.path.exists(path):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
            out.write(os.urandom(32).hex())
    return path


class Host:
    def __init__(self, number, directory, pins, interface, tools):
        self.number, self.name, self.tools = number, "h%d" % number, tools
        self.directory = os.path.join(directory, self.name)
        self.state, self.runs = (os.path.join(self.directory, each) for each in ("state", "run"))
        self.pins, self.interface = pins, interface
        self.path = os.path.join(self.runs, "api.sock")
        self.link = os.path.join(self.directory, "fleet.sock")
        self.log = os.path.join(self.directory, "log")
        self.clock = os.path.join(self.directory, "clock")
        self.filler = os.path.join(self.state, "filler")
        self.options = ["--state", self.state, "--pin", pins, "--run", self.runs]
        self.process, self.down_until, self.point = None, 0.0, ""
        os.makedirs(self.state)
        cage.must(cage.libc.mount(b"tmpfs", self.state.encode(), b"tmpfs", 0, b"size=24m,mode=0700"))
        self.step_clock(0)
        with open(os.path.join(self.directory, "bloomd.conf"), "w") as out:
            out.write("[fleet]\nurl = unix:%s\nname = test\nkey-file = %s\npublish = %s\nfollow = %s\n"
                      "snapshot-every = 5\n" % (self.link, key_in(directory), " ".join(SHARED), " ".join(SHARED)))

    # --- bloomd ---

    def environment(self, **more):
        return {**os.environ, "LD_PRELOAD": self.tools["wallclock"], "XB_CLOCK_AHEAD": self.clock, **more}

    def start(self, point=""):
        """point: XB_FAULT of the build for faults."""
        self.point = point
        with open(self.log, "ab") as log:
            log.write(b"--- starts %s\n" % point.encode())
            log.flush()
            self.process = subprocess.Popen(
                [self.tools["bloomd-fault" if point else "bloomd"], "--config",
                 os.path.join(self.directory, "bloomd.conf"), *self.options],
                env=self.environment(**({"XB_FAULT": point} if point else {})),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def lives(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.lives():
            self.process.send_signal(number)

    def kill(self):
        """It is gone then: who asks in the next moment must not see it live."""
        if self.lives():
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def wait_until_ready(self):
        until = time.monotonic() + READY
        while True:
            try:
                if ask(self.path, "PING", patience=5) == "+PONG":
                    return
            except OSError:
                pass
            if not self.lives() or time.monotonic() > until:
                raise Wrong("%s: bloomd does not listen (exit code %s): %s" % (
                    self.name, self.process.poll(), self.last_words()))
            time.sleep(0.05)

    def last_words(self):
        with open(self.log, errors="replace") as file:
            return " | ".join(file.read().splitlines()[-4:])

    # --- its surroundings ---

    def step_clock(self, seconds):
        with open(self.clock + ".new", "w") as out:
            out.write("%d\n" % seconds)
        os.rename(self.clock + ".new", self.clock)

    def fill_disk(self):
        try:
            with open(self.filler, "wb", buffering=0) as out:
                while True:
                    out.write(bytes(1 << 16))
        except OSError:
            pass

    def free_disk(self):
        if os.path.exists(self.filler):
            os.unlink(self.filler)

    # --- what others ask of it ---

    def ctl(self, *words, patience=120):
        """The exit code, stdout, stderr."""
        try:
            done = subprocess.run([self.tools["bloomctl"], "-q", *self.options, *words], env=self.environment(),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  errors="replace", timeout=patience, check=False)
        except subprocess.TimeoutExpired as late:
            raise Wrong("%s: bloomctl %s hangs" % (self.name, " ".join(words))) from late
        return done.returncode, done.stdout, done.stderr

    def must(self, *words):
        code, out, errors = self.ctl(*words)
        if code:
            raise Wrong("%s: bloomctl %s: exit %d: %s" % (self.name, " ".join(words), code, errors))
        return out

    def listing(self):
        """{(list, entry): (expires, comment)} of all lists, without what has expired."""
        found = {}
        for each in json.loads(self.must("-j", "list"))["entries"]:
            for member in each["lists"]:
                found[member["name"], each["entry"]] = (member.get("expires", ""), member.get("comment", ""))
        return found

    def allowed(self):
        return sorted(each["entry"] for each in json.loads(self.must("-j", "allow", "list"))["entries"])

    def fleet(self):
        return json.loads(self.must("-j", "fleet"))["fleet"] or {}

    def check(self, lines):
        """Asks the filter in force; each line has to be answered with ok. If a change came between its looks at the store
        and at the filter, the filter is ahead, and it looks again."""
        for _ in range(5):
            done = subprocess.run([self.tools["check"], self.state, self.pins, self.runs], input="\n".join(lines) + "\n",
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            looked = re.search(r"applied (\d+) of (\d+)", done.stderr)
            if not looked or int(looked[1]) <= int(looked[2]):
                break
        answers = done.stdout.splitlines()
        wrong = ["%s: %s" % each for each in zip(lines, answers) if each[1] != "ok"]
        if wrong or done.returncode or len(answers) != len(lines):
            raise Wrong("%s: the filter: %s %s" % (self.name, wrong[:5], done.stderr))
