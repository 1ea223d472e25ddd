#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bloomctl metrics`: right figures, a text that Prometheus takes, counters that never go back.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# metric SERIES: its value in $T/out.
metric() { awk -v series="xdp_bloom_$1" '$1 == series {print $2; n++} END {exit n != 1}' "$T/out"; }

# shows SERIES VALUE
shows()
{
	local value

	value=$(metric "$1") || fail "not one sample of $1: $(grep -c . "$T/out") lines"
	[[ $value == "$2" ]] || fail "$1 is $value, not $2"
}

packets() { metric "packets_total{interface=\"$1\",reason=\"$2\",verdict=\"$3\"}"; }

# What promtool says of the text, and what it does not notice: samples twice, no last newline.
is_well_formed()
{
	local twice

	twice=$(grep -v '^#' "$T/out" | sed 's/ [^ ]*$//' | sort | uniq -d)
	[[ -z $twice ]] || fail "twice: $twice"
	[[ $(tail -c 1 "$T/out" | od -An -tx1) == *0a* ]] || fail "no newline at the end"
	command -v promtool >/dev/null || return 0
	promtool check metrics <"$T/out" >"$T/promtool" 2>&1 || fail "promtool: $(cat "$T/promtool")"
}

t_right_figures()
{
	exits 0 attach x0
	exits 0 add 10.77.0.3 10.77.3.0/24 fd77::3 bad.example worse.example
	exits 0 add 10.77.0.3 10.77.0.4 --list other
	exits 0 allow add 10.77.0.6
	blocked 10.77.0.3 10.77.0.3 fd77::3
	passes 10.77.0.2
	exits 0 metrics
	is_well_formed
	shows 'build_info{version="0.1"}' 1
	shows 'enforcing{interface="x0"}' 1
	shows 'policy{policy="enforce"}' 1
	shows 'policy{policy="monitor"}' 0
	shows 'entries{list="default",family="all"}' 5
	shows 'entries{list="other",family="all"}' 2
	shows 'entries{list="allow",family="all"}' 1
	shows 'entries{list="_all",family="ipv4_host"}' 2
	shows 'entries{list="_all",family="ipv4_prefix"}' 1
	shows 'entries{list="_all",family="ipv6"}' 1
	shows 'entries{list="_all",family="domain"}' 2
	shows trial_active 0
	[[ $(metric store_sequence) -gt 0 && $(metric store_sequence) -eq $(metric applied_sequence) ]]
	[[ $(metric store_bytes) -eq $(stat -c %s "$state/store.mdb") ]]
	(($(date +%s) - $(metric generation_created_timestamp_seconds) < 60 * patience))
	[[ $(packets x0 listed_ipv4_host drop) -eq 2 && $(packets x0 listed_ipv6 drop) -eq 1 ]] ||
		fail "drops: $(grep 'packets.*drop"} [1-9]' "$T/out")"
	[[ $(packets x0 clean pass) -gt 0 && $(packets x0 tls_dropped drop) -eq 0 ]]
	[[ $(metric 'bytes_total{interface="x0",reason="listed_ipv4_host",verdict="drop"}') -eq 196 ]]
	[[ $(metric 'filter_entries{family="ipv4_host"}') -le $(metric 'capacity_entries{family="ipv4_host"}') ]]
	[[ $(metric 'memory_bytes{kind="host4"}') -gt 0 && $(metric 'memory_bytes{kind="counters"}') -gt 0 ]]
	! grep -qE '10\.77|fd77|example' "$T/out" || fail "an entry in the metrics"
}

t_nothing_there()
{
	exits 0 metrics
	is_well_formed
	shows 'build_info{version="0.1"}' 1
	shows store_sequence 0
	shows 'packets_total{interface="_other",reason="clean",verdict="pass"}' 0
	! grep -q '^xdp_bloom_enforcing' "$T/out" || fail "something is enforced"
	[[ ! -e $state/store.mdb && ! -e $counters ]] || fail "metrics made something"
	exits 2 metrics x
	exits 2 metrics --output
	# A list has a name of up to 64 bytes; the 201st is one of the others, and so is its number.
	printf 'add 10.9.0.%d\n' {0..202} | sed 's/.*\.\(.*\)/& --list l\1/' >"$T/batch"
	exits 0 batch "$T/batch"
	exits 0 metrics
	is_well_formed
	[[ $(grep -c '^xdp_bloom_entries{.*"all"}' "$T/out") -eq 201 ]]
	shows 'entries{list="l199",family="all"}' 1
	shows 'entries{list="_other",family="all"}' 3
}

