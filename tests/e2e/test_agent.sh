#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bloomd: how it starts and ends, its configuration, and what expires.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/agent.sh"

t_the_filter_stays_when_it_ends()
{
	local code=0

	begin
	tool "$bloomd" --config "$T/bloomd.conf" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "a second one ends with $code"
	one_line
	complains "runs already for $state: process $agent "
	agent_ends
	blocked 10.77.0.3
	agent
	agent_ends KILL 137
	blocked 10.77.0.3
	agent
	agent_ends INT
	passes 10.77.0.4
	"$root/tests/e2e/otherschema.py" "$state" 99
	code=0
	tool "$bloomd" --config /dev/null >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "bloomd ends with $code: $(cat "$T/err")"
	one_line
	complains "the store was written by a newer bloomd \(schema 99, "
	blocked 10.77.0.3
}

# A process of one that was killed holds it for a moment longer.
t_the_start_waits_for_the_end_of_another()
{
	command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
	"${CC:-cc}" -shared -fPIC -o "$T/waits.so" "$root/tests/e2e/waits.c"
	touch "$T/bloomd.conf"
	mkdir -p "$state"
	exec 7>"$state/bloomd.lock"
	flock 7
	preloaded "$T/waits.so" exec nsenter --net="/run/netns/$server" "$bloomd" --config "$T/bloomd.conf" \
		--state "$state" --pin "$pins" --run "$counters" 2>"$T/agent.err" &
	agent=$!
	wait_for "its first try" is_stopped "$agent"
	flock -u 7
	exec 7>&-
	kill -CONT "$agent"
	says_agent ": ready"
	agent_ends
}

t_without_configuration_and_state()
{
	agent
	ctl -q add 10.77.0.3 --timeout 1
	wait_for "its end" gone 10.77.0.3
	exits 1 status
	agent_ends
}

# Its store is to be made while somebody writes; a loop that waited would keep others waiting, its start does not.
t_the_start_waits_for_others()
{
	mkdir -p "$state"
	exec 7>"$state/writer.lock"
	flock 7
	(sleep 2 && flock -u 7) &
	agent
	exec 7>&-
	ctl -q add 10.77.0.3
	agent_ends
}

t_a_reload_that_is_wrong_changes_nothing()
{
	begin
	echo '[wrong]' >"$T/bloomd.conf"
	echo 'key = 1' >>"$T/bloomd.conf"
	kill -HUP "$agent"
	says_agent "stays as it was: .*bloomd.conf:2: unknown section"
	: >"$T/bloomd.conf"
	kill -HUP "$agent"
	says_agent "reloaded"
	blocked 10.77.0.3
	agent_ends
}

# notified TEXT: systemd has heard this line.
notified() { grep -qxF -- "$1" "$T/notified"; }

# status_comes PATTERN: the last STATUS is so, when bloomd has looked again.
status_comes() { wait_for "the STATUS $1" last_status "$1"; }
last_status() { grep "^STATUS=" "$T/notified" | tail -n 1 | contains "^STATUS=$1$"; }

# watchdogs COUNT: systemd has heard so often that it lives.
watchdogs() { [[ $(grep -cx WATCHDOG=1 "$T/notified") -ge $1 ]]; }

# hear: a service manager, which writes down what it is told.
hear()
{
	python3 -c 'import os, socket, sys
hears = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
hears.bind(sys.argv[1])
with open(sys.argv[2], "a", buffering=1) as out:
    while True:
        print(hears.recv(4096).decode(), file=out)' "$T/notify" "$T/notified" &
	wait_for "the manager" test -S "$T/notify"
	export NOTIFY_SOCKET=$T/notify
}

