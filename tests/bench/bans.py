# SPDX-License-Identifier: GPL-2.0-or-later
"""The real fail2ban: bans a second, and how long a restart lasts, by our two actions and by its own for
nftables and ipset, and by one that only writes a byte."""
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import time

from bloomd import Agent, command
from command_peers import INTERFACE, Bloomctl, add_interface
from rig import BUILD, ROOT, Failed, Samples, both, ratio, row, run, say

FAIL2BAN = os.path.join(BUILD, "fail2ban")
PACKAGES = os.path.join(FAIL2BAN, "usr", "lib", "python3", "dist-packages")
LIST, IPSET, NFT_SET = "f2b-jail", "f2b-jail", ("inet", "f2b-table", "addr-set-jail")
MANY = 20000
sys.path.append(PACKAGES)   # what fail2ban answers can be objects of it
END = b"<F2B_END_COMMAND>"
PATIENCE = 120
NAMES = {"python": "xdp-bloom.py, over the socket of bloomd", "plain": "xdp-bloom, a process of bloomctl each",
         "ipset": "iptables-ipset", "nftables": "nftables", "nothing": "a process that writes a byte"}
NOTHING = "[Definition]\nactionban = printf . >>%s\nactionflush = : >%s\nactionstop = : >%s\n"
JAIL = """[DEFAULT]
banaction = %s
backend = polling
ignoreself = false
bantime = 1h
[jail]
enabled = true
port = 22
logpath = %s
filter = sshd
"""


