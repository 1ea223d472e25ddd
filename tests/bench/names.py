# SPDX-License-Identifier: GPL-2.0-or-later
"""What names cost a packet, and answers over a veth beside resolvers that refuse the same names."""
import json
import os
import shutil
import statistics
import subprocess
import time

from programs import bench, cost_over
from rig import BLOOMCTL, PROGRAMS, Failed, Samples, both, goal, ratio, row, run, say

NAMES = 1000000    # listed where the program alone is timed
ANSWERED = 100000  # listed where resolvers are asked, too
SERVER = "xbtq0"
CLIENT = "xbtq1"
FILTERED, UNBOUND, DNSDIST, ASKER = "10.99.0.1", "10.99.0.2", "10.99.0.3", "10.99.0.9"
REFUSED = "5"
OBJECT = os.path.join(os.path.dirname(os.path.dirname(PROGRAMS)), "bpf", "ask.bpf.o")


def listed(number):
    """The same name bench_answers asks for."""
    return "n%s.example.com" % "".join(chr(97 + (number >> 4 * place & 15)) for place in range(7))


def list_names(bloomctl, scratch):
    """Has them answered, however many ask. bloomctl: runs it with these words."""
    path = scratch.path("names")
    with open(path, "w") as out:
        out.writelines("%s\n" % listed(number) for number in range(ANSWERED))
    bloomctl("import", path, "--list", "names", "--format", "domains")
    bloomctl("verdict", "names", "refused")
    bloomctl("limit", "off")


def program_cost(scratch, quick, *options, names=NAMES):
    say("program cost, %d names" % names)
    rounds, repeats = (9, 50000) if quick else (27, 500000)
    raw = bench(scratch, "bench_names", *options, names, rounds, repeats)
    ns = raw.pop("ns")
    raw["run_ns"] = {}
    raw["cost_ns"] = {}
    for traffic, subjects in ns.items():
        alone = subjects.pop("parse_alone")
        raw["run_ns"][traffic] = {"median": statistics.median(alone), "min": min(alone)}
        raw["cost_ns"][traffic] = {subject: cost_over(values, alone)
                                   for subject, values in subjects.items()}
    return raw


class Pair:
    """A veth from this namespace, where servers are, to one of its own, where questions come
    from."""

    def __init__(self, name):
        self.name = name
        run("ip", "netns", "add", name)
        run("ip", "link", "add", SERVER, "type", "veth", "peer", "name", CLIENT, "netns", name)
        for address in (FILTERED, UNBOUND, DNSDIST):
            run("ip", "address", "add", address + "/24", "dev", SERVER)
        run("ip", "-n", name, "address", "add", ASKER + "/24", "dev", CLIENT)
        run("ip", "link", "set", SERVER, "up")
        run("ip", "-n", name, "link", "set", CLIENT, "up")
        # A veth takes frames that an XDP program sends only if it has NAPI: by GRO or a program.
        run("ethtool", "-K", SERVER, "gro", "on")
        self.mac = json.loads(run("ip", "-j", "link", "show", SERVER))[0]["address"]
        asker = json.loads(run("ip", "-n", name, "-j", "link", "show", CLIENT))[0]["address"]
        run("ip", "neighbour", "replace", ASKER, "lladdr", asker, "dev", SERVER, "nud", "permanent")

    def ask(self, address, count):
        return json.loads(run("nsenter", "--net=/run/netns/" + self.name, "taskset", "-c", "0",
                              os.path.join(PROGRAMS, "bench_answers"), CLIENT, self.mac, ASKER,
                              address, str(ANSWERED), input=str(count)))

    def remove(self):
        subprocess.run(["ip", "netns", "del", self.name], check=False)


class Program:
    """An XDP program at the server's end: the limits of what one can do."""

    def __init__(self, pair, name):
        self.pair = pair
        self.name = name

    def ask(self, count):
        run("ip", "link", "set", "dev", SERVER, "xdpdrv", "object", OBJECT, "program", self.name)
        try:
            return self.pair.ask(FILTERED, count)
        finally:
            run("ip", "link", "set", "dev", SERVER, "xdpdrv", "off")

    def end(self):
        pass


