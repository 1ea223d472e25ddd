# SPDX-License-Identifier: GPL-2.0-or-later
"""What a packet costs on its whole path: made by an XDP program, sent over a veth, dropped or not
at the other end. Each subject has a network namespace and a veth of its own, and all take turns.

A packet that passes is for a multicast group that nobody is in: routing drops it right behind the
prerouting hooks, for every subject at the same place."""
import json
import os
import shutil
import subprocess
import time

import path_peers as peers
from costs import COUNTRIES
from rig import K, MILLION, ROOT, Failed, Samples, amount_of, attempt, goal, median, program, run, say

CLEAN, MIXED, LISTED = 0, 10, 100  # percent of the packets
SHARES = {CLEAN: "clean", LISTED: "listed", MIXED: "10 % listed"}
FRAMES, FEWER_FRAMES = 4000 * 64, 2000 * 64  # a run, in whole batches
TRIES = 3           # of a run in which frames were lost
DATA = os.path.join(os.path.dirname(ROOT), "shared", "data")
GOALS = (("listed packet at %s, in XDP_DROP at once", LISTED, "filter", "over_drop_all", 1.6),
         ("listed packet at %s, in XDP_DROP at once, the older goal", LISTED, "filter", "over_drop_all", 1.3),
         ("clean packet at %s, in XDP_PASS at once", CLEAN, "filter", "over_pass_all", 1.05),
         ("listed at %s, times nftables set, ingress", LISTED, "nft_ingress", "times_filter", 5),
         ("listed at %s, times nftables set, prerouting", LISTED, "nft_prerouting", "times_filter", 5),
         ("listed at %s, times ipset", LISTED, "ipset", "times_filter", 6))
GOALS6 = (("listed IPv6 packet at %s, in XDP_DROP at once", LISTED, "filter", "over_drop_all", 1.6),
          ("clean IPv6 packet at %s, in XDP_PASS at once", CLEAN, "filter", "over_pass_all", 1.05))


class Workload:
    """What is listed, and what frames there are."""

    def __init__(self, entries, family=4, size=64, source="random", prefixes=False, subjects=peers.SUBJECTS):
        self.entries, self.family, self.size, self.source = entries, family, size, source
        self.prefixes, self.subjects, self.plain = prefixes, subjects, None
        self.kind = {"hash": "net", "set": "intervals"} if prefixes else {"hash": "ip", "set": "set"}

    def __str__(self):
        what = "%s IPv%d" % (amount_of(self.entries), self.family) if self.source == "random" else "%s (%d %s)" % (
            self.source, self.entries, "prefixes" if self.prefixes else "addresses")
        return "%s, %d bytes" % (what, self.size)

    def describe(self, share):
        return {"entries": self.entries, "family": self.family, "bytes": self.size,
                "share_listed": share / 100, "source": self.source, "prefixes": self.prefixes}

    def prepare(self, scratch):
        """A file with what is listed, an entry a line."""
        if self.source == "random":
            self.plain = scratch.path("paths-list")
            six = ["-6"] if self.family == 6 else []
            with open(self.plain, "w") as out:
                subprocess.run([program("bench_addresses"), *six, "0", str(self.entries)], stdout=out, check=True)

    def end(self):
        if self.plain:
            os.unlink(self.plain)


def given(entries, source, scratch, **how):
    """A list that is there."""
    workload = Workload(len(entries), source=source, prefixes=any("/" in entry for entry in entries), **how)
    workload.plain = scratch.path("paths-" + source.replace(" ", "-"))
    with open(workload.plain, "w") as out:
        out.writelines(entry + "\n" for entry in entries)
    return workload


def real(name, scratch):
    """A published list, an IPv4 prefix a line; None if it is not there."""
    path = os.path.join(DATA, name)
    if not os.path.exists(path):
        return None
    with open(path) as lines:
        entries = sorted({line.split()[0] for line in lines if line.strip() and not line.startswith("#")})
    return given(entries, name.rsplit(".", 1)[0], scratch)


