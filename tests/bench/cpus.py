# SPDX-License-Identifier: GPL-2.0-or-later
"""What a packet costs on two CPUs at once, beside one: nothing that CPUs share may be in its way."""
import json
import os
import statistics
import subprocess

import names
import path_peers as peers
from paths import CLEAN, FRAMES, FEWER_FRAMES, LISTED, Generator, Workload
from programs import MILLION, bench
from rig import PROGRAMS, Failed, goal, row, run, say, spread

CPUS = 2
NAMES = (("parse_only", "parsing and counting alone"),
         ("line_read", "one random line read, of the Bloom stage's size"),
         ("clean", "clean"), ("clean_some", "clean, 100,000 addresses listed"), ("clean_few", "clean, 1,000 addresses listed"),
         ("wrong_hit", "wrong hit of the Bloom filter"),
         ("wrong_hit_adds", "wrong hit, with an atomic addition on a line of all CPUs"), ("listed", "listed"),
         ("listed_watched", "listed, and watched"), ("listed_monitored", "listed, monitored"),
         ("answered", "query for a listed name, answered"))
FLOODS = (("drop_all", "flood, XDP_DROP at once"), ("listed", "flood, all listed"),
          ("pass_all", "flood, XDP_PASS at once"), ("clean", "flood, clean"),
          ("wrong_hit", "flood, all wrong hits"), ("answered", "flood of queries for listed names, answered"))
CONTROLS = ("line_read", "clean_some", "clean_few", "wrong_hit_adds")   # what tells why; nothing is promised of them
LEAST = 1.95    # times
WRONG_HITS = 65536  # sources, as of the program alone
ALMOST_ALL = 0.99


def times(alone, together):
    """How many times as many packets all CPUs get done as one does; both: ns a packet, of each CPU."""
    return sum(1 / ns for ns in together) / statistics.mean(1 / ns for ns in alone)


def found_of(alone, together):
    """Of rounds."""
    each = sorted(map(times, alone, together))
    low, median, high = statistics.quantiles(each, n=4, method="inclusive")
    return {"alone_ns": statistics.median(ns for cpu in alone for ns in cpu),
            "together_ns": statistics.median(ns for cpu in together for ns in cpu),
            "times": {"median": median, "low": low, "high": high}}


def programs(scratch, quick):
    say("%d CPUs, program cost" % CPUS)
    raw = bench(scratch, "bench_cpus", MILLION, CPUS, 5 if quick else 27, MILLION)
    return {name: found_of(ns["alone"], ns["together"]) for name, ns in raw["ns"].items()}


class Pairs:
    """A namespace with an end of as many veths as there are CPUs, and the same at all these ends."""

    def __init__(self, kind, workload, scratch):
        self.places = [peers.Place("xbt-bench-c", number, "xbtc%d" % number) for number in range(CPUS)]
        self.subjects = []
        try:
            self.load(kind, workload, scratch)
        except Failed:
            self.end()
            raise

    def load(self, kind, workload, scratch):
        self.subjects.append(kind(self.places[0], scratch))
        self.subjects[0].load(workload)
        for place in self.places[1:]:
            if kind is peers.Filter:
                self.subjects[0].attach(place)
            else:
                self.subjects.append(kind(place, scratch))
                self.subjects[-1].load(workload)

    def end(self):
        for subject in self.subjects:
            subject.end()
        for place in reversed(self.places):
            place.remove()

    def flood(self, generators, frames):
        """ns a frame, of those CPUs that have a generator."""
        for place, generator in zip(self.places, generators):
            if generator:
                generator.begin(place, 0, frames)
        return [told["ns"] for told in [generator.told() for generator in generators if generator]]


def one_round(pairs, generators, frames, both_first):
    """ns a frame of each CPU alone, and of all at once."""
    both = pairs.flood(generators, frames) if both_first else None
    alone = []
    for cpu in range(CPUS):
        alone += pairs.flood([generator if place == cpu else None for place, generator in enumerate(generators)], frames)
    return alone, both or pairs.flood(generators, frames)