class Filter:
    """The filter that ships, with the names listed to be refused."""

    def __init__(self, pair, scratch):
        self.pair = pair
        self.base = (BLOOMCTL, "--state", scratch.path("names-state"), "--pin",
                     os.path.join(scratch.pins, "names"), "--run",
                     os.path.join(scratch.run, "names"), "-q")
        list_names(lambda *words: run(*self.base, *words), scratch)

    def ask(self, count):
        run(*self.base, "attach", SERVER)
        try:
            return self.pair.ask(FILTERED, count)
        finally:
            run(*self.base, "detach", SERVER)

    def end(self):
        subprocess.run([*self.base, "detach", "--all"], check=False, stderr=subprocess.DEVNULL)


class Resolver:
    """A process that answers on an address of its own, on the last CPU."""

    def __init__(self, pair, address, *command):
        self.pair = pair
        self.address = address
        self.process = subprocess.Popen(
            ["taskset", "-c", str(os.cpu_count() - 1), *command], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            if self.process.poll() is not None:
                raise Failed("%s ended with %d" % (command[0], self.process.returncode))
            if address in run("ss", "-lun", "src", address):
                return
            time.sleep(0.1)
        raise Failed("%s does not listen" % command[0])

    def ask(self, count):
        return self.pair.ask(self.address, count)

    def end(self):
        self.process.kill()
        self.process.wait()


def unbound(pair, scratch):
    path = scratch.path("unbound.conf")
    with open(path, "w") as out:
        out.write('server:\n interface: %s\n port: 53\n do-daemonize: no\n num-threads: 1\n'
                  ' username: ""\n chroot: ""\n pidfile: ""\n use-syslog: no\n'
                  ' logfile: "/dev/null"\n access-control: 10.0.0.0/8 allow\n do-ip6: no\n'
                  ' module-config: "iterator"\n' % UNBOUND)
        out.writelines(' local-zone: "%s." always_refuse\n' % listed(number)
                       for number in range(ANSWERED))
    return Resolver(pair, UNBOUND, "unbound", "-d", "-c", path)


def dnsdist(pair, scratch):
    path = scratch.path("dnsdist.conf")
    with open(path, "w") as out:
        out.write('setLocal("%s:53")\nsetACL("10.0.0.0/8")\nsetSecurityPollSuffix("")\n'
                  'newServer({address="127.0.0.1:5353", healthCheckMode="up"})\n'
                  'names = newSuffixMatchNode()\n' % DNSDIST)
        # Lines of a file: LuaJIT takes no more than 65,536 constants.
        out.write('for name in io.lines("%s") do names:add(name) end\n' % scratch.path("names"))
        out.write('addAction(SuffixMatchNodeRule(names, true), RCodeAction(DNSRCode.REFUSED))\n')
    return Resolver(pair, DNSDIST, "dnsdist", "--supervised", "--disable-syslog", "-C", path)


def subjects_of(pair, scratch, report):
    subjects = {"drop_all": Program(pair, "drop_all"), "turn_all": Program(pair, "turn_all"),
                "filter": Filter(pair, scratch)}
    for name, start in (("unbound", unbound), ("dnsdist", dnsdist)):
        if not shutil.which(name):
            report["skipped"].append("the comparison with %s: it is not installed" % name)
            continue
        try:
            subjects[name] = start(pair, scratch)
        except Failed as failure:
            report["failed"].append("%s: %s" % (name, failure))
    return subjects


def answers_of(samples, name, asked):
    """Takes down what a round found: nanoseconds of a packet beyond the generator's own, and
    answers a second of one CPU."""
    beyond = asked["ns"] - asked["alone_ns"]
    answered = sum(asked["answers"].values())
    samples.add(name + "/packet_ns", beyond / asked["asked"])
    samples.add(name + "/alone_ns", asked["alone_ns"] / asked["asked"])
    samples.add(name + "/answered_share", answered / asked["asked"])
    if name in ("drop_all", "turn_all"):
        return
    if set(asked["answers"]) - {REFUSED}:
        raise Failed("%s answered otherwise: %s" % (name, asked["answers"]))
    # The filter works on the CPU that asks. A resolver has another one for itself all the time, and
    # on this one the kernel's way to its socket, of which it is charged what it answered.
    busy = beyond
    if name != "filter":
        busy = asked["ns"] + beyond * answered / asked["asked"]
    samples.add(name + "/answers_s", answered / busy * 1e9)


def answers(scratch, quick, report):
    pair = Pair("xbt-bench-q")
    subjects = {}
    samples = Samples()
    try:
        subjects = subjects_of(pair, scratch, report)
        for turn in range(3 if quick else 9):
            for name, subject in subjects.items():
                say("answers, turn %d: %s" % (turn + 1, name))
                answers_of(samples, name, subject.ask(250000 if quick else 1000000))
    finally:
        for subject in subjects.values():
            subject.end()
        pair.remove()
    found = {name: {key: samples.summary("%s/%s" % (name, key))
                    for key in ("packet_ns", "answers_s", "answered_share", "alone_ns")}
             for name in subjects}
    for name in ("unbound", "dnsdist"):
        if name in found:
            found[name]["filter_over_it"] = ratio(found["filter"]["answers_s"],
                                                  found[name]["answers_s"])
    return {"names": ANSWERED, "subjects": found}


def measure(scratch, quick, report):
    report["names"] = {}
    if quick:
        report["skipped"].append("names: more than %d (--quick)" % ANSWERED)
    for key, what in (("program_cost", lambda: program_cost(scratch, quick, names=ANSWERED if quick else NAMES)),
                      ("answered_cost", lambda: program_cost(scratch, quick, "--answered", names=ANSWERED)),
                      ("answers", lambda: answers(scratch, quick, report))):
        try:
            report["names"][key] = what()
        except Failed as failure:
            report["failed"].append("names, %s: %s" % (key, failure))


def goals(report):
    unbound = report.get("names", {}).get("answers", {}).get("subjects", {}).get("unbound", {})
    return [goal("refused queries, times Unbound", 22, (unbound.get("filter_over_it") or {}).get("median"), False)]


def print_cost(cost):
    print("\nProgram cost, ns a packet over parsing alone; %d names listed, %.1f MiB; verified "
          "instructions %d, without names %d" %
          (cost["names"], (cost["bits_bytes"] + cost["buckets_bytes"]) / 2**20,
           cost["verified_with"], cost["verified_without"]))
    row("", "without names", "with names")
    for traffic, name in (("tcp", "TCP"), ("udp", "UDP, not to a DNS port"),
                          ("clean-3", "query, 3 labels, not listed"),
                          ("clean-5", "query, 5 labels, not listed"),
                          ("clean-127", "query, 127 labels, not listed"),
                          ("dropped", "query, 3 labels, dropped"),
                          ("dropped-below", "query below a listed name, dropped"),
                          ("answered", "query, 3 labels, answered (XDP_TX)")):
        row(name, *(both(cost["cost_ns"][traffic][subject])
                    for subject in ("without_names", "with_names")))


def print_answers(found):
    print("\nRefusing %d names over a veth; packets made by one CPU as fast as it can, its own time "
          "taken off" % found["names"])
    row("", "ns a packet", "answers a second, CPU", "answered", "filter, times it")
    for name, figures in found["subjects"].items():
        row(name, both(figures["packet_ns"]), both(figures["answers_s"], 1, 0),
            both(figures["answered_share"], 1, 3), both(figures.get("filter_over_it"), 1, 1))


def print_text(report):
    found = report.get("names", {})
    if found.get("program_cost"):
        print_cost(found["program_cost"])
    if found.get("answered_cost"):
        row("answered, of %d names that all are" % found["answered_cost"]["names"],
            *(both(found["answered_cost"]["cost_ns"]["answered"][subject])
              for subject in ("without_names", "with_names")))
    if found.get("answers"):
        print_answers(found["answers"])
