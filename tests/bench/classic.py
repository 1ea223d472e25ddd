# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments Bloom filters are known by: rates as promised and as found, hashes by byte and by
word, Guava's example, what the memory formula gives."""
import json
import math
import os
import statistics
import time

from rig import PROGRAMS, Failed, both, ratio, row, run, say

# What the examples of the formula are said to give.
SAID = {1e-4: "0.23 GB", 1e-8: "457 MB"}
WORDS = "siphash13_by_word"  # the hash of the filter as it is
HASHES = {"fnv1a_by_byte": "FNV-1a, a byte at a time",
          "siphash13_by_byte": "SipHash-1-3, a byte at a time",
          WORDS: "SipHash-1-3, 8 bytes at a time (the filter's)"}


def formula_bits(keys, rate):
    """m = -n ln p / (ln 2)^2: bits of a classic Bloom filter with the best number of probes."""
    return -keys * math.log(rate) / math.log(2) ** 2


def interval(count):
    """What the expectation of a count is between, with 95 % confidence: the exact bounds of Poisson
    by the approximation of Wilson and Hilferty (within a hundredth from 1 on; 0: exact)."""
    low = 0.0
    if count:
        low = count * (1 - 1 / (9 * count) - 1.96 / (3 * math.sqrt(count))) ** 3
    after = count + 1
    high = 3.69 if not count else after * (1 - 1 / (9 * after) + 1.96 / (3 * math.sqrt(after))) ** 3
    return max(low, 0.0), high


def with_rates(point):
    """A row as counted, and what follows from it."""
    low, high = interval(point["false_positives"])
    point["measured_rate"] = point["false_positives"] / point["queries"]
    point["measured_low"], point["measured_high"] = (bound / point["queries"]
                                                     for bound in (low, high))
    if "blocks" in point:
        point["bits_per_key"] = point["blocks"] * 512 / point["keys"]
        point["formula_bits_per_key"] = formula_bits(1, point["rate"])
    if "bits" in point:
        point["bits_per_key"] = point["bits"] / point["keys"]
        point["formula_bits_per_key"] = formula_bits(1, point["rate"])
    return point


def vectors(raw):
    """Medians and minima; how much longer a hash takes than the filter's."""
    for found in raw["hashes"].values():
        found["false_positive_rate"] = found["false_positives"] / found["others"]
        for point in found["points"]:
            values = point.pop("ns")
            point["ns"] = {"median": statistics.median(values), "min": min(values)}
    words = raw["hashes"][WORDS]["points"]
    for found in raw["hashes"].values():
        for point, own in zip(found["points"], words):
            point["over_by_word"] = ratio(point["ns"], own["ns"])
    return raw


def users(raw):
    raw["formula_bytes"] = formula_bits(raw["keys"], raw["rate"]) / 8
    raw["false_positives_expected"] = raw["expected_rate"] * (raw["queries"] - raw["keys"])
    for name, count in (("insert_ns", raw["keys"]), ("query_ns", raw["queries"])):
        raw[name]["each"] = sum(raw[name].values()) / count
    return raw


def memory(raw):
    for example in raw:
        example["formula_bytes"] = formula_bits(example["keys"], example["rate"]) / 8
        example["said"] = SAID.get(example["rate"])
        example["over_formula"] = example["bits_bytes"] / example["formula_bytes"]
        example["confirmed_bytes"] = (example["confirmed_bits_bytes"] +
                                      example["confirmed_buckets_bytes"])
    return raw


def measure(_scratch, quick, report):
    say("classic experiments")
    start = time.perf_counter()
    try:
        raw = json.loads(run(os.path.join(PROGRAMS, "bench_classic"),
                             *(["--quick"] if quick else [])))
    except Failed as failure:
        report["failed"].append("classic experiments: %s" % failure)
        return
    if quick:
        report["skipped"].append("classic experiments beyond 1M keys; rates are counted on fewer "
                                 "queries (--quick)")
    for name in ("by_keys", "by_rate", "by_load", "programs"):
        raw[name] = [with_rates(point) for point in raw[name]]
    report["classic"] = dict(raw, vectors=vectors(raw["vectors"]), users=users(raw["users"]),
                             memory=memory(raw["memory"]), seconds=time.perf_counter() - start)