class Asker:
    """As a Generator, of queries for listed names; each must be answered."""

    def __init__(self, cpu):
        self.cpu, self.process = cpu, None

    def begin(self, place, _first, count):
        if not self.process:
            self.process = subprocess.Popen(
                ["taskset", "-c", str(self.cpu), os.path.join(PROGRAMS, "bench_answers"), place.near, place.mac,
                 names.ASKER, names.FILTERED, str(names.ANSWERED)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
        self.process.stdin.write("%d\n" % count)
        self.process.stdin.flush()

    def told(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed("who asks: " + self.process.stderr.read().strip())
        found = json.loads(line)
        if found["answers"].get(names.REFUSED, 0) < ALMOST_ALL * found["asked"]:
            raise Failed("of %d queries were answered: %s" % (found["asked"], found["answers"]))
        return {"ns": found["frame_ns"]}

    def end(self):
        if self.process:
            self.process.kill()
            self.process.communicate()


def rounds_of(pairs, generators, quick):
    alone, together = [], []
    for number in range(4 if quick else 10):
        found = one_round(pairs, generators, FEWER_FRAMES if quick else FRAMES, number % 2)
        if number:     # the first is not kept
            alone.append(found[0])
            together.append(found[1])
    return found_of(alone, together)


def one_flood(kind, share, workload, scratch, quick):
    generators = []
    pairs = Pairs(kind, workload, scratch)
    try:
        generators += [Generator(workload, share, cpu) for cpu in range(CPUS)]
        return rounds_of(pairs, generators, quick)
    finally:
        for generator in generators:
            generator.end()
        pairs.end()


def wrong_hits(subject, scratch):
    """A workload of sources that hit the Bloom stage of this filter and are not listed."""
    found = Workload(WRONG_HITS, source="wrong-hits")
    found.plain = scratch.path("wrong-hits")
    with open(found.plain, "w") as out:
        out.write(run(os.path.join(PROGRAMS, "bench_wronghits"), *subject.base[2::2], str(WRONG_HITS)))
    return found


def counted(subject, reason):
    """Packets of all interfaces: those that ended so, and all."""
    told = json.loads(subject.place.inside(*subject.base, "-j", "stats"))
    reasons = [each for interface in told["interfaces"] for each in interface["reasons"]]
    return [sum(each["packets"] for each in reasons if wanted in (each["reason"], None)) for wanted in (reason, None)]


def flood_of_wrong_hits(workload, scratch, quick):
    generators = []
    pairs = Pairs(peers.Filter, workload, scratch)
    try:
        subject = pairs.subjects[0]
        sources = wrong_hits(subject, scratch)
        generators += [Generator(sources, LISTED, cpu) for cpu in range(CPUS)]
        before = counted(subject, "unconfirmed")
        found = rounds_of(pairs, generators, quick)
        so, all_of_them = (now - then for now, then in zip(counted(subject, "unconfirmed"), before))
        if so < ALMOST_ALL * all_of_them:
            raise Failed("of %d packets %d were wrong hits" % (all_of_them, so))
        return found
    finally:
        for generator in generators:
            generator.end()
        pairs.end()


def flood_of_queries(workload, scratch, quick):
    askers = [Asker(cpu) for cpu in range(CPUS)]
    pairs = Pairs(peers.Filter, workload, scratch)
    try:
        subject = pairs.subjects[0]
        names.list_names(lambda *words: subject.place.inside(*subject.base, "-q", *words), scratch)
        return rounds_of(pairs, askers, quick)
    finally:
        for asker in askers:
            asker.end()
        pairs.end()


def floods(scratch, quick):
    workload = Workload(MILLION)
    workload.prepare(scratch)
    try:
        found = {}
        for name, kind, share in (("drop_all", peers.DropAll, LISTED), ("listed", peers.Filter, LISTED),
                                  ("pass_all", peers.PassAll, CLEAN), ("clean", peers.Filter, CLEAN)):
            say("%d CPUs, flood: %s" % (CPUS, name))
            found[name] = one_flood(kind, share, workload, scratch, quick)
        say("%d CPUs, flood: wrong hits" % CPUS)
        found["wrong_hit"] = flood_of_wrong_hits(workload, scratch, quick)
        say("%d CPUs, flood: queries" % CPUS)
        found["answered"] = flood_of_queries(workload, scratch, quick)
        return found
    finally:
        workload.end()


def measure(scratch, quick, report):
    if os.cpu_count() < CPUS:
        report["skipped"].append("two CPUs at once: this machine has one")
        return
    report["cpus"] = {}
    for key, what in (("programs", programs), ("floods", floods)):
        try:
            report["cpus"][key] = what(scratch, quick)
        except Failed as failure:
            report["failed"].append("cpus, %s: %s" % (key, failure))


def goals(report):
    found = report.get("cpus", {})
    return [goal("%s, times from one CPU to %d" % (title, CPUS), LEAST,
                 found.get(key, {}).get(name, {}).get("times", {}).get("median"), False)
            for key, titles in (("programs", NAMES), ("floods", FLOODS)) for name, title in titles if name not in CONTROLS]


def print_text(report):
    found = report.get("cpus", {})
    print("\nOn %d CPUs at once, 1M IPv4 addresses listed; ns a packet, of whole runs" % CPUS)
    row("", "one alone", "each of %d" % CPUS, "times as many packets")
    for key, titles in (("programs", NAMES), ("floods", FLOODS)):
        for name, title in titles:
            each = found.get(key, {}).get(name)
            if each:
                row(title, "%.1f" % each["alone_ns"], "%.1f" % each["together_ns"], spread(each["times"]))
