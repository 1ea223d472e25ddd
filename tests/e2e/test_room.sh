#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Too little memory, or room in the run directory: what cannot be enforced is not committed, and the
# ways out (detach, policy monitor, allow add, flush, a smaller capacity) always work.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

huge=60000000000

# small_run MIB: the run directory is as small as that.
small_run()
{
	mkdir -p "$T/disk"
	mount -t tmpfs xbt -o "mode=0700,size=$1m" "$T/disk"
	counters=$T/disk/run
}

free_run() { mount -o "remount,size=$1m" "$T/disk"; }

# saved FILE: the store as text, with a capacity that no machine has.
saved_as_huge() { ctl save | sed "1s/\"capacity\":[0-9]*/\"capacity\":$huge/" >"$1"; }

same_store() { ctl save | diff "$1" - || fail "the store is another"; }

# Refused as a whole, whether something is attached or not.
t_refused()
{
	ctl add 10.77.0.3 fd77::3 example.org
	ctl save >"$T/before"
	saved_as_huge "$T/huge"
	exits 3 restore "$T/huge"
	one_line
	complains 'MiB'
	same_store "$T/before"
	exits 3 rotate --capacity "$huge"
	one_line
	same_store "$T/before"
	ctl -q attach x0
	exits 3 restore "$T/huge"
	one_line
	exits 3 rotate --capacity "$huge"
	one_line
	exits 0 status
	blocked 10.77.0.3
	exits 0 detach --all
	same_store "$T/before"
}

# More than a table can be addressed for is not taken modulo 2^32. Slots of IPv6 take most room: no table of IPv4 is too
# large for what --capacity takes.
t_refused_beyond_addresses()
{
	ctl add fd77::3
	exits 2 rotate --capacity 68719476720
	complains 'more than one exact table can be addressed for'
	ctl -q attach x0
	ctl save >"$T/before"
	exits 2 rotate --capacity 68719476720
	one_line
	same_store "$T/before"
	exits 0 status
}

# While another store's filter is in force, too.
t_refused_beside_another_store()
{
	ctl add 10.77.0.3 fd77::3 example.org
	ctl save >"$T/before"
	state=$T/other tool "$bloomctl" -q attach x0
	exits 3 rotate --capacity "$huge"
	one_line
	complains 'MiB'
	same_store "$T/before"
	exits 0 rotate --capacity 1000
}

# A list that fits nowhere, by its entries alone, while nothing is attached.
t_refused_import()
{
	small_run 1
	python3 -c '
for i in range(300000):
    print("%d.%d.%d.%d" % (20 + (i >> 24), i >> 16 & 255, i >> 8 & 255, i & 255))' >"$T/list"
	ctl add 10.77.0.3
	ctl save >"$T/before"
	exits 3 import "$T/list"
	one_line
	complains "the counters need .* in $counters"
	same_store "$T/before"
	free_run 64
	exits 0 import "$T/list"
	exits 0 add 10.77.0.4
}

# wanted_too_much [IFACE...]: a filter of many entries is in force, and a change of it was interrupted.
wanted_too_much()
{
	small_run 48
	ctl -q add 10.77.0.3 10.77.0.4
	ctl -q attach x0 "$@"
	ctl -q rotate --capacity 6000000
	dies_at apply-half add 10.77.0.5
	blocked 10.77.0.3
}

# The dirty counters make room for the next ones.
t_dirty_counters()
{
	wanted_too_much
	exits 0 add 10.77.0.6
	exits 0 status
	blocked 10.77.0.3 10.77.0.4 10.77.0.5 10.77.0.6
}