def print_rates(title, points):
    print("\n" + title)
    row("keys", "promised", "model", "found", "95 % between", "bits a key", "by the formula")
    for point in points:
        row("%d" % point["keys"], "%.0e" % point["rate"], "%.3g" % point["expected_rate"],
            "%.3g" % point["measured_rate"],
            "%.3g and %.3g" % (point["measured_low"], point["measured_high"]),
            *("%.2f" % point[name] if name in point else "-"
              for name in ("bits_per_key", "formula_bits_per_key")))


def print_vectors(found):
    print("\nQuery time of vectors of %d integers, %d listed at a rate of %g, half of the queries "
          "listed: ms in all; %d rounds" % (found["dimensions"], found["members"], found["rate"],
                                            found["rounds"]))
    row("queries", *(HASHES.get(name, name).split(" (")[0].replace("SipHash-1-3", "SipHash")
                     .replace(" at a time", "") for name in found["hashes"]))
    for points in zip(*(each["points"] for each in found["hashes"].values())):
        row("%d" % points[0]["queries"], *(both(point["ns"], 1e-6, 2) for point in points))
    row("times words, at the most queries", *(both(each["points"][-1]["over_by_word"], 1, 2)
                                              for each in found["hashes"].values()))
    row("false-positive rate", *("%.4f" % each["false_positive_rate"]
                                 for each in found["hashes"].values()))


def print_users(found):
    print("\nGuava's example: %d keys user_<i> at %g, then %d queries, half of them listed"
          % (found["keys"], found["rate"], found["queries"]))
    row("false negatives", "%d" % found["false_negatives"])
    row("false positives (expected)", "%d (%.2g)" % (found["false_positives"],
                                                     found["false_positives_expected"]))
    row("filter, MiB (by the formula)", "%.1f (%.1f)" % (found["bits_bytes"] / 2**20,
                                                         found["formula_bytes"] / 2**20))
    row("counters behind it, MiB", "%.1f" % (found["counters_bytes"] / 2**20))
    row("", "making keys", "hashing", "filter", "ns a key")
    for name, label in (("insert_ns", "inserting, s"), ("query_ns", "asking, s")):
        row(label, *("%.2f" % (found[name][step] / 1e9) for step in ("make", "hash", "filter")),
            "%.1f" % found[name]["each"])


def print_memory(examples):
    print("\nMemory formula, MB")
    row("", "said", "formula", "filter alone", "times", "filter and exact")
    for example in examples:
        row("%d keys at %g" % (example["keys"], example["rate"]), example["said"] or "-",
            "%.1f (%.1f MiB)" % (example["formula_bytes"] / 1e6, example["formula_bytes"] / 2**20),
            "%.1f" % (example["bits_bytes"] / 1e6), "%.2f" % example["over_formula"],
            "%.1f" % (example["confirmed_bytes"] / 1e6))


def print_text(report):
    found = report.get("classic")
    if not found:
        return
    print_rates("False-positive rate against the number of keys", found["by_keys"])
    print_rates("False-positive rate against the promised one", found["by_rate"])
    print_rates("False-positive rate of a filter made for %d keys"
                % found["by_load"][0]["capacity"], found["by_load"])
    for kind in dict.fromkeys(point["kind"] for point in found["programs"]):
        print_rates("Filters for programs, %s" % kind,
                    [point for point in found["programs"] if point["kind"] == kind])
    print_vectors(found["vectors"])
    print_users(found["users"])
    print_memory(found["memory"])
    print("Classic experiments took %.0f s and %.0f MiB"
          % (found["seconds"], found["peak_bytes"] / 2**20))