t_what_is_not_as_it_should_be()
{
	exits 0 attach x0
	exits 0 policy monitor --rollback 60
	exits 0 metrics
	shows trial_active 1
	shows 'policy{policy="monitor"}' 1
	shows 'policy{policy="enforce"}' 0
	exits 0 commit
	exits 0 add 10.77.0.3 --timeout 1
	wait_for "what is overdue" is_overdue 2
	shows 'entries{list="default",family="all"}' 1
	in_server ip link del x0
	exits 0 metrics
	shows 'enforcing{interface="x0"}' 0
	shows 'problems{kind="unfiltered"}' 1
	shows 'problems{kind="stale"}' 1
	truncate -s 3 "$state/store.mdb"
	exits 3 metrics
	one_line
}

is_overdue() { exits 0 metrics && [[ $(metric expiry_overdue_seconds) -ge $1 ]]; }

# are_told COUNT IFACE WHEN: so many drops of hosts.
are_told()
{
	exits 0 metrics
	is_well_formed
	[[ $(packets "$2" listed_ipv4_host drop) -eq $1 ]] || fail "$3: $(packets "$2" listed_ipv4_host drop) drops, not $1"
}

# Each reason by itself; whatever ends a row of the kernel's table.
t_never_back()
{
	exits 0 attach x0
	exits 0 add 10.77.0.3
	blocked 10.77.0.3 10.77.0.3
	are_told 2 x0 'at first'
	exits 0 rotate
	are_told 2 x0 'another generation'
	blocked 10.77.0.3
	exits 0 detach x0 # nobody looked after the last drop
	are_told 3 x0 'detached'
	exits 0 attach x0
	are_told 3 x0 'attached again'
	blocked 10.77.0.3
	are_told 4 x0 'and counted again'
	exits 0 detach --all
	are_told 4 x0 'all detached'
	exits 0 attach x0
	blocked 10.77.0.3 10.77.0.3 10.77.0.3 10.77.0.3 10.77.0.3
	are_told 9 x0 'more than before'
	# Without bloomctl: remembered by the look before.
	in_server ip link set x0 xdp off 2>/dev/null || true
	rm -rf "${pins:?}"/*
	are_told 9 x0 'pins removed'
	exits 0 up
	are_told 9 x0 'put in force again'
	blocked 10.77.0.3
	are_told 10 x0 'and counted once more'
	# The file of the tallies is gone: they begin anew, with what the kernel has.
	rm "$counters"/counters/tallies-*
	are_told 1 x0 'tallies removed'
	in_server ip link set x0 down
	in_server ip link set x0 name y0
	in_server ip link set y0 up
	exits 0 up
	are_told 0 y0 'renamed'
	are_told 1 x0 'under its former name'
}

t_output_file()
{
	exits 0 attach x0
	mkdir "$T/texts"
	exits 0 metrics --output "$T/texts/xb.prom"
	[[ ! -s $T/out && $(ls "$T/texts") == xb.prom && $(stat -c %a "$T/texts/xb.prom") == 644 ]]
	cp "$T/texts/xb.prom" "$T/out"
	is_well_formed
	shows 'enforcing{interface="x0"}' 1
	echo former >"$T/texts/xb.prom"
	exits 0 metrics --output "$T/texts/xb.prom"
	grep -q build_info "$T/texts/xb.prom"
	# Refused: what was there stays, and nothing beside it.
	mkdir "$T/small"
	mount -t tmpfs -o size=4k none "$T/small"
	echo former >"$T/small/xb.prom"
	exits 3 metrics --output "$T/small/xb.prom"
	one_line
	[[ $(ls "$T/small") == xb.prom && $(cat "$T/small/xb.prom") == former ]]
	umount "$T/small"
	exits 3 metrics --output "$T/none/xb.prom"
	one_line
	complains "$T/none/xb.prom"
}

# Pages touched while a scrape is made, in this process's fashion: nothing else shows a walk so well.
faults()
{
	in_server python3 - "$bloomctl" --state "$state" --pin "$pins" --run "$counters" metrics <<-'END'
	import resource, subprocess, sys
	subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
	before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
	subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
	print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before)
	END
}

# Neither entries, nor those that are overdue, nor the allowlist.
t_walks_no_list()
{
	local few many

	exits 0 attach x0
	exits 0 add 10.77.0.3 --timeout 1
	few=$(faults)
	python3 - $((5 * patience)) >"$T/batch" <<-'END'
	import sys
	for n in range(100000):
	    address = "%d.%d.%d" % (n >> 16, n >> 8 & 255, n & 255)
	    print("add 20.%s --list many --timeout %s" % (address, sys.argv[1]))
	    print("allow add 21.%s" % address)
	END
	exits 0 -q batch "$T/batch"
	wait_for "what is overdue" is_overdue 1
	shows 'entries{list="many",family="all"}' 100000
	many=$(faults)
	((many - few < 40)) || fail "$few page faults with one entry, $many with 200,000"
}

run_tests
