# SPDX-License-Identifier: GPL-2.0-or-later
"""Program cost of IPv6: hosts, /64 and prefixes of several lengths, beside IPv4 and the kernel's maps."""
from paths import amount
from programs import MILLION, bench, cost_over
from rig import Failed, both, goal, ratio, row, say

SIZES = (1000, MILLION // 10, MILLION)
SHARE = 5           # as many hosts for each prefix, where lengths are mixed
# Subject, what it is called, what it may cost of IPv4's clean packet.
LISTED = (("hosts", "IPv4: %s addresses", None),
          ("hosts6", "%s addresses", 1.5),
          ("nets6", "%s /64", None),
          ("six_lengths6", "%s prefixes, 6 lengths", 2.5),
          ("all_lengths6", "%s prefixes, all lengths", None))
BLOOM, HASH, TRIE = "BPF_MAP_TYPE_BLOOM_FILTER, not confirmed", "BPF hash", "LPM trie"
# Of each subject, peers with the same list.
PEERS = {"hosts6": (("bpf_bloom6", BLOOM), ("bpf_hash6", HASH + ", 16-byte keys"), ("lpm_trie6", TRIE)),
         "nets6": (("bpf_hash_nets6", HASH + ", 8-byte keys"), ("lpm_trie_nets6", TRIE)),
         "six_lengths6": (("lpm_trie_six_lengths6", TRIE),),
         "all_lengths6": (("lpm_trie_all_lengths6", TRIE),)}
LINES = (("line_read", "one random line read of %s, IPv4's Bloom stage"),
         ("line_read6", "one random line read of %s, the Bloom stage of addresses"),
         ("table_read6", "one random line read of %s, their exact table"))
TRAFFIC = (("clean", "clean"), ("below", "below a listed /32"), ("hit", "listed"))


def listed_at(subject, hosts):
    """How many are listed."""
    return hosts // SHARE if "lengths" in subject else hosts


def named(text, subject, hosts):
    return text % amount(listed_at(subject, hosts))


def kibibytes(size):
    return "%.0f KiB" % (size / 2**10) if size < 2**20 else "%.1f MiB" % (size / 2**20)


def names(found):
    """Subjects in the order they are told, and what they are called: what is read, then each with its peers."""
    told = [(name, text % kibibytes(found["read_bytes"][name])) for name, text in LINES]
    for subject, text, _ in LISTED:
        text = named(text, subject, found["hosts"])
        told += [(subject, text)] + [(peer, "%s: %s" % (text, called)) for peer, called in PEERS.get(subject, ())
                                     if peer in found["cost_ns"]["clean"]]
    return told


def costs_of(samples):
    """Each over parsing its own family alone."""
    def alone(name):
        return samples["parse_only6" if name.endswith("6") else "parse_only"]

    return {name: cost_over(values, alone(name)) for name, values in samples.items()
            if not name.startswith("parse_only") and (name.endswith("6") or "parse_only" in samples)}


def program_cost(scratch, hosts, rounds, repeats):
    say("program cost, IPv6, %d hosts" % hosts)
    raw = bench(scratch, "bench_cost6", hosts, hosts // SHARE, rounds, repeats)
    return {"hosts": hosts, "rounds": rounds, "repeats": repeats, "filters": raw["filters"],
            "peers": raw["peers"], "read_bytes": raw["read_bytes"],
            "cost_ns": {traffic: costs_of(raw["ns"][traffic]) for traffic, _ in TRAFFIC}}


def measure(scratch, quick, report):
    report["program_cost6"] = []
    if quick:
        report["skipped"].append("program cost of IPv6 at 1k and 100k hosts (--quick)")
    for hosts in (MILLION,) if quick else SIZES:
        rounds, repeats = (5, MILLION // 10) if quick else (36 if hosts == MILLION else 18, MILLION // 4)
        try:
            report["program_cost6"].append(program_cost(scratch, hosts, rounds, repeats))
        except Failed as failure:
            report["failed"].append("program cost of IPv6 at %d hosts: %s" % (hosts, failure))


def at(report, hosts):
    """What was found at that size, or None."""
    return next((cost for cost in report.get("program_cost6", []) if cost["hosts"] == hosts), None)


def times(report, subject, peer, traffic="clean"):
    """A cost at 1M as a multiple of another one's with the same traffic; None: not measured."""
    cost = at(report, MILLION)
    costs = cost["cost_ns"][traffic] if cost else {}
    found = ratio(costs.get(subject), costs.get(peer))
    return found and found["median"]


def goals(report):
    table = [goal("clean IPv6 at %s, times IPv4" % named(text, subject, MILLION), limit, times(report, subject, "hosts"))
             for subject, text, limit in LISTED if limit]
    return table + [
        goal("listed IPv6 at 1M addresses, times IPv4", 1.5,
             times(report, "hosts6", "hosts", "hit")),
        goal("clean IPv6 at 1M addresses, in BPF hashes of 16-byte keys", 0.15,
             times(report, "hosts6", "bpf_hash6")),
        goal("clean IPv6 at 1M addresses, in LPM tries", 0.05,
             times(report, "hosts6", "lpm_trie6"))]


def memory(found):
    """Bytes an entry of each list: bits, exact table, tables of lengths, and what its peers take in the kernel."""
    told = []
    for subject, text, _ in LISTED:
        sized, text = found["filters"][subject], named(text, subject, found["hosts"])
        told.append((text, *(sized[part] / sized["keys"] for part in ("bits_bytes", "buckets_bytes", "lengths_bytes"))))
        told += [("%s: %s" % (text, called), found["peers"][peer] / sized["keys"], None, None)
                 for peer, called in PEERS.get(subject, ()) if peer in found["peers"]]
    return told


def print_cost(found):
    print("\nProgram cost of IPv6, ns a packet over parsing alone; %d rounds of %d"
          % (found["rounds"], found["repeats"]))
    row("", *(text for _, text in TRAFFIC), "probes, lengths")
    for name, text in names(found):
        sized = found["filters"].get(name)
        row(text, *(both(found["cost_ns"][traffic].get(name)) for traffic, _ in TRAFFIC),
            "%d, %d" % (sized["probes"], sized["length_probes"]) if sized else "")
    row("bytes an entry", "bits", "exact table", "tables of lengths")
    for text, *parts in memory(found):
        row(text, *("-" if part is None else "%.2f" % part for part in parts))


def print_text(report):
    for found in report.get("program_cost6", []):
        print_cost(found)
