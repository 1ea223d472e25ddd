# SPDX-License-Identifier: GPL-2.0-or-later
"""Program cost: what the shipped filter adds to a packet, beside its peers."""
import statistics

import costs6
import walks
from programs import MILLION, bench, cost_over
from rig import Failed, both, goal, ratio, row, say

SIZES = (1000, MILLION // 10, MILLION, 10 * MILLION)
PREFIXES = 5000
PEERS = (("line_read", "line read"), ("bpf_bloom", "BPF bloom filter"),
         ("classic_bloom", "classic Bloom"), ("bpf_hash", "BPF hash"), ("lpm_trie", "LPM trie"))
SHIPPED = (("allow-none", "filter as it ships, nothing allowed"),
           ("hosts", "filter as it ships, %(few)d allowed"),
           ("allow-many", "filter as it ships, %(many)d allowed"),
           ("hosts_and_prefixes", "filter as it ships, %(prefixes)d prefixes"))


def spread(samples, subject, peer):
    """Quartiles of the ratio in one round; None where a round found no cost."""
    found = [(a - alone) / (b - alone) if b > alone else None
             for a, b, alone in zip(samples[subject], samples[peer], samples["parse_only"])]
    if None in found or len(found) < 2:
        return None
    quartiles = statistics.quantiles(found, n=4)
    return [quartiles[0], quartiles[2]]


def noise(samples, again):
    """How far two programs that are alike are apart in a round."""
    return statistics.median(abs(a - b) for a, b in zip(samples, again))


def add_costs(raw, result):
    """What a packet costs over parsing alone, in ns and in peers, by traffic and subject."""
    peers = [name for name, _ in PEERS]
    result["dropped"] = raw["dropped"]
    for name in ("run_ns", "cost_ns", *("over_" + peer for peer in peers)):
        result[name] = {}
    for traffic, samples in raw["ns"].items():
        if not samples:
            continue
        runs = {subject: {"median": statistics.median(values), "min": min(values)}
                for subject, values in samples.items()}
        costs = {subject: cost_over(values, samples["parse_only"])
                 for subject, values in samples.items() if subject != "parse_only"}
        result["run_ns"][traffic] = runs
        result["cost_ns"][traffic] = costs
        for peer in peers:
            result["over_" + peer][traffic] = {
                subject: dict(ratio(cost, costs[peer]), spread=spread(samples, subject, peer))
                for subject, cost in costs.items() if peer in costs and subject != peer}
    return result


def program_cost(scratch, hosts, rounds, repeats):
    say("program cost, %d hosts" % hosts)
    raw = bench(scratch, "bench_cost", hosts, PREFIXES, rounds, repeats)
    ships, clean = raw["filters"]["hosts"], raw["ns"]["clean"]
    return add_costs(raw, {
        "hosts": hosts, "prefixes": raw["prefixes"], "rounds": rounds, "repeats": repeats,
        "near_sources": raw["near"], "block_bytes": ships["bits_bytes"],
        "probes": ships["probes"], "rate": ships["rate"], "filters": raw["filters"],
        "peers": raw["peers"], "lpm_trie_max": raw["lpm_trie_max"], "read_bytes": raw["read_bytes"],
        "noise_ns": noise(clean["bare-1e-4"], clean["bare-again"])})


def memory_per_host(cost):
    """Bytes of kernel memory an IPv4 host takes, of what ships and of the kernel's maps."""
    hosts, filters = cost["hosts"], cost["filters"]
    ships, many = filters["hosts"], filters["allow-many"]
    return {
        "hosts": hosts,
        "per_host": {"bits": ships["bits_bytes"] / hosts, "buckets": ships["buckets_bytes"] / hosts,
                     "sum": (ships["bits_bytes"] + ships["buckets_bytes"]) / hosts,
                     "sum_memlock": ships["memlock"] / hosts,
                     "counters": ships["counters_bytes"] / hosts,
                     "bpf_hash_grown": cost["peers"]["bpf_hash"]["grown_memlock"] / hosts,
                     **{peer: found["memlock"] / hosts for peer, found in cost["peers"].items()}},
        "apart": {"prefix4": filters["hosts_and_prefixes"]["prefix4_bytes"],
                  "gate": ships["gate_bytes"], "allowed": many["allow"],
                  "tries": many["tries_memlock"]},
    }


def at(report, hosts):
    """What was found at that size, or None."""
    return next((cost for cost in report.get("program_cost", []) if cost["hosts"] == hosts), None)


def measure(scratch, quick, report):
    report["program_cost"] = []
    if quick:
        report["skipped"].append("program cost at 1k, 100k and 10M hosts (--quick)")
    for hosts in (MILLION,) if quick else SIZES:
        try:
            cost = program_cost(scratch, hosts, 9 if quick else 54, MILLION // (5 if quick else 4))
            report["program_cost"].append(cost)
            if hosts > cost["lpm_trie_max"]:
                report["skipped"].append("LPM trie at %d hosts: it takes one update for each, and "
                                         "gets slower as it grows" % hosts)
        except Failed as failure:
            report["failed"].append("program cost at %d hosts: %s" % (hosts, failure))
    cost = at(report, MILLION)
    report["memory"] = memory_per_host(cost) if cost else None
    costs6.measure(scratch, quick, report)
    walks.measure(quick, report)


# Hosts, their name, peer, its name, subject, most it may cost of what the peer costs.
CLEAN_GOALS = (
    (MILLION, "1M", "line_read", "line reads", "hosts", 1.6),
    (10 * MILLION, "10M", "line_read", "line reads", "hosts", 1.25),
    (MILLION, "1M", "line_read", "line reads", "hosts_and_prefixes", 2.5),
    (MILLION, "1M", "bpf_bloom", "BPF bloom filters", "hosts", 0.25),
    (MILLION, "1M", "bpf_bloom", "BPF bloom filters", "hosts_and_prefixes", 0.4),
    (MILLION, "1M", "bpf_hash", "BPF hashes", "hosts", 0.06),
    (MILLION, "1M", "lpm_trie", "LPM tries", "hosts", 0.01))


def goals_of_stages(cost):
    """What confirm and the allowlist may cost."""
    def between(subject, other):
        clean = cost["cost_ns"]["clean"]
        return clean[subject]["median"] - clean[other]["median"]

    table = []
    for name, subject, other in (("confirm adds", "confirm-1e-4", "bare-1e-4"),
                                 ("10k allowed add", "allow-many", "allow-none")):
        table.append(goal("clean packet at 1M, ns %s (noise)" % name, cost and cost["noise_ns"],
                          cost and between(subject, other)))
    for name, subject in (("", "hosts"), (", 10k allowed", "allow-many")):
        table.append(goal("drop at 1M%s, in BPF hash look-ups" % name, 0.5,
                          cost and cost["over_bpf_hash"]["hit"][subject]["median"]))
    return table


def goals_of_memory(report):
    return [goal("bits and buckets at %s, bytes per host" % name, limit,
                 cost and memory_per_host(cost)["per_host"]["sum"])
            for name, limit, cost in (("1M", 4.7, at(report, MILLION)), ("10M", 3.9, at(report, 10 * MILLION)))]


def goals(report):
    table = []
    for hosts, size, peer, name, subject, limit in CLEAN_GOALS:
        cost = at(report, hosts)
        found = cost and cost["over_" + peer]["clean"].get(subject)
        table.append(goal("clean at %s%s, in %s" % (
            size, ", with prefixes" if "prefixes" in subject else "", name), limit,
                          found and found["median"]))
    return table + goals_of_stages(at(report, MILLION)) + goals_of_memory(report) + costs6.goals(report)


def memory_of(peer):
    words = ["%.2f MiB" % (peer["memlock"] / 2**20)]
    return words + (["%d hashes" % peer["hashes"]] if "hashes" in peer else [])


def print_cost(cost):
    print("\nProgram cost at %d hosts, ns a packet over parsing alone; Bloom stage of what ships: "
          "rate %g, %.1f MiB, %d probes; %d rounds of %d"
          % (cost["hosts"], cost["rate"], cost["block_bytes"] / 2**20, cost["probes"],
             cost["rounds"], cost["repeats"]))
    filters, peers = cost["filters"], cost["peers"]
    counts = {"few": filters["hosts"]["allow"], "many": filters["allow-many"]["allow"],
              "prefixes": cost["prefixes"]}
    shipped = [(key, name % counts) for key, name in SHIPPED]
    names = [(key, "%s (%s)" % (name, ", ".join(memory_of(peers[key]))) if key in peers
              else "one random " + name) for key, name in PEERS]
    names.insert(1, ("table_read", "  the same, of the exact table's size"))
    names += [("bare-1e-4", "filter, rate 1e-4, not confirmed"),
              ("bare-again", "  the same, built again"),
              ("confirm-1e-4", "filter, rate 1e-4, confirmed"),
              ("confirm-1e-3", "filter, rate 1e-3, confirmed"),
              ("confirm-1e-2", "filter, rate 1e-2, confirmed"), *shipped]
    row("", "clean", "hit", "clean, % dropped")
    row("parsing and counting, whole run", *(both(cost["run_ns"][traffic]["parse_only"])
                                             for traffic in ("clean", "hit")), "")
    for key, name in names:
        if key in cost["cost_ns"]["clean"]:
            row(name, *(both(cost["cost_ns"][traffic][key]) for traffic in ("clean", "hit")),
                "%.3f" % (100 * cost["dropped"]["clean"][key]))
    for key, name in (("bpf_hash", "BPF hash"), ("allow-many", "filter")):
        if "near" in cost["cost_ns"]:
            row("  %d sources next to the allowed: %s" % (cost["near_sources"], name), "",
                both(cost["cost_ns"]["near"][key]), "")
    print("Two filters that are alike differ by %.1f ns in a round (median)" % cost["noise_ns"])
    for traffic in ("clean", "hit"):
        row("%s packet, cost over that of" % traffic, *(name for _, name in PEERS))
        for key, name in shipped:
            row("  " + name, *(both(cost["over_" + peer][traffic].get(key), 1, 3)
                               for peer, _ in PEERS))


def print_memory(memory):
    each, apart = memory["per_host"], memory["apart"]
    print("\nKernel memory at %d IPv4 hosts, bytes a host" % memory["hosts"])
    for name, key in (("Bloom bits", "bits"), ("confirm buckets", "buckets"),
                      ("both", "sum"), ("both, as the kernel accounts for them", "sum_memlock"),
                      ("BPF_MAP_TYPE_HASH", "bpf_hash"),
                      ("BPF_MAP_TYPE_HASH, not preallocated", "bpf_hash_grown"),
                      ("BPF_MAP_TYPE_LPM_TRIE, leaves alone", "lpm_trie"),
                      ("BPF_MAP_TYPE_BLOOM_FILTER, as the Bloom bits", "bpf_bloom"),
                      ("classic Bloom filter, as the Bloom bits", "classic_bloom")):
        row(name, "-" if each.get(key) is None else "%.2f" % each[key])
    row("apart: counters, in the run directory", "%.2f" % each["counters"])
    row("apart: prefix map once a prefix is listed", "%.1f MiB" % (apart["prefix4"] / 2**20))
    row("apart: gate of the allowlist", "%.0f KiB" % (apart["gate"] / 2**10))
    row("apart: %d allowed" % apart["allowed"], "%.0f KiB" % (apart["tries"] / 2**10))


def print_text(report):
    for cost in report.get("program_cost", []):
        print_cost(cost)
    if report.get("memory"):
        print_memory(report["memory"])
    costs6.print_text(report)
    walks.print_text(report)
