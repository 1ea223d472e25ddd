# SPDX-License-Identifier: GPL-2.0-or-later
"""Chapter of limits: of each figure what cannot be undercut, and what the distance from it consists of."""
import math

from costs import at, memory_per_host
from programs import MILLION
from tables import count, middle, table

SMALLEST = 1000
FACTS = (
    "With 1,000 entries all that a look-up reads is in the nearest cache: what it takes there beyond its line reads are its "
    "*instructions*, with any number of entries. Its *lines* are one for a clean packet and two for a listed one, each as "
    "long as a random read of a map that has the size of the Bloom stage. The *rest* is what neither explains: the exact "
    "table is two to three times as large as the Bloom stage, so that its lines come from further away; a map of the kernel "
    "lies on pages of 4 KiB, so that a read that misses the caches misses the TLB as well, and walks the tables of "
    "pages, which take room in the caches. Overlap of two packets makes the rest smaller, even negative.")
PATHS = (
    "On its whole path a packet can take no less than one that a program drops, or passes, at once. *Program* is what the "
    "program cost by itself, as above. The *rest* comes with the path: between two look-ups the driver and the stack have used "
    "the caches, so that instructions and lines of the program are fetched again.")
TRAFFIC = (("clean", "clean", 1), ("hit", "listed", 2))


def number(value, digits=1):
    return "-" if value is None else "{:,.{}f}".format(value, digits)


def cost_of(cost, traffic, subject):
    return middle(cost and cost["cost_ns"].get(traffic, {}).get(subject))


def look_ups(data):
    """Found, limit, and the three parts, ns."""
    small = at(data, SMALLEST)
    rows = []
    for cost in data.get("program_cost", []):
        for traffic, name, lines in TRAFFIC:
            found, line = cost_of(cost, traffic, "hosts"), cost_of(cost, traffic, "line_read")
            near, near_line = cost_of(small, traffic, "hosts"), cost_of(small, traffic, "line_read")
            if None in (found, line, near, near_line):
                continue
            instructions = near - lines * near_line
            rows.append(["%s packet, %s entries" % (name, count(cost["hosts"])), number(found), number(lines * line),
                         number(instructions), number(found - lines * line - instructions)])
    return table(["look-up, ns over parsing alone", "found", "limit: its lines", "instructions", "rest"], rows) if rows else []


def whole_paths(data):
    """Found, limit, the program's part and the rest, ns; of random addresses in short frames."""
    rows = []
    for found in data.get("paths", []):
        work, subjects = found["workload"], found["subjects"]
        share = {0: ("clean", "clean", "pass_all"), 1: ("hit", "listed", "drop_all")}.get(work["share_listed"])
        if not share or work["source"] != "random" or work["bytes"] != 64 or work["family"] != 4:
            continue
        traffic, name, limit = share
        ours, least = (middle(subjects.get(key, {}).get("packet_ns")) for key in ("filter", limit))
        program = cost_of(at(data, work["entries"]), traffic, "hosts")
        if None in (ours, least, program):
            continue
        rows.append(["%s packet, %s entries" % (name, count(work["entries"])), number(ours, 0), number(least, 0),
                     number(program, 0), number(ours - least - program, 0)])
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
                  number(each["bits"], 2), number(bloom, 2)],
                 ["exact table, %s addresses" % count(cost["hosts"]), number(each["buckets"], 2),
                  number(bits_of_set(cost["hosts"]) / cost["hosts"] / 8, 2)]]
    return table(["bytes an address", "found", "limit"], rows) + [
        "The limit of the bits is that of a Bloom filter by the formula, ln(1/rate) / ln(2)² bits; the distance is the room "
        "that all eight bits of a key in one line take more. The limit of the table is the logarithm of the number of sets "
        "of so many addresses; the distance consists of the fifth of the slots that is free, of slots that are as wide "
        "as a word of 64 bits can be divided into, and of the order in which the addresses stand, which a set does not have.",
        ""] if rows else []


def processes(data):
    """Of one add: what it waits for, what any process takes, and the rest, ms."""
    rows = []
    for found in data.get("commands") or []:
        parts = [middle(found["seconds"]["add"]["bloomctl"]), middle(found["sync"]), middle(found["empty_process"])]
        parts = [1e3 * part for part in parts]
        rows.append(["one add, %s addresses" % count(found["hosts"]), number(parts[0], 2), number(sum(parts[1:]), 2),
                     *(number(part, 2) for part in parts[1:]), number(parts[0] - sum(parts[1:]), 2)])
    return table(["ms", "found", "limit", "sync", "empty process", "rest"], rows) + [
        "The limit of an add that is durable is a process that does nothing, and the pages that a commit writes and waits "
        "for. A third of the rest is the dynamic linker's, with ten libraries; the others are some 330 system calls: pins "
        "opened, interfaces and the way in of who calls looked at, so that no add locks him out, six transactions.",
        ""] if rows else []


def answers(data):
    """Of a refused query: the path of a frame that is sent back at once, the program's part and the rest, ns."""
    names = data.get("names") or {}
    subjects = (names.get("answers") or {}).get("subjects", {})
    ours, least = (middle(subjects.get(key, {}).get("packet_ns")) for key in ("filter", "turn_all"))
    costs = (names.get("program_cost") or {}).get("cost_ns", {})
    program = middle(costs.get("answered", {}).get("with_names"))
    if None in (ours, least, program):
        return []
    return table(["whole path, ns a query", "found", "limit: at once", "program", "rest"],
                 [["refused by an answer", number(ours, 0), number(least, 0), number(program, 0),
                   number(ours - least - program, 0)]]) + [
        "The program's part was measured with %s names, the path with %s: with more, more of the time is waiting for memory."
        % (count(names["program_cost"]["names"]), count(names["answers"]["names"])), ""]


def chapter(data, _page):
    return [FACTS, ""] + look_ups(data) + [PATHS, ""] + whole_paths(data) + answers(data) + memory(data) + processes(data)
