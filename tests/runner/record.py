# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/test-results.md: a line for each kind of tests and each suite, with what its last long run came
to. A run replaces the lines of what it did, and leaves the others."""
import os
import platform
import subprocess
import time

PAGE = "docs/test-results.md"
HEAD = """<!-- SPDX-License-Identifier: GPL-2.0-or-later -->
<!-- Written by `scripts/test --all --record`. -->
# Results of the long tests

The last run of each kind of tests and of each suite with `scripts/test --all`
([tests/README.md](../tests/README.md)). A `+` behind the commit: with changes that were not committed.

| what | amount | result | seconds | seed | date | commit | kernel | CPUs |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def said_by_git(*words):
    done = subprocess.run(["git", *words], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return done.stdout.decode().strip()


def commit():
    changed = said_by_git("status", "--porcelain", "--untracked-files=no", "--", ".",
                          ":!" + PAGE)
    return (said_by_git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else "")


def rows_of(page):
    """{name: line} of the table."""
    lines = [line for line in page.splitlines() if line.startswith("| `")]
    return {line.split("`")[1]: line for line in lines}


def row(name, part):
    counts = ", ".join("%d %s" % (part.counts[kind], word) for kind, word in (
        ("ok", "passed"), ("skip", "skipped"), ("FAIL", "failed")) if part.counts[kind])
    if part.failed:
        counts += ": " + " ".join(sorted(part.failed))
    cells = ["`%s`" % name, part.amount or "all", counts, "%.0f" % part.seconds, part.seed,
             time.strftime("%Y-%m-%d", time.gmtime()), commit(), platform.release(),
             str(os.cpu_count())]
    return "| " + " | ".join(cells) + " |"


def write(parts):
    """parts: {"unit/" or "storm/" and so on: results.Part}, of those that were done whole."""
    rows = {}
    if os.path.exists(PAGE):
        with open(PAGE, encoding="utf-8") as file:
            rows = rows_of(file.read())
    rows.update({name: row(name, part) for name, part in parts.items()})
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(rows[name] + "\n" for name in sorted(rows)))
