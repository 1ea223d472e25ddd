#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/prometheus/alerts.py RULES: makes of alerts.txt what `promtool test rules` reads, and fails if an alert of the rules
is not shown to fire, or not shown to be silent."""
import json
import os
import re
import sys

TABLE = os.path.join(os.path.dirname(__file__), "alerts.txt")
LABELS = {"job": "xdp-bloom", "instance": "fw1"}


def texts(path):
    """Of each alert, what its annotations say."""
    found = {}
    with open(path, encoding="utf-8") as rules:
        for line in rules:
            name, _, value = line.strip().removeprefix("- ").partition(": ")
            if name == "alert":
                alert = found[value] = {}
            elif name in ("summary", "description"):
                alert[name] = value.strip('"')
    return found


def series(line):
    name, labels, values = re.fullmatch(r"(\w+)(?:\{(.*)\})?: (.*)", line).groups()
    if name == "other_metric":
        return {"series": name, "values": values}
    labels = {**LABELS, **dict(re.findall(r'(\w+)="([^"]*)"', labels or ""))}
    return {"series": "xdp_bloom_%s{%s}" % (name, ",".join('%s="%s"' % one for one in labels.items())), "values": values}


def fires(name, words, said):
    labels = {**LABELS, "severity": words[1], **dict(word.split("=") for word in words[2:])}
    return {"eval_time": words[0], "alertname": name, "exp_alerts": [{
        "exp_labels": {label: value for label, value in labels.items() if value},
        "exp_annotations": {what: text for what, text in said.items() if "{{" not in text}}]}


def read(said):
    tests = []
    with open(TABLE, encoding="utf-8") as table:
        for line in map(str.rstrip, table):
            words = line.split()
            if line[0] not in "# ":
                name, shown, interval = words[0], [], words[2] if "every" in words else "30s"
                tests.append({"interval": interval, "input_series": [], "alert_rule_test": shown})
            elif words[:2] == ["silent", "at"]:
                shown += [{"eval_time": time, "alertname": name, "exp_alerts": []} for time in words[2:]]
            elif words[:2] == ["fires", "at"]:
                shown.append(fires(name, words[2:], said[name]))
            elif line.startswith("      "):
                annotations[what] += " " + line.strip()
            elif line.startswith("    "):
                annotations, (what, text) = shown[-1]["exp_alerts"][0]["exp_annotations"], line.strip().split(": ", 1)
                annotations[what] = text
            elif line[0] == " ":
                tests[-1]["input_series"].append(series(line.strip()))
    return tests


def main():
    said = texts(sys.argv[1])
    tests = read(said)
    shown = [one for test in tests for one in test["alert_rule_test"]]
    for how in True, False:
        lacking = set(said) ^ {one["alertname"] for one in shown if bool(one["exp_alerts"]) == how}
        if lacking:
            sys.exit("not shown to %s: %s" % ("fire" if how else "be silent", sorted(lacking)))
    json.dump({"rule_files": [os.path.basename(sys.argv[1])], "evaluation_interval": "30s", "tests": tests}, sys.stdout)


main()
