# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments Bloom filters are known by: rates as promised and as found, and what the memory formula gives."""
import math

from plots import Plot
from rig import attempt, say, told_by
from tables import count, table


def formula_bits(keys, rate):
    """m = -n ln p / (ln 2)^2: bits of a classic Bloom filter with the best number of probes."""
    return -keys * math.log(rate) / math.log(2) ** 2


def interval(count):
    """What the expectation of a count is between, with 95 % confidence: the exact bounds of Poisson by the approximation of
    Wilson and Hilferty (within a hundredth from 1 on; 0: exact)."""
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
    point["measured_low"], point["measured_high"] = (bound / point["queries"] for bound in (low, high))
    point["bits_per_key"] = point["bits"] / point["keys"]
    point["formula_bits_per_key"] = formula_bits(1, point["rate"])
    return point


def memory(raw):
    for example in raw:
        example["formula_bytes"] = formula_bits(example["keys"], example["rate"]) / 8
        example["over_formula"] = example["bits_bytes"] / example["formula_bytes"]
        example["confirmed_bytes"] = (example["confirmed_bits_bytes"] + example["confirmed_buckets_bytes"])
    return raw


def measure(_scratch, quick, report):
    say("classic experiments")
    raw = attempt(report, "classic experiments", told_by, "bench_classic", *(["--quick"] if quick else []))
    if not raw:
        return
    if quick:
        report["skipped"].append("classic experiments beyond 1M keys; rates are counted on fewer queries (--quick)")
    for name in ("by_keys", "by_rate", "programs"):
        raw[name] = [with_rates(point) for point in raw[name]]
    report["classic"] = dict(raw, memory=memory(raw["memory"]))


# --- the chapter ---

def rate_table(points):
    rows = [[count(point["keys"]), "%.0e" % point["rate"], "%.3g" % point["expected_rate"],
             "%.3g" % point["measured_rate"] if point["false_positives"] else "none found",
             "%.3g to %.3g" % (point["measured_low"], point["measured_high"]), count(point["queries"]),
             "%.2f" % point["bits_per_key"], "%.2f" % point["formula_bits_per_key"]] for point in points]
    return table(["keys", "promised", "by the model", "measured", "95 % between", "queries", "bits a key", "by the formula"],
                 rows, left=0)


def bar(point):
    return (point["measured_rate"], point["measured_low"], point["measured_high"])


def rate_plots(found, page):
    bits = Plot("rate-over-bits", "False-positive rate over bits per key, %s keys"
                % count(found["by_rate"][0]["keys"]), "bits per key", "false-positive rate", "y")
    bits.add("promised", [(point["bits_per_key"], point["rate"]) for point in found["by_rate"]], bare=True)
    bits.add("measured", [(point["bits_per_key"], *bar(point)) for point in found["by_rate"]], ours=True, line=False)
    bits.add("formula (classic Bloom)", [(point["formula_bits_per_key"], point["rate"]) for point in found["by_rate"]], bare=True)
    keys = Plot("rate-over-keys", "False-positive rate of full filters", "keys", "false-positive rate")
    for rate in dict.fromkeys(point["rate"] for point in found["by_keys"]):
        points = [point for point in found["by_keys"] if point["rate"] == rate]
        keys.add("promised %g" % rate, [(point["keys"], rate) for point in points], bare=True)
        keys.add("measured", [(point["keys"], *bar(point)) for point in points], ours=True, line=False)
    return page.plot(bits), page.plot(keys)


def check_promises(found, page):
    """A filter has luck with its keys, about a hundredth; more than 5 % is not luck."""
    for point in found["by_keys"] + found["by_rate"]:
        if point["measured_low"] > 1.05 * point["rate"]:
            page.broken.append("**false positives of %s keys**: %.3g, promised %g"
                               % (count(point["keys"]), point["measured_rate"], point["rate"]))


def formula(examples, page):
    for each in examples:
        page.compare("memory of %s keys at %g" % (count(each["keys"]), each["rate"]), ("filter alone", each["bits_bytes"]),
                     ("classic Bloom filter, by the formula", each["formula_bytes"]), " MB", scale=1e-6)
    rows = [["%s keys at %g" % (count(each["keys"]), each["rate"]),
             "%.1f MB (%.1f MiB)" % (each["formula_bytes"] / 1e6, each["formula_bytes"] / 2**20),
             "%.1f MB, %.2f times" % (each["bits_bytes"] / 1e6, each["over_formula"]), "%.1f MB" % (each["counters_bytes"] / 1e6),
             "%.1f MB" % (each["confirmed_bytes"] / 1e6)] for each in examples]
    return ["### The memory formula", "",
            "m = -n ln p / (ln 2)^2 bits is what a classic filter needs, whose probes fall anywhere; "
            "all of ours fall in one cache line, and the sizing has the price of that in it. With the "
            "exact table behind it no false positive is left, and the filter has a rate of %g."
            % examples[0]["confirmed_rate"], "",
            *table(["", "formula", "filter alone", "its counters", "filter and exact table"], rows)]


def chapter(data, page):
    found = data["classic"]
    over_bits, over_keys = rate_plots(found, page)
    check_promises(found, page)
    facts = "With the sizing, the hashes and the counting that ship, in the memory of one process; " \
            "bits by a look-up written as the packet path's. Asked are addresses that are not " \
            "listed. Which keys a filter has moves its rate by a hundredth or two; the interval is " \
            "that of the count alone."
    if found.get("quick"):
        facts += " A hasty run: fewer keys and queries."
    return [facts, "", "### Rate against the promise", ""] + over_bits + \
        rate_table(found["by_rate"]) + ["### Rate against the number of keys", ""] + over_keys + \
        rate_table(found["by_keys"]) + formula(found["memory"], page)


def kinds(data, _page):
    """Of filters for programs, each kind by keys and by rate."""
    points, lines = data["classic"]["programs"], []
    for kind in dict.fromkeys(point["kind"] for point in points):
        lines += [kind + ":", ""] + rate_table([point for point in points if point["kind"] == kind])
    return lines
