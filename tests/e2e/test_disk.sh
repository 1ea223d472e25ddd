#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The state directory on a disk that is full, or cannot be written: reading needs no writing, and there
# is a way off.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

readers=("status" "test 10.77.0.3" "list" "save" "stats" "policy" "allow list" "verdict" "ports")

# small_disk: the state directory is on a disk of its own.
small_disk()
{
	mkdir "$T/disk"
	mount -t tmpfs -o size=1m xbt "$T/disk"
	state=$T/disk/state
}

fill_disk() { ! head -c 2000000 /dev/zero >>"$T/disk/filler" 2>/dev/null || fail "the disk is not full"; }

begin()
{
	small_disk
	join x1 1
	ctl add 10.77.0.3
	ctl -q attach x0
	ctl -q attach x1
	blocked 10.77.0.3
}

# stand: a command that reads the store and does not go on; its rest comes from $from.
stand()
{
	python3 -c '
for i in range(9000):
    print("172.16.%d.%d" % (i >> 8, i & 255))' >"$T/list"
	exits 0 import "$T/list" --include-bogons
	mkfifo "$T/fifo"
	# Not a function: the number is to be the command's own.
	nsenter --net="/run/netns/$server" "$bloomctl" --state "$1" --pin "$pins" --run "$counters" list >"$T/fifo" &
	reader=$!
	exec {from}<"$T/fifo"
	read -r -u "$from"
}

# What is free in the store is used up, since somebody reads what was there before.
fill()
{
	local number

	stand "$state"
	fill_disk
	for number in {1..100}; do
		ctl -q verdict other nxdomain 2>"$T/err" && ctl -q verdict other drop 2>"$T/err" || break
	done
	echo "full after $number changes"
	grep -q "no space left" "$T/err" || fail "the disk is not full"
	complains "process $reader \(\`.*bloomctl --state.*\`, since 20.*\) holds a state of the store that is .* end it"
}

make_read_only() { mount --bind "$state" "$state" && mount -o remount,bind,ro "$state"; }

make_writable() { umount "$state"; }

program_on() { ip -n "$server" -d link show "$1" | contains 'prog/xdp'; }

all_read()
{
	local words

	for words in "${readers[@]}"; do
		# shellcheck disable=SC2086
		exits 0 $words
		[[ ! -s $T/err ]] || fail "$words: $(cat "$T/err")"
	done
	exits 1 test 10.77.0.4
}

refuses_changes()
{
	local words

	for words in "add 10.77.0.4" "del 10.77.0.3" "policy monitor" "flush --yes" "allow add 10.77.0.3" rotate "attach x0"; do
		# shellcheck disable=SC2086
		exits 3 $words
		one_line
		complains "$1"
	done
	blocked 10.77.0.3
}

# the_way_off WHY: one interface, then all; what is said; and what attaches again.
the_way_off()
{
	exits 3 detach x0
	one_line
	complains "detached, but the store could not record it \(.*$1"
	passes 10.77.0.3
	! program_on x0 || fail "x0 has a program"
	program_on x1 || fail "x1 has none"
	exits 3 status
	says 'x0 .*not attached'
	exits 3 detach --all
	one_line
	complains "will attach again"
	! program_on x1 || fail "x1 has a program"
	exits 3 detach --all
	one_line
	complains "$1"
	passes 10.77.0.3
}

after_it()
{
	exits 0 up
	blocked 10.77.0.3
	program_on x1 || fail "x1 has none"
	exits 0 detach --all
	passes 10.77.0.3
	exits 1 status
}

t_full_disk()
{
	begin
	fill
	all_read
	the_way_off "no space left"
	exec {from}<&-
	wait $reader || true
	rm "$T/disk/filler"
	after_it
}

# refused TEXT: what makes a store, and bloomd, end with this in one line.
refused()
{
	local code=0

	exits 3 add 10.77.0.3
	one_line
	complains "$1"
	tool "$bloomd" --config /dev/null >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "bloomd ends with $code"
	one_line
	complains "$1"
}

# LMDB's lock file has no room either.
t_full_disk_without_a_store()
{
	small_disk
	fill_disk
	refused "cannot open the store $state/store.mdb: no space left on the disk of the state directory"
	exits 0 list
	rm "$T/disk/filler"
	exits 0 add 10.77.0.3
	exits 0 list
	says "^10.77.0.3 "
}

# As LMDB leaves it by itself.
t_full_disk_and_a_lock_file_with_holes()
{
	small_disk
	exits 0 add 10.77.0.3
	fallocate -p -o 4096 -l 65536 "$state/store.mdb-lock"
	fill_disk
	exits 0 list
	says "^10.77.0.3 "
	fallocate -p -o 0 -l 65536 "$state/store.mdb-lock"
	fill_disk
	exits 3 list
	one_line
	complains "cannot use the store $state/store.mdb: no space left on the disk"
	rm "$T/disk/filler"
	exits 0 list
	says "^10.77.0.3 "
}

