# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots by gnuplot: of the same figures, the same SVG."""
import html
import os
import re
import shutil
import subprocess

from rig import Failed

LICENCE = "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->"
# Told apart also by who does not see all colours: of Okabe and Ito, 2008, then of Tol, 2018. With more
# lines than colours, the rest is dashed.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999",
           "#882255", "#117733", "#332288", "#999933")
MARKS = range(4, 16)
SETTINGS = """set terminal svg size 820,520 noenhanced font 'sans-serif,13' background '#ffffff'
set key outside below left Left reverse samplen 2 width 2
set grid back linecolor '#dddddd'
set border 3
set tics nomirror
set title "{title}"
set xlabel "{x}" offset 0,0.6
set ylabel "{y}"
"""


class Plot:
    """Lines of points. Both axes are logarithmic unless told; what such an axis cannot show, zero and below, is left out."""

    def __init__(self, name, title, x, y, log="xy"):
        self.name = name
        self.title = title
        self.settings = SETTINGS.format(title=plain(title), x=plain(x), y=plain(y))
        self.log = log
        self.series = []

    def add(self, label, points, ours=False, line=True, bare=False):
        """points: (x, y), or (x, y, low, high) with a bar. bare: a line without points."""
        shown = [point for point in points if self.can_show(point)]
        if shown:
            self.series.append((label, shown, ours, line, bare))

    def can_show(self, point):
        if any(value is None for value in point):
            return False
        return ("x" not in self.log or point[0] > 0) and ("y" not in self.log or point[1] > 0)

    def script(self):
        places = [point[0] for _, points, *_ in self.series for point in points]
        lines = [self.settings]
        if self.log:
            lines.append("set logscale %s 10" % self.log)
        if "x" in self.log:
            lines.append("set xrange [%.6g:%.6g]" % (min(places) / 1.6, max(places) * 1.6))
        for number, axis in enumerate("xy"):
            lines.append("set format %s '%s'" % (axis, self.number_format(number)))
        drawn = []
        for number, (label, points, ours, line, bare) in enumerate(self.series):
            lines.append("$s%d << END" % number)
            lines += [" ".join("%.6g" % value for value in point) for point in points]
            lines.append("END")
            style = "linecolor '%s' linewidth %g dashtype %d" % (
                COLOURS[number % len(COLOURS)], 3 if ours else 1.5, 1 + number // len(COLOURS))
            mark = " pointtype %d pointsize 0.8" % MARKS[(1 + number) % len(MARKS)]
            if len(points[0]) == 4:
                drawn.append("$s%d with yerrorbars %s%s notitle" % (number, style, mark))
            how = "lines" if bare else "linespoints" if line else "points"
            drawn.append("$s%d using 1:2 with %s %s%s title \"%s\"" % (number, how, style, "" if bare else mark, plain(label)))
        lines.append("plot " + ", ".join(drawn))
        return "\n".join(lines) + "\n"

    def number_format(self, axis):
        """As a person reads it: rates as powers of ten, 0.1 and not 100m (which is minutes to some), large numbers as 10k."""
        least = min(point[axis] for _, points, *_ in self.series for point in points)
        if axis and "y" in self.log and least < 0.01:
            return "%.0e"
        return "%g" if least < 1 else "%.0s%c"

    def write(self, directory):
        done = subprocess.run(["gnuplot"], check=False, input=self.script(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=dict(os.environ, LC_ALL="C"))
        if done.returncode or "</svg>" not in done.stdout:
            raise Failed("gnuplot, %s: %s" % (self.name, done.stderr.strip()[-500:]))
        first, rest = done.stdout.split("\n", 1)
        # Not by which release of gnuplot: the same figures give the same file.
        rest = re.sub(r"<title>Gnuplot</title>\n<desc>.*?</desc>",
                      "<title>%s</title>" % html.escape(self.title), rest, count=1, flags=re.DOTALL)
        with open(os.path.join(directory, self.name + ".svg"), "w") as out:
            out.write("%s\n%s\n%s" % (first, LICENCE, rest))


def plain(text):
    """Fit for gnuplot's double quotes."""
    return text.replace("\\", "/").replace('"', "'")


def need_gnuplot():
    if not shutil.which("gnuplot"):
        raise Failed("gnuplot is not installed (Debian: gnuplot-nox)")


def write_all(plots, directory):
    """What is there from before is replaced."""
    os.makedirs(directory, exist_ok=True)
    for name in os.listdir(directory):
        if name.endswith(".svg"):
            os.unlink(os.path.join(directory, name))
    for plot in plots:
        plot.write(directory)
