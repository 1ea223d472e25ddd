#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a member of the group puts where root will look: links, pipes and directories are neither
# followed nor waited for, and nobody else's file is touched.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/member.sh"

store_files=(store.mdb store.mdb-lock writer.lock builder.lock commit.lock namespace.lock)

# Somebody's files, which must stay as they are.
lay_out()
{
	mkdir -p "$T/victim/below"
	echo precious >"$T/victim/file"
	echo precious >"$T/victim/below/file"
	cp -a "$T/victim" "$T/kept"
}

intact()
{
	diff -r "$T/kept" "$T/victim" || fail "$*: somebody's files have changed"
	[[ $(stat -c %a "$T/victim/file") == 644 ]] || fail "$*: somebody's modes have changed"
}

# A group that may also put files beside the store.
share_widely()
{
	share
	chmod 2770 "$state"
}

in_force()
{
	ctl add 10.77.0.3
	ctl -q attach x0
	blocked 10.77.0.3
}

# planted_as NAME [COMMAND...]: each kind of thing under this name in the state directory; what a command then says.
planted_as()
{
	local name=$1 kind

	for kind in "ln -s $T/victim/file" "ln -s $T/victim/new" "ln $T/victim/file" mkfifo "mkdir"; do
		mv "$state/$name" "$T/aside"
		$kind "$state/$name"
		exits 3 "${@:2}"
		one_line
		complains "state/$name is a link or not a regular file"
		intact "$kind $name"
		[[ ! -e $T/victim/new ]] || fail "$kind $name: made through the link"
		rm -rf "${state:?}/$name"
		mv "$T/aside" "$state/$name"
		blocked 10.77.0.3
	done
	exits 0 test 10.77.0.3
}

t_state_files()
{
	local name

	lay_out
	share_widely
	in_force
	for name in store.mdb store.mdb-lock writer.lock namespace.lock; do
		planted_as "$name" add 10.77.0.4
	done
	planted_as builder.lock rotate
	exits 0 status
}

# Before there is anything: a dangling link makes no file elsewhere.
t_first_use()
{
	local name

	lay_out
	for name in "${store_files[@]}"; do
		install -d -m 2770 -g "$group" "$state"
		ln -s "$T/victim/new" "$state/$name"
		code=0
		ctl rotate >"$T/out" 2>"$T/err" || code=$?
		if [[ $name != commit.lock ]]; then # which nobody needs before a trial
			[[ $code -eq 3 ]] || fail "$name: exit code $code"
			one_line
		fi
		intact "$name"
		rm -r "$state"
	done
}

# State and pin directory themselves are what their owner and the caller say, links too.
t_own_directories()
{
	local elsewhere=${pins%/*}/elsewhere

	mkdir -m 0700 "$T/elsewhere" "$elsewhere"
	ln -s "$T/elsewhere" "$state"
	ln -s "$elsewhere" "$pins"
	in_force
	exits 0 rotate
	exits 0 status
	blocked 10.77.0.3
	[[ -f $T/elsewhere/store.mdb && -d $elsewhere/link ]]
	exits 0 detach x0
	rm -r "$pins" "$elsewhere"
}

# Whoever may use the store but nothing beside it can plant nothing.
t_narrow_directory()
{
	local name

	share
	for name in "${store_files[@]}" other trial; do
		! with_rights "$member" "$group" "" mv "$state/$name" "$state/gone" 2>/dev/null ||
			fail "$name can be moved"
		! with_rights "$member" "$group" "" ln -sT /etc/passwd "$state/$name" 2>/dev/null ||
			fail "$name can be planted"
	done
	member_exits 0 add 10.77.0.3
	member_exits 0 attach x0
	blocked 10.77.0.3
}

t_pins()
{
	local name

	lay_out
	share
	in_force
	for name in gen-0123456789abcdef link-new trial; do
		ln -s "$T/victim" "$pins/$name"
		exits 0 rotate
		intact "$name"
		exits 0 policy monitor --rollback 60
		intact "$name"
		exits 0 commit
		exits 0 policy enforce
		exits 0 up
		intact "$name"
		blocked 10.77.0.3
		rm -f "$pins/$name"
	done
	mv "$pins/link/slot" "$pins/slot"
	ln -s "$pins/slot" "$pins/link/slot"
	exits 3 add 10.77.0.4
	one_line
	complains 'link/slot is not a pin'
	blocked 10.77.0.3
	rm "$pins/link/slot"
	mv "$pins/slot" "$pins/link/slot"
	exits 0 add 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
	exits 0 detach x0
	intact detach
}

# The kernel writes into our memory what a map says it is long.
t_other_maps()
{
	local name kept command

	share
	in_force
	for name in link/identity link/slot link/stats link/ifaces link/notes link/hits link/hits_names link/drops \
		"gen-*/params" "gen-*/policy"; do
		# shellcheck disable=SC2086,SC2116
		kept=$(echo "$pins"/$name)
		mv "$kept" "$pins/aside"
		/usr/sbin/bpftool map create "$kept" type array key 4 value 1000000 entries 1 name large
		exits 3 status
		for command in "add 10.77.0.4 --exist" stats; do
			code=0
			# shellcheck disable=SC2086
			ctl $command >"$T/out" 2>"$T/err" || code=$?
			[[ $code -eq 0 || $code -eq 3 ]] || fail "$name: $command: exit code $code"
			[[ $code -eq 0 || $command == stats ]] || complains 'is not a map of this program'
		done
		blocked 10.77.0.3
		if [[ -e $kept ]]; then
			mv "$pins/aside" "$kept"
		else
			rm "$pins/aside" # of a generation that was built anew
		fi
		exits 0 add 10.77.0.4 --exist
		exits 0 status
		blocked 10.77.0.3 10.77.0.4
	done
}

t_counters_and_trials()
{
	local file

	lay_out
	share
	in_force
	file=$(echo "$counters"/counters/*.counters)
	ln -s "$T/victim/file" "${file%-gen-*}-evil.counters"
	ln -s "$T/victim" "${file%-gen-*}-evil"
	exits 0 rotate
	intact rotate
	file=$(echo "$counters"/counters/*.counters)
	[[ -f $file ]] || fail "which are the counters: $file"
	mv "$file" "$T/aside"
	ln -s "$T/aside" "$file"
	exits 0 add 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
	[[ ! -L $file && -f $(echo "$counters"/counters/*.counters) ]] || fail "the link is in use"
	echo 192.0.2.0/24 >"$T/list"
	ln -s "$T/victim/file" "$state/trial/trial.input"
	exits 0 import "$T/list" --rollback 60 --include-bogons
	intact import
	[[ -f $state/trial/trial.input && ! -L $state/trial/trial.input ]] || fail "the link is in use"
	exits 0 commit
	intact commit
	exits 0 test 192.0.2.0/24
	rm -rf "$state/trial"
	ln -s "$T/victim" "$state/trial"
	ctl import "$T/list" --rollback 60 --list again --include-bogons >"$T/out" 2>"$T/err" || true
	ctl commit >"$T/out" 2>"$T/err" || true
	intact "trial directory"
	blocked 10.77.0.3
	exits 0 detach x0
	intact detach
}

run_tests
