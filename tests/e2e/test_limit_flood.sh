#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A flood of SYNs from many sources to a service that has a limit, beside its guests.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=known.sh
. "$root/tests/e2e/known.sh"

burst=5

# Behind the filter: `within` is all that comes from the flood, `beyond` what comes from a source beyond its burst of segments of
# 40 bytes. The latter of 16,384 sources only: nft reads them all whenever it shows a counter.
count_sources()
{
	in_server nft -f - <<-END || skip "no quotas for each source here"
		table ip behind {
			set sources { type ipv4_addr; size 16384; flags dynamic; }
			counter within { }
			counter beyond { }
			chain in {
				type filter hook prerouting priority 0;
				ip saddr 11.0.0.0/8 counter name within
				ip saddr 11.0.0.0/18 update @sources { ip saddr quota over $((burst * 40 + 20)) bytes } counter name beyond
			}
		}
	END
}

# counted NAME: packets.
counted() { in_server nft list counter ip behind "$1" | sed -nE 's/.*packets ([0-9]+) .*/\1/p'; }

# meter_has BYTES: as JSON of `limit list` says, and as the kernel does of the map.
meter_has()
{
	exits 0 -j limit list
	json "d['limits'][0]['memory'] == $1"
	[[ $(kernel_memory) == "$1" ]] || fail "the meter has $(kernel_memory) bytes, not $1"
}

# Of the filter in force.
kernel_memory()
{
	bpftool -j map show pinned "$(ls -d "$pins"/gen-*/meter)" | of_json 'd["bytes_value"] * d["max_entries"]'
}

guests_begin()
{
	in_server python3 -S -E "$root/tests/e2e/guests.py" serve "$T/serves" >/dev/null 2>&1 &
	wait_for "the server" test -e "$T/serves"
	mkfifo "$T/until"
	in_client python3 -S -E "$root/tests/e2e/guests.py" stay "$1" <"$T/until" >"$T/guests" 2>&1 &
	guests=$!
	exec {until}>"$T/until"
	wait_for "the guests" grep -q ready "$T/guests"
}

# guests_stay COUNT LEAST: all connections went on, and at least so many were made in the flood.
guests_stay()
{
	local went_on anew

	exec {until}>&-
	wait "$guests" || fail "$(tail -n 3 "$T/guests")"
	read -r went_on anew < <(tail -n 1 "$T/guests")
	[[ $went_on -eq $1 ]] || fail "$went_on of $1 connections went on"
	[[ $anew -ge $2 ]] || fail "$anew of $1 guests connect in the flood, not $2"
	echo "$anew of $1 guests connect"
}

# All send until each has had its burst, however much the machine loses on the way. By docs/design.md, a share of 0.084 % is
# hidden behind others that are over the limit: that more than $hidden guests are comes once in a million runs.
t_flood_beside_guests()
{
	local sources=20000 guests_count=50 hidden=3 least round all

	[[ -z ${XB_TEST_ALL:-} ]] || sources=1000000 guests_count=1000 hidden=11
	least=$((sources * burst * 997 / 1000))
	other_addresses
	ip -n "$server" route add 11.0.0.0/8 via 10.77.0.2
	count_sources
	ctl -q attach x0
	ctl -q limit add web --to tcp/7800 --rate 1/h --burst $burst --of connections --capacity $sources
	meter_has $((sources * 256))
	guests_begin $guests_count
	for ((round = 1; round <= 4 * burst; round++)); do
		in_client python3 -S -E "$root/tests/e2e/customers.py" strangers $sources >/dev/null
		all=$(counted within)
		[[ $round -le $burst || $all -lt $least ]] || break
	done
	echo "$all of $((round * sources)) segments come through"
	[[ $(counted beyond) -eq 0 ]] || fail "$(counted beyond) come through beyond the burst of their source"
	[[ $all -le $((sources * burst)) && $all -ge $least ]] || fail "$all come through"
	guests_stay $guests_count $((guests_count - hidden))
	[[ $(counted beyond) -eq 0 ]] || fail "$(counted beyond) come through beyond the burst of their source"
	meter_has $((sources * 256))
	exits 0 -j limit list
	json "d['limits'][0]['over_packets'] <= $((round * sources - all)) + $guests_count * 10"
	exits 0 status
}

run_tests
