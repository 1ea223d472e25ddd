# SPDX-License-Identifier: GPL-2.0-or-later
"""What a walk of page tables takes of a random line read: the same reads in a process, on small and on large pages."""
import json
import os

from programs import MILLION
from rig import PROGRAMS, Failed, Samples, both, row, run, say

PARTS = {"line_read": "Bloom stage", "table_read": "exact table"}
COLUMNS = (("small_ns", "pages of 4 KiB"), ("large_ns", "pages of 2 MiB"), ("walk_ns", "page walk"))
LEAST = MILLION // 10   # with fewer entries the TLB has all pages


def walk(size, rounds, reads):
    say("page walks, %d bytes" % size)
    raw = json.loads(run(os.path.join(PROGRAMS, "bench_walks"), str(size), str(rounds), str(reads)))
    samples = Samples()
    for small, large in zip(raw["small_ns"], raw["large_ns"]):
        for name, ns in (("small_ns", small), ("large_ns", large), ("walk_ns", small - large)):
            samples.add(name, ns)
    if not samples.of:
        raise Failed("the kernel has no pages of 2 MiB for a process")
    return {name: samples.summary(name) for name in samples.of}


def measure(quick, report):
    """For the sizes of Bloom stage and exact table of IPv4."""
    rounds, reads = (5, MILLION // 5) if quick else (27, MILLION // 2)
    try:
        for cost in report["program_cost"]:
            if cost["hosts"] >= LEAST:
                cost["page_walks"] = {part: walk(size, rounds, reads) for part, size in cost["read_bytes"].items()}
    except Failed as failure:
        report["skipped"].append("page walks: %s" % failure)


def told(report):
    """What is read, of how many entries, how large it is, and what was found."""
    return [(PARTS[part], cost["hosts"], cost["read_bytes"][part], found) for cost in report.get("program_cost", [])
            for part, found in cost.get("page_walks", {}).items()]


def print_text(report):
    if not told(report):
        return
    print("\nOne random line read in a process that waits for the one before, ns")
    row("", *(title for _, title in COLUMNS))
    for part, hosts, size, found in told(report):
        row("%s at %d hosts, %.1f MiB" % (part, hosts, size / 2**20), *(both(found[name]) for name, _ in COLUMNS))
