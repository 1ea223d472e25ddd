# SPDX-License-Identifier: GPL-2.0-or-later
"""Chapter of limits: of each figure what cannot be undercut, and what the distance from it consists of."""
import math

import costs
import costs6
import cpus
import walks
from commands import OPERATIONS
from costs import memory_per_host
from programs import MILLION
from tables import cell, count, middle, ranged, table

SMALLEST = 1000
FACTS = (
    "With 1,000 entries all that a look-up reads is in the nearest caches: what it takes there beyond its line reads are its "
    "*instructions*, with any number of entries. Its *lines* are, for a clean packet, a random read of a map that has the "
    "size of the Bloom stage; for a listed one that and a random read of a map that has the size of the exact table. The "
    "*rest* is what neither explains. The processor begins the line read of a packet while it waits for that of the packet "
    "before. A look-up has more instructions than a line read alone, so fewer of its reads can overlap, which makes its rest "
    "larger; by how much was not measured. In the table of page walks below no read overlaps another. Little of the rest is "
    "the second bucket of the exact table, since 97 to 99 of 100 addresses of IPv4, and 93 of IPv6, stand in their first. "
    "Overlap of the instructions of two packets makes it smaller, even negative.")
PREFIXES = (
    "Of prefixes of several lengths no read of a map of their size was measured. What a list of %s takes is *instructions* and "
    "the nearest caches; what a longer one takes beyond that are its *lines*: a byte that tells which lengths there are in the "
    "/32, and of each length that may be there a line of the Bloom stage.")
WALKS = (
    "A map of the kernel lies on pages of 4 KiB, so that a read that misses the caches can miss the TLB as well, and walks the "
    "tables of pages. The lines above have these walks in them. What one takes is told by a process that reads the same on "
    "pages of 4 KiB and of 2 MiB, each read waiting for the one before, so that nothing is done at once.")
PATHS = (
    "On its whole path a packet can take no less than one that a program drops, or passes, at once. *Program* is what the "
    "program cost by itself, as above. The *rest* comes with the path: between two look-ups the driver and the stack have used "
    "the caches, so that instructions and lines of the program are fetched again.")
COMMANDS = (
    "The limit of a command is a process that does nothing; one that changes something waits until as much is on the disk as it "
    "writes (*sync*: of one add or delete, six pages of the store, and the page that makes them valid), and one that takes a "
    "file has to read it: *reading* is what a process of its own takes longer than an empty one that splits the file into lines "
    "and parses the addresses, keeping none; of a file that is the same again, that looks at its bytes. Of the rest of one "
    "add some 0.7 ms are the dynamic linker's, with ten libraries; the others are some 330 system calls: pins opened, "
    "interfaces and the way in of who calls looked at, so that no add locks him out. The page of "
    "[details](details.md#what-is-worse-and-why) says of what an import and a replacement consist.")
# Of the transactions of an add, which a debugger counted at mdb_txn_begin(), behind those of opening the store.
READING, WRITING = 7, 2
TRANSACTIONS = (
    "An add opens the store and begins %d transactions that read and %d that may write. So much of its rest are these, each "
    "with a look for one address and without a commit, by the code that ships; what they look for besides is not in it."
    % (READING, WRITING))
CPUS = (
    "Two CPUs can do at the most twice as much as one. By how much parsing alone, one line read and a flood that is dropped or "
    "passed at once are beyond that, or fall short of it, is the machine's doing, and the others are to be seen beside these.")
TRAFFIC = (("clean", "clean", ("line_read",)), ("hit", "listed", ("line_read", "table_read")))
SHARES = {0: ("clean", "clean", "pass_all"), 1: ("hit", "listed", "drop_all")}
# Of lists whose maps' sizes a line read has: what they are called, where their costs are, what is behind the names of the
# line reads.
LISTS = (("IPv4", costs.at, "program_cost", "hosts", ""), ("IPv4, with prefixes", costs.at, "program_cost", "hosts_and_prefixes", ""),
         ("IPv6", costs6.at, "program_cost6", "hosts6", "6"), ("IPv6, /64", costs6.at, "program_cost6", "nets6", "6"))
# On the whole path, of each family: where its costs are, and of which subject.
FAMILIES = {4: (costs.at, "hosts"), 6: (costs6.at, "hosts6")}
WAITS_ONCE = ("add", "delete")     # for the pages of one change


def number(value, digits=1):
    return "-" if value is None else "{:,.{}f}".format(value, digits)


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
    for called, at, key, subject, suffix in LISTS:
        for cost in data.get(key) or []:
            for traffic, name, reads in TRAFFIC:
                parts = look_up(cost, at(data, SMALLEST), subject, [read + suffix for read in reads], traffic)
                if parts:
                    rows.append(["%s, %s packet, %s entries" % (called, name, count(cost["hosts"])), *map(number, parts)])
    return table(["look-up, ns over parsing alone", "found", "limit: its lines", "instructions", "rest"], rows) if rows else []


