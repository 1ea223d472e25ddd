#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whoever finds a lock taken waits as long as it was told to, and says for whom.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

since="since 20[0-9-]+T[0-9:]+Z"

# gives_up COMMAND...: at once, with one line that names the process that stands still.
gives_up()
{
	exits 3 "$@"
	one_line
	complains "process $paused \(\`bloomctl .*$since, stopped\) holds $state/"
}

t_a_writer_that_stands_still()
{
	ctl add 10.77.0.3
	ctl -q attach x0
	stands_at commit-before add 10.77.0.4 --comment 'a `'
	gives_up --wait 0 add 10.77.0.5
	complains 'bloomctl add 10.77.0.4 --comment .*writer.lock$'
	gives_up -q --wait 0 add 10.77.0.5
	for one in "del 10.77.0.3" "allow add 10.77.0.3" "policy monitor" "flush --yes" "up" \
		"verdict default count" "scope default tcp/25" "ports dns off" "rotate" "attach x0" "import $T/list --dry-run"; do
		echo 192.0.2.1 >"$T/list"
		# shellcheck disable=SC2086
		gives_up --wait 0 $one
	done
	# Readers do not wait.
	exits 0 --wait 0 test 10.77.0.3
	exits 0 --wait 0 list
	blocked 10.77.0.3
	goes_on 0
	exits 1 test 10.77.0.5
	exits 0 test 10.77.0.4
}

