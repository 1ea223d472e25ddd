#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each name that root's programs use in the run and state directories becomes something else, before
# a call and between two: nobody's file changes, and nothing is waited for. What members cannot swap,
# root swaps here, as if they could.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/member.sh"

kinds=(link dangling second-name fifo directory others)

# Root's files, which must stay as they are.
lay_out()
{
	mkdir -m 0700 "$T/victim"
	echo precious >"$T/victim/file"
	echo precious >"$T/victim/linked"
	chmod 0600 "$T/victim"/*
	look_at_victims >"$T/kept"
}

look_at_victims() { find "$T/victim" -printf '%P %m %u %g %s\n' | sort; cat "$T/victim/file" "$T/victim/linked"; }

intact()
{
	rm -f "$T/aside-link"
	look_at_victims | diff "$T/kept" - || fail "$*: root's files have changed"
}

# swap NAME KIND: what is there is kept beside it, under NAME.kept.
swap()
{
	mv -T "$1" "$1.kept"
	case $2 in
	link) ln -s "$T/victim/file" "$1" ;;
	dangling) ln -s "$T/victim/new" "$1" ;;
	second-name) ln "$T/victim/linked" "$1" ;;
	fifo) mkfifo -m 0666 "$1" ;;
	directory) mkdir "$1" ;;
	nothing) ;;
	another) install -m 0600 "$T/victim/file" "$1" ;;
	others) install -m 0666 -o "$outsider" -g "$outsider" /dev/null "$1" ;;
	esac
}

swap_back()
{
	rm -rf "$1"
	[[ ! -e $1.kept ]] || mv -T "$1.kept" "$1"
}

in_force()
{
	ctl add 10.77.0.3
	ctl -q attach x0
	blocked 10.77.0.3
}

# --- sockets ----------------------------------------------------------------------------------------

# Members may not even try.
t_members_give_no_names()
{
	local directory name

	share
	in_force
	agent
	for directory in "$state" "$counters"; do
		for name in "$directory"/*; do
			! with_rights "$member" "$group" "" mv "$name" "$directory/gone" 2>/dev/null ||
				fail "$name can be moved"
			! with_rights "$member" "$group" "" unlink "$name" 2>/dev/null ||
				fail "$name can be removed"
			! with_rights "$member" "$group" "" ln -sfT /etc/passwd "$name" 2>/dev/null ||
				fail "$name can be replaced"
		done
		! with_rights "$member" "$group" "" mkfifo "$directory/new" 2>/dev/null || fail "new names in $directory"
	done
	agent_ends
}

# swap_sockets KIND: of a reload that makes the sockets open to all.
swap_sockets()
{
	local name

	for name in api.sock query.sock; do
		swap "$counters/$name" "$1"
	done
}

# The modes go to the sockets, wherever they are.
modes_are_right()
{
	[[ $(stat -c %a:%g "$counters/api.sock.kept" "$counters/query.sock.kept") == 660:"$group"$'\n'666:"$group" ]] ||
		fail "$1: the sockets: $(stat -c '%a:%g %n' "$counters"/*.kept)"
	[[ $(find "$counters" -type f -user "$outsider" ! -gid "$outsider") == "" ]] || fail "$1: another's file"
}

t_sockets()
{
	local kind when

	lay_out
	share
	for kind in "${kinds[@]}"; do
		for when in before between; do
			: >"$T/bloomd.conf"
			if [[ $when == between ]]; then
				agent_program=$XB_TEST_DIR/bin/bloomd-fault XB_PAUSE=listener-admit:3 agent
			else
				agent
			fi
			echo "$kind, $when"
			echo $'[api]\nquery-mode = 0666' >"$T/bloomd.conf"
			[[ $when == between ]] || swap_sockets "$kind"
			kill -HUP "$agent"
			if [[ $when == between ]]; then
				wait_for "the reload" is_stopped "$agent"
				swap_sockets "$kind"
				kill -CONT "$agent"
			fi
			says_agent ': reloaded$'
			intact "$kind $when"
			modes_are_right "$kind $when"
			agent_ends
			swap_back "$counters/api.sock"
			swap_back "$counters/query.sock"
			rm -f "$counters"/*.sock
			intact "$kind $when, at the end"
		done
	done
}

# bloomd, which ends by itself if it does not begin.
starts_for_a_moment()
{
	in_server timeout 20 "$bloomd" --config "$T/bloomd.conf" --state "$state" --pin "$pins" --run "$counters" \
		>"$T/out" 2>"$T/err"
}

# Something else is there when bloomd begins.
t_sockets_at_the_start()
{
	local kind name code

	lay_out
	share
	for name in api.sock query.sock control.sock; do
		for kind in "${kinds[@]}"; do
			touch "$counters/$name"
			swap "$counters/$name" "$kind"
			code=0
			touch "$T/bloomd.conf"
			starts_for_a_moment || code=$?
			[[ $code -eq 3 ]] || fail "$name, $kind: ends with $code"
			complains "$name is there, and is no socket"
			intact "$name $kind"
			swap_back "$counters/$name"
			rm -f "$counters"/*.sock
		done
	done
}

# A run directory in which members may give names, as in earlier installations.
t_open_directory()
{
	local code=0 fake

	share
	ctl add 10.77.0.3
	chmod 2770 "$counters"
	touch "$T/bloomd.conf"
	starts_for_a_moment || code=$?
	[[ $code -eq 3 ]] || fail "bloomd ends with $code"
	complains "$counters is writable for others than its owner.*: chmod go-w $counters"
	# A member's socket is not asked.
	with_rights "$member" "$group" "" python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
s.accept()
print("asked", flush=True)' "$counters/control.sock" >"$T/asked" &
	fake=$!
	wait_for "a member's socket" test -S "$counters/control.sock"
	exits 3 feeds update
	complains "chmod go-w $counters"
	kill $fake 2>/dev/null || fail "a member's socket was asked"
	[[ ! -s $T/asked ]] || fail "a member's socket was asked"
	rm "$counters/control.sock"
	chmod go-w "$counters"
	agent
	agent_ends
}

# --- counters ---------------------------------------------------------------------------------------

t_counters()
{
	local kind file when

	lay_out
	share
	in_force
	for kind in "${kinds[@]}"; do
		for when in before between; do
			echo "$kind, $when"
			file=$(echo "$counters"/counters/*.counters)
			[[ -f $file ]] || fail "which are the counters: $file"
			if [[ $when == before ]]; then
				swap "$file" "$kind"
				exits 0 add 10.77.0.4
			else
				stands_at counters-open add 10.77.0.4
				swap "$file" "$kind"
				goes_on 0
			fi
			intact "$kind $when"
			blocked 10.77.0.3 10.77.0.4
			rm -rf "$file.kept" "$file"
			exits 0 del 10.77.0.4
			exits 0 status
		done
	done
}

# The directory itself, where members may not be able to swap it.
t_counters_directory()
{
	lay_out
	share
	in_force
	mkdir "$T/victim/below"
	look_at_victims >"$T/kept"
	stands_at counters-create rotate
	mv "$counters/counters" "$counters/moved"
	ln -s "$T/victim/below" "$counters/counters"
	goes_on 0
	intact "the directory of counters"
	exits 3 rotate
	one_line
	complains "cannot use $counters/counters"
	intact "the directory of counters, a link"
	blocked 10.77.0.3
	rm "$counters/counters"
	exits 0 rotate
	exits 0 status
	blocked 10.77.0.3
}

t_tallies()
{
	local kind file

	lay_out
	share
	in_force
	ctl metrics >"$T/out"
	for kind in "${kinds[@]}"; do
		echo "$kind"
		file=$(echo "$counters"/counters/tallies-*)
		[[ -f $file ]] || fail "which are the tallies: $file"
		swap "$file" "$kind"
		exits 0 metrics
		exits 0 add 10.77.0.4
		intact "$kind before"
		rm -rf "$counters"/counters/tallies-*
		stands_at tallies-rename metrics
		swap "$(echo "$counters"/counters/tallies-*)" "$kind"
		goes_on 0
		intact "$kind between"
		rm -rf "$counters"/counters/tallies-*
		exits 0 metrics
		exits 0 del 10.77.0.4
	done
}

# --- pins ------------------------------------------------------------------------------------------

# The pin that the command stands at, open in it.
pin_in_hand() { find "/proc/$paused/fd" -lname "$pins/*" -printf '%l\n' | tail -n 1; }

is_further() { is_stopped "$paused" && [[ $(pin_in_hand) != "$1" ]]; }

# What was a pin when it was looked at is opened, and not what the name leads to by then.
t_pins()
{
	local pin

	share
	in_force
	/usr/sbin/bpftool map create "$pins/foreign" type array key 4 value 8 entries 1 name foreign
	stands_at pin-open add 10.77.0.4
	pin=$pins/link/slot
	while [[ $(pin_in_hand) != "$pin" ]]; do
		kill -CONT "$paused"
		wait_for "the next pin" is_stopped "$paused"
	done
	mv "$pin" "$pins/moved"
	ln -s "$pins/foreign" "$pin"
	kill -CONT "$paused"
	wait_for "the next pin" is_further "$pins/moved"
	rm "$pin"
	mv "$pins/moved" "$pin"
	goes_on 0
	exits 0 status
	blocked 10.77.0.3 10.77.0.4
}

# A link that a member left there, before the directory was root's alone, is not followed either.
t_a_link_of_before()
{
	in_force
	[[ $(stat -c %a "$pins") == 700 ]] || fail "the pin directory is not private"
	/usr/sbin/bpftool map create "$pins/foreign" type prog_array key 4 value 4 entries 1 name slot
	mv "$pins/link/slot" "$pins/link/moved"
	ln -s "$pins/foreign" "$pins/link/slot"
	exits 3 add 10.77.0.4
	complains "$pins/link/slot is not a pin of this program$"
	mv -T "$pins/link/moved" "$pins/link/slot"
	exits 0 add 10.77.0.4 --exist
	exits 0 status
	blocked 10.77.0.3 10.77.0.4
}

# lead_away NAME: root's pins are those of this name now, and a member's link leads to them.
lead_away()
{
	mv "$pins/$1" "$away/$1"
	with_rights "$member" "$group" "" ln -s "$away/$1" "$pins/$1"
	look_away >"$T/kept"
}

look_away() { find "$away" -printf '%P %i %m %u %g\n' | sort; }

# not_followed WHAT: nothing there has come, gone or got other rights, and a repair makes pins anew.
not_followed()
{
	look_away | diff "$T/kept" - || fail "$*: root's pins have changed"
	exits 0 up
	[[ $(find "$pins" -type l) == "" ]] || fail "$*: the link is in use"
	exits 0 status
	look_away | diff "$T/kept" - || fail "$*, repaired: root's pins have changed"
	blocked 10.77.0.3
	rm -rf "${away:?}"/*
}

# swapped_before NAME COMMAND...
swapped_before()
{
	lead_away "$1"
	echo "$*"
	ctl "${@:2}" >"$T/out" 2>"$T/err" || true
	not_followed "$@"
}

generation() { basename "$pins"/gen-*; }

# Nor is a directory of pins followed that has become a link.
t_pin_directories()
{
	local away=${pins%/*}/away former

	share
	mkdir -m 0700 "$away"
	in_force
	exits 0 known on
	swapped_before link add 10.77.0.4
	swapped_before "$(generation)" del 10.77.0.4
	swapped_before "$(generation)" rotate
	swapped_before known known clear
	swapped_before known known off
	exits 0 policy monitor --rollback 60
	swapped_before trial commit
	exits 0 policy enforce
	stands_at known-attached known on
	lead_away known
	goes_on 3
	not_followed "known on"
	former=$(generation)
	stands_at counters-create rotate
	lead_away "$(cd "$pins" && find gen-* -maxdepth 0 ! -name "$former")"
	goes_on 0 # with a generation built anew
	not_followed rotate
	lead_away link
	exits 0 detach x0
	look_away | diff "$T/kept" - || fail "detach: root's pins have changed"
	passes 10.77.0.3
	rm -r "$away"
}

# --- state ------------------------------------------------------------------------------------------

# Between a trial and its commit.
t_trial()
{
	local kind point input=$state/trial/trial.input

	lay_out
	echo 203.0.113.99 | tee "$T/victim/file" >"$T/victim/linked"
	# As the text itself, but for its other name.
	chgrp "$group" "$T/victim/linked"
	chmod 0640 "$T/victim/linked"
	look_at_victims >"$T/kept"
	share
	in_force
	echo 192.0.2.0/24 >"$T/list"
	chmod 0644 "$T/list"
	for kind in "${kinds[@]}" nothing another; do
		for point in trial-begun trial-recorded; do
			echo "$kind, $point"
			stands_at "$point" import "$T/list" --list tried --include-bogons --rollback 60
			[[ ! -e $input ]] || swap "$input" "$kind"
			goes_on 0
			[[ -e $input.kept ]] || swap "$input" "$kind"
			exits 3 commit
			one_line
			exits 1 test 203.0.113.99
			intact "$kind $point"
			rm -rf "$input" "$input.kept"
			ctl detach --all
			ctl -q attach x0
			blocked 10.77.0.3
		done
	done
}

t_feed_states()
{
	local kind name

	lay_out
	share
	echo 5.9.0.1 >"$T/list"
	for kind in "${kinds[@]}"; do
		for name in bad.json bad.json.new; do
			echo "$kind, $name"
			printf '[feed bad]\nurl = file://%s\n' "$T/list" >"$T/bloomd.conf"
			install -d -m 0750 "$state/feeds"
			touch "$state/feeds/$name"
			swap "$state/feeds/$name" "$kind"
			agent
			wait_for "the list" ctl -q test 5.9.0.1
			ctl feeds update >"$T/out" 2>"$T/err" || true
			agent_ends
			intact "$kind $name"
			rm -rf "$state/feeds"
			exits 0 flush --list bad --yes
		done
	done
}

run_tests
