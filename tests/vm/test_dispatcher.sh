#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Through libxdp's dispatcher, beside xdp-filter, which drops UDP to port 7777 here: whoever comes or goes
# first, we enforce, and it does what it did.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/../e2e/lib.sh"

filter() { in_server xdp-filter "$@" >"$T/filter" 2>&1 || fail "xdp-filter $*: $(tail -n 1 "$T/filter")"; }

load_filter()
{
	filter load x0 -m "${1:-native}" -f udp
	filter port 7777 -m dst -p udp
	filter_at_work
	programs >"$T/programs"
}

# Identity and maps of its program.
programs()
{
	bpftool prog show | grep -A 3 'name xdpfilt_'
}

filter_at_work()
{
	! reaches udp 10.77.0.2 0.5 || fail "xdp-filter lets UDP through"
	reaches tcp 10.77.0.2 || fail "no TCP beside xdp-filter"
}

filter_as_it_was()
{
	filter_at_work
	diff "$T/programs" <(programs) || fail "xdp-filter is not what it was"
}

begin()
{
	serve
	reaches udp 10.77.0.2 || fail "no UDP to begin with"
	ctl add 10.77.0.3 fd77::3
}

attach()
{
	exits 0 attach x0
	is_dispatched x0 || fail "no dispatcher on x0"
	enforces
}

enforces()
{
	blocked 10.77.0.3 fd77::3
	passes 10.77.0.2 fd77::2
	exits 0 status
}

nobody_stays()
{
	! ip -n "$server" -d link show x0 | contains 'xdp' || fail "x0: $(ip -n "$server" -d link show x0)"
	passes 10.77.0.3 fd77::3
	reaches udp 10.77.0.2 || fail "no UDP in the end"
}

changes()
{
	ctl rotate
	ctl add 10.77.0.4
	ctl del 10.77.0.4
}

filter_comes() { load_filter && enforces && changes; }
filter_goes() { filter unload x0 && enforces && changes; }
both_stay() { filter_as_it_was && enforces && changes; }

# Ours leaves the other alone with the interface.
we_go()
{
	exits 0 detach x0
	passes 10.77.0.3 fd77::3
	filter_as_it_was
}

one_entry()
{
	in_server xdp-loader status x0 >"$T/loader"
	[[ $(grep -c 'xdp_bloom_entry' "$T/loader") -eq 1 ]] || fail "not one entry: $(cat "$T/loader")"
}

t_filter_first_then_it_goes_first()
{
	begin
	load_filter
	attach
	flood both_stay
	flood filter_goes
	exits 0 detach x0
	nobody_stays
}

t_filter_first_then_we_go_first()
{
	begin
	load_filter
	attach
	flood both_stay
	we_go
	filter unload x0
	nobody_stays
}

t_we_first_then_filter_goes_first()
{
	begin
	attach
	flood filter_comes
	flood both_stay
	flood filter_goes
	exits 0 detach x0
	nobody_stays
}

t_we_first_then_we_go_first()
{
	begin
	attach
	flood filter_comes
	flood both_stay
	we_go
	filter unload x0
	nobody_stays
}

t_beside_a_filter_in_skb_mode()
{
	begin
	load_filter skb
	exits 3 attach x0 --mode native
	one_line
	complains 'x0: other XDP programs are there in skb mode'
	attach
	exits 0 -j status
	json 'd["interfaces"][0]["mode"] == "skb"'
	both_stay
	we_go
	filter unload x0
	nobody_stays
}

t_change_of_mode_beside_a_filter()
{
	begin
	load_filter
	attach
	exits 3 attach x0 --mode skb
	one_line
	complains 'x0: other XDP programs are there in native mode'
	both_stay
	exits 0 -j status
	json 'd["interfaces"][0]["mode"] == "native"'
	filter unload x0
	exits 0 attach x0 --mode skb
	says 'before in native; unfiltered for'
	enforces
	one_entry
}

# The new x0 has no program, though the store has had an x0 all the time.
t_renamed_and_another_has_its_name()
{
	begin
	load_filter
	attach
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name wan0
	ip -n "$server" link set wan0 up
	ip -n "$client" link set x0 down
	ip -n "$client" link set x0 name wan0
	ip -n "$client" link set wan0 up
	join x0 0
	exits 0 attach x0
	complains 'x0 is called wan0 now, and another interface is x0'
	in_server xdp-loader status x0 >"$T/loader"
	grep -q xdp_bloom_entry "$T/loader" || fail "x0 has no entry: $(cat "$T/loader")"
	in_server xdp-loader status wan0 >"$T/loader"
	grep -q xdp_bloom_entry "$T/loader" || fail "wan0 lost its entry: $(cat "$T/loader")"
	exits 0 status
}

t_lost_pins()
{
	begin
	load_filter
	attach
	rm -rf "$pins"
	exits 3 status
	says 'PROBLEM.*x0 is unfiltered'
	exits 0 up
	both_stay
	one_entry
	we_go
}

# What stays of ours when pins are gone has no say in which mode comes next.
t_lost_pins_then_another_mode()
{
	begin
	exits 0 attach x0 --mode native
	rm -rf "$pins" "${state:?}"
	ctl add 10.77.0.3 fd77::3
	exits 0 attach x0 --mode skb
	ip -n "$server" -d link show x0 | contains xdpgeneric || fail "x0: $(ip -n "$server" -d link show x0)"
	enforces
	exits 0 detach x0
	nobody_stays
}

t_upgrade()
{
	local identity=$pins/link/identity

	begin
	load_filter
	attach
	bpftool map update pinned "$identity" key 0 0 0 0 value 3 0 0 0 2 0 0 0
	flood ctl add 10.77.0.5
	blocked 10.77.0.5
	both_stay
	one_entry
	we_go
	filter unload x0
	nobody_stays
}

t_doctor()
{
	exits 0 doctor
	says 'dispatcher'
}

run_tests
