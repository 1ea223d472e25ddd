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
            report["scopes"][traffic] = costs_of(samples)


def costs_of(samples):
    """What each costs over parsing alone, and what a second stage adds, as medians of rounds."""
    costs = {name: cost_over(samples[name], samples["parse_only"]) for name, _ in NAMES}
    return {"cost_ns": costs,
            "added_ns": statistics.median(
                a - b for a, b in zip(samples["both_other"], samples["all"])),
            "mail_over_all": costs["scoped_mail"]["median"] / costs["all"]["median"],
            "alike_ns": abs(statistics.median(
                a - b for a, b in zip(samples["again"], samples["all"])))}


def goals(report):
    clean = report.get("scopes", {}).get("clean")
    return [goal("clean packet to another port at 1M, ns a scoped list adds", 5,
                 clean and clean["added_ns"]),
            goal("clean packet to a mail port at 1M, times one without scope", 1.5,
                 clean and clean["mail_over_all"])]


def print_text(report):
    found = report.get("scopes")
    if not found:
        return
    print("\n1M addresses listed for mail or for everything, ns a packet over parsing alone")
    row("", "clean", "listed")
    for name, text in NAMES:
        row(text, both(found["clean"]["cost_ns"][name]), both(found["hit"]["cost_ns"][name]))
    row("two that are alike differ by", "%.1f" % found["clean"]["alike_ns"],
        "%.1f" % found["hit"]["alike_ns"])