def addresses(number):
    return ["100.%d.%d.%d" % (64 + i // 62500, i // 250 % 250, 1 + i % 250) for i in range(number)]


class Server:
    """fail2ban with one action, in the foreground, with a configuration of its own."""

    def __init__(self, directory, action):
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(os.path.join(FAIL2BAN, "etc", "fail2ban"), directory, symlinks=True)
        os.remove(os.path.join(directory, "jail.d", "defaults-debian.conf"))
        for name in ("xdp-bloom.conf", "xdp-bloom.py"):
            shutil.copy(os.path.join(ROOT, "packaging", "fail2ban", "action.d", name),
                        os.path.join(directory, "action.d"))
        self.directory = directory
        self.counted = self.path("counted")
        self.write("action.d/nothing.conf", NOTHING % ((self.counted,) * 3))
        self.write("log", "")
        self.write("fail2ban.local", "[Definition]\nlogtarget = %s\nsocket = %s\npidfile = %s\ndbfile = %s\n"
                   % tuple(map(self.path, ("messages", "socket", "pid", "database"))))
        self.write("jail.local", JAIL % (action, self.path("log")))
        self.process = None

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w") as out:
            out.write(text)

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", os.path.join(FAIL2BAN, "usr", "bin", "fail2ban-server"),
             "-c", self.directory, "-f", "start"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, PYTHONPATH=PACKAGES, PYTHONDONTWRITEBYTECODE="1"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait():
            raise Failed("fail2ban ends with %d" % self.process.returncode)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ask(self, *words):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(self.path("socket"))
            link.sendall(pickle.dumps(list(words)) + END)
            answer = b""
            while not answer.endswith(END):
                got = link.recv(65536)
                if not got:
                    raise OSError("fail2ban closed the connection")
                answer += got
        code, said = pickle.loads(answer[:-len(END)])
        if code:
            raise Failed("fail2ban: %s" % said)

    def wait(self):
        for _ in range(500):
            try:
                return self.ask("get", "jail", "maxretry")
            except (OSError, Failed):
                time.sleep(0.02)
        raise Failed("fail2ban does not start")


def agent_count(agent):
    agent.link.sendall(command("SCARD", LIST))
    return int(agent.link.recv(100)[1:])


class Subjects:
    """What bans, and how it is known how many bans are in force."""

    def __init__(self, scratch):
        self.bloomctl = Bloomctl(scratch)
        self.directory = scratch.path("fail2ban")
        self.agent = None
        self.server = None

    def begin(self):
        add_interface(INTERFACE)
        self.bloomctl.begin()
        self.agent = Agent(self.bloomctl.base, self.bloomctl.counters)

    def end(self):
        if self.agent:
            self.agent.end()
        run("ip", "link", "del", INTERFACE)
        self.bloomctl.close()

    def action(self, name):
        tool = " ".join(self.bloomctl.base)
        return {"python": 'xdp-bloom.py[bloomctl="%s", socket="%s"]' % (tool, self.agent.path),
                "plain": 'xdp-bloom[bloomctl="%s"]' % tool, "ipset": "iptables-ipset",
                "nftables": "nftables", "nothing": "nothing"}[name]

    def count(self, name):
        if name in ("python", "plain"):
            return agent_count(self.agent) - (name == "plain")
        if name == "nothing":
            return os.path.getsize(self.server.counted) if os.path.exists(self.server.counted) else 0
        words = ("ipset", "list", IPSET) if name == "ipset" else ("nft", "list", "set", *NFT_SET)
        listed = subprocess.run(words, check=False, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL).stdout
        return listed.count("100.")

    def until(self, name, wanted, start):
        """Seconds until so many are in force. Looking takes time as well, so where a ban takes a process,
        it is rare."""
        pause = 0.01 if name == "python" else 0.1
        while self.count(name) != wanted:
            if time.perf_counter() - start > PATIENCE:
                raise Failed("%s: %d bans of %d" % (name, self.count(name), wanted))
            time.sleep(pause)
        return time.perf_counter() - start

    def measure(self, name, number):
        """Seconds for so many bans, and from stopping fail2ban until all are in force again."""
        self.server = Server(self.directory, self.action(name))
        try:
            self.server.start()
            self.server.wait()
            self.server.ask("set", "jail", "banip", "100.127.0.1")  # some start with the first ban
            self.until(name, 1, time.perf_counter())
            start = time.perf_counter()
            self.server.ask("set", "jail", "banip", *addresses(number))
            bans = self.until(name, number + 1, start)
            start = time.perf_counter()
            self.server.stop()
            self.server.start()
            restart = self.until(name, number + 1, start)
            self.server.wait()
            self.server.stop()
            self.until(name, 0 if name != "plain" else -1, time.perf_counter())
        finally:
            self.server.kill()
        return bans, restart


def present():
    """Of the actions those whose tools work here."""
    tools = {"ipset": (("ipset", "list", "-n"), ("iptables", "-nL")), "nftables": (("nft", "list", "tables"),)}
    return [name for name in NAMES
            if not any(not shutil.which(words[0]) or
                       subprocess.run(words, check=False, capture_output=True).returncode
                       for words in tools.get(name, ()))]


def measured(scratch, names, rounds, number):
    subjects, samples = Subjects(scratch), Samples()
    try:
        subjects.begin()
        for turn in range(rounds):
            for name in names:
                say("fail2ban, round %d of %d: %s" % (turn + 1, rounds, NAMES[name]))
                bans, restart = subjects.measure(name, number)
                samples.add(name + " ban", bans / number)
                samples.add(name + " restart", restart)
            for what, seconds in zip(("ban", "restart"), subjects.measure("python", MANY)):
                samples.add("many " + what, seconds)
    finally:
        subjects.end()
    return {"rounds": rounds, "bans": number, "many": MANY,
            "seconds": {what: {name: samples.summary("%s %s" % (name, what)) for name in names}
                        for what in ("ban", "restart")},
            "seconds_many": {what: samples.summary("many " + what) for what in ("ban", "restart")}}


def measure(scratch, quick, report):
    if not os.path.isdir(FAIL2BAN):
        report["skipped"].append("fail2ban: it is not in build/; scripts/setup unpacks it")
        return
    names = present()
    report["skipped"] += ["fail2ban by %s: its tools do not work here" % NAMES[name]
                          for name in NAMES if name not in names]
    try:
        report["fail2ban"] = measured(scratch, names, 1 if quick else 3, 200 if quick else 500)
    except Failed as failure:
        report["failed"].append("fail2ban: %s" % failure)


def print_text(report):
    found = report.get("fail2ban")
    if not found:
        return
    print("\nfail2ban, %d bans, %d rounds" % (found["bans"], found["rounds"]))
    row("", "ms a ban", "bans a second", "restart, s", "times xdp-bloom.py")
    for name, ban in found["seconds"]["ban"].items():
        restart = found["seconds"]["restart"]
        over = ratio(restart[name], restart["python"])
        row(NAMES[name], both(ban, 1e3, 2), "%.0f" % (1 / ban["median"]), both(restart[name], 1, 2),
            "%.1f" % over["median"])
    many = found["seconds_many"]
    print("xdp-bloom.py with %d bans: %s s to ban, %s s to restart"
          % (found["many"], both(many["ban"], 1, 2), both(many["restart"], 1, 2)))
