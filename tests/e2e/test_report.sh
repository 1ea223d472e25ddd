#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The report of the benchmark: plots that a person can read.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

t_plots()
{
	python3 - "$root" <<-'END'
	import re, sys
	sys.dont_write_bytecode = True
	sys.path[:0] = [sys.argv[1] + "/tests/bench", sys.argv[1] + "/tests/support"]
	import plots, report_packets
	# Each line is one of its own.
	plot = plots.Plot("many", "many", "entries", "seconds")
	for number in range(20):
	    plot.add("line %d" % number, [(10, 0.1 + number), (100, 1 + number)])
	script = plot.script()
	styles = re.findall(r"linecolor '([^']*)' linewidth \S+ dashtype (\d+)", script)
	assert len(styles) == len(set(styles)) == 20, styles
	assert len({colour for colour, dash in styles if dash == "1"}) >= 12
	# A tenth of a second is 0.1, not 100m.
	assert "set format y '%g'" in script and "set format x '%.0s%c'" in script
	# Where nothing of what ships was measured by itself, what was is drawn.
	class Page:
	    def plot(self, plot):
	        drawn.append(plot)
	        return []
	drawn = []
	costs = [{"hosts": hosts, "cost_ns": {"near": {"allow-many": 5.0, "bpf_hash": 7.0}}}
	         for hosts in (1000, 10000)]
	report_packets.cost_plots(costs, Page())
	assert len(drawn[0].series) == 2, drawn[0].series
	END
}

# No plot in the repository has two lines of one look, or a legend without its line.
t_plots_in_the_repository()
{
	python3 - "$root" <<-'END'
	import glob, re, sys
	files = glob.glob(sys.argv[1] + "/docs/performance/[cp]*t[-h]*.svg")
	assert files
	for name in files:
	    parts = re.findall(r'<g id="gnuplot_plot_\d+" >(.*?)(?=<g id="gnuplot_plot_|$)', open(name).read(), re.S)
	    looks = re.findall(r"stroke='(rgb\([^']*\))'( stroke-dasharray='[^']*')?  d='M", "".join(parts))
	    looks = [look for look in looks if look[0] != "rgb(221, 221, 221)"]
	    assert parts and len(set(looks)) == len(parts), (name, looks)
	near = open(sys.argv[1] + "/docs/performance/cost-near.svg").read()
	assert "filter as it ships" in near
	END
}

run_tests