def prefixes(data):
    """Of IPv6, of several lengths; instructions as of the shortest list."""
    small = costs6.at(data, SMALLEST)
    rows = []
    for cost in data.get("program_cost6") or []:
        for subject, text, _ in costs6.LISTED:
            for traffic, name in costs6.TRAFFIC if "lengths" in subject else ():
                found, near = (cost_of(each, traffic, subject) for each in (cost, small))
                if cost is not small and None not in (found, near):
                    rows.append(["IPv6, %s: %s" % (costs6.named(text, subject, cost["hosts"]), name), number(found), number(near),
                                 number(found - near)])
    shortest = costs6.listed_at("six_lengths6", SMALLEST)
    return [PREFIXES % count(shortest), ""] + table(["look-up, ns over parsing alone", "found", "instructions", "lines"],
                                                    rows) if rows else []


def page_walks(data):
    rows = [["%s, %s entries, %s" % (part, count(hosts), costs6.kibibytes(size))] + [cell(found[name]) for name, _ in walks.COLUMNS]
            for part, hosts, size, found in walks.told(data)]
    return [WALKS, ""] + table(["one line read in a process, ns"] + [title for _, title in walks.COLUMNS], rows) if rows else []


def whole_paths(data):
    """Found, limit, the program's part and the rest, ns; of random addresses in short frames."""
    rows = []
    for found in data.get("paths", []):
        work, subjects = found["workload"], found["subjects"]
        if work["share_listed"] not in SHARES or work["source"] != "random" or work["bytes"] != 64:
            continue
        traffic, name, limit = SHARES[work["share_listed"]]
        ours, least = (middle(subjects.get(key, {}).get("packet_ns")) for key in ("filter", limit))
        at, subject = FAMILIES[work["family"]]
        program = cost_of(at(data, work["entries"]), traffic, subject)
        if None in (ours, least, program):
            continue
        rows.append(["IPv%d, %s packet, %s entries" % (work["family"], name, count(work["entries"])), number(ours, 0),
                     number(least, 0), number(program, 0), number(ours - least - program, 0)])
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


def parts_of(found, operation):
    """What a command waits for, what any process takes, and what reading its file takes, s."""
    least, empty = found.get("least", {}).get(operation), middle(found["empty_process"])
    if least:
        return middle(least["sync"]), empty, max(middle(least["reading"]) - empty, 0)
    return middle(found["sync"]) if operation in WAITS_ONCE else 0, empty, 0


def command_rows(found):
    rows = []
    for operation in ("add", "delete", "test", *found.get("least", {})):
        ours = middle(found["seconds"].get(operation, {}).get("bloomctl"))
        if ours is None:
            continue
        parts = parts_of(found, operation)
        rows.append(["%s, %s addresses" % (OPERATIONS[operation], count(found["hosts"]))] +
                    [number(1e3 * part, 2) for part in (ours, sum(parts), *parts, ours - sum(parts))])
    return rows


def transaction_row(found):
    """Of an add, us: opening, the first that reads, another one, one that may write, all of them."""
    each = [1e6 * middle(found["transactions"][name]) for name in ("open", "first", "read", "write")]
    opened, first, read, write = each
    together = opened + first + (READING - 1) * read + WRITING * write
    return ["%s addresses" % count(found["hosts"])] + [number(part) for part in (*each, together)]


def processes(data):
    """Of whole commands, ms."""
    found = data.get("commands") or []
    rows = [row for each in found for row in command_rows(each)]
    lines = table(["ms", "found", "limit", "sync", "empty process", "reading", "rest"], rows) + [COMMANDS, ""] if rows else []
    rows = [transaction_row(each) for each in found if each.get("transactions")]
    return lines + ([TRANSACTIONS, ""] + table(["us", "opening the store", "the first that reads", "another one",
                                                "one that may write", "all of an add"], rows) if rows else [])


def at_once(data):
    """Of two CPUs."""
    found = data.get("cpus") or {}
    rows = [[title, ranged(each["times"]), number(cpus.CPUS)]
            for key, titles in (("programs", cpus.NAMES), ("floods", cpus.FLOODS))
            for name, title in titles for each in [found.get(key, {}).get(name)] if each]
    return table(["times as many packets on %d CPUs as on one" % cpus.CPUS, "found", "limit"], rows) + [CPUS, ""] if rows else []


def answers(data):
    """Of a refused query: the path of a frame that is sent back at once, the program's part and the rest, ns."""
    names = data.get("names") or {}
    subjects = (names.get("answers") or {}).get("subjects", {})
    ours, least = (middle(subjects.get(key, {}).get("packet_ns")) for key in ("filter", "turn_all"))
    cost = names.get("answered_cost") or {}
    program = cost_of(cost, "answered", "with_names") if cost else None
    if None in (ours, least, program):
        return []
    return table(["whole path, ns a query", "found", "limit: at once", "program", "rest"],
                 [["refused by an answer, %s names" % count(cost["names"]), number(ours, 0), number(least, 0),
                   number(program, 0), number(ours - least - program, 0)]])


def chapter(data, _page):
    return [FACTS, ""] + look_ups(data) + prefixes(data) + page_walks(data) + [PATHS, ""] + whole_paths(data) + answers(data) + \
        at_once(data) + memory(data) + processes(data)