# The way off waits for nobody who does not go on.
t_detach_beside_one_that_stands_still()
{
	local point words

	join x1 1
	ctl add 10.77.0.3
	ctl -q attach x0 x1
	for words in "commit-before:add 10.77.0.4" "rotate-built:rotate"; do
		point=${words%%:*}
		# shellcheck disable=SC2086
		stands_at "$point" ${words#*:}
		exits 3 --wait 0 detach x0
		one_line
		complains "detached, but .*process $paused .*stopped\) holds .*attach again;.*kill -9"
		passes 10.77.0.3
		ip -n "$server" -d link show x1 | contains prog/xdp || fail "x1 has no program"
		exits 3 status
		exits 3 --wait 0 detach --all
		one_line
		complains "detached, but"
		! ip -n "$server" -d link show x1 | contains prog/xdp || fail "x1 has a program"
		# It does not attach them again unless it is asked to.
		goes_on 0
		exits 0 up
		blocked 10.77.0.3
	done
	stands_at commit-before add 10.77.0.5
	exits 3 --wait 0 detach --all
	kill -KILL $paused
	exits 0 detach --all
	passes 10.77.0.3
	exits 1 status
}

t_it_is_waited_for()
{
	ctl add 10.77.0.3
	stands_at commit-before add 10.77.0.4
	ctl --wait 30 add 10.77.0.5 2>"$T/err" &
	wait_for "the notice" grep -q "waiting, for another" "$T/err"
	complains "at most: process $paused "
	goes_on 0
	wait $!
	[[ $(grep -c waiting "$T/err") -eq 1 ]] || fail "$(cat "$T/err")"
	exits 0 test 10.77.0.4 10.77.0.5
	stands_at commit-before add 10.77.0.6
	exits 3 --wait 1 add 10.77.0.2
	complains "gave up after waiting [1-9] s"
	kill -KILL $paused
	wait $paused || true
	exits 0 --wait 0 add 10.77.0.2
}

t_a_builder_that_stands_still()
{
	ctl add 10.77.0.3
	ctl -q attach x0
	stands_at rotate-built rotate
	gives_up --wait 0 rotate
	complains 'builder.lock$'
	exits 0 --wait 0 add 10.77.0.4
	blocked 10.77.0.4
	goes_on 0
	blocked 10.77.0.4
}

t_a_trial()
{
	ctl add 10.77.0.3
	ctl -q attach x0
	ctl -q policy monitor --rollback 90
	exits 3 --wait 0 add 10.77.0.4
	one_line
	complains '`policy monitor` is on trial for another [1-9][0-9]? s$'
	exits 3 -q --wait 1 add 10.77.0.4
	one_line
	exits 1 test 10.77.0.4
	stands_at commit-before commit
	gives_up --wait 0 commit
	complains 'commit.lock$'
	goes_on 0
	exits 0 --wait 0 add 10.77.0.4
}

# A lock without a note: as much as the kernel says. With a note of one who is no more: the same.
t_a_lock_without_a_note()
{
	local one

	ctl add 10.77.0.3
	for one in "$state/writer.lock" "$state"; do
		flock --no-fork "$one" sleep 600 &
		wait_for "the lock" flock --nonblock --conflict-exit-code 0 "$one" false
		exits 3 --wait 0 add 10.77.0.4
		one_line
		complains ": process $! \(\`sleep 600\`\) holds $one\$"
		kill $!
	done
}

# Nobody waits for whoever writes what is read.
t_input_is_read_before_locks_are_taken()
{
	local one writer

	ctl add 10.77.0.3
	ctl -q attach x0
	mkfifo "$T/fifo"
	ctl save >"$T/saved"
	echo 'add 10.77.0.6' >"$T/batch"
	echo 10.77.0.6 >"$T/list"
	for one in "restore:$T/saved" "batch:$T/batch" "import:$T/list" "restore --rollback 1:$T/saved"; do
		for source in "$T/fifo" -; do
			# shellcheck disable=SC2086
			ctl -q ${one%%:*} "$source" <>"$T/fifo" >/dev/null 2>&1 &
			reader=$!
			sleep 60 <>"$T/fifo" &
			writer=$!
			head -c 10 "${one##*:}" >"$T/fifo"
			sleep 0.2
			exits 0 --wait 0 add 10.77.0.4
			kill -0 $reader || fail "${one%%:*} did not wait for $source"
			kill -KILL $reader $writer
			wait $reader $writer || true
			rm "$T/fifo"
			mkfifo "$T/fifo"
			exits 0 del 10.77.0.4
		done
	done
}

# A store is made by writers, under the lock that others are told of. Readers neither wait nor write.
t_a_store_that_is_made()
{
	stands_at store-tables add 10.77.0.4
	gives_up --wait 0 add 10.77.0.5
	complains 'bloomctl add 10.77.0.4`.*writer.lock$'
	exits 0 --wait 0 list
	goes_on 0
	exits 0 test 10.77.0.4
	exits 1 test 10.77.0.5
}

# Who found no tables finds those that somebody else has made since, with what that command listed.
t_a_store_that_is_made_meanwhile()
{
	local words

	for words in "list" "add 10.77.0.5"; do
		rm -rf "$state"
		mkdir "$state"
		stands_at store-tables add 10.77.0.3
		kill -KILL $paused
		wait $paused || true
		# shellcheck disable=SC2086
		stands_at store-bare $words
		ctl -q add 10.77.0.4
		goes_on 0
		[[ ! -s $T/paused.err ]] || fail "$words: $(cat "$T/paused.err")"
		exits 0 test 10.77.0.4
	done
	exits 0 test 10.77.0.5
}

# Who waits comes behind the last step of a command, not between two.
t_steps_are_one()
{
	local words other

	ctl add 10.77.0.3
	for words in "attach x0 --rollback 60" "commit" "detach x0" "attach x0" "detach --all"; do
		# shellcheck disable=SC2086
		stands_at commit-after:1 --wait 1 $words
		XB_PAUSE=commit-before nsenter --net="/run/netns/$server" "$faulty" --state "$state" --pin "$pins" \
			--run "$counters" -q add 10.77.0.9 2>"$T/other.err" &
		other=$!
		wait_for "the queue" grep -q -- "-> FLOCK .* $other " /proc/locks
		goes_on 0
		wait_for "the other command" is_stopped $other
		kill -CONT $other
		wait $other || fail "$(cat "$T/other.err")"
		exits 0 del 10.77.0.9
	done
	no_problem
}

t_the_option()
{
	exits 2 --wait
	one_line
	exits 2 --wait x add 10.77.0.3
	one_line
	exits 2 --wait -1 add 10.77.0.3
	exits 2 --wait 86401 add 10.77.0.3
	exits 0 --wait=5 add 10.77.0.3
}

run_tests
