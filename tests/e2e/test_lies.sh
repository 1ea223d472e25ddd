#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pinned parameters that lie, counters that are cut off, too few descriptors, a small stack: a line
# and an exit code, never a signal, and nothing that is in force is lost.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/params.sh"

in_force()
{
	ctl -q add 10.77.0.3 10.77.3.0/25 fd77::3
	ctl -q attach x0
	blocked 10.77.0.3 fd77::3
}

# found_out LIE...: by the next command, which builds a filter by what is listed.
found_out()
{
	local one

	for one; do
		# shellcheck disable=SC2086
		lie $one
		exits 3 status
		blocked 10.77.0.3
		exits 0 add 10.77.0.4 fd77::4 --exist
		blocked 10.77.0.3 10.77.0.4 fd77::3 fd77::4
		exits 0 status
	done
}

# Offsets of struct xb_params.
t_params()
{
	local pin bytes lies=(
		"44 0xffffffff"            # host4.probes
		"40 0x80000001"            # host4.blocks
		"60 9"                     # net6.probes
		"72 2 76 0x80000001"       # confirm4, whose product is 2 modulo 2^32
		"80 0"                     # its slots
		"80 64"
		"80 21"                    # which are too narrow for so few buckets
		"84 0xffffffff 88 1"       # confirm6
		"92 32"
		"120 2"                    # key4
		"188 0xffffffff"           # length_cells
		"188 0xfffffffe"
		"196 $((layout - 1))"      # layout: of the former one
		"200 0"                    # confirm
		"388 0"                    # cell_words
		"388 0xffffffff"
		"140 0"                    # names.probes
		"96 0 100 0"               # confirm_names
		"176 0"                    # allow_names
	)

	ctl -q add ads.example
	in_force
	found_out "${lies[@]}"
	# The key by which names are hashed stands beside the parameters.
	for bytes in 0 8; do
		pin=$(echo "$pins"/gen-*/name_key)
		rm "$pin"
		[[ $bytes -eq 0 ]] || bpftool map create "$pin" type array key 4 value "$bytes" entries 1 name name_key
		exits 3 status
		blocked 10.77.0.3
		exits 0 add 10.77.0.4 www.ads.example --exist
		blocked 10.77.0.3 10.77.0.4 fd77::3
		exits 0 status
	done
	lie 188 0xffffffff
	exits 0 detach x0
	passes 10.77.0.3
}

# A generation of the former layout goes on enforcing until the next command that writes has built another.
t_former_layout_under_a_flood()
{
	local command

	in_force
	for command in up "add 10.77.0.4" "del 10.77.0.4" rotate "allow add 10.77.0.5" "attach x0"; do
		lie 196 $((layout - 1))
		exits 3 status
		# shellcheck disable=SC2086
		flood exits 0 $command
		exits 0 status
		blocked 10.77.0.3 10.77.3.9 fd77::3
	done
}

# The commands stop while they have the counters mapped, and go on without their pages.
t_counters_cut_off()
{
	in_force
	stands_at commit-after add 10.77.0.4
	truncate -s 0 "$counters"/counters/*.counters
	goes_on 3
	mv "$T/paused.out" "$T/out"
	mv "$T/paused.err" "$T/err"
	one_line
	complains 'counters of the filter were cut off'
	blocked 10.77.0.3
	exits 0 add 10.77.0.5
	blocked 10.77.0.3 10.77.0.4 10.77.0.5
	exits 0 status
}

# limited SHELL-LIMIT ARGUMENT...: exit code in $code.
limited()
{
	code=0
	# shellcheck disable=SC2016
	in_server bash -c 'ulimit $0; exec "$@"' "$1" "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" "${@:2}" >"$T/out" 2>"$T/err" </dev/null || code=$?
}

t_stack()
{
	local verb

	printf '10.77.0.4\n2001:db8::/48\n' >"$T/list"
	printf 'add 10.77.0.5\ndel 10.77.0.5\n' >"$T/batch"
	ctl -q add ads.example
	in_force
	ctl save >"$T/saved"
	for verb in "add 10.77.0.4" "test 10.77.0.4" "del 10.77.0.4" list status stats "up" \
		"import $T/list" "batch $T/batch" "rotate" "rotate --capacity 100000" "allow add 10.77.0.3" \
		"allow del 10.77.0.3" "allow list" "policy monitor" "policy enforce" "verdict ads refused" \
		"ports tls 443" "ports tls off" doctor save "restore $T/saved" "policy enforce --rollback 60" \
		commit "import $T/list --rollback 60" commit "flush --list default --yes" "detach x0" \
		"attach x0" "detach --all"; do
		# shellcheck disable=SC2086
		limited "-s 64" $verb
		[[ $code -eq 0 ]] || fail "$verb: exit code $code: $(cat "$T/err")"
	done
	passes 10.77.0.3
	exits 0 add 10.77.0.3
	is_sanitized && return # whose frames are larger
	limited "-S -s 32" import "$T/list" --list other --replace --force
	[[ $code -eq 0 ]] || fail "32 KiB: exit code $code: $(cat "$T/err")"
	code=0
	# shellcheck disable=SC2016
	in_server setpriv --bounding-set -sys_resource --inh-caps -sys_resource bash -c 'ulimit -s 32; exec "$@"' _ \
		"$bloomctl" --state "$state" --pin "$pins" --run "$counters" del 10.77.0.3 >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 && $(cat "$T/err") == *"the stack may not grow to 64 KiB"* ]] ||
		fail "32 KiB, not to be raised: exit code $code: $(cat "$T/err")"
	exits 0 test 10.77.0.3
}


# Too few to look: that is what is said, and not that something is wrong with the filter.
t_descriptors()
{
	local few

	# It needs some of its own, and waits for ever if it does not get them.
	export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
	in_force
	for few in 4 8 11 12 13 14 15 16 17 18 20 22 24 26 28 30 32 34 36 40 48 64 96; do
		limited "-n $few" status
		echo "$few: $code $(cat "$T/err")"
		[[ $code -eq 0 || $code -eq 3 ]] || fail "status with $few descriptors: exit code $code"
		! grep -E "another version|lost|not pinned" "$T/out" "$T/err" || fail "with $few descriptors"
		[[ $code -eq 0 ]] || one_line
		limited "-n $few" add 10.77.0.4 --exist
		echo "$few: add: $code $(cat "$T/err")"
		[[ $code -eq 0 || $code -eq 3 ]] || fail "add with $few descriptors: exit code $code"
		[[ $code -eq 0 ]] || complains 'Too many open files'
		blocked 10.77.0.3
	done
	[[ $code -eq 0 ]] || fail "$few are not few"
	exits 0 status
	blocked 10.77.0.3 10.77.0.4
}

run_tests
