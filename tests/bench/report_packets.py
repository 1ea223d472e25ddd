# SPDX-License-Identifier: GPL-2.0-or-later
"""Chapters of what packets cost."""
import re

import costs as timed
from plots import Plot
from tables import cell, count, is_limit, is_ours, is_peer, label, middle, ranged, table

SHIPS = ("hosts", "hosts_and_prefixes")  # of the subjects that are ours: what a user gets
TRAFFIC = {"clean": "clean packet", "hit": "listed packet",
           "near": "listed packet from next to an allowed prefix"}


def compared(found):
    """What a user gets; others of ours are timed to see what a stage costs."""
    return [name for name in SHIPS if name in found] or list(filter(is_ours, found))


def cost_table(cost):
    """Subjects over traffics."""
    costs = cost["cost_ns"]
    subjects = list(dict.fromkeys(name for found in costs.values() for name in found))
    sizes = cost.get("read_bytes", {})
    rows = [[label(name) + (", %s" % timed.kibibytes(sizes[name]) if name in sizes else "")] +
            [cell(costs[traffic].get(name)) for traffic in costs] for name in subjects]
    return table(["ns a packet over parsing alone"] + [TRAFFIC.get(name, name) for name in costs], rows)


def against_table(cost):
    """What ships as so many times each other subject."""
    costs = cost["cost_ns"]
    columns = [(name, traffic) for name in SHIPS for traffic in costs if name in costs[traffic]]
    rows = [[label(other)] + [ranged(over.get(traffic, {}).get(name), 3) for name, traffic in columns]
            for other, over in cost["over"].items() if over]
    return table(["cost, times that of (of minima; quartiles of rounds)"] +
                 ["%s: %s" % (label(name), TRAFFIC[traffic]) for name, traffic in columns], rows)


def compare_costs(cost, page):
    for traffic, found in cost["cost_ns"].items():
        for name in compared(found):
            for other in filter(is_peer, found):
                page.compare("program cost, %s, %s entries" % (TRAFFIC.get(traffic, traffic), count(cost["hosts"])),
                             (label(name), found[name]), (label(other), found[other]), " ns", noise=cost.get("noise_ns"))


def cost_plots(costs, page):
    """Cost over entries: a plot for each traffic, a line for each peer, the limit and what ships."""
    lines = []
    for traffic in dict.fromkeys(name for cost in costs for name in cost["cost_ns"]):
        plot = Plot("cost-" + traffic, "Program cost, %s" % TRAFFIC.get(traffic, traffic),
                    "entries", "ns a packet over parsing alone")
        found = [cost for cost in sorted(costs, key=lambda cost: cost["hosts"]) if traffic in cost["cost_ns"]]
        names = dict.fromkeys(name for cost in found for name in cost["cost_ns"][traffic]
                              if not is_ours(name) or name in compared(cost["cost_ns"][traffic]))
        for name in sorted(names, key=lambda name: (not is_ours(name), not is_limit(name))):
            plot.add(label(name), [(cost["hosts"], middle(cost["cost_ns"][traffic].get(name)))
                                   for cost in found], ours=is_ours(name))
        lines += page.plot(plot)
    return lines


def program_cost(data, page):
    costs = data["program_cost"]
    lines = ["`BPF_PROG_TEST_RUN` of the program that ships, loaded by the code that ships; sources "
             "are rewritten in the kernel, every subject counts alike. Cost is the median of "
             "what a round took longer than with a program that parses and counts only.", ""]
    lines += cost_plots(costs, page)
    for cost in costs:
        compare_costs(cost, page)
        lines += ["### %s entries" % count(cost["hosts"]), ""]
        facts = [text for name, text in (("rounds", "%s rounds"), ("repeats", "%s packets each"),
                                         ("prefixes", "%s prefixes where prefixes are listed"),
                                         ("rate", "Bloom stage at a rate of %s")) if cost.get(name)
                 for text in [text % count(cost[name])]]
        if cost.get("noise_ns") is not None:
            facts.append("two filters that are alike differ by %.1f ns in a round" % cost["noise_ns"])
        lines += [", ".join(facts) + ".", ""] if facts else []
        lines += cost_table(cost) + against_table(cost)
    return lines


def compare_costs6(found, page):
    """Each subject with the peers that have its list."""
    called, costs = dict(timed.names6(found)), found["cost_ns"]
    for traffic, text in timed.TRAFFIC6:
        for subject, peers in timed.PEERS6.items():
            for peer, name in peers:
                page.compare("program cost of IPv6, %s" % text, ("filter, " + called[subject], costs[traffic].get(subject)),
                             (name, costs[traffic].get(peer)), " ns")


