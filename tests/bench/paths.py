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
from rig import PROGRAMS, ROOT, Failed, Samples, both, goal, row, say

K, MILLION = 1000, 1000000
CLEAN, MIXED, LISTED = 0, 10, 100  # percent of the packets
SHARES = {CLEAN: "clean", LISTED: "listed", MIXED: "10 % listed"}
FRAMES, FEWER_FRAMES = 4000 * 64, 2000 * 64  # a run, in whole batches
TRIES = 3           # of a run in which frames were lost
DATA = os.path.join(os.path.dirname(ROOT), "shared", "data")
GOALS = (("listed packet at %s, in XDP_DROP at once", LISTED, "filter", "over_drop_all", 1.6),
         ("listed packet at %s, in XDP_DROP at once, the older goal", LISTED, "filter", "over_drop_all", 1.3),
         ("clean packet at %s, in XDP_PASS at once", CLEAN, "filter", "over_pass_all", 1.05),
         ("listed at %s, times nftables set, ingress", LISTED, "nft_ingress", "times_filter", 5),
         ("listed at %s, times nftables set, prerouting", LISTED, "nft_prerouting",
          "times_filter", 5),
         ("listed at %s, times ipset", LISTED, "ipset", "times_filter", 6))
GOALS6 = (("listed IPv6 packet at %s, in XDP_DROP at once", LISTED, "filter", "over_drop_all", 1.6),
          ("clean IPv6 packet at %s, in XDP_PASS at once", CLEAN, "filter", "over_pass_all", 1.05))


class Workload:
    """What is listed, and what frames there are."""

    def __init__(self, entries, family=4, size=64, source="random", prefixes=False,
                 subjects=peers.SUBJECTS):
        self.entries = entries
        self.family = family
        self.size = size
        self.source = source
        self.prefixes = prefixes
        self.subjects = subjects
        self.plain = None

    def __str__(self):
        what = "%s IPv%d" % (amount(self.entries), self.family)
        if self.source != "random":
            what = "%s (%d %s)" % (self.source, self.entries,
                                   "prefixes" if self.prefixes else "addresses")
        return "%s, %d bytes" % (what, self.size)

    def describe(self, share):
        return {"entries": self.entries, "family": self.family, "bytes": self.size,
                "share_listed": share / 100, "source": self.source, "prefixes": self.prefixes}

    def prepare(self, scratch):
        """A file with what is listed, an entry a line."""
        self.scratch = scratch
        if self.source == "random":
            self.plain = scratch.path("paths-list")
            six = ["-6"] if self.family == 6 else []
            with open(self.plain, "w") as out:
                subprocess.run([os.path.join(PROGRAMS, "bench_addresses"), *six, "0",
                                str(self.entries)], stdout=out, check=True)

    def write(self, name, head, before):
        """The same as lines of another form."""
        path = self.scratch.path(name)
        with open(path, "w") as out, open(self.plain) as lines:
            out.write(head)
            out.writelines(before + line for line in lines)
        return path

    def end(self):
        os.unlink(self.plain)


