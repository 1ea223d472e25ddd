# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses that are listed for the ports of mail, beside the same ones listed for everything."""
import statistics

from costs import MILLION, bench, cost_over
from rig import Failed, both, goal, row, say

NAMES = (("all", "no scoped list"),
         ("both_other", "and scoped ones, to another port"),
         ("both_mail", "and scoped ones, to a mail port"),
         ("scoped_other", "scoped ones alone, to another port"),
         ("scoped_mail", "scoped ones alone, to a mail port"))


def measure(scratch, quick, report):
    say("scopes, %d hosts" % MILLION)
    try:
        raw = bench(scratch, "bench_scopes", MILLION, 3 if quick else 36, MILLION // 10)
    except Failed as failure:
        report["failed"].append("scopes: %s" % failure)
        return
    report["scopes"] = {"hosts": MILLION}
    for traffic, samples in raw["ns"].items():
        if samples:
            report["scopes"][traffic] = costs_of(samples, "")
            report["scopes"][traffic + "_ipv6"] = costs_of(samples, "6")


def costs_of(samples, family):
    """What each costs over parsing alone, and what a second stage adds, as medians of rounds. family: what
    the names of its samples end with."""
    samples = {name: samples[name + family] for name in ("parse_only", "again", *dict(NAMES))}
    costs = {name: cost_over(samples[name], samples["parse_only"]) for name, _ in NAMES}
    return {"cost_ns": costs,
            "added_ns": statistics.median(
                a - b for a, b in zip(samples["both_other"], samples["all"])),
            "mail_over_all": costs["scoped_mail"]["median"] / costs["all"]["median"],
            "alike_ns": abs(statistics.median(
                a - b for a, b in zip(samples["again"], samples["all"])))}


FAMILIES = (("IPv4", ""), ("IPv6", "_ipv6"))


def goals(report):
    found = []
    for family, name in FAMILIES:
        clean = report.get("scopes", {}).get("clean" + name)
        found += [goal("clean %s packet to another port at 1M, ns a scoped list adds" % family, 5,
                       clean and clean["added_ns"]),
                  goal("clean %s packet to a mail port at 1M, times one without scope" % family, 1.5,
                       clean and clean["mail_over_all"])]
    return found


def print_text(report):
    found = report.get("scopes")
    if not found:
        return
    for family, name in FAMILIES:
        clean, listed = found["clean" + name], found["hit" + name]
        print("\n1M %s addresses listed for mail or for everything, ns a packet over parsing alone" % family)
        row("", "clean", "listed")
        for subject, text in NAMES:
            row(text, both(clean["cost_ns"][subject]), both(listed["cost_ns"][subject]))
        row("two that are alike differ by", "%.1f" % clean["alike_ns"], "%.1f" % listed["alike_ns"])
