#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bloomd: how it starts and ends, its configuration, and what expires.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# says_agent PATTERN: in its log, sooner or later.
says_agent() { wait_for "'$1' in the log" grep -qE -- "$1" "$T/agent.err"; }

begin()
{
	ctl -q attach x0
	ctl -q add 10.77.0.3
	agent
	blocked 10.77.0.3
	passes 10.77.0.4
}

t_the_filter_stays_when_it_ends()
{
	begin
	agent_ends
	blocked 10.77.0.3
	agent
	agent_ends KILL 137
	blocked 10.77.0.3
	agent
	agent_ends INT
	passes 10.77.0.4
}

t_only_one_runs()
{
	local code=0

	begin
	tool "$bloomd" --config "$T/bloomd.conf" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "a second one ends with $code"
	one_line
	complains "runs already for $state: process $agent "
}

t_without_configuration_and_state()
{
	agent
	ctl -q add 10.77.0.3 --timeout 1
	sleep 2.5
	exits 0 status
	exits 0 list
	! grep -q 10.77.0.3 "$T/out" || fail "it is listed"
	agent_ends
}

t_configuration_that_is_wrong()
{
	local text line code

	while IFS='|' read -r line text; do
		printf '%b' "$text" >"$T/wrong.conf"
		code=0
		"$bloomd" --config "$T/wrong.conf" --check >"$T/out" 2>"$T/err" || code=$?
		[[ $code -eq 2 ]] || fail "$text: ends with $code"
		one_line
		complains "wrong.conf:$line: "
	done <<-'END'
		1|listen = 127.0.0.1:1\n
		2|[http]\nlisen = 127.0.0.1:1\n
		2|[http]\nlisten\n
		2|[http]\nlisten = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n
		3|# a comment\n[nonsense]\nkey = 1\n
		2|[http]\nno value\nlisen = 1\n
	END
	printf '[http]\n' >"$T/right.conf"
	"$bloomd" --config "$T/right.conf" --check || fail "a right one is refused"
	mkdir "$T/right.conf.d"
	printf '[http]\nwrong = 1\n' >"$T/right.conf.d/10-more.conf"
	! "$bloomd" --config "$T/right.conf" --check 2>"$T/err" || fail "a wrong one is taken"
	complains "right.conf.d/10-more.conf:2: unknown key 'wrong' in section \[http\]"
	code=0
	"$bloomd" --config "$T/missing.conf" --check >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 2 ]] || fail "a missing file: ends with $code"
	complains "missing.conf: no such file"
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
		sleep 1
		wait_for "the end of 10.77.0.4 after $what" gone 10.77.0.4
		passes 10.77.0.4
	done
	blocked 10.77.0.3
	rm -r "$pins"
	exits 0 add 10.77.0.4 --timeout 1
	sleep 1
	wait_for "the end of 10.77.0.4 without pins" gone 10.77.0.4
	blocked 10.77.0.3
	exits 0 status
	agent_ends
	[[ ! -s $T/agent.err ]] || ! grep -v ": ready\|nothing is filtered" "$T/agent.err" || fail "bloomd complains"
}

gone() { ! ctl -q list | grep -q "^$1 "; }

# The store of before comes back as another file.
t_another_store_in_its_place()
{
	begin
	ctl -q save >"$T/saved"
	mv "$state/store.mdb" "$T/old.mdb"
	rm "$state/store.mdb-lock"
	exits 0 --wait 5 restore "$T/saved"
	exits 0 add 10.77.0.4 --timeout 1
	sleep 1
	wait_for "the end of 10.77.0.4" gone 10.77.0.4
	blocked 10.77.0.3
	passes 10.77.0.4
	exits 0 status
}

t_a_store_of_another_version()
{
	local code=0

	ctl -q add 10.77.0.3
	ctl -q attach x0
	"$root/tests/e2e/older.py" "$state" newer
	tool "$bloomd" --config /dev/null >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "bloomd ends with $code: $(cat "$T/err")"
	one_line
	complains "the store was written by a newer bloomd \(schema 99, "
	blocked 10.77.0.3
	rm -r "$state" "$pins" "$counters"
	ctl -q add 10.77.0.3 10.77.0.4
	"$root/tests/e2e/older.py" "$state" mapped
	agent
	exits 0 list
	says '^10.77.0.4 '
}

# What expires is not taken out while the disk is full, which is told once, and is so afterwards.
t_a_full_disk()
{
	local number

	mkdir "$T/disk"
	mount -t tmpfs -o size=4m xbt "$T/disk"
	state=$T/disk/state
	begin
	python3 -c 'for i in range(9000): print("add 172.16.%d.%d --timeout 3" % (i >> 8, i & 255))' >"$T/many"
	exits 0 batch "$T/many"
	exits 0 add 10.77.0.4 --timeout 3
	! head -c 8000000 /dev/zero >"$T/disk/filler" 2>/dev/null || fail "the disk is not full"
	says_agent "cannot take out what has expired; trying again: .*[Nn]o space left"
	blocked 10.77.0.3
	sleep 6
	[[ $(grep -c "cannot take out" "$T/agent.err") -eq 1 ]] || fail "it is told more than once"
	rm "$T/disk/filler"
	for ((number = 0; number < 80; number++)); do
		! gone 10.77.0.4 || break
		sleep 0.1
	done
	passes 10.77.0.4
	blocked 10.77.0.3
	agent_ends
}

# expire COUNT SECONDS: sources with random times; a tenth of them is renewed meanwhile.
expire()
{
	python3 - "$1" "$2" "$T" <<-'END'
		import random, sys
		count, seconds, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
		names = ["10.%d.%d.%d" % (100 + (i >> 16), i >> 8 & 255, i & 255) for i in range(count)]
		first = {name: random.randint(8, seconds) for name in names}
		again = {name: random.randint(8, seconds) for name in names[::10]}
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
	[[ $(wc -l <"$T/due") -eq $1 ]] || fail "$(wc -l <"$T/due") of $1 sources have a time"
	"$root/tests/e2e/expiring.py" "$client" "$server" x0 <"$T/due" >"$T/judged" || fail "$(cat "$T/judged")"
	cat "$T/judged"
	[[ $(ctl -j status) == *'"expired":0'* ]] || fail "something expired is left"
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