def amount(number):
    for unit, name in ((MILLION, "M"), (K, "k")):
        if number >= unit and number % unit == 0:
            return "%d%s" % (number // unit, name)
    return str(number)


def real(name, scratch):
    """A published list, an IPv4 prefix a line; None if it is not there."""
    path = os.path.join(DATA, name)
    if not os.path.exists(path):
        return None
    with open(path) as lines:
        entries = sorted({line.split()[0] for line in lines
                          if line.strip() and not line.startswith("#")})
    workload = Workload(len(entries), source=name.rsplit(".", 1)[0],
                        prefixes=any("/" in entry for entry in entries))
    workload.plain = scratch.path("paths-" + name)
    with open(workload.plain, "w") as out:
        out.writelines(entry + "\n" for entry in entries)
    return workload


def workloads(scratch, quick, report):
    if quick:
        report["skipped"].append("whole path: all but 100k random IPv4 addresses and 64 bytes "
                                 "(--quick)")
        return [Workload(100 * K)]
    found = [Workload(K), Workload(100 * K), Workload(MILLION), Workload(100 * K, family=6),
             Workload(100 * K, size=1500)]
    for name in ("ipsum.txt", "firehol-level1.netset"):
        workload = real(name, scratch)
        if workload:
            found.append(workload)
        else:
            report["skipped"].append("whole path, %s: not in ../shared/data" % name)
    report["skipped"].append("whole path, 10M IPv4: all but the filter and its limits; others take "
                             "minutes to load it")
    return found + [Workload(10 * MILLION, subjects=peers.ALONE)]


class Generator:
    """The process that makes frames, for one workload and share of listed sources."""

    def __init__(self, workload, share, cpu=0):
        listed = str(workload.entries) if workload.source == "random" else workload.plain
        self.process = subprocess.Popen(
            ["taskset", "-c", str(cpu), os.path.join(PROGRAMS, "bench_paths"), str(workload.family),
             str(workload.size), str(share), listed], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def send(self, place, first, frames):
        self.begin(place, first, frames)
        return self.told()

    def begin(self, place, first, frames):
        try:
            self.process.stdin.write("%s %s %d %d\n" % (place.near, place.mac, first, frames))
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


def takes_part(subject, share):
    """Limits are of traffic that they decide rightly; among mixed traffic, all are."""
    return not (share == CLEAN and subject.drops == "all" or
                share == LISTED and subject.drops == "none")


def settled(place, sent, before):
    """Counts once all that was sent has come, or a second is over."""
    for _ in range(20):
        came, arrived = (now - then for now, then in zip(place.counts(), before))
        if came >= sent:
            break
        time.sleep(0.05)
    return came, arrived


def one_run(subject, generator, first, frames):
    """What the generator says, and how many were dropped. Nothing may be lost on the way, all that
    is listed must be dropped, and all else must not."""
    for _ in range(TRIES):
        before = subject.place.counts()
        told = generator.send(subject.place, first, frames)
        came, arrived = settled(subject.place, told["sent"], before)
        dropped = subject.dropped(came, arrived)
        if came == told["sent"]:
            break
    else:
        raise Failed("of %d frames %d came, %d times in a row" % (told["sent"], came, TRIES))
    right = {"all": told["sent"], "none": 0, "listed": told["listed"]}[subject.drops]
    if dropped != right:
        raise Failed("%d of %d packets were dropped, %d of which are listed" %
                     (dropped, told["sent"], told["listed"]))
    return told, dropped


class Bench:
    """One workload: subjects side by side, loaded once."""

    def __init__(self, workload, scratch, quick, report):
        self.rounds, self.frames = (3, FEWER_FRAMES) if quick else (9, FRAMES)
        self.workload = workload
        self.scratch = scratch
        self.report = report
        self.made = []      # all that is to be ended
        self.subjects = []  # those of them that are loaded
        self.skipped = []
        self.failed = {}

    def fail(self, subject, reason):
        self.failed[subject.key] = str(reason)
        self.report["failed"].append("whole path, %s: %s: %s" % (
            self.workload, subject.label(self.workload), reason))

    def skip(self, subject, reason):
        name = subject.label(self.workload)
        self.skipped.append({"subject": subject.key, "label": name, "reason": str(reason)})
        self.report["skipped"].append("whole path, %s: %s: %s" % (self.workload, name, reason))

    def load(self, kind, number):
        place = peers.Place("xbt-bench-p%d" % number, number)
        subject = kind(place, self.scratch)
        self.made.append(subject)
        say("whole path, %s: loading %s" % (self.workload, subject.label(self.workload)))
        try:
            subject.load(self.workload)
        except (peers.Skipped, Failed, subprocess.TimeoutExpired) as reason:
            if isinstance(reason, subprocess.TimeoutExpired):
                reason = "it is not loaded within %d s" % reason.timeout
            if subject.peer:
                self.skip(subject, reason)
            else:
                self.fail(subject, reason)
        else:
            self.subjects.append(subject)

    def begin(self):
        self.workload.prepare(self.scratch)
        for number, kind in enumerate(self.workload.subjects):
            self.load(kind, number)

    def end(self):
        for subject in self.made:
            subject.end()
            subject.place.remove()
        if self.workload.plain:
            self.workload.end()
        # Namespaces, and the sets in them, are freed behind our back.
        time.sleep(1)

    def measure(self, share):
        taking_part = [subject for subject in self.subjects if takes_part(subject, share)]
        samples = Samples()
        generator = Generator(self.workload, share)
        try:
            for number in range(self.rounds):
                turn = number % len(taking_part) if taking_part else 0
                for subject in taking_part[turn:] + taking_part[:turn]:
                    if subject.key in self.failed:
                        continue
                    say("whole path, %s, %s, round %d of %d: %s" % (
                        self.workload, SHARES[share], number + 1, self.rounds,
                        subject.label(self.workload)))
                    self.sample(subject, generator, samples, number * self.frames)
        finally:
            generator.end()
        return self.found(share, taking_part, samples)

    def sample(self, subject, generator, samples, first):
        try:
            told, dropped = one_run(subject, generator, first, self.frames)
        except Failed as reason:
            self.fail(subject, reason)
            return
        samples.add("generator", told["alone_ns"])
        samples.add(subject.key, told["ns"] - told["alone_ns"])
        samples.add(subject.key + "/dropped", dropped / told["sent"])

    def found(self, share, taking_part, samples):
        subjects = {}
        for subject in taking_part:
            if subject.key in self.failed:
                continue
            subjects[subject.key] = {
                "label": subject.label(self.workload), "packet_ns": samples.summary(subject.key),
                "dropped_share": samples.summary(subject.key + "/dropped")["median"],
                "over_drop_all": samples.ratio(subject.key, "drop_all"),
                "over_pass_all": samples.ratio(subject.key, "pass_all"),
                "times_filter": samples.ratio(subject.key, "filter")}
        return {"workload": self.workload.describe(share), "rounds": self.rounds,
                "frames": self.frames, "generator_ns": samples.summary("generator"), "subjects": subjects,
                "skipped": self.skipped, "skipped_count": len(self.skipped),
                "failed": dict(self.failed)}


def measure(scratch, quick, report):
    missing = [tool for tool in ("ethtool", "nsenter", "taskset") if not shutil.which(tool)]
    if missing:
        report["skipped"].append("whole path: not installed: %s" % ", ".join(missing))
        return
    report["paths"] = []
    for workload in workloads(scratch, quick, report):
        bench = Bench(workload, scratch, quick, report)
        try:
            bench.begin()
            for share in SHARES:
                report["paths"].append(bench.measure(share))
        except Failed as failure:
            report["failed"].append("whole path, %s: %s" % (workload, failure))
        finally:
            bench.end()


def goals_of_family(report, family, most, wanted):
    """At so many addresses; at the most that were listed beside peers, if fewer."""
    table = []
    plain = [each for each in report.get("paths", []) if each["workload"]["source"] == "random" and
             each["workload"]["family"] == family and each["workload"]["bytes"] == 64 and
             each["workload"]["entries"] <= most]
    entries = max((each["workload"]["entries"] for each in plain), default=most)
    for name, share, subject, key, limit in wanted:
        figures = [each["subjects"].get(subject, {}).get(key) for each in plain
                   if each["workload"]["entries"] == entries and
                   each["workload"]["share_listed"] == share / 100]
        table.append(goal(name % amount(entries), limit,
                          figures[0]["median"] if figures and figures[0] else None,
                          key != "times_filter"))
    return table


def goals(report):
    return goals_of_family(report, 4, MILLION, GOALS) + goals_of_family(report, 6, MILLION // 10, GOALS6)


def described(workload):
    what = workload["source"] if workload["source"] != "random" else "random"
    return "%s %s IPv%d %s, %d bytes" % (
        amount(workload["entries"]), what, workload["family"],
        "prefixes" if workload["prefixes"] else "addresses", workload["bytes"])


def print_workload(shares):
    """Entries of the report that are alike but for the share of listed packets."""
    by_share = {each["workload"]["share_listed"]: each for each in shares}
    clean, listed, mixed = (by_share.get(share / 100, {"subjects": {}}) for share in SHARES)
    print("\nWhole path, %s: ns a packet; the generator's own %s are taken off" %
          (described(shares[0]["workload"]), both(shares[0]["generator_ns"], 1, 0)))
    row("", *SHARES.values(), "listed, in XDP_DROP", "clean, in XDP_PASS", "listed, in filters")
    labels = {}
    for each in shares:
        labels.update({key: figures["label"] for key, figures in each["subjects"].items()})
    for key in (kind.key for kind in peers.SUBJECTS if kind.key in labels):
        def cell(of, name, digits, key=key):
            return both(of["subjects"].get(key, {}).get(name), 1, digits)
        row(labels[key], *(cell(of, "packet_ns", 0) for of in (clean, listed, mixed)),
            cell(listed, "over_drop_all", 2), cell(clean, "over_pass_all", 2),
            cell(listed, "times_filter", 1))


def print_text(report):
    groups = {}
    for each in report.get("paths", []):
        groups.setdefault(described(each["workload"]), []).append(each)
    for shares in groups.values():
        print_workload(shares)