t_read_only_disk_without_a_store()
{
	mkdir "$state"
	make_read_only
	refused "there is no store $state/store.mdb, and none can be made: Read-only file system"
	exits 0 list
	make_writable
}

t_read_only_disk()
{
	begin
	make_read_only
	all_read
	refuses_changes "Read-only file system"
	exits 3 doctor
	says "read-only file system"
	the_way_off "Read-only file system"
	make_writable
	after_it
}

# As after booting with a disk that the kernel mounted read-only.
t_nothing_is_pinned_and_the_disk_is_read_only()
{
	begin
	rm -r "$pins" "$counters"
	ip -n "$server" link set x0 xdp off 2>/dev/null || true
	ip -n "$server" link set x1 xdp off 2>/dev/null || true
	passes 10.77.0.3
	make_read_only
	exits 3 up
	complains "what is wanted is enforced, but the store cannot be written: Read-only file system"
	blocked 10.77.0.3
	program_on x1 || fail "x1 has none"
	exits 3 up
	blocked 10.77.0.3
	the_way_off "Read-only file system"
	make_writable
	after_it
}

# Nobody's place in a table keeps what such a reader reads: writers wait for it.
t_read_only_beside_a_writer()
{
	local number

	begin
	mkdir "$T/disk/view"
	mount --bind "$state" "$T/disk/view"
	mount -o remount,bind,ro "$T/disk/view"
	stand "$T/disk/view"
	for number in 1 2 3; do
		exits 3 --wait 1 del "172.16.0.$number"
		complains "gave up after waiting"
	done
	[[ $(cat <&"$from" | wc -l) -eq 9000 ]] || fail "the reader did not read all"
	wait $reader
	exec {from}<&-
	exits 0 del 172.16.0.1
	umount "$T/disk/view"
}

# Of an interface on trial, too.
t_trial_on_a_read_only_disk()
{
	begin
	ctl detach x0
	ctl -q attach x0 --rollback 60
	blocked 10.77.0.3
	make_read_only
	exits 3 detach x0
	one_line
	passes 10.77.0.3
	program_on x1 || fail "x1 has none"
	make_writable
}

# What was there when it began cannot be used again: the file grows, and doctor says because of whom.
t_standing_reader()
{
	local number before gib=64

	! is_sanitized || gib=4 # as the fault points have it
	begin
	stand "$state"
	for number in 1 2 3; do
		ctl -q verdict other count
		ctl -q verdict other drop
	done
	exits 0 doctor
	says "process $reader \(\`.*bloomctl --state.*\`, since 20[0-9T:Z-]+\) holds a state of the store that is [0-9]+ transactions old"
	kill -STOP $reader
	wait_for 'its stop' is_stopped $reader
	exits 0 status
	says "^reader +process $reader \(\`.*bloomctl --state.*\`, since 20[0-9T:Z-]+, stopped\) holds .*up to $gib GiB"
	exits 0 -j status
	json "d['reader']['process'] == $reader and d['reader']['stopped'] and d['reader']['transactions'] >= 3"
	json '"bloomctl --state" in d["reader"]["command"] and d["reader"]["since"].startswith("20")'
	kill -KILL $reader
	exec {from}<&-
	wait $reader || true
	exits 0 doctor
	says "no reader keeps the store"
	exits 0 -j status
	json 'd["reader"] is None'
	before=$(stat -c %s "$state/store.mdb")
	for number in {1..20}; do
		ctl -q verdict other count
		ctl -q verdict other drop
	done
	[[ $(stat -c %s "$state/store.mdb") -eq $before ]] || fail "the file grows"
}

# The same store, the same number of changes, other changes: the filter is not that of this one.
t_diverged_copy()
{
	begin
	ctl add 10.77.0.4
	cp "$state/store.mdb" "$T/copy"
	ctl add 10.77.0.5
	blocked 10.77.0.5
	mkdir "$T/other"
	cp "$T/copy" "$T/other/store.mdb"
	in_server "$bloomctl" --state "$T/other" --pin "$pins-other" --run "$T/other-run" add 10.77.0.6
	exits 0 status
	cp "$T/other/store.mdb" "$state/store.mdb"
	exits 3 status
	says "lacks the latest changes of the store"
	exits 0 up
	exits 0 status
	blocked 10.77.0.3 10.77.0.4 10.77.0.6
	passes 10.77.0.5
	# One that is a change further, and whose log begins behind the same number.
	cp "$T/copy" "$state/store.mdb"
	exits 0 up
	cp "$T/other/store.mdb" "$T/copy"
	ctl add 10.77.0.5
	blocked 10.77.0.5
	in_server "$bloomctl" --state "$T/other" --pin "$pins-other" --run "$T/other-run" add fd77::3
	cp "$T/other/store.mdb" "$state/store.mdb"
	exits 3 status
	exits 0 add fd77::4
	exits 0 status
	blocked 10.77.0.6 fd77::3 fd77::4
	passes 10.77.0.5
}

run_tests
