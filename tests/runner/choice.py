# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests are wanted."""
import re

# Of these a pattern may take some; a suite is taken whole.
KINDS = ("style", "unit", "prog", "e2e")
# Suites that the short run leaves out.
LONG = ("devices",)
QUICK = r"^(style|unit|prog/test_(verdicts|edits)|e2e)/"


class Choice:
    """option: "", --quick, --all or --platforms; pattern: an extended regular expression, "" for everything."""

    def __init__(self, option, pattern):
        self.quick, self.everything = option == "--quick", option == "--all"
        self.platforms = option == "--platforms"
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
        return not self.quick and (name not in LONG or self.everything or self.platforms)

    def takes_all_of(self, kind):
        """Whether the long run does all that there is of a suite, or of a kind of tests."""
        if kind in KINDS:
            return self.everything and self.pattern.lstrip("^") in ("", kind + "/")
        return self.everything and self.takes_suite(kind)
