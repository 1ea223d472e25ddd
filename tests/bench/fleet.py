# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet at scale: how soon all hosts drop what one lists, how many changes it carries, how long a new host takes to join, and
what server and network have to give. All hosts share the processors of one machine."""
import json
import os
import statistics
import subprocess
import sys
import threading
import time

from bloomd import command
from command_peers import Ranges, timed
from fleethosts import PORT, PREFIX, SERVER, Host, Redis, add_bridge
from rig import K, ROOT, Failed, addresses, attempt, goal, processor_seconds, program, run, say, stop, wait_for, within
from tables import cell, table

HUB, HOSTS = "xbf-hub", 10
FAR_PORT, FAR = PORT + 1, 0.005     # seconds for one way
RATE, TICK, LAG_EVERY = 10 * K, 0.1, 10
NEW, MARKS = 500 * K * K, 600 * K * K    # numbers of addresses that nothing else lists
IDLE = 30       # seconds


class Fleet:
    """The server, hosts of the fleet, and one that is in none."""

    def __init__(self, scratch, count):
        self.scratch = scratch
        add_bridge(HUB)
        self.redis = Redis(scratch, HUB)
        self.hosts = [Host(scratch, number, HUB) for number in range(count)]
        self.alone = Host(scratch, count, HUB)
        self.alone.configure()
        self.alone.start()
        self.alone.connect().close()
        self.begin()

    def begin(self, port=PORT):
        """All hosts read the log of this port."""
        for host in self.hosts:
            host.end()
            host.join(port)
            host.start()
        for host in self.hosts:
            wait_for(host.name, host.reads)

    def end(self):
        for host in self.hosts + [self.alone]:
            host.end()
        self.redis.end()


def figures(seconds):
    """Of a number of times."""
    seconds = sorted(seconds)
    return {"median": statistics.median(seconds), "p95": seconds[min(len(seconds) - 1, len(seconds) * 95 // 100)],
            "max": seconds[-1], "n": len(seconds)}


# --- from the answer on one host to the drop on all ---

def latency(fleet, first, changes, port=PORT):
    host = fleet.hosts[0]
    pins = [each.pins for each in fleet.hosts]
    found = json.loads(run(*within(host.name, program("bench_fleet"), first, changes,
                                   fleet.alone.socket, host.socket, SERVER, port, *pins)))
    others = [each[1:] for each in found["drops"]]
    return {"ping": figures(found["pings"]), "commit": figures(found["commits"]),
            "answer": figures(found["answers"]), "one": figures([time for each in others for time in each]),
            "all": figures([max(each) for each in others])}


def far_latency(fleet, changes):
    """The same by a network whose round trip outweighs what the processors do."""
    relay = subprocess.Popen(within(HUB, sys.executable, os.path.join(ROOT, "tests", "support", "faraway.py"), SERVER, FAR_PORT, PORT,
                                    FAR))
    try:
        fleet.begin(FAR_PORT)
        return latency(fleet, NEW + 100 * K, changes, FAR_PORT)
    finally:
        stop(relay)
        fleet.begin()


# --- many changes ---

class Load:
    """Adds, and deletes of what was added a second before, in equal numbers, by one connection."""

    def __init__(self, host, fresh):
        self.link, self.fresh, self.sent, self.answered, self.late = host.connect(), fresh, 0, 0, 0.0

    def step(self, count):
        words = [command("SADD", "default", address) for address in self.fresh[self.sent:self.sent + count]]
        if self.sent >= 10 * count:
            words += [command("SREM", "default", address) for address in self.fresh[self.sent - 10 * count:self.sent - 9 * count]]
        self.link.sendall(b"".join(words))
        self.sent += count
        left = len(words)
        while left:
            got = self.link.recv(1 << 16)
            if not got or b"-" in got:
                raise Failed("the load: %s" % got[:100])
            left -= got.count(b"\n")
        self.answered += len(words)

    def run(self, seconds):
        begun = time.monotonic()
        for number in range(int(seconds / TICK)):
            due = begun + number * TICK
            self.late = max(self.late, time.monotonic() - due)
            time.sleep(max(0, due - time.monotonic()))
            self.step(int(RATE * TICK / 2))
        self.seconds = time.monotonic() - begun


def lag(hosts, links, address):
    """Seconds from the answer on the first until all others have it in force."""
    links[0].sendall(command("SADD", "default", address))
    links[0].recv(100)
    begun, left = time.monotonic(), list(zip(hosts[1:], links[1:]))
    while left and time.monotonic() < begun + 60:
        left = [(host, link) for host, link in left if not host.has(link, address)]
        time.sleep(0.01)
    if left:
        raise Failed("%s lags by a minute" % left[0][0].name)
    return time.monotonic() - begun


def memory_of_server(redis):
    return redis.info("used_memory"), redis.ask("memory", "usage", PREFIX + "log", "samples", "0")


def carry(fleet, seconds):
    """Changes at that rate for so long; beside it the lag, now and then."""
    links, marks = [host.connect() for host in fleet.hosts], iter(addresses(MARKS, seconds))
    load, lags = Load(fleet.hosts[0], addresses(NEW + 200 * K, RATE // 2 * seconds)), []
    before = [host.processor_seconds() for host in fleet.hosts]
    out, server = fleet.redis.info("total_net_output_bytes"), processor_seconds(fleet.redis.process.pid)
    thread = threading.Thread(target=load.run, args=(seconds,))
    thread.start()
    while thread.is_alive():
        thread.join(LAG_EVERY / 2)
        lags.append(lag(fleet.hosts, links, next(marks)))
        thread.join(LAG_EVERY / 2)
    lags.append(lag(fleet.hosts, links, next(marks)))
    spent = [host.processor_seconds() - was for host, was in zip(fleet.hosts, before)]
    for link in links + [load.link]:
        link.close()
    return {"seconds": load.seconds, "changes": load.answered, "late": load.late, "lags": lags,
            "publisher_cpu": spent[0] / load.answered, "follower_cpu": statistics.mean(spent[1:]) / load.answered,
            "server_cpu": (processor_seconds(fleet.redis.process.pid) - server) / load.answered,
            "bytes_a_change_and_host": (fleet.redis.info("total_net_output_bytes") - out) / load.answered / len(fleet.hosts)}


# --- what server and network have to give ---

def received(host):
    with open("/proc/%d/net/dev" % host.process.pid) as file:
        words = next(line for line in file if line.strip().startswith("eth0:")).split()
    return int(words[1]), int(words[9])


def idle(fleet, seconds):
    """Bytes a second that a host receives and sends while nothing happens, with all headers."""
    before = [received(host) for host in fleet.hosts]
    spent = [host.processor_seconds() for host in fleet.hosts]
    time.sleep(seconds)
    after = [received(host) for host in fleet.hosts]
    return {"received": statistics.mean(b[0] - a[0] for a, b in zip(before, after)) / seconds,
            "sent": statistics.mean(b[1] - a[1] for a, b in zip(before, after)) / seconds,
            "cpu": statistics.mean(host.processor_seconds() - was for host, was in zip(fleet.hosts, spent)) / seconds}


def log_sizes(fleet):
    """Bytes of the server for a change of its own, and for one of many."""
    redis, found = fleet.redis, {}
    path = fleet.hosts[0].path("sizes")
    for name, ranges in (("single", [(NEW + 150 * K + i, 1) for i in range(200)]), ("many", [(NEW + 160 * K, 20 * K)])):
        used, entries = memory_of_server(redis)[1], redis.ask("xlen", PREFIX + "log")
        for each in ranges:
            fleet.hosts[0].ctl("import", Ranges(each).write(path), "--include-bogons")
            if name == "single":
                time.sleep(0.02)
        wait_for("an empty outbox", lambda: all_listed(fleet), 120)
        count = sum(each[1] for each in ranges)
        found[name] = {"bytes": (memory_of_server(redis)[1] - used) / count,
                       "entries": redis.ask("xlen", PREFIX + "log") - entries, "changes": count}
    return found


def all_listed(fleet):
    return len({host.listed() for host in fleet.hosts}) == 1


# --- joining ---

class Answers(threading.Thread):
    """How long a bloomd took for an answer at the most, asked all the time."""

    def __init__(self, host):
        super().__init__()
        self.link, self.worst, self.over = host.connect(), 0.0, False

    def run(self):
        while not self.over:
            begun = time.monotonic()
            self.link.sendall(command("PING"))
            self.link.recv(100)
            self.worst = max(self.worst, time.monotonic() - begun)
            time.sleep(0.002)

    def end(self):
        self.over = True
        self.join()
        self.link.close()
        return self.worst


def publish(fleet, path, count):
    """An import on the first host, until the server has all of it in the log, and a snapshot that includes it."""
    first, redis = fleet.hosts[0], fleet.redis
    answers, begun = Answers(first), time.monotonic()
    answers.start()
    first.ctl("import", path, "--include-bogons")
    imported = time.monotonic() - begun
    wait_for("a snapshot", lambda: sizes(redis) >= 12 * count, 1800, 0.2)
    return {"import": imported, "snapshot": time.monotonic() - begun, "worst_answer": answers.end()}


def sizes(redis):
    """Bytes of the newest snapshot."""
    return sum(redis.ask("strlen", name) for name in redis.chunks())


def transfer(fleet, host):
    """Seconds that the bytes of the snapshot take to the host, and how many they are."""
    names = fleet.redis.chunks()
    script = ("import socket,sys,time\nlink=socket.create_connection((%r,%d))\nstart,total=time.monotonic(),0\n"
              "for name in sys.argv[1:]:\n"
              " link.sendall(b'*2\\r\\n$3\\r\\nGET\\r\\n$%%d\\r\\n%%s\\r\\n'%%(len(name),name.encode()))\n"
              " file=link.makefile('rb');size=int(file.readline()[1:]);file.read(size+2);total+=size\n"
              "print(time.monotonic()-start,total)\n" % (SERVER, PORT))
    seconds, size = run(*within(host.name, sys.executable, "-c", script, *names)).split()
    return float(seconds), int(size)


def join(fleet, count):
    """A new host takes the list; another one imports it."""
    first, new = fleet.hosts[:2]
    path = Ranges((0, count)).write(fleet.scratch.path("list-%d" % count))
    found = {"count": count, "publish": publish(fleet, path, count)}
    wanted = first.listed()
    new.forget()
    new.join()
    begun = time.monotonic()
    new.start()
    answers = Answers(new)
    answers.start()
    wait_for("the state of the fleet", lambda: new.reads() and new.listed() >= wanted, 1800, 0.05)
    found["join"] = time.monotonic() - begun
    found["worst_answer"] = answers.end()
    found["log"] = [line for line in open(new.path("log")) if "resynced" in line][-1:]
    found["transfer"], found["bytes"] = transfer(fleet, new)
    new.forget()
    found["import"] = timed(*new.base, "-q", "import", path, "--include-bogons")[0]
    new.join()
    found["joined"] = wanted
    return found


# --- all of it ---

def measure(scratch, quick, report):
    found = report["fleet"] = {}
    steps = (("latency", lambda: latency(fleet, NEW, 30 if quick else 200)),
             ("far", lambda: far_latency(fleet, 10 if quick else 100)), ("sizes", lambda: log_sizes(fleet)),
             ("idle", lambda: idle(fleet, 10 if quick else IDLE)), ("load", lambda: carry(fleet, 10 if quick else 60)),
             ("join", lambda: joins(fleet, (100 * K,) if quick else (100 * K, 1000 * K, 10 * K * K))))
    fleet = Fleet(scratch, HOSTS)
    try:
        for name, step in steps:
            say("fleet: " + name)
            result = attempt(report, "fleet, " + name, step)
            found.update({name: result} if result else {})
    finally:
        fleet.end()


def joins(fleet, counts):
    for host in fleet.hosts[2:]:
        host.end()
    return [join(fleet, count) for count in counts]


def trips(found):
    """How many round trips lie between the answer and the last host, beside a commit."""
    return found and (found["all"]["median"] - found["commit"]["median"]) / found["ping"]["median"]


def goals(report):
    found = report.get("fleet") or {}
    load, joined = found.get("load"), (found.get("join") or [None])[-1]
    return [goal("answer to drop on all, round trips behind a commit", 3, trips(found.get("latency"))),
            goal("the same, a round trip being %.0f ms" % (2 * K * FAR), 3, trips(found.get("far"))),
            goal("10,000 changes a second: lag at the end, s", 1, load and load["lags"][-1]),
            goal("joining, over import and transfer", 1, joined and joined["join"] / (joined["import"] + joined["transfer"]))]


def chapter(data, _page):
    found = data["fleet"]
    lines = []
    for name, title in (("latency", "here"), ("far", "far")):
        if name in found:
            lines += table(["from the answer on one host to the drop on others, server %s, ms" % title, "median", "95 %", "most"],
                           [[key] + [cell(found[name][key][part], K, 2) for part in ("median", "p95", "max")]
                            for key in ("ping", "commit", "answer", "one", "all")])
    for name in ("sizes", "idle", "load", "join"):
        if name in found:
            lines += [name + ":", json.dumps(found[name], indent=1), ""]
    return lines
