# SPDX-License-Identifier: GPL-2.0-or-later
"""Chapters of whole commands and of memory."""
from commands import BATCHES, OPERATIONS
from huge import bytes_per_host
from plots import Plot
from tables import cell, count, label, middle, ranged, table

NOTES = {"ipset": {"swap": "ipset swap (of two sets that are there)"}}
FACTS = (
    "Whole processes, from start to end; what they read is written beforehand. bloomctl's list is "
    "enforced and durable when it ends, those of peers are in a set that no rule names, and gone "
    "after a reboot. ipset replaces by a new set that is swapped in, nft by one transaction that "
    "flushes the set and adds all, both in one process. To swap means for bloomctl to build the "
    "filter anew with other keys, for ipset to exchange two sets that are there; nft has no such "
    "operation. xdp-filter takes one address a process and 10,000 in all: its table is empty but for "
    "the one. Kernel memory is what bloomctl and ipset tell of it. nft tells nothing: counted is what "
    "the slabs that stay and vmalloc of the whole machine have more after the load, and of the others "
    "too, as a check.")


def operations(found):
    peers = found["peers"]
    rows = [[OPERATIONS[name]] + [cell(each.get(key), 1e3, 2) for key in peers] for name, each in found["seconds"].items()]
    return table(["ms"] + list(peers.values()), rows)


def ratios(found):
    """How many times what bloomctl takes."""
    others = {key: name for key, name in found["peers"].items() if key != "bloomctl"}
    if not others:
        return []
    rows = [[OPERATIONS[name]] + [ranged(each.get(key)) for key in others] for name, each in found["times_bloomctl"].items()]
    return table(["times bloomctl (of minima; quartiles of rounds)"] + list(others.values()), rows)


def single_add(found):
    """One add, and what of it is waiting for the disk."""
    facts = ("An empty process takes %s ms. What an add writes and waits for, its pages of the store "
             "and fdatasync, then the page that makes them valid, takes %s ms by itself where the "
             "state is, so an add less its syncs takes %s ms."
             % (cell(found["empty_process"], 1e3, 2), cell(found["sync"], 1e3, 2), cell(found["less_sync"]["add"], 1e3, 2)))
    return [facts, ""]


def resources(found):
    peers, memory = found["peers"], found["memory"]
    rows = [["%s: adds a second" % OPERATIONS[name]] +
            [count(round(BATCHES[name] / each[key]["median"])) if key in each else "-" for key in peers]
            for name, each in found["seconds"].items() if name in BATCHES]
    rows += [["%s: most memory of the process, MiB" % OPERATIONS[name]] + [cell(each.get(key), 2**-20) for key in peers]
             for name, each in found["peak_bytes"].items()]
    rows.append(["kernel memory on the packet path, MiB, as each tells"] + [cell(memory.get(key), 2**-20) for key in peers])
    rows.append(["the same by what the whole kernel has more, MiB"] + [cell(memory["kernel"].get(key), 2**-20) for key in peers])
    rows.append(["apart: counters, in the run directory, MiB"] +
                [cell(memory["counters"] if key == "bloomctl" else None, 2**-20) for key in peers])
    notes = ["%s: in %d of %d rounds the filter was built anew." % (OPERATIONS[name], times, found["rounds"])
             for name, times in found["rebuilt_in_rounds"].items() if times]
    return table([""] + list(peers.values()), rows) + ([" ".join(notes), ""] if notes else [])


def compare(found, page):
    size = "%s addresses" % count(found["hosts"])
    for name, each in found["seconds"].items():
        for key in each:
            if key != "bloomctl":
                page.compare("%s, %s" % (OPERATIONS[name], size), ("bloomctl", each["bloomctl"]),
                             (NOTES.get(key, {}).get(name, found["peers"][key]), each[key]), " ms", scale=1e3, digits=2)
    for name, each in found["peak_bytes"].items():
        for key in each:
            if key != "bloomctl":
                page.compare("memory of the process, %s, %s" % (OPERATIONS[name], size),
                             ("bloomctl", each["bloomctl"]), (found["peers"][key], each[key]), " MiB", scale=2**-20)
    memory = found["memory"]
    for key, peer in (("ipset", memory["ipset"]), ("nft", memory["kernel"].get("nft"))):
        if peer:
            page.compare("kernel memory, %s" % size, ("filter and exact table", memory["bloomctl"]),
                         (found["peers"][key], peer), " MiB", scale=2**-20)


def plot(found, page, operation, title):
    shown = Plot("commands-" + operation, title, "addresses", "seconds")
    peers = {}
    for each in found:
        peers.update(each["peers"])
    for key, name in peers.items():
        shown.add(name, [(each["hosts"], middle(each["seconds"].get(operation, {}).get(key)))
                         for each in found], ours=key == "bloomctl")
    return page.plot(shown)


def commands(data, page):
    found = sorted(data.get("commands") or [], key=lambda each: each["hosts"])
    lines = [FACTS, ""]
    for operation, title in (("load", "Load from text"), ("replace", "Replace, 1 % changed")):
        if len(found) > 1:
            lines += plot(found, page, operation, title)
    for each in found:
        lines += ["### %s addresses, %s rounds" % (count(each["hosts"]), each["rounds"]), ""]
        lines += operations(each) + ratios(each) + single_add(each) + resources(each)
        compare(each, page)
    return lines


def huge(data, _page):
    found = data["huge_import"]
    return ["%s addresses from text to enforced and durable, in a memory cgroup of %d GiB: **%.1f "
            "s**. The most memory in the cgroup, with the kernel's, the counters and cached pages: "
            "%.2f GiB; of the process, with the file it maps, %.2f GiB. Afterwards: packet path %.0f "
            "MiB, of which bits and exact table are %.2f bytes an address, counters %.0f MiB. Measured once."
            % (count(found["hosts"]), found["limit_bytes"] >> 30, found["seconds"],
               found["peak_bytes_of_all"] / 2**30, found["peak_bytes_of_process"] / 2**30,
               found["packet_path_bytes"] / 2**20, bytes_per_host(found), found["counters_bytes"] / 2**20), ""]


OWN_MEMORY = {"bits": "Bloom bits", "buckets": "exact buckets", "sum": "both",
              "sum_memlock": "both, as the kernel accounts for them",
              "counters": "apart: counters, in the run directory"}
APART = {"prefix4": "prefix map, once a prefix is listed", "gate": "gate of the allowlist",
         "tries": "allowlist of %s"}


def memory(data, page):
    """Of the kernel's maps; that of sets is with the commands that fill them."""
    found = data["memory"]
    each, apart = found["per_host"], found["apart"]
    lines = table(["%s entries, bytes of kernel memory an entry" % count(found["hosts"]), "", "times both"],
                  [[OWN_MEMORY.get(name, label(name)), cell(value, digits=2),
                    cell(value / each["sum"], digits=2) if name not in OWN_MEMORY else ""] for name, value in each.items()])
    for name, value in each.items():
        if name not in OWN_MEMORY:
            page.compare("kernel memory at %s entries" % count(found["hosts"]),
                         ("filter and exact table", each["sum"]), (label(name), value), " bytes", digits=2)
    rows = [[text % count(apart["allowed"]) if "%" in text else text, count(apart[name])] for name, text in APART.items()]
    return lines + table(["apart", "bytes"], rows)