t_what_systemd_hears()
{
	hear
	export WATCHDOG_USEC=1000000
	begin
	unset NOTIFY_SOCKET WATCHDOG_USEC
	wait_for "READY" notified READY=1
	wait_for "STATUS" notified "STATUS=1 entry; policy enforce on 1 interface"
	exits 0 add 10.77.0.5 10.77.0.6
	exits 0 policy monitor
	join x1 1
	exits 0 attach x1
	status_comes "3 entries; policy monitor on 2 interfaces"
	ip -n "$server" link del x1
	status_comes "3 entries; policy monitor on 1 of 2 interfaces; x1 .*"
	exits 0 detach x1
	exits 0 policy enforce --rollback 60
	status_comes "3 entries; policy enforce on 1 interface; a change is on trial"
	exits 0 commit
	status_comes "3 entries; policy enforce on 1 interface"
	[[ -z $(grep "^STATUS=" "$T/notified" | uniq -d) ]] || fail "a STATUS comes twice: $(grep STATUS "$T/notified")"
	! notified RELOADING=1 || fail "it reloads by itself"
	for _ in 1 2; do
		: >"$T/notified"
		kill -HUP "$agent"
		wait_for "READY" notified READY=1
		grep -vE '^(WATCHDOG|STATUS)' "$T/notified" | tr '\n' ' ' |
			contains '^RELOADING=1 MONOTONIC_USEC=[1-9][0-9]* READY=1 $' || fail "$(cat "$T/notified")"
		echo '[wrong]' >"$T/bloomd.conf" # the other time
	done
	: >"$T/notified"
	wait_for "what keeps a watchdog from biting" watchdogs 3
	agent_stands
	# The manager has read what came before.
	python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"STOPPED", sys.argv[1])' "$T/notify"
	wait_for "the manager" notified STOPPED
	: >"$T/notified"
	sleep 1.5
	! notified WATCHDOG=1 || fail "it says that it lives while it stands still"
	kill -CONT "$agent"
	agent_ends
	wait_for "STOPPING" notified STOPPING=1
	kill %1
}

# A watchdog that has just not heard from it gives a long write all its time.
t_the_watchdog_waits_for_a_write()
{
	hear
	export WATCHDOG_USEC=600000000
	begin
	unset NOTIFY_SOCKET WATCHDOG_USEC
	wait_for "READY" notified READY=1
	sleep 2
	: >"$T/notified"
	rm -r "$pins"
	wait_for "the watchdog" notified WATCHDOG=1
	wait_for "the filter" ctl -q status
	blocked 10.77.0.3
	sleep 1
	[[ $(grep -cx WATCHDOG=1 "$T/notified") -le 3 ]] || fail "it is told too often: $(cat "$T/notified")"
	agent_ends
	kill %1
}

# Between two writes of bloomd others change what it keeps open.
t_what_others_change_meanwhile()
{
	local what

	begin
	for what in "rotate" "add 10.77.0.5" "del 10.77.0.5" "policy enforce" "flush --yes" "add 10.77.0.3" \
		"detach --all" "attach x0" "rotate --capacity 100000" "allow add 10.77.0.5" "allow del 10.77.0.5"; do
		# shellcheck disable=SC2086
		exits 0 $what
		exits 0 add 10.77.0.4 --timeout 1
		wait_for "the end of 10.77.0.4 after $what" gone 10.77.0.4
		comes_through 10.77.0.4
	done
	blocked 10.77.0.3
	rm -r "$pins"
	exits 0 add 10.77.0.4 --timeout 1
	wait_for "the end of 10.77.0.4 without pins" gone 10.77.0.4
	blocked 10.77.0.3
	exits 0 status
	agent_ends
	[[ ! -s $T/agent.err ]] || ! grep -v ": ready\|nothing is filtered" "$T/agent.err" || fail "bloomd complains"
}

# When bloomd hears of the write, LMDB does not show the change yet.
t_a_look_before_the_change_can_be_seen()
{
	local writer

	command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
	! is_sanitized || skip "another library has to be loaded first"
	"${CC:-cc}" -shared -fPIC -o "$T/stands.so" "$root/tests/e2e/stands.c"
	begin
	LD_PRELOAD=$T/stands.so nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" -q add 10.77.0.4 --timeout 1 &
	writer=$!
	wait_for "a writer that stands still" is_stopped $writer
	sleep 0.5
	while kill -CONT $writer 2>/dev/null; do sleep 0.05; done
	wait $writer || fail "add: exit code $?"
	wait_for "the end of 10.77.0.4" gone 10.77.0.4
	comes_through 10.77.0.4
	agent_ends
}

# The store of before comes back as another file.
t_another_store_in_its_place()
{
	begin
	ctl -q save >"$T/saved"
	mv "$state/store.mdb" "$T/old.mdb"
	rm "$state/store.mdb-lock"
	exits 0 --wait 5 restore "$T/saved"
	exits 0 add 10.77.0.4 --timeout 1
	wait_for "the end of 10.77.0.4" gone 10.77.0.4
	comes_through 10.77.0.4
	blocked 10.77.0.3
	exits 0 status
}

# What expires is not taken out while the disk is full, which is told once, and is so afterwards.
t_a_full_disk()
{
	mkdir "$T/disk"
	mount -t tmpfs -o size=4m xbt "$T/disk"
	state=$T/disk/state
	begin
	python3 -c 'for i in range(9000): print("add 172.16.%d.%d --timeout 3" % (i >> 8, i & 255))' >"$T/many"
	agent_stands
	exits 0 batch "$T/many"
	exits 0 add 10.77.0.4 --timeout 3
	! head -c 8000000 /dev/zero >"$T/disk/filler" 2>/dev/null || fail "the disk is not full"
	kill -CONT "$agent"
	says_agent "cannot take out what has expired; trying again: .*[Nn]o space left"
	blocked 10.77.0.3
	sleep 6
	[[ $(grep -c "cannot take out" "$T/agent.err") -eq 1 ]] || fail "it is told more than once"
	rm "$T/disk/filler"
	comes_through 10.77.0.4
	blocked 10.77.0.3
	agent_ends
}