def program_cost6(data, page):
    lines = ["As above, with random addresses: hosts and /64 each in a /32 of its own, of several lengths four in each. "
             "Behind each list stand the kernel's maps that have the same; of tries the kernel tells the leaves alone.", ""]
    for found in data["program_cost6"]:
        compare_costs6(found, page)
        costs = found["cost_ns"]
        lines += ["### %s addresses of IPv6" % count(found["hosts"]), "",
                  "%s rounds of %s packets." % (count(found["rounds"]), count(found["repeats"])), ""]
        lines += table(["ns a packet over parsing alone"] + [text for _, text in timed.TRAFFIC6],
                       [[text] + [cell(costs[traffic].get(name)) for traffic, _ in timed.TRAFFIC6]
                        for name, text in timed.names6(found)])
        lines += table(["bytes an entry", "bits, or the peer's map", "exact table", "tables of lengths"],
                       [[text] + [cell(part, digits=2) for part in parts] for text, *parts in timed.memory6(found)])
    return lines


def workload_words(workload, but=()):
    """What a workload is, in words; of what is named in but, nothing."""
    words = {"entries": count(workload["entries"]) + " entries", "source": workload["source"],
             "family": "IPv%d" % workload["family"], "bytes": "%s bytes" % count(workload["bytes"]),
             "share_listed": {0: "clean", 1: "all listed"}.get(
                 workload["share_listed"], "%g %% listed" % (100 * workload["share_listed"]))}
    return ", ".join(text for name, text in words.items() if name not in but)


def path_table(found):
    """A row for each subject, fastest first."""
    subjects = found["subjects"]
    limit = "over_drop_all" if found["workload"]["share_listed"] == 1 else "over_pass_all"
    header = ["", "ns a packet", "times the filter", "times XDP_%s" % limit[5:9].upper(), "dropped"]
    rows = [[each["label"], cell(each["packet_ns"], digits=0), ranged(each["times_filter"]),
             ranged(each[limit]), "%.4g %%" % (100 * each["dropped_share"])]
            for each in sorted(subjects.values(), key=lambda each: middle(each["packet_ns"]))]
    return table(header, rows)


def path_plots(paths, page):
    """Cost over entries for every kind of traffic that was measured at several sizes."""
    kinds = {}
    for found in paths:
        kinds.setdefault(workload_words(found["workload"], ("entries",)), []).append(found)
    lines = []
    for kind, group in kinds.items():
        group.sort(key=lambda found: found["workload"]["entries"])
        if len(group) < 2:
            continue
        plot = Plot("path-" + re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-"),
                    "Whole path: " + kind, "entries", "ns a packet")
        labels = {name: each["label"] for found in group for name, each in found["subjects"].items()}
        for name in sorted(labels, key=lambda name: (not is_ours(name), not is_limit(name))):
            plot.add(labels[name], [(found["workload"]["entries"], middle(found["subjects"].get(name, {}).get("packet_ns")))
                                    for found in group], ours=is_ours(name))
        lines += page.plot(plot)
    return lines


def paths(data, page):
    lines = ["Live frames with a fresh source each go over a veth, native XDP; the generator's own "
             "time is measured in the same run and taken off. Listed packets are set against an XDP "
             "program that drops at once, clean ones against one that passes at once. Behind a "
             "ratio stand that of minima and the quartiles of single rounds.", ""] + path_plots(data["paths"], page)
    for each in data["paths"]:
        words = workload_words(each["workload"])
        lines += ["### " + words[:1].upper() + words[1:], "", "%d rounds of %s frames; the "
                  "generator alone takes %s ns a frame." % (each["rounds"], count(each["frames"]),
                                                            cell(each["generator_ns"], digits=0)), ""] + path_table(each)
        subjects = each["subjects"]
        for name in filter(is_ours, subjects):
            for other in filter(is_peer, subjects):
                page.compare("whole path, " + words, (subjects[name]["label"], subjects[name]["packet_ns"]),
                             (subjects[other]["label"], subjects[other]["packet_ns"]), " ns", digits=0)
    return lines


def names(data, page):
    found, lines = data["names"], []
    cost, answers = found.get("program_cost"), found.get("answers")
    if cost:
        subjects = list(dict.fromkeys(name for each in cost["cost_ns"].values() for name in each))
        lines += table(["%s names; ns a packet over parsing alone" % count(cost["names"])] + [label(name) for name in subjects],
                       [[traffic.replace("-", ", ")] + [cell(each.get(name)) for name in subjects]
                        for traffic, each in cost["cost_ns"].items()])
    if answers:
        subjects = answers["subjects"]
        lines += table(["refusing %s names over a veth" % count(answers["names"]), "ns a packet",
                        "answers a second of a CPU", "share answered"],
                       [[label(name)] + [cell(each.get(key), digits=digits) for key, digits in
                                         (("packet_ns", 0), ("answers_s", 0), ("answered_share", 3))]
                        for name, each in subjects.items()])
        for name in filter(is_ours, subjects):
            for other in filter(is_peer, subjects):
                page.compare("refusing names, answers a second of a CPU", (label(name), subjects[name].get("answers_s")),
                             (label(other), subjects[other].get("answers_s")), higher=True, digits=0)
    return lines
