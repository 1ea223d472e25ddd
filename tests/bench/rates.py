# SPDX-License-Identifier: GPL-2.0-or-later
"""Program cost and memory by the rate of the Bloom stage, with the exact look-up behind it."""
import costs
from rig import Failed, both, row, say

MILLION = 1000000
SIZES = (MILLION, 10 * MILLION)


def cost_by_rate(scratch, hosts, rounds, repeats):
    say("cost by rate, %d hosts" % hosts)
    raw = costs.bench(scratch, "bench_cost", "--rates", hosts, costs.PREFIXES, rounds, repeats)
    return costs.add_costs(raw, {"hosts": hosts, "rounds": rounds, "repeats": repeats,
                                 "confirmed_rate": raw["confirmed_rate"],
                                 "filters": raw["filters"]})


def measure(scratch, quick, report):
    report["rates"] = []
    for hosts in SIZES[:1] if quick else SIZES:
        try:
            report["rates"].append(cost_by_rate(scratch, hosts, 5 if quick else 27,
                                                MILLION // (5 if quick else 2)))
        except Failed as failure:
            report["failed"].append("cost by rate at %d hosts: %s" % (hosts, failure))


def print_rates(cost):
    print("\nConfirmed filter by the rate of its Bloom stage, at %d hosts: bytes a host, and ns a "
          "packet over parsing alone; %d rounds of %d"
          % (cost["hosts"], cost["rounds"], cost["repeats"]))
    row("", "bits", "buckets", "sum", "clean", "hit")
    filters = cost["filters"]
    for name in ("line_read", "bpf_hash", *sorted(filters, key=lambda key: -filters[key]["rate"])):
        found = filters.get(name)
        cells = ["-"] * 3
        if found:
            bytes_of = (found["bits_bytes"], found["buckets_bytes"],
                        found["bits_bytes"] + found["buckets_bytes"])
            cells = ["%.2f" % (count / cost["hosts"]) for count in bytes_of]
        label = name.replace("_", " ") if not found else "rate %g%s" % (
            found["rate"], " (ships)" if found["rate"] == cost["confirmed_rate"] else "")
        row(label, *cells, *(both(cost["cost_ns"][traffic][name]) for traffic in ("clean", "hit")))


def print_text(report):
    for cost in report.get("rates", []):
        print_rates(cost)
