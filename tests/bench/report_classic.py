# SPDX-License-Identifier: GPL-2.0-or-later
"""The chapter of the classic experiments."""
import classic
from plots import Plot
from tables import cell, count, label, middle, table


def rate_table(points):
    rows = [[count(point["keys"]), "%.0e" % point["rate"], "%.3g" % point["expected_rate"],
             "%.3g" % point["measured_rate"] if point["false_positives"] else "none found",
             "%.3g to %.3g" % (point["measured_low"], point["measured_high"]),
             count(point["queries"])] +
            ["%.2f" % point[name] for name in ("bits_per_key", "formula_bits_per_key")
             if name in point] for point in points]
    header = ["keys", "promised", "by the model", "measured", "95 % between", "queries",
              "bits a key", "by the formula"]
    return table(header[:len(rows[0])], rows, left=0)


def bar(point):
    return (point["measured_rate"], point["measured_low"], point["measured_high"])


def rate_plots(found, page):
    bits = Plot("rate-over-bits", "False-positive rate over bits per key, %s keys"
                % count(found["by_rate"][0]["keys"]), "bits per key", "false-positive rate", "y")
    bits.add("promised", [(point["bits_per_key"], point["rate"]) for point in found["by_rate"]],
             bare=True)
    bits.add("measured", [(point["bits_per_key"], *bar(point)) for point in found["by_rate"]],
             ours=True, line=False)
    bits.add("formula (classic Bloom)", [(point["formula_bits_per_key"], point["rate"])
                                         for point in found["by_rate"]], bare=True)
    keys = Plot("rate-over-keys", "False-positive rate of full filters", "keys",
                "false-positive rate")
    for rate in dict.fromkeys(point["rate"] for point in found["by_keys"]):
        points = [point for point in found["by_keys"] if point["rate"] == rate]
        keys.add("promised %g" % rate, [(point["keys"], rate) for point in points], bare=True)
        keys.add("measured", [(point["keys"], *bar(point)) for point in points], ours=True,
                 line=False)
    load = Plot("rate-over-load", "Filter made for %s keys at %g, filled beyond"
                % (count(found["by_load"][0]["capacity"]), found["by_load"][0]["rate"]), "keys",
                "false-positive rate")
    load.add("by the model", [(point["keys"], point["expected_rate"])
                              for point in found["by_load"]], bare=True)
    load.add("measured", [(point["keys"], *bar(point)) for point in found["by_load"]], ours=True,
             line=False)
    return [page.plot(plot) for plot in (bits, keys, load)]


def check_promises(found, page):
    """A filter has luck with its keys, about a hundredth; more than 5 % is not luck."""
    for point in found["by_keys"] + found["by_rate"]:
        if point["measured_low"] > 1.05 * point["rate"]:
            page.broken.append("**false positives of %s keys**: %.3g, promised %g"
                               % (count(point["keys"]), point["measured_rate"], point["rate"]))


def vectors(found, page):
    plot = Plot("vectors", "Asking for vectors of %d integers" % found["dimensions"], "queries",
                "ms", "")
    hashes = found["hashes"]
    for name, each in sorted(hashes.items(), key=lambda item: item[0] != classic.WORDS):
        plot.add(classic.HASHES.get(name, label(name)),
                 [(point["queries"], middle(point["ns"]) / 1e6) for point in each["points"]],
                 ours=name == classic.WORDS)
    rows = [[count(points[0]["queries"])] + [cell(point["ns"], 1e-6, 2) for point in points]
            for points in zip(*(each["points"] for each in hashes.values()))]
    rows.append(["times by word, at the most queries"] +
                [cell(each["points"][-1]["over_by_word"], digits=2) for each in hashes.values()])
    rows.append(["false-positive rate"] + ["%.4f" % each["false_positive_rate"]
                                           for each in hashes.values()])
    return ["### Vectors, hashed by byte and by word", "",
            "%s vectors of %d integers are listed at a promised rate of %g; every other query is "
            "one of them (after Shuai et al., A Bloom Filter for High Dimensional Vectors, 2018). "
            "Filter and probes are the same, only the hash differs. Milliseconds for all queries, "
            "%d rounds." % (count(found["members"]), found["dimensions"], found["rate"],
                            found["rounds"]), "", *page.plot(plot),
            *table(["queries"] + [classic.HASHES.get(name, label(name)) for name in hashes], rows)]


def users(found, page):
    seconds = [[text, *(cell(found[name][step] / 1e9, digits=2)
                        for step in ("make", "hash", "filter")), cell(found[name]["each"])]
               for name, text in (("insert_ns", "inserting"), ("query_ns", "asking"))]
    if found["false_negatives"]:
        page.broken.append("**false negatives**: %d" % found["false_negatives"])
    return ["### Guava's example", "",
            "%s keys `user_<i>` at %g, then %s queries, of which the first half is listed: "
            "**%d false negatives, %d false positives** (%.2g expected). The filter takes %.1f MB, "
            "a classic one would by the formula %.1f MB; the counters behind it, for deletes, %.1f "
            "MB." % (count(found["keys"]), found["rate"], count(found["queries"]),
                     found["false_negatives"], found["false_positives"],
                     found["false_positives_expected"], found["bits_bytes"] / 1e6,
                     found["formula_bytes"] / 1e6, found["counters_bytes"] / 1e6), "",
            *table(["seconds of one CPU", "making keys", "hashing", "filter", "ns a key"], seconds)]


def formula(examples, page):
    for each in examples:
        page.compare("memory of %s keys at %g" % (count(each["keys"]), each["rate"]),
                     ("filter alone", each["bits_bytes"]),
                     ("classic Bloom filter, by the formula", each["formula_bytes"]), " MB",
                     scale=1e-6)
    rows = [["%s keys at %g" % (count(each["keys"]), each["rate"]), each["said"] or "-",
             "%.1f MB (%.1f MiB)" % (each["formula_bytes"] / 1e6, each["formula_bytes"] / 2**20),
             "%.1f MB, %.2f times" % (each["bits_bytes"] / 1e6, each["over_formula"]),
             "%.1f MB" % (each["counters_bytes"] / 1e6),
             "%.1f MB" % (each["confirmed_bytes"] / 1e6)] for each in examples]
    return ["### The memory formula", "",
            "m = -n ln p / (ln 2)^2 bits is what a classic filter needs, whose probes fall anywhere; "
            "all of ours fall in one cache line, and the sizing has the price of that in it. With the "
            "exact table behind it no false positive is left, and the filter has a rate of %g."
            % examples[0]["confirmed_rate"], "",
            *table(["", "said to need", "formula", "filter alone", "its counters",
                    "filter and exact table"], rows)]


def chapter(data, page):
    found = data["classic"]
    over_bits, over_keys, over_load = rate_plots(found, page)
    check_promises(found, page)
    facts = "With the sizing, the hashes and the counting that ship, in the memory of one process; " \
            "bits by a look-up written as the packet path's. Asked are addresses that are not " \
            "listed. Which keys a filter has moves its rate by a hundredth or two; the interval is " \
            "that of the count alone."
    if found.get("quick"):
        facts += " A hasty run: fewer keys and queries."
    return [facts, "", "### Rate against the promise", ""] + over_bits + \
        rate_table(found["by_rate"]) + ["### Rate against the number of keys", ""] + over_keys + \
        rate_table(found["by_keys"]) + ["### Beyond capacity", ""] + over_load + \
        rate_table(found["by_load"]) + vectors(found["vectors"], page) + \
        users(found["users"], page) + formula(found["memory"], page)
