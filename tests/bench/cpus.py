# SPDX-License-Identifier: GPL-2.0-or-later
"""What a packet costs on two CPUs at once, beside one: nothing that CPUs share may be in its way."""
import os
import statistics

from rig import MILLION, attempt, goal, median, packets, quartiles
from tables import ranged, table

CPUS = 2
NAMES = (("parse_only", "parsing and counting alone"),
         ("line_read", "one random line read, of the Bloom stage's size"),
         ("clean", "clean"), ("clean_some", "clean, 100,000 addresses listed"), ("clean_few", "clean, 1,000 addresses listed"),
         ("wrong_hit", "wrong hit of the Bloom filter"),
         ("listed", "listed"),
         ("listed_watched", "listed, and watched"), ("listed_monitored", "listed, monitored"),
         ("answered", "query for a listed name, answered"))
CONTROLS = ("line_read", "clean_some", "clean_few")   # what tells why; nothing is promised of them
LEAST = 1.95    # times


def times(alone, together):
    """How many times as many packets all CPUs get done as one does; both: ns a packet, of each CPU."""
    return sum(1 / ns for ns in together) / statistics.mean(1 / ns for ns in alone)


def found_of(alone, together):
    """Of rounds."""
    return {"alone_ns": statistics.median(ns for cpu in alone for ns in cpu),
            "together_ns": statistics.median(ns for cpu in together for ns in cpu),
            "times": quartiles(list(map(times, alone, together)))}


def measured(scratch, quick):
    raw = packets(scratch, "cpus", MILLION, CPUS, 5 if quick else 27, MILLION)
    return {name: found_of(ns["alone"], ns["together"]) for name, ns in raw["at_once"].items()}


def measure(scratch, quick, report):
    if os.cpu_count() < CPUS:
        report["skipped"].append("two CPUs at once: this machine has one")
        return
    report["cpus"] = attempt(report, "cpus", measured, scratch, quick)


def goals(report):
    return [goal("%s, times from one CPU to %d" % (title, CPUS), LEAST, median(report, "cpus", name, "times"), False)
            for name, title in NAMES if name not in CONTROLS]


def chapter(data, _page):
    found = data["cpus"]
    return ["The same on one CPU alone and on %d at once, each with sources of its own; a million addresses are listed unless "
            "told. A line read and fewer addresses tell what memory has to do with it. Behind what is so many times as much "
            "stand the quartiles of rounds. Two CPUs can do at the most twice as much as one. By how much parsing alone and one "
            "line read are beyond that, or fall short of it, is the machine's doing, and the others are to be seen beside these."
            % CPUS, "", *table(["ns a packet, the whole run", "one alone", "each of %d" % CPUS, "times as many packets"], [
                [title, "%.1f" % found[name]["alone_ns"], "%.1f" % found[name]["together_ns"], ranged(found[name]["times"])]
                for name, title in NAMES])]