# With less room a filter by what is listed is better than none.
t_smaller_than_wanted()
{
	wanted_too_much
	rm -rf "${pins:?}"/* "${counters:?}"/*
	free_run 2
	exits 0 up
	complains 'warning: no room for a filter of 6000000 entries'
	blocked 10.77.0.3 10.77.0.4 10.77.0.5
	exits 0 add 10.77.0.6
	exits 0 status
}

# no_room [IFACE...]: the change was interrupted, and no filter fits at all; the one in force goes on.
no_room()
{
	wanted_too_much "$@"
	rm -rf "${counters:?}"/*
	truncate -s 1M "$T/disk/ballast"
	free_run 1
	fallocate -l 1M "$T/disk/ballast" 2>/dev/null || dd if=/dev/zero of="$T/disk/ballast" bs=4k 2>/dev/null || true
	exits 3 up
	one_line
	complains 'counters'
	exits 3 add 10.77.0.6
	one_line
	exits 1 test 10.77.0.6
	blocked 10.77.0.3 10.77.0.4
}

# kept ARGUMENT...: it is made, and told that not all is well.
kept()
{
	exits 3 "$@"
	one_line
	complains 'the change is kept, but'
}

t_policy_monitor()
{
	no_room
	kept policy monitor
	passes 10.77.0.3 10.77.0.4
	[[ $(ctl policy) == monitor ]] || fail "it is not kept"
	exits 3 policy enforce
	passes 10.77.0.3
	rm "$T/disk/ballast"
	exits 0 policy enforce
	blocked 10.77.0.3 10.77.0.4 10.77.0.5
	exits 0 status
}

# Of requests that come together, one that cannot be made is refused, and one that is the way out is made.
t_by_the_socket()
{
	/usr/bin/python3 -c 'import redis' 2>/dev/null || skip "no Python module redis"
	no_room
	printf '[api]\nallow = yes\n' >"$T/bloomd.conf"
	# shellcheck disable=SC2119
	agent
	/usr/bin/python3 - "$counters/api.sock" <<-'END' || fail "by the socket"
		import redis, sys
		api = redis.Redis(unix_socket_path=sys.argv[1])
		with api.pipeline(transaction=False) as pipeline:
		    pipeline.sadd("bad", "10.77.0.6").scard("bad").sadd("allow", "10.77.0.3").sismember("allow", "10.77.0.3")
		    answers = pipeline.execute(raise_on_error=False)
		print(answers)
		good = "counters" in str(answers[0]) and answers[1] == 0 and "UNENFORCED the change is kept, but" in str(answers[2])
		sys.exit(not good or answers[3] != 1)
	END
	passes 10.77.0.3
	blocked 10.77.0.4
	exits 1 test 10.77.0.6
}

t_allow_add()
{
	no_room
	kept allow add 10.77.0.3
	passes 10.77.0.3
	blocked 10.77.0.4
	rm "$T/disk/ballast"
	exits 0 up
	passes 10.77.0.3
	blocked 10.77.0.4 10.77.0.5
	exits 0 status
}

t_flush()
{
	no_room
	kept flush --yes
	rm "$T/disk/ballast"
	exits 0 up
	passes 10.77.0.3 10.77.0.4
}

t_rotate_smaller()
{
	wanted_too_much
	rm -rf "${counters:?}"/*
	free_run 2
	exits 0 rotate --capacity 1000
	blocked 10.77.0.3 10.77.0.4 10.77.0.5
	exits 0 status
}

t_detach()
{
	join x1 1
	no_room x1
	exits 3 detach x1
	one_line
	complains 'detached, but'
	[[ $(ip -n "$server" -d link show x1) != *xdp* ]] || fail "x1 has its program"
	blocked 10.77.0.3
	exits 0 detach x0
	passes 10.77.0.3
	ctl -q detach --all
	[[ -z $(find "$pins" -type f) ]] || fail "left behind: $(find "$pins" -type f)"
}

# After a boot nothing is in force, and nothing can be: the first command with room mends it.
t_boot()
{
	no_room
	rm -rf "${pins:?}"/*
	exits 3 up
	one_line
	exits 3 status
	kept policy monitor
	kept del 10.77.0.5
	rm "$T/disk/ballast"
	exits 0 allow add 10.77.0.5
	exits 0 status
	passes 10.77.0.3
	exits 0 policy enforce
	blocked 10.77.0.3 10.77.0.4
}

# large_filter: one that is allowed to err more would be much smaller.
large_filter()
{
	small_run 16
	python3 -c '
for i in range(60000):
    print("20.%d.%d.%d" % (i >> 16, i >> 8 & 255, i & 255))' >"$T/list"
	ctl -q add 10.77.0.3
	ctl -q import "$T/list"
	ctl -q attach x0
	ctl -q rotate --fpr 0.000001
}

# After a boot x0 waits for a filter, and there is room for that smaller one.
waiting_for_room()
{
	large_filter
	rm -rf "${pins:?}"/* "${counters:?}"/*
	free_run 1
	exits 3 up
	exits 3 status
}

# Interfaces that waited for a filter have it.
t_rotate_for_those_that_wait()
{
	waiting_for_room
	exits 0 rotate --fpr 0.1
	exits 0 status
	blocked 10.77.0.3
}

# Or are told of, if somebody else comes before they have.
t_rotate_beside_another()
{
	local rotation other

	waiting_for_room
	stands_at rotate-unlocked --wait 0 rotate --fpr 0.1
	rotation=$paused
	stands_at commit-before add 10.77.0.4
	other=$paused paused=$rotation
	goes_on 3
	grep -q "^bloomctl: rotated, but .*process $other " "$T/paused.err" || fail "$(cat "$T/paused.err")"
	kill -KILL $other
	exits 0 up
	exits 0 status
	blocked 10.77.0.3
}

# The trial of a filter that fits does not wait for its own end.
t_rotate_on_trial()
{
	large_filter
	dies_at apply-half add 10.77.0.4
	rm -rf "${counters:?}"/*
	free_run 1
	exits 3 up
	exits 0 --wait 1 rotate --fpr 0.1 --rollback 60
	blocked 10.77.0.3 10.77.0.4
	exits 0 commit
	exits 0 status
	blocked 10.77.0.3 10.77.0.4
}

run_tests
