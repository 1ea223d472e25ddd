# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/performance/report.md and its plots, out of what scripts/bench -j printed. Who is ahead is computed from the figures."""
import json
import os
import re
import sys

import classic
import costs
import cpus
import fleet
import idle
import meters
import report_commands
import report_limits
import report_packets
import sockets
from plots import LICENCE, need_gnuplot, write_all
from rig import ROOT, Failed, amount, limit_of
from tables import Page, aligned, count, table

FOLDER = os.path.join(ROOT, "docs", "performance")
DOCUMENT = os.path.join(FOLDER, "report.md")
SCHEMA = 4
INTRODUCTION = (
    "`scripts/bench --report` makes this page from what `scripts/bench -j` printed; do not edit it. "
    "[The summary](../performance.md), [its details](details.md) and [what was tried](tried.md) are written by hand. Subjects "
    "take turns in one run. "
    "Figures are medians with minima in brackets: the machine is shared, so a figure alone means little, "
    "and only ratios within one run carry over to other machines. In brackets behind a cost over parsing "
    "alone: the least time of the subject less the least time of parsing alone; it can exceed the median of differences.")

# Section of scripts/bench, key in its JSON, title, what writes it.
CHAPTERS = (
    (None, None, "Limits, and the distance from them", report_limits.chapter),
    ("cost", "program_cost", "Program cost", report_packets.program_cost),
    ("cost", "program_cost6", "Program cost of IPv6", report_packets.program_cost6),
    ("cost", "countries", "Program cost of countries", costs.countries_chapter),
    ("cpus", "cpus", "Several CPUs", cpus.chapter),
    ("paths", "paths", "Whole path", report_packets.paths),
    ("commands", "commands", "Whole commands", report_commands.commands),
    ("huge", "huge_import", "Import of 100M addresses", report_commands.huge),
    ("cost", "memory", "Memory of the kernel's maps", report_commands.memory),
    ("names", "names", "Domains", report_packets.names),
    ("classic", "classic", "Classic experiments", classic.chapter),
)
# Those of which docs/performance/details.md and other pages have the figures.
OTHERS = (
    ("scopes", "scopes", "Lists with a scope", costs.scopes_chapter),
    ("limits", "limits", "Limits", meters.chapter),
    ("socket", "socket", "Adds over the socket", sockets.chapter),
    ("fleet", "fleet", "Hosts that share a list", fleet.chapter),
    ("idle", "idle", "bloomd, while nothing happens", idle.chapter),
    ("classic", "classic", "Filters for programs", classic.kinds),
)


def read(paths):
    """One report of several: of each section the last that was measured."""
    data = {"runs": [], "goals": [], "skipped": [], "failed": []}
    measured = set()
    for path in paths:
        with open(path) as file:
            found = json.load(file)
        if found.get("schema") != SCHEMA:
            raise Failed("%s: not of this version of scripts/bench" % path)
        data["runs"].append(found["run"])
        sections = found["run"]["sections"]
        for section, key, *_ in CHAPTERS:
            if section in sections and key in found:
                data[key] = found[key]
        for name in ("goals", "skipped", "failed"):
            data[name] = newer(data[name], found[name], sections, measured)
        measured.update(sections)
    return data


def newer(before, after, sections, measured):
    """What is told of sections: by the run that measured them last, of others by the last run."""
    after = [each for each in after if each["section"] in sections or each["section"] not in measured]
    told = {each["section"] for each in after}.union(sections)
    return [each for each in before if each["section"] not in told] + after


def version(release):
    """Of a kernel, without what a builder adds to it."""
    return re.match(r"[\d.]*", release)[0].rstrip(".")


def runs(data):
    rows = []
    for found in data["runs"]:
        memory = found.get("memory_bytes")
        rows.append([found["date"], "`%s`" % found["command"], version(found["kernel"]),
                     "%d CPUs, %s%s" % (found["cpus"], found.get("cpu") or "not told",
                                        ", %.0f GiB" % (memory / 2**30) if memory else ""), ", ".join(found["sections"])])
    return table(["date", "command", "Linux", "machine", "sections"], rows, left=5)


