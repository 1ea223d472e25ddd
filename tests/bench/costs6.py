# SPDX-License-Identifier: GPL-2.0-or-later
"""Program cost of IPv6: hosts, /64 and prefixes of several lengths, beside IPv4 and the kernel's maps."""
from programs import MILLION, bench, cost_over
from rig import Failed, both, goal, ratio, row, say

PREFIXES = 200000
# Subject, what it is called, what it may cost of IPv4's clean packet.
LISTED = (("hosts", "IPv4: 1M addresses", None),
          ("hosts6", "1M addresses", 1.5),
          ("nets6", "1M /64", None),
          ("six_lengths6", "200k prefixes, 6 lengths", 2.5),
          ("all_lengths6", "200k prefixes, all lengths", None))
PEERS = (("line_read", "one random line read"), ("bpf_hash6", "BPF hash, 16-byte keys"),
         ("lpm_trie6", "LPM trie"))
TRAFFIC = (("clean", "clean"), ("below", "below a listed /32"), ("hit", "listed"))


def costs_of(samples):
    """Each over parsing its own family alone."""
    def alone(name):
        return samples["parse_only6" if name.endswith("6") else "parse_only"]

    return {name: cost_over(values, alone(name)) for name, values in samples.items()
            if not name.startswith("parse_only") and (name.endswith("6") or "parse_only" in samples)}


def measure(scratch, quick, report):
    say("program cost, IPv6")
    rounds, repeats = (9, MILLION // 10) if quick else (36, MILLION // 4)
    try:
        raw = bench(scratch, "bench_cost6", MILLION, PREFIXES, rounds, repeats)
    except Failed as failure:
        report["failed"].append("program cost of IPv6: %s" % failure)
        return
    report["program_cost6"] = {
        "rounds": rounds, "repeats": repeats, "filters": raw["filters"],
        "cost_ns": {traffic: costs_of(raw["ns"][traffic]) for traffic, _ in TRAFFIC}}


def times(report, subject, peer, traffic="clean"):
    """A cost as a multiple of another one's with the same traffic; None: not measured."""
    costs = report["program_cost6"]["cost_ns"][traffic] if report.get("program_cost6") else {}
    found = ratio(costs.get(subject), costs.get(peer))
    return found and found["median"]


def goals(report):
    table = [goal("clean IPv6 at %s, times IPv4" % text, limit, times(report, subject, "hosts"))
             for subject, text, limit in LISTED if limit]
    return table + [
        goal("listed IPv6 at 1M addresses, times IPv4", 1.5,
             times(report, "hosts6", "hosts", "hit")),
        goal("clean IPv6 at 1M addresses, in BPF hashes of 16-byte keys", 0.15,
             times(report, "hosts6", "bpf_hash6")),
        goal("clean IPv6 at 1M addresses, in LPM tries", 0.05,
             times(report, "hosts6", "lpm_trie6"))]


def print_text(report):
    found = report.get("program_cost6")
    if not found:
        return
    print("\nProgram cost of IPv6, ns a packet over parsing alone; %d rounds of %d"
          % (found["rounds"], found["repeats"]))
    row("", *(text for _, text in TRAFFIC), "probes, lengths")
    for name, text in (*PEERS, *((name, text) for name, text, _ in LISTED)):
        sized = found["filters"].get(name)
        row(text, *(both(found["cost_ns"][traffic].get(name)) for traffic, _ in TRAFFIC),
            "%d, %d" % (sized["probes"], sized["length_probes"]) if sized else "")
