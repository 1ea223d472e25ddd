# SPDX-License-Identifier: GPL-2.0-or-later
"""The Bloom stage in many layouts, all with the memory of the shipped one: what they cost a packet,
and how many clean sources they drop."""
import statistics

import costs
from rig import Failed, both, row, say

MILLION = 1000000
REPEATS = MILLION // 2
SIZES = (100000, MILLION, 10 * MILLION)
RATES = (1e-2, 1e-4)  # the memory that ships with the exact look-up, and without


def noise_of_rate(rate, keys):
    """Within so much, two counts of the same rate differ in 997 of 1,000 cases."""
    return 3 * (2 * rate / keys) ** 0.5


def kept(report):
    """The layouts with no more false positives than the shipped one, the cheapest first."""
    clean, layouts = report["cost_ns"]["clean"], report["layouts"]
    limit = layouts["ships"]["rate"]
    limit += noise_of_rate(limit, report["clean_keys"])
    names = [name for name, layout in layouts.items() if layout["rate"] <= limit]
    return sorted(names, key=lambda name: clean[name]["median"])


def explore(scratch, hosts, rate, rounds):
    say("layouts at %d hosts, memory for a rate of %g" % (hosts, rate))
    raw = costs.bench(scratch, "bench_layouts", hosts, rate, rounds, REPEATS)
    report = costs.add_costs(raw, {key: raw[key] for key in (
        "hosts", "repeats", "promised", "bytes", "clean_keys", "layouts")})
    clean = raw["ns"]["clean"]
    report["rounds"] = rounds
    report["bits_per_key"] = 8 * raw["bytes"] / hosts
    report["noise_ns"] = costs.noise(clean["ships"], clean["again"])
    best = kept(report)[0]
    less = [a - b for a, b in zip(clean["ships"], clean[best])]
    report["best"] = {"layout": best, "less_ns": statistics.median(less),
                      "less_ns_quartiles": statistics.quantiles(less, n=4)[::2]}
    return report


def measure(scratch, quick, report):
    report["layouts"] = []
    if quick:
        report["skipped"].append("layouts: all but 1M hosts at the rate that ships (--quick)")
    for rate in RATES[:1] if quick else RATES:
        for hosts in (MILLION,) if quick else SIZES:
            try:
                report["layouts"].append(explore(scratch, hosts, rate, 5 if quick else 15))
            except Failed as failure:
                report["failed"].append("layouts at %d hosts: %s" % (hosts, failure))


def print_text(report):
    for explored in report.get("layouts", []):
        print_explored(explored)


def print_explored(report):
    print("\nLayouts at %d keys, %.2f bits a key (what ships needs for %g): ns a packet over parsing "
          "alone, and false positives; %d rounds of %d"
          % (report["hosts"], report["bits_per_key"], report["promised"], report["rounds"],
             report["repeats"]))
    row("", "clean", "hit", "clean, in line reads", "rate, %", "dense addresses, %")
    cost, over = report["cost_ns"], report["over_line_read"]["clean"]
    row("one random line read", *(both(cost[traffic]["line_read"]) for traffic in ("clean", "hit")),
        "", "", "")
    keep = kept(report)
    for name, layout in report["layouts"].items():
        row(layout["text"], *(both(cost[traffic][name]) for traffic in ("clean", "hit")),
            both(over[name], 1, 2), "%.4f%s" % (100 * layout["rate"],
                                                "" if name in keep else " (more)"),
            "%.4f" % (100 * layout["dense_rate"]))
    best = report["best"]
    print("Cheapest of those with no more false positives than what ships: %s, by %.1f ns in a round "
          "(quartiles %.1f to %.1f). Two that are alike differ by %.1f ns"
          % (report["layouts"][best["layout"]]["text"], best["less_ns"], *best["less_ns_quartiles"],
             report["noise_ns"]))
