# SPDX-License-Identifier: GPL-2.0-or-later
"""What a limit costs: the program alone, of packets to the service and to others, beside a record for each source; the whole path
of a flood from sources that are over a limit, beside hashlimit and nft; and what all do that have no room for the sources."""
import statistics

import path_peers as peers
from commands import settled_memory
from paths import CLEAN, FRAMES, LISTED, Bench, Generator, Workload, can_measure, counted_run
from report_packets import path_table
from rig import K, MILLION, Failed, amount_of, attempt, cost_over, goal, median, packets, quotient, say
from tables import cell, count, table

SOURCES = (1000, MILLION)
LIMITED = (("line_read", "one random line read of the meter"), ("none", "no limit"), ("limit_other", "a limit, to another port"),
           ("limit_within", "to a mail port, within the limit"), ("limit_over", "to a mail port, over the limit"),
           ("bpf_lru", "BPF LRU hash with a time for each source, over the limit"))
ALL_FRAMES = 16384 * 64  # the generator's table, in which sources of a flood stand as they were drawn
ROOM = 16384             # sources: the capacity of a limit where none is asked for
TIMES = 10               # as many sources as there is room for
WITHIN = 4096            # of them, that send a packet each


def measure(scratch, quick, report):
    report["limits"], report["limit_paths"], report["limits_full"] = [], [], []
    for sources in SOURCES:
        raw = attempt(report, "limits for %d sources" % sources, packets, scratch, "limits", sources, 0, 3 if quick else 36,
                      MILLION // (10 if quick else 4))
        if raw:
            samples = raw["ns"]["hit"]
            report["limits"].append({
                "sources": sources, "noise_ns": statistics.median(abs(a - b) for a, b in zip(samples["none"], samples["none_again"])),
                "cost_ns": {name: cost_over(samples[name], samples["parse_only"]) for name, _ in LIMITED},
                "added_ns": {name: cost_over(samples[name], samples["none"]) for name, _ in LIMITED}})
    if can_measure(report):
        measure_paths(scratch, quick, report)


def goals(report):
    found = []
    for each in report.get("limits", []):
        size, added = amount_of(each["sources"]), each["added_ns"]
        found += [goal("ns that a limit adds to a packet to another port, %s busy sources" % size, 2, added["limit_other"]["median"])]
        found += [goal("ns that it adds to a packet %s it, %s busy sources" % (name, size), 12, added["limit_" + name]["median"])
                  for name in ("within", "over")]
        found += [goal("a packet over the limit, in LRU hashes, %s busy sources" % size, 0.5,
                       quotient(each["cost_ns"]["limit_over"]["median"], each["cost_ns"]["bpf_lru"]["median"]))]
    for each in report.get("limit_paths", []):
        size, subjects = amount_of(each["workload"]["entries"]), each["subjects"]
        found += [goal("over a limit of %s sources, whole path, times %s" % (size, kind.name), 4,
                       median(subjects, kind.key, "times_filter"), False) for kind in (peers.HashLimit, peers.NftMeter)]
    return found


def chapter(data, _page):
    lines = []
    for each in data["limits"]:
        lines += table(["%s sources, nearly all over the limit; ns a packet" % count(each["sources"]), "over parsing alone",
                        "more than without a limit"],
                       [[text, cell(each["cost_ns"][name]), cell(each["added_ns"][name])] for name, text in LIMITED])
    for each in data["limit_paths"]:
        lines += ["Whole path of packets from %s sources, all over the limit; %d rounds of %s frames, of which the generator alone "
                  "takes %s ns each." % (count(each["workload"]["entries"]), each["rounds"], count(each["frames"]),
                                         cell(each["generator_ns"], digits=0)), ""] + path_table(each)
    return lines + full_chapter(data["limits_full"])


# --- the whole path ---

class Flood(Workload):
    """Of so many sources; subjects have room for so many of them."""

    def __init__(self, sources, room):
        super().__init__(sources, subjects=peers.LIMITED)
        self.room = room

    def __str__(self):
        return "limit, flood from %s" % super().__str__()

    def prepare(self, _scratch):
        """Nothing is listed."""


class Flooded(Bench):
    """All subjects have met with all sources before they are timed, and all sources have used what they may send."""

    def measure_all(self):
        for subject in self.subjects:
            flood(subject, self.workload, LISTED, 0, ALL_FRAMES)
        self.report["limit_paths"].append(self.measure(LISTED))


def flood(subject, workload, share, first, frames):
    """LISTED: from the sources of the flood; CLEAN: each frame from another source. The share that is dropped."""
    say("%s: %s" % (workload, subject.label(workload)))
    generator = Generator(workload, share)
    try:
        told, dropped = counted_run(subject, generator, first, frames)
    finally:
        generator.end()
    return dropped / told["sent"]


def measure_paths(scratch, quick, report):
    for sources in (100 * K,) if quick else SOURCES:
        workload = Flood(sources, sources)
        attempt(report, "whole path, %s" % workload, Flooded(workload, scratch, quick, report).all)
    for times in (TIMES,) if quick else (1, TIMES):
        for number, kind in enumerate(peers.LIMITED[1:]):
            workload = Flood(times * ROOM - WITHIN, ROOM)
            try:
                report["limits_full"].append(full(scratch, kind, number, workload))
            except (peers.Skipped, Failed) as reason:
                report["skipped" if kind.peer else "failed"].append("%s, room for %d, %s: %s" % (workload, ROOM, kind.name, reason))


# --- more sources than there is room for ---

def full(scratch, kind, number, workload):
    """What one subject drops of sources that are over the limit, and of those that send one packet each."""
    before = settled_memory()
    subject = kind(peers.Place("xbt-bench-f%d" % number, number), scratch)
    try:
        subject.load(workload)
        flood(subject, workload, LISTED, 0, ALL_FRAMES)
        memory = subject.memory() or settled_memory() - before
        # Not the frames that came first: their sources had found room.
        over = flood(subject, workload, LISTED, ALL_FRAMES // 2, FRAMES)
        within = flood(subject, workload, CLEAN, 0, WITHIN)
    finally:
        subject.end()
        subject.place.remove()
    return {"label": kind.name, "sources": workload.entries, "room": workload.room, "memory_bytes": memory,
            "within": WITHIN,
            "over_dropped_share": over, "within_dropped_share": within}


def full_chapter(found):
    return table(["sources; room for %s" % count(ROOM), "their packets over the limit: dropped",
                  "single packets of %s others: dropped" % count(WITHIN), "KiB of the kernel"],
                 [["%s: %s" % (count(each["sources"]), each["label"]), "%.4g %%" % (100 * each["over_dropped_share"]),
                   "%.4g %%" % (100 * each["within_dropped_share"]), count(each["memory_bytes"] // 1024)] for each in found]) \
        if found else []
