# SPDX-License-Identifier: GPL-2.0-or-later
"""dnset: names as rbldnsd reads them, with wildcards and exclusions."""
import rbldnsd
from rbldnsd import PACKAGES, engines, is_left_out, may_be_refused      # pylint: disable=unused-import

NAMES = True


def name(draw, most=3):
    return ".".join([draw.choice("abc") for _ in range(draw.randint(0, most))] + [draw.choice(("x.test", "y.test"))])


def entry_of(draw, _kind):
    return draw.choice(("", "", ".", "*.")) + name(draw)


def question_of(draw, _kind):
    return name(draw, 4)


def make(draw):
    return rbldnsd.file_of(draw, "dnset", entry_of, question_of)