def shaped(prefixes, name, scratch):
    """IPv6 prefixes of the lengths that lists of countries have, in as many /16s."""
    return given(run(program("bench_addresses"), "--countries", str(prefixes)).split(), "shape of " + name, scratch, family=6,
                 subjects=peers.SHAPED)


def workloads(scratch, quick, report):
    if quick:
        report["skipped"].append("whole path: all but 100k random IPv4 addresses and 64 bytes (--quick)")
        return [Workload(100 * K)]
    found = [Workload(K), Workload(100 * K), Workload(MILLION), Workload(100 * K, family=6), Workload(100 * K, size=1500)]
    found += [shaped(prefixes, name, scratch) for prefixes, name in COUNTRIES]
    for name in ("ipsum.txt", "firehol-level1.netset"):
        workload = real(name, scratch)
        if workload:
            found.append(workload)
        else:
            report["skipped"].append("whole path, %s: not in ../shared/data" % name)
    report["skipped"].append("whole path, 10M IPv4: all but the filter and its limits; others take minutes to load it")
    return found + [Workload(10 * MILLION, subjects=peers.ALONE)]


class Process:
    """One that makes frames on the first CPU, told what by lines, and answers each."""

    def __init__(self, *command):
        self.process = subprocess.Popen(["taskset", "-c", "0", *map(str, command)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def write(self, line):
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def told(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed("the generator: " + self.process.stderr.read().strip())
        return json.loads(line)

    def end(self):
        self.process.kill()
        self.process.communicate()


class Generator(Process):
    """Of one workload and share of listed sources."""

    def __init__(self, workload, share):
        super().__init__(program("bench_paths"), workload.family, workload.size, share,
                         workload.entries if workload.source == "random" else workload.plain)

    def begin(self, place, first, frames):
        self.write("%s %s %d %d\n" % (place.near, place.mac, first, frames))


def takes_part(subject, share):
    """Limits are of traffic that they decide rightly; among mixed traffic, all are."""
    return not (share == CLEAN and subject.drops == "all" or share == LISTED and subject.drops == "none")


def settled(place, sent, before):
    """Counts once all that was sent has come, or a second is over."""
    for _ in range(20):
        came, arrived = (now - then for now, then in zip(place.counts(), before))
        if came >= sent:
            break
        time.sleep(0.05)
    return came, arrived


def counted_run(subject, generator, first, frames):
    """What the generator says, and how many were dropped. Nothing may be lost on the way; each try sends other frames."""
    for number in range(TRIES):
        before = subject.place.counts()
        generator.begin(subject.place, first + number * frames, frames)
        told = generator.told()
        came, arrived = settled(subject.place, told["sent"], before)
        dropped = subject.dropped(came, arrived)
        if came == told["sent"]:
            return told, dropped
    raise Failed("of %d frames %d came, %d times in a row" % (told["sent"], came, TRIES))


def one_run(subject, generator, first, frames):
    """The same; all that is listed must be dropped, and all else must not."""
    told, dropped = counted_run(subject, generator, first, frames)
    if dropped != {"all": told["sent"], "none": 0, "listed": told["listed"]}[subject.drops]:
        raise Failed("%d of %d packets were dropped, %d of which are listed" % (dropped, told["sent"], told["listed"]))
    return told, dropped


class Bench:
    """One workload: subjects side by side, loaded once."""

    def __init__(self, workload, scratch, quick, report):
        self.rounds, self.frames = (3, FEWER_FRAMES) if quick else (9, FRAMES)
        self.workload, self.scratch, self.report = workload, scratch, report
        self.made, self.subjects = [], []  # all that is to be ended; those of them that are loaded
        self.failed = set()

    def note(self, subject, reason, as_failure):
        name = subject.label(self.workload)
        if as_failure:
            self.failed.add(subject.key)
        self.report["failed" if as_failure else "skipped"].append("whole path, %s: %s: %s" % (self.workload, name, reason))

    def load(self, kind, number):
        subject = kind(peers.Place("xbt-bench-p%d" % number, number), self.scratch)
        self.made.append(subject)
        say("whole path, %s: loading %s" % (self.workload, subject.label(self.workload)))
        try:
            subject.load(self.workload)
            self.subjects.append(subject)
        except (peers.Skipped, Failed) as reason:
            self.note(subject, reason, not subject.peer)
        except subprocess.TimeoutExpired as late:
            self.note(subject, "it is not loaded within %d s" % late.timeout, not subject.peer)

    def end(self):
        for subject in self.made:
            subject.end()
            subject.place.remove()
        self.workload.end()
        # Namespaces, and the sets in them, are freed behind our back.
        time.sleep(1)

    def measure(self, share):
        taking_part = [subject for subject in self.subjects if takes_part(subject, share)]
        samples, generator = Samples(), Generator(self.workload, share)
        try:
            for number in range(self.rounds):
                turn = number % len(taking_part) if taking_part else 0
                for subject in taking_part[turn:] + taking_part[:turn]:
                    if subject.key not in self.failed:
                        say("whole path, %s, %s, round %d of %d: %s" % (self.workload, SHARES[share], number + 1, self.rounds,
                                                                       subject.label(self.workload)))
                        self.sample(subject, generator, samples, number * self.frames)
        finally:
            generator.end()
        subjects = {subject.key: {"label": subject.label(self.workload), "packet_ns": samples.summary(subject.key),
            "dropped_share": samples.summary(subject.key + "/dropped")["median"],
            "over_drop_all": samples.ratio(subject.key, "drop_all"), "over_pass_all": samples.ratio(subject.key, "pass_all"),
            "times_filter": samples.ratio(subject.key, "filter")} for subject in taking_part if subject.key not in self.failed}
        return {"workload": self.workload.describe(share), "rounds": self.rounds, "frames": self.frames,
                "generator_ns": samples.summary("generator"), "subjects": subjects}

    def sample(self, subject, generator, samples, first):
        try:
            told, dropped = one_run(subject, generator, first, self.frames)
        except Failed as reason:
            self.note(subject, reason, True)
            return
        samples.add("generator", told["alone_ns"])
        samples.add(subject.key, told["ns"] - told["alone_ns"])
        samples.add(subject.key + "/dropped", dropped / told["sent"])

    def measure_all(self):
        for share in SHARES:
            self.report["paths"].append(self.measure(share))

    def all(self):
        try:
            self.workload.prepare(self.scratch)
            for number, kind in enumerate(self.workload.subjects):
                self.load(kind, number)
            self.measure_all()
        finally:
            self.end()


def can_measure(report):
    missing = [tool for tool in ("ethtool", "nsenter", "taskset") if not shutil.which(tool)]
    if missing:
        report["skipped"].append("whole path: not installed: %s" % ", ".join(missing))
    return not missing


def measure(scratch, quick, report):
    if not can_measure(report):
        return
    report["paths"] = []
    for workload in workloads(scratch, quick, report):
        attempt(report, "whole path, %s" % workload, Bench(workload, scratch, quick, report).all)


def goals_of_family(report, family, most, wanted):
    """At so many addresses; at the most that were listed beside peers, if fewer."""
    table = []
    plain = [each for each in report.get("paths", []) if each["workload"]["source"] == "random" and
             each["workload"]["family"] == family and each["workload"]["bytes"] == 64 and each["workload"]["entries"] <= most]
    entries = max((each["workload"]["entries"] for each in plain), default=most)
    for name, share, subject, key, limit in wanted:
        found = next((each for each in plain if each["workload"]["entries"] == entries and
                      each["workload"]["share_listed"] == share / 100), None)
        table.append(goal(name % amount_of(entries), limit, median(found, "subjects", subject, key), key != "times_filter"))
    return table


def goals(report):
    return goals_of_family(report, 4, MILLION, GOALS) + goals_of_family(report, 6, MILLION // 10, GOALS6)
