# SPDX-License-Identifier: GPL-2.0-or-later
"""What names cost a packet, and answers over a veth beside resolvers that refuse the same names."""
import json
import os
import subprocess

import path_peers as peers
import paths
from rig import Failed, Samples, attempt, cost_over, goal, median, packets, program, quotient, run, say, wait_for, within

NAMES = 1000000    # listed where the program alone is timed
ANSWERED = 100000  # listed where resolvers are asked, too
SERVER, ASKER = "10.99.0.1", "10.99.0.9"
REFUSED = "5"


def listed(number):
    """The same name bench_answers asks for."""
    return "n%s.example.com" % "".join(chr(97 + (number >> 4 * place & 15)) for place in range(7))


def write_names(scratch, form="%s\n"):
    path = scratch.path("names-%d" % len(form))
    with open(path, "w") as out:
        out.writelines(form % listed(number) for number in range(ANSWERED))
    return path


def program_cost(scratch, names, rounds, repeats):
    raw = packets(scratch, "names", names, 0, rounds, repeats)
    return {"names": raw["names"], "cost_ns": {
        traffic: {subject: cost_over(values, found["parse_only"]) for subject, values in found.items() if subject != "parse_only"}
        for traffic, found in raw["ns"].items()}}


class Asker(paths.Process):
    """Asks for listed names over a place's veth, as fast as one CPU can."""

    def __init__(self, place):
        super().__init__(program("bench_answers"), place.near, place.mac, ASKER, SERVER, ANSWERED)

    def ask(self, count):
        self.write("%d\n" % count)
        return self.told()


class TurnAll(peers.Program):
    key, program = "turn_all", "turn_all"


class Filter(peers.Filter):
    """With the names listed to be refused, however many ask."""

    def load(self, _workload):
        self.attach()
        for words in (("import", write_names(self.scratch), "--list", "names", "--format", "domains"),
                      ("verdict", "names", "refused"), ("limit", "off")):
            self.own.ctl(*words)


class Resolver(peers.Subject):
    """A process at the receiver's end, on the last CPU."""
    process, form = None, "%s\n"

    def load(self, _workload):
        peers.need(self.key)
        place, path = self.place, self.scratch.path(self.key + ".conf")
        place.inside("ip", "address", "add", SERVER + "/24", "dev", peers.FAR)
        # /sys shows the network namespace in which it was mounted.
        near = json.loads(run("ip", "-j", "link", "show", place.near))[0]["address"]
        place.inside("ip", "neighbour", "replace", ASKER, "lladdr", near, "dev", peers.FAR, "nud", "permanent")
        with open(path, "w") as out:
            out.write(self.head % write_names(self.scratch, self.form))
        self.process = subprocess.Popen(
            within(place.name, "taskset", "-c", os.cpu_count() - 1, self.key, *self.options, path), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.key, lambda: self.process.poll() is not None or SERVER in place.inside("ss", "-lun", "src", SERVER))
        if self.process.poll() is not None:
            raise Failed("%s ended with %d" % (self.key, self.process.returncode))

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class Unbound(Resolver):
    key, options = "unbound", ("-d", "-c")
    head = ('server:\n interface: ' + SERVER + '\n port: 53\n do-daemonize: no\n num-threads: 1\n username: ""\n chroot: ""\n'
            ' pidfile: ""\n use-syslog: no\n logfile: "/dev/null"\n access-control: 10.0.0.0/8 allow\n do-ip6: no\n'
            ' module-config: "iterator"\n include: "%s"\n')
    form = 'local-zone: "%s." always_refuse\n'


class Dnsdist(Resolver):
    key, options = "dnsdist", ("--supervised", "--disable-syslog", "-C")
    # Lines of a file: LuaJIT takes no more than 65,536 constants.
    head = ('setLocal("' + SERVER + ':53")\nsetACL("10.0.0.0/8")\nsetSecurityPollSuffix("")\n'
            'newServer({address="127.0.0.1:5353", healthCheckMode="up"})\nnames = newSuffixMatchNode()\n'
            'for name in io.lines("%s") do names:add(name) end\n'
            'addAction(SuffixMatchNodeRule(names, true), RCodeAction(DNSRCode.REFUSED))\n')


def take_down(samples, name, asked):
    """What a round found: nanoseconds of a packet beyond the generator's own, and answers a second of one CPU."""
    beyond = asked["ns"] - asked["alone_ns"]
    answered = sum(asked["answers"].values())
    samples.add(name + "/packet_ns", beyond / asked["asked"])
    samples.add(name + "/answered_share", answered / asked["asked"])
    if name in ("drop_all", "turn_all"):
        return
    if set(asked["answers"]) - {REFUSED}:
        raise Failed("%s answered otherwise: %s" % (name, asked["answers"]))
    # The filter works on the CPU that asks. A resolver has another one for itself all the time, and
    # on this one the kernel's way to its socket, of which it is charged what it answered.
    busy = beyond if name == "filter" else asked["ns"] + beyond * answered / asked["asked"]
    samples.add(name + "/answers_s", answered / busy * 1e9)


def answers(scratch, quick, report):
    made, askers, samples = [], {}, Samples()
    try:
        for number, kind in enumerate((peers.DropAll, TurnAll, Filter, Unbound, Dnsdist)):
            subject = kind(peers.Place("xbt-bench-q%d" % number, number), scratch)
            made.append(subject)
            try:
                subject.load(None)
                askers[subject] = Asker(subject.place)
            except (peers.Skipped, Failed) as reason:
                told = report["skipped" if isinstance(reason, peers.Skipped) else "failed"]
                told.append("the comparison with %s: %s" % (subject.key, reason))
        for turn in range(3 if quick else 9):
            for subject, asker in askers.items():
                say("answers, turn %d: %s" % (turn + 1, subject.key))
                take_down(samples, subject.key, asker.ask(250000 if quick else 1000000))
    finally:
        for asker in askers.values():
            asker.end()
        for subject in made:
            subject.end()
            subject.place.remove()
    found = {subject.key: {key: samples.summary("%s/%s" % (subject.key, key))
                           for key in ("packet_ns", "answers_s", "answered_share")} for subject in askers}
    return {"names": ANSWERED, "subjects": found}


def measure(scratch, quick, report):
    names = report["names"] = {}
    if quick:
        report["skipped"].append("names: more than %d (--quick)" % ANSWERED)
    for key, what in (("program_cost", lambda: program_cost(scratch, *((ANSWERED, 9, 50000) if quick else (NAMES, 27, 500000)))),
                      ("answers", lambda: answers(scratch, quick, report))):
        found = attempt(report, "names, " + key, what)
        names.update({key: found} if found else {})


def goals(report):
    ours, unbound = (median(report, "names", "answers", "subjects", name, "answers_s") for name in ("filter", "unbound"))
    return [goal("refused queries, times Unbound", 22, quotient(ours, unbound), False)]