# give_times COUNT LEAST MOST: sources with random times; a tenth of them is renewed meanwhile. When they end is in $T/due.
give_times()
{
	python3 - "$@" "$T" <<-'END'
		import random, sys
		count, least, most, directory = *map(int, sys.argv[1:4]), sys.argv[4]
		names = ["10.%d.%d.%d" % (100 + (i >> 16), i >> 8 & 255, i & 255) for i in range(count)]
		first = {name: random.randint(least, most) for name in names}
		again = {name: random.randint(least, most) for name in names[::10]}
		for file, times in ("first", first), ("again", again):
		    with open("%s/%s" % (directory, file), "w") as out:
		        out.writelines("add %s --timeout %d --exist\n" % one for one in times.items())
	END
	exits 0 -q batch "$T/first"
	exits 0 -q batch "$T/again"
	exits 0 -j list
	python3 -c 'import calendar, json, sys, time
for entry in json.load(open(sys.argv[1]))["entries"]:
    for one in entry["lists"]:
        if one.get("expires"):
            print(entry["entry"], calendar.timegm(time.strptime(one["expires"], "%Y-%m-%dT%H:%M:%SZ")))' "$T/out" >"$T/due"
}

# expire COUNT SECONDS: so many sources, each of which must leave at its time.
expire()
{
	local longer

	# A slow machine needs more time before the first of them ends.
	for longer in 0 20 60; do
		give_times "$1" $((8 + longer)) $(($2 + longer))
		[[ $(wc -l <"$T/due") -lt $1 || $(date +%s) -ge $(awk '{print $2}' "$T/due" | sort -n | head -n 1) ]] || break
	done
	[[ $(wc -l <"$T/due") -eq $1 ]] || fail "$(wc -l <"$T/due") of $1 sources have a time"
	"$root/tests/e2e/expiring.py" "$client" "$server" x0 "$patience" <"$T/due" >"$T/judged" || fail "$(cat "$T/judged")"
	cat "$T/judged"
	[[ $(ctl -j status) == *'"expired":0'* ]] || fail "something expired is left"
}

# sleeps: it does not wake up for two seconds.
sleeps()
{
	local before

	before=$(wakes)
	sleep 2
	[[ $(wakes) -eq $before ]]
}

scrape()
{
	in_server curl -sf -o "$T/metrics" http://127.0.0.1:9101/metrics || fail "it cannot be scraped"
	grep -q ^xdp_bloom_store_sequence "$T/metrics" || fail "it serves no metrics"
}

# With many entries that have a time, nothing costs anything until they are due, and a scrape costs what it does with one.
t_idle()
{
	local count=100000 few many

	! is_sanitized || skip "the address sanitizer takes memory"
	[[ -z ${XB_TEST_ALL:-} ]] || count=10000000
	printf '[http]\nlisten = 127.0.0.1:9101\n' >"$T/bloomd.conf"
	begin
	few=$(costs 41 scrape)
	agent_ends
	python3 -c 'import sys
print("create many hash:ip family inet timeout 0")
for i in range(int(sys.argv[1])):
    print("add many %d.%d.%d.%d timeout 36000" % (11 + (i >> 24), i >> 16 & 255, i >> 8 & 255, i & 255))' $count >"$T/many"
	exits 0 import "$T/many" --format ipset --include-bogons
	agent
	wait_for "its rest" is_quiet 2
	is_quiet 15 || fail "it woke up $(wakes) times"
	# Without an interface there is nothing to compare.
	exits 0 detach x0
	wait_for "its sleep" sleeps
	many=$(costs 41 scrape)
	echo "a scrape: $((few / 1000)) us of processors with one entry, $((many / 1000)) with $count"
	[[ $many -lt $((4 * few)) ]] || fail "scrapes cost more with many entries"
	[[ $(resident) -lt 16384 ]] || fail "$(resident) KiB are resident"
	agent_ends
}

t_each_leaves_at_its_time()
{
	begin
	if [[ -n ${XB_TEST_ALL:-} ]]; then
		expire 100000 68
	else
		expire 5000 12
	fi
	blocked 10.77.0.3
	agent_ends
}

run_tests
