# SPDX-License-Identifier: GPL-2.0-or-later
"""Chapter of limits: of each figure what cannot be undercut, and what the distance from it consists of."""
import math

import costs
from costs import memory_per_host
from rig import MILLION
from tables import cell, count, middle, table

SMALLEST = 1000
FACTS = (
    "With 1,000 entries all that a look-up reads is in the nearest caches: what it takes there beyond its line reads are its "
    "*instructions*, with any number of entries. Its *lines* are, for a clean packet, a random read of a map that has the "
    "size of the Bloom stage; for a listed one that and a random read of a map that has the size of the exact table. The "
    "*rest* is what neither explains. The processor begins the line read of a packet while it waits for that of the packet "
    "before. A look-up has more instructions than a line read alone, so fewer of its reads can overlap, which makes its rest "
    "larger; by how much was not measured. Little of the rest is the second bucket of the exact table, since 97 to 99 of 100 "
    "addresses of IPv4, and 93 of IPv6, stand in their first. Overlap of the instructions of two packets makes it smaller, even negative.")
PREFIXES = (
    "Of prefixes of several lengths no read of a map of their size was measured. What a list of %s takes is *instructions* and "
    "the nearest caches; what a longer one takes beyond that are its *lines*: a byte that tells which lengths there are in the "
    "/32, and of each length that may be there a line of the Bloom stage.")
PATHS = (
    "On its whole path a packet can take no less than one that a program drops, or passes, at once. *Program* is what the "
    "program cost by itself, as above. The *rest* comes with the path: between two look-ups the driver and the stack have used "
    "the caches, so that instructions and lines of the program are fetched again.")
TRAFFIC = (("clean", "clean", ("line_read",)), ("hit", "listed", ("line_read", "table_read")))
SHARES = {0: ("clean", "clean", "pass_all"), 1: ("hit", "listed", "drop_all")}
# Of lists whose maps' sizes a line read has: what they are called, where their costs are, what is behind the names of the
# line reads.
LISTS = (("IPv4", "program_cost", "hosts", ""), ("IPv4, with prefixes", "program_cost", "hosts_and_prefixes", ""),
         ("IPv6", "program_cost6", "hosts6", "6"), ("IPv6, /64", "program_cost6", "nets6", "6"))
# On the whole path, of each family: where its costs are, and of which subject.
FAMILIES = {4: ("program_cost", "hosts"), 6: ("program_cost6", "hosts6")}


def cost_of(cost, traffic, subject):
    return middle(cost and cost["cost_ns"].get(traffic, {}).get(subject))


def look_up(cost, small, subject, reads, traffic):
    """Found, its lines, instructions, rest, ns; None: not measured."""
    found, near = (cost_of(each, traffic, subject) for each in (cost, small))
    lines, near_lines = ([cost_of(each, traffic, read) for read in reads] for each in (cost, small))
    if None in (found, near, *lines, *near_lines):
        return None
    instructions = near - sum(near_lines)
    return found, sum(lines), instructions, found - sum(lines) - instructions


def look_ups(data):
    rows = []
    for called, key, subject, suffix in LISTS:
        for cost in data.get(key) or []:
            for traffic, name, reads in TRAFFIC:
                parts = look_up(cost, costs.at(data, SMALLEST, key), subject, [read + suffix for read in reads], traffic)
                if parts:
                    rows.append(["%s, %s packet, %s entries" % (called, name, count(cost["hosts"])), *map(cell, parts)])
    return table(["look-up, ns over parsing alone", "found", "limit: its lines", "instructions", "rest"], rows) if rows else []


def prefixes(data):
    """Of IPv6, of several lengths; instructions as of the shortest list."""
    small = costs.at(data, SMALLEST, "program_cost6")
    rows = []
    for cost in data.get("program_cost6") or []:
        for subject, text, _ in costs.LISTED:
            for traffic, name in costs.TRAFFIC6 if "lengths" in subject else ():
                found, near = (cost_of(each, traffic, subject) for each in (cost, small))
                if cost is not small and None not in (found, near):
                    rows.append(["IPv6, %s: %s" % (costs.named(text, subject, cost["hosts"]), name), cell(found), cell(near),
                                 cell(found - near)])
    shortest = costs.listed_at("six_lengths6", SMALLEST)
    return [PREFIXES % count(shortest), ""] + table(["look-up, ns over parsing alone", "found", "instructions", "lines"],
                                                    rows) if rows else []


def whole_paths(data):
    """Found, limit, the program's part and the rest, ns; of random addresses in short frames."""
    rows = []
    for found in data.get("paths", []):
        work, subjects = found["workload"], found["subjects"]
        if work["share_listed"] not in SHARES or work["source"] != "random" or work["bytes"] != 64:
            continue
        traffic, name, limit = SHARES[work["share_listed"]]
        ours, least = (middle(subjects.get(key, {}).get("packet_ns")) for key in ("filter", limit))
        key, subject = FAMILIES[work["family"]]
        program = cost_of(costs.at(data, work["entries"], key), traffic, subject)
        if None in (ours, least, program):
            continue
        rows.append(["IPv%d, %s packet, %s entries" % (work["family"], name, count(work["entries"]))] +
                    [cell(part, digits=0) for part in (ours, least, program, ours - least - program)])
    return table(["whole path, ns a packet", "found", "limit: at once", "program", "rest"], rows) if rows else []


def bits_of_set(hosts):
    """The least that tells a set of so many of the 2^32 addresses from all others: log2 of their number."""
    return (math.lgamma(2**32 + 1) - math.lgamma(hosts + 1) - math.lgamma(2**32 - hosts + 1)) / math.log(2)


def memory(data):
    rows = []
    for cost in data.get("program_cost", []):
        if cost["hosts"] < MILLION:
            continue
        each = memory_per_host(cost)["per_host"]
        bloom = math.log(1 / cost["rate"]) / math.log(2) ** 2 / 8
        rows += [["bits at a rate of %g, %s addresses" % (cost["rate"], count(cost["hosts"])),
                  cell(each["bits"], digits=2), cell(bloom, digits=2)],
                 ["exact table, %s addresses" % count(cost["hosts"]), cell(each["buckets"], digits=2),
                  cell(bits_of_set(cost["hosts"]) / cost["hosts"] / 8, digits=2)]]
    return table(["bytes an address", "found", "limit"], rows) + [
        "The limit of the bits is that of a Bloom filter by the formula, ln(1/rate) / ln(2)² bits; the distance is the room "
        "that all eight bits of a key in one line take more. The limit of the table is the logarithm of the number of sets "
        "of so many addresses; the distance consists of the fifth of the slots that is free, of slots that are as wide "
        "as a word of 64 bits can be divided into, and of the order in which the addresses stand, which a set does not have.",
        ""] if rows else []


def chapter(data, _page):
    return [FACTS, ""] + look_ups(data) + prefixes(data) + [PATHS, ""] + whole_paths(data) + memory(data)
