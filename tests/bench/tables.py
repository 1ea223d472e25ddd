# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report is made of: tables, plots, and who won which comparison."""
import re

# By the name a subject has in a report. What is in neither of these is a peer.
LIMITS = ("parse_only", "line_read", "table_read", "drop_all", "pass_all", "turn_all", "no_filter",
          "nft_drop", "iptables_drop")
OURS = re.compile(r"filter|bloomctl|hosts|hosts_and_prefixes|(bare|confirm|allow)-.*")
LABELS = {
    "line_read": "one random line read (the limit)",
    "table_read": "one random line read, of the exact table's size", "parse_only": "parsing alone",
    "bpf_hash": "BPF_MAP_TYPE_HASH", "bpf_hash_grown": "BPF_MAP_TYPE_HASH, not preallocated",
    "bpf_bloom": "BPF_MAP_TYPE_BLOOM_FILTER, not confirmed",
    "lpm_trie": "BPF_MAP_TYPE_LPM_TRIE",
    "classic_bloom": "classic Bloom filter, not confirmed",
    "hosts": "filter as it ships", "hosts_and_prefixes": "filter as it ships, prefixes listed",
    "allow-none": "filter as it ships, nothing allowed",
    "allow-many": "filter as it ships, 10,000 allowed",
    "bare-again": "filter, rate 1e-4, not confirmed, built again",
    "drop_all": "XDP_DROP at once (the limit)", "turn_all": "XDP_TX at once (the limit)",
}


def label(name):
    if name in LABELS:
        return LABELS[name]
    rated = re.match(r"(bare|confirm)-(\d.*)$", name)
    if rated:
        return "filter, rate %s, %s" % (rated[2], "confirmed" if rated[1] == "confirm" else "not confirmed")
    return name.replace("_", " ")


def is_limit(name):
    return name in LIMITS


def is_ours(name):
    return bool(OURS.fullmatch(name))


def is_peer(name):
    return not is_limit(name) and not is_ours(name)


def count(number):
    """With commas; fractions as they are."""
    return "{:,}".format(number) if isinstance(number, int) else "%g" % number


def is_figure(value):
    return isinstance(value, dict) and "median" in value


def middle(value):
    """The number of a figure, or of a number; None of anything else."""
    if is_figure(value):
        return value["median"]
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def cell(value, scale=1.0, digits=1):
    """A median with its minimum, or a number, or a word."""
    if is_figure(value):
        texts = ["-" if value.get(key) is None else "{:,.{}f}".format(value[key] * scale, digits) for key in ("median", "min")]
        return texts[0] if "min" not in value else "%s (%s)" % tuple(texts)
    if value is None:
        return "-"
    if isinstance(value, float):
        return "{:,.{}f}".format(value * scale, digits) if abs(value * scale) >= 10 ** -digits \
            or not value else "%.2g" % (value * scale)
    if isinstance(value, int):
        return count(value) if scale == 1 else "{:,.{}f}".format(value * scale, digits)
    return str(value)


def table(header, rows, left=1):
    """The first columns to the left, all others to the right."""
    def line(cells):
        return "| %s |" % " | ".join(str(text).replace("|", "\\|") for text in cells)

    marks = ["---" if number < left else "---:" for number in range(len(header))]
    return [line(header), line(marks)] + [line(cells) for cells in rows] + [""]


def aligned(lines):
    """The same for who reads it as it is: the cells of a column as wide as the widest."""
    told, rows = [], []
    for line in [*lines, ""]:
        if line.startswith("| "):
            rows.append(line[2:-2].split(" | "))
            continue
        widths = [max(map(len, cells)) for cells in zip(*rows)]
        told += ["  ".join(text.rjust(width) if number else text.ljust(width)
                           for number, (text, width) in enumerate(zip(cells, widths))).rstrip()
                 for cells in rows if cells[0] != "---"]
        rows = []
        told.append(line)
    return told[:-1]


def ranged(found, digits=2):
    """A ratio of medians, in brackets that of minima and the quartiles of single rounds."""
    if middle(found) is None:
        return "-"
    text = {key: "{:,.{}f}".format(value, digits) for key, value in found.items() if value is not None}
    behind = [text["min"]] if "min" in text else []
    behind += ["%s to %s" % (text["low"], text["high"])] if "low" in text else []
    return text["median"] + (" (%s)" % "; ".join(behind) if behind else "")


class Page:
    """What sections add to besides their lines."""

    def __init__(self):
        self.plots = []
        self.losses = []  # how many times a peer was better, and the text
        self.broken = []  # promises
        self.compared = 0

    def compare(self, what, ours, peer, unit="", higher=False, noise=None, scale=1.0, digits=1):
        """ours, peer: (label, figure). Less is better unless told."""
        one, other = middle(ours[1]), middle(peer[1])
        if one is None or other is None:
            return
        self.compared += 1
        if one >= other if higher else one <= other:
            return
        more, less = (other, one) if higher else (one, other)
        # Nothing is so many times a cost that is not above zero.
        times = more / less if less > 0 else None
        text = "%s: %s %s%s, %s %s%s" % (what, ours[0], cell(ours[1], scale, digits), unit, peer[0],
                                         cell(peer[1], scale, digits), unit)
        if times:
            text += "; %.2f times" % times
        if noise and abs(one - other) <= noise:
            text += ", within the noise of %.1f%s" % (noise * scale, unit)
        self.losses.append((times or float("inf"), text))

    def plot(self, plot):
        """The lines that show it; none if there is nothing to show."""
        if not plot.series:
            return []
        self.plots.append(plot)
        return ["![%s](%s.svg)" % (plot.title, plot.name), ""]