def missed_by(goal):
    """How far off, whichever way the goal goes."""
    low, high = sorted((goal["limit"], goal["value"]))
    if low <= 0:
        return "by %.3g" % (high - low)
    return "by %.2f times" % (high / low) if high > 2 * low else "by %.2g %%" % (100 * (high / low - 1))


def misses(goals):
    return ["**%s**: %s, the goal is %s: missed %s" % (goal["goal"], amount(goal["value"]), limit_of(goal), missed_by(goal))
            for goal in goals if goal["reached"] is False]


def goals_table(goals):
    rows = [[goal["goal"], limit_of(goal), amount(goal["value"]),
             {True: "yes", False: "**no**", None: "not measured"}[goal["reached"]]] for goal in goals]
    return table(["", "goal", "found", "reached"], rows)


def items(lines, otherwise):
    return ["- " + line for line in lines] + [""] if lines else [otherwise, ""]


def front(data, page):
    """What is worse, before anything that is good."""
    known = [goal for goal in data["goals"] if goal["reached"] is not None]
    losses = sorted(page.losses, key=lambda loss: -loss[0])
    lines = ["## Worse than a peer", ""]
    lines += items([told for _, told in losses], "Of %s comparisons with a peer in this run none was lost."
                   % count(page.compared) if page.compared else "No peer was measured.")
    if losses:
        lines += ["%s of %s comparisons with a peer were lost." % (count(len(losses)), count(page.compared)), ""]
    lines += ["## Goals and promises missed", ""]
    lines += items(misses(data["goals"]) + page.broken, "None of the %s that were measured." % count(len(known))
                   if known else "No goal was measured.")
    if data["failed"]:
        lines += ["## Could not be measured", ""]
        lines += items([each["reason"] for each in data["failed"]], "")
    return lines


def chapters(data, page):
    body = []
    for _, key, title, write in CHAPTERS:
        body += ["## " + title, ""] + (["Not measured.", ""] if key and not data.get(key) else write(data, page))
    return body


def text(data, sections):
    """What these sections found, for who reads it as it is."""
    page = Page()
    lines = ["Medians, minima in brackets. Everything took turns in one run on %d CPUs, Linux %s." % (
        data["run"]["cpus"], data["run"]["kernel"]), ""]
    for section, key, title, write in CHAPTERS[1:] + OTHERS:
        if section in sections and data.get(key):
            lines += ["# " + title, ""] + write(data, page)
    lines = [line for line in lines if not line.startswith("![")]
    lines += ["# Goals", ""] + goals_table(data["goals"]) if data["goals"] else []
    lines += ["skipped: " + each["reason"] for each in data["skipped"]]
    return "\n".join(aligned(lines + ["NOT MEASURED: " + each["reason"] for each in data["failed"]]))


def document(data):
    """The Markdown, and the plots it shows."""
    page = Page()
    body = chapters(data, page)
    lines = [LICENCE, "# Performance, as measured", "", INTRODUCTION, ""]
    if any("--quick" in run["command"] for run in data["runs"]):
        lines += ["**A hasty run (`--quick`) is among them: few rounds, small sizes.**", ""]
    lines += runs(data) + front(data, page)
    lines += ["## Goals", ""]
    lines += goals_table(data["goals"]) if data["goals"] else ["Not measured.", ""]
    lines += body
    if data["skipped"]:
        lines += ["## Left out", ""] + items([each["reason"] for each in data["skipped"]], "")
    return "\n".join(lines).rstrip("\n") + "\n", page.plots


def main(paths):
    try:
        need_gnuplot()
        page, plots = document(read(paths))
        write_all(plots, FOLDER)
    except (Failed, OSError, json.JSONDecodeError) as failure:
        print("scripts/bench: no report: %s" % failure, file=sys.stderr)
        return 1
    with open(DOCUMENT, "w") as out:
        out.write(page)
    return 0
