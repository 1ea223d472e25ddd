# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests are wanted."""
import re

# Of these a pattern may take some; a suite is taken whole.
KINDS = ("style", "unit", "prog", "e2e")
# Suites that the short run leaves to --ci, and those that both leave to --all.
SLOW = ("checks", "fuzz", "package", "vm")
LONG = ("devices", "engines")
QUICK = r"^(style|unit|prog/test_(verdicts|edits)|e2e)/"


class Choice:
    """option: "", --quick, --ci, --all or --platforms; pattern: an extended regular expression, "" for everything."""

    def __init__(self, option, pattern):
        self.quick, self.everything = option == "--quick", option == "--all"
        self.platforms, self.slow = option == "--platforms", option in ("--ci", "--all")
        self.pattern = pattern
        try:
            self.wanted = re.compile(pattern)
        except re.error as error:
            raise ValueError("'%s' is not a regular expression: %s" % (pattern, error)) from error

    def takes(self, name):
        """A test program, or one test."""
        return bool(self.wanted.search(name)) and (not self.quick or bool(re.search(QUICK, name)))

    def of_file(self, names):
        """The names of the tests of one file that are wanted; --quick takes the first of them."""
        found = [name for name in names if self.takes(name)]
        return found[:1] if self.quick else found

    def takes_suite(self, name):
        if self.pattern:
            return not self.quick and name + "/" in self.pattern
        return not self.quick and (name not in LONG or self.everything or self.platforms) and \
            (name not in SLOW or self.slow or self.platforms)

    def left(self):
        """What this run leaves to longer ones, a line each."""
        if self.pattern or self.platforms or self.everything:
            return []
        left = ["left to scripts/test: sanitizers, most of prog/, all but one test of each file of e2e/, files that wait for minutes, "
                "short runs of suites"] if self.quick else []
        if not self.slow:
            left.append("left to scripts/test --ci: %s" % " ".join(name + "/" for name in SLOW))
        return left + ["left to scripts/test --all: long runs, and %s" % " ".join(name + "/" for name in LONG)]

    def takes_all_of(self, kind):
        """Whether the long run does all that there is of a suite, or of a kind of tests."""
        if kind in KINDS:
            return self.everything and self.pattern.lstrip("^") in ("", kind + "/")
        return self.everything and self.takes_suite(kind)
