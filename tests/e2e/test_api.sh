#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bloomd's sockets: clients of Redis read and change lists; what they are answered is durable and in force.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2119,SC2154
. "$(dirname "$0")/lib.sh"

# api WORD...: by redis-cli; what it says is in $T/out.
api() { timeout 20 redis-cli -s "${socket:-$counters/api.sock}" "$@" >"$T/out" 2>&1 || fail "redis-cli $*: $(cat "$T/out")"; }

# answers TEXT WORD...: the answer is the text, its lines joined by blanks.
answers()
{
	local wanted=$1 said

	shift
	api "$@"
	said=$(tr '\n' ' ' <"$T/out")
	while [[ $said == *" " ]]; do said=${said% }; done
	[[ $said == "$wanted" ]] || fail "$*: '$said', not '$wanted'"
}

# clients TEST: of api.py.
clients() { "$root/tests/e2e/api.py" "$counters/api.sock" "$agent" "$1" || fail "clients: $1"; }

begin()
{
	ctl -q attach x0
	agent
	passes 10.77.0.3
}

t_what_is_answered_is_in_force()
{
	local turn

	begin
	for turn in 1 2 3; do
		answers 2 SADD bad 10.77.0.3 10.77.3.0/24
		blocked 10.77.0.3 10.77.3.9
		passes 10.77.0.4
		answers 1 SREM bad 10.77.0.3
		passes 10.77.0.3
		blocked 10.77.3.200
		answers 1 SREM bad 10.77.3.0/24
		passes 10.77.3.9
	done
	answers 1 SADD bad fd77::3
	blocked fd77::3
	exits 0 log --last 1
	says "  \`bloomd api, uid $(id -u)\`  bad \\+1\$"
	answers 1 SADD bad 10.77.0.3
	agent_ends KILL 137
	blocked 10.77.0.3 fd77::3
	exits 0 list --list bad
	says '^10.77.0.3 '
	agent
	answers 2 SCARD bad
	agent_ends
	[[ ! -e $counters/api.sock && ! -e $counters/query.sock ]] || fail "sockets are left"
}

kill_again_and_again()
{
	local turn

	for turn in {1..5}; do
		answers 2 SADD bad "192.0.2.$turn" 10.77.0.5
		agent_ends KILL 137
		agent
		answers 2 SREM bad "192.0.2.$turn" 10.77.0.5
	done
}

t_enforcement_never_pauses()
{
	begin
	answers 1 SADD bad 10.77.0.3
	flood kill_again_and_again
	passes 10.77.0.5
}

# At each step between the store and the kernel.
t_no_answer_before_it_is_in_force()
{
	local point waiting

	for point in commit-before commit-after apply-half apply-done; do
		rm -rf "$state" "$counters" "$T/agent.err"
		ctl -q attach x0
		ctl -q add 10.77.0.9 10.77.0.8
		agent_program=$XB_TEST_DIR/bin/bloomd-fault XB_PAUSE=$point agent
		"$root/tests/e2e/api.py" "$counters/api.sock" "$agent" waits >"$T/waits" &
		waiting=$!
		wait_for "bloomd at $point" is_stopped "$agent"
		wait_for "the client at $point" grep -q waits "$T/waits"
		kill -CONT "$agent"
		wait $waiting || fail "the client at $point"
		blocked 10.77.0.5
		agent_ends
	done
}

t_commands()
{
	begin
	answers PONG PING
	answers hello ECHO hello
	answers 3 SADD bad 192.0.2.1 198.51.100.0/24 evil.example
	answers 0 SADD bad 192.0.2.1
	answers 3 SCARD bad
	answers 1 SISMEMBER bad 192.0.2.1
	answers 0 SISMEMBER bad 198.51.100.7
	answers 1 BF.EXISTS bad 198.51.100.7
	answers 1 BF.EXISTS bad www.evil.example
	answers 0 BF.EXISTS other 198.51.100.7
	answers "1 0 0" SMISMEMBER bad 192.0.2.1 192.0.2.2 198.51.100.0/25
	answers "1 0" BF.MEXISTS bad 198.51.100.0/25 198.51.0.0/16
	answers "1 0" BF.MADD bad 192.0.2.5 192.0.2.5
	answers 4 BF.CARD bad
	answers 1 ZADD bad 4000000000 192.0.2.7
	answers 4000000000 ZSCORE bad 192.0.2.7
	answers 0 ZADD bad +inf 192.0.2.7
	answers inf ZSCORE bad 192.0.2.7
	answers 1 ZADD bad CH 4000000000.2 192.0.2.7
	answers 4000000001 ZSCORE bad 192.0.2.7
	answers "" ZSCORE bad 192.0.2.8
	answers 1 ZREM bad 192.0.2.7
	answers set TYPE bad
	answers none TYPE good
	answers 1 EXISTS bad good
	answers OK SELECT 0
	answers "ERR DB index is out of range" SELECT 1
	answers OK AUTH default anything
	answers "NOPROTO unsupported protocol version" HELLO 3
	answers "ERR unknown command 'NONSENSE', with args beginning with: 'a'" NONSENSE a
	answers "ERR wrong number of arguments for 'sadd' command" SADD bad
	api SADD default 0.0.0.0/0
	says '^ERR 0.0.0.0/0 is a prefix shorter than /8'
	api SADD default 192.0.2.50 'no entry'
	says "^ERR 'no entry' is not"
	api SADD 'bad name' 192.0.2.50
	says "^ERR invalid key 'bad name'"
	api ZADD default 1000 192.0.2.50
	says "^ERR the score 1000 is a time that is past"
	api ZADD default soon 192.0.2.50
	says "^ERR value is not a valid float"
	api DEL bad
	says "^ERR del is not offered"
	answers 0 SCARD default
	api SADD allow 192.0.2.60
	says "^ERR the allowlist is not changed by this socket"
	ctl -q allow add 192.0.2.60
	answers 1 SISMEMBER allow 192.0.2.60
	answers 0 SISMEMBER bad 192.0.2.60
	ctl -q add 203.0.113.9 --list bad --comment 'sent spam'
	answers "1 sent spam" HGET bad 203.0.113.9
	# As rspamd asks for an address: it adds up what it gets.
	answers "1" HMGET bad 198.51.100.0/24
	answers "1 sent spam" HMGET bad 203.0.113.9 203.0.113.9/32 203.0.113.8/31
	answers " 1 sent spam" HMGET bad 203.0.113.8 203.0.113.9
	answers 1 SADD bad 2001:db8::/32
	answers "1" HMGET bad 2001:db8::7 2001:db8::7/128 2001:db8::6/127
	answers 1 HGET bad www.evil.example
	answers "" HGET bad whatever!
	answers 1 HEXISTS bad evil.example
	answers 0 HEXISTS bad '?'
	api INFO
	says '^ipv4_hosts:'
	api COMMAND COUNT
	says '^[1-9][0-9]'
	exits 0 status
}

# One after the other with the same bloomd. An entry has room for so many lists with such comments, and for 14 without.
t_clients()
{
	local one

	begin
	for ((i = 0; i < 241; i++)); do
		printf 'add 192.0.2.1 --list full%d --comment %0255d\n' "$i" 0
	done >"$T/batch"
	exits 0 batch "$T/batch"
	clients culprit
	exits 0 flush --yes
	for one in python wrong pieces together crowd silent slices; do
		[[ $one != silent ]] || ! is_sanitized || continue # the address sanitizer takes memory
		clients $one
		answers PONG PING
	done
}

t_who_never_reads_makes_room()
{
	printf '[api]\nclients = 20\n' >"$T/bloomd.conf"
	begin
	clients unread
	says_agent "[1-9][0-9]* clients of query.sock are dropped: they do not read their answers"
	! grep -q 'clients of api.sock' "$T/agent.err" || fail "$(cat "$T/agent.err")"
}

t_while_another_writes()
{
	local waiting

	begin
	exec 7>>"$state/writer.lock"
	flock 7
	clients busy >"$T/busy" &
	waiting=$!
	wait_for "the second change" grep -q waits "$T/busy"
	flock -u 7
	wait $waiting || fail "busy"
}

# ends_soon ENTRY: in list bad, at the second $when, unless that is past on a slow machine.
ends_soon()
{
	when=$(($(date +%s) + 3))
	redis-cli -s "$counters/api.sock" ZADD bad $when "$1" | contains '^[01]$'
}

# add ENTRY: in the background, as $adding; the answer is in $T/added.
add()
{
	redis-cli -s "$counters/api.sock" SADD bad "$1" >"$T/added" 2>&1 &
	adding=$!
}

# added: what was waiting is answered that one entry is new.
added()
{
	wait "$adding" || fail "redis-cli"
	[[ $(cat "$T/added") == 1 ]] || fail "the answer: $(cat "$T/added")"
}

# dies_with ENTRY: bloomd, while that waits to be listed.
dies_with()
{
	add "$1"
	sleep 0.5
	agent_ends KILL 137
	wait "$adding" || true
	agent
}

# Who writes waits for the end of a trial, and is told if that takes long; who reads does not wait.
t_while_a_trial_is_on()
{
	begin
	answers 1 SADD bad 10.77.0.3
	wait_for "its time" ends_soon 10.77.0.5
	exits 0 policy monitor --rollback 60
	add 10.77.0.4
	answers 0 SISMEMBER bad 10.77.0.4
	answers "1 0" SMISMEMBER bad 10.77.0.3 10.77.0.4
	kill -0 "$adding" || fail "it is answered: $(cat "$T/added")"
	passes 10.77.0.3
	wait "$adding" || fail "redis-cli"
	grep -qE '^TRYAGAIN .*policy monitor.* on trial' "$T/added" || fail "the answer: $(cat "$T/added")"
	answers 0 SISMEMBER bad 10.77.0.4
	exits 0 commit
	comes_through 10.77.0.5
	# One that nobody ends.
	exits 0 policy enforce
	exits 0 policy monitor --rollback 2
	add 10.77.0.4
	added
	blocked 10.77.0.3 10.77.0.4
	passes 10.77.0.5
	answers 2 SCARD bad
	exits 0 status
	exits 0 rotate --rollback 60
	add 10.77.0.6
	sleep 1
	kill -0 "$adding" || fail "it is answered: $(cat "$T/added")"
	blocked 10.77.0.3 10.77.0.4
	exits 0 commit
	added
	blocked 10.77.0.3 10.77.0.4 10.77.0.6
	answers 3 SCARD bad
	exits 0 status
	# bloomd dies in a trial; somebody or the kernel ends it, and the next bloomd goes on.
	exits 0 policy monitor --rollback 60
	dies_with 10.77.3.9
	answers "1 0" SMISMEMBER bad 10.77.0.3 10.77.3.9
	exits 0 commit
	exits 0 policy enforce
	exits 0 policy monitor --rollback 2
	dies_with 10.77.3.200
	add 10.77.3.9
	added
	blocked 10.77.0.3 10.77.3.9
}

# Many entries end in the same second. While they are taken out, clients are answered, and what has ended and is
# listed again stays.
t_much_expires_at_once()
{
	begin
	python3 -c 'print("create many hash:ip family inet timeout 0")
for i in range(300000):
    print("add many 9.%d.%d.%d timeout 3" % (i >> 16, i >> 8 & 255, i & 255))
for i in range(3, 6):
    print("add many 10.77.0.%d timeout 3" % i)' >"$T/many"
	kill -STOP "$agent"
	wait_for "its stop" is_stopped "$agent"
	exits 0 import "$T/many" --list bad --format ipset --include-bogons
	sleep 4
	clients overdue
	blocked 10.77.0.3
	passes 10.77.0.4
	answers 1 SCARD bad
	answers 1 SISMEMBER bad 10.77.0.3
	answers 1 ZADD bad $(($(date +%s) + 60)) 10.77.0.4
	blocked 10.77.0.4
	wait_for "its time" ends_soon 10.77.0.4
	comes_through 10.77.0.4
	[[ $(date +%s) -ge $when ]] || fail "it gets through too early"
	answers 1 SCARD bad
	agent_ends
	exits 0 status
}

# A change that is committed finds no room in the filter, and somebody else is building one.
t_what_is_kept_is_not_tried_again()
{
	local names=()

	ctl -q add listed.example
	printf '[api]\nallow = yes\n' >"$T/bloomd.conf"
	begin
	mapfile -t names < <(printf 'n%d.example\n' {1..1500})
	exec 7>>"$state/builder.lock"
	flock 7
	api SADD allow "${names[@]}"
	says '^UNENFORCED the change is kept, but is not in force yet: .*builder.lock'
	answers "1500" SCARD allow
	flock -u 7
	wait_for "that it is in force" ctl -q status
	answers "0" SADD allow "${names[@]}"
}

t_sockets()
{
	begin
	[[ $(stat -c %a "$counters/api.sock") == 660 && $(stat -c %a "$counters/query.sock") == 660 ]] ||
		fail "modes: $(ls -l "$counters")"
	answers 1 SADD bad 192.0.2.1
	socket=$counters/query.sock answers 1 SISMEMBER bad 192.0.2.1
	socket=$counters/query.sock api SADD bad 192.0.2.2
	says "^NOPERM sadd changes lists"
	answers 1 SCARD bad
	printf '[api]\nquery-mode = 0666\ngroup = nogroup\nquery-group = users\nallow = yes\n' >"$T/bloomd.conf"
	kill -HUP "$agent"
	says_agent reloaded
	[[ $(stat -c %a:%G "$counters/api.sock" "$counters/query.sock") == $'660:nogroup\n666:users' ]] ||
		fail "modes after the reload: $(ls -l "$counters")"
	answers 1 SADD allow 192.0.2.1
	answers 1 SADD allow:partner 192.0.2.3
	exits 0 allow list --list partner
	says '^192.0.2.3 '
	answers 0 SISMEMBER partner 192.0.2.3
	chmod 755 "$T" "$counters"
	[[ $(setpriv --reuid 12345 --regid 12345 --clear-groups redis-cli -s "$counters/query.sock" SCARD bad) == 1 ]] ||
		fail "everybody may ask"
	! setpriv --reuid 12345 --regid 12345 --clear-groups redis-cli -s "$counters/api.sock" PING 2>/dev/null |
		contains PONG || fail "everybody may connect to api.sock"
	printf '[api]\nenabled = no\n' >"$T/bloomd.conf"
	kill -HUP "$agent"
	wait_for "the end of the socket" test ! -e "$counters/api.sock"
	: >"$T/bloomd.conf"
	kill -HUP "$agent"
	wait_for "the socket" test -S "$counters/api.sock"
	answers 1 SCARD bad
}

# somebody_listens COUNT: and ends when that many have connected.
somebody_listens()
{
	python3 -S -E -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
for _ in range(int(sys.argv[2])):
    s.accept()' "$counters/api.sock" "$1" &
	wait_for "another's socket" test -S "$counters/api.sock"
}

t_what_is_in_the_place_of_a_socket()
{
	local code=0

	begin
	agent_ends KILL 137
	[[ -S $counters/api.sock ]] || fail "no socket is left"
	agent
	answers PONG PING
	agent_ends
	echo file >"$counters/api.sock"
	tool "$bloomd" --config "$T/bloomd.conf" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "ends with $code beside a file"
	complains "api.sock is there, and is no socket"
	rm "$counters/api.sock"
	somebody_listens 1000
	code=0
	tool "$bloomd" --config "$T/bloomd.conf" >"$T/out" 2>"$T/err" || code=$?
	kill %%
	[[ $code -eq 3 ]] || fail "ends with $code beside another"
	complains "another process listens on .*/api.sock"
	# A process of one that was killed may end a moment after it gave the lock back.
	rm "$counters/api.sock"
	somebody_listens 1
	agent
	answers PONG PING
}

t_a_reload_that_is_wrong()
{
	begin
	printf '[api]\nallow = yes\ngroup = nobody-has-this\n' >"$T/bloomd.conf"
	kill -HUP "$agent"
	says_agent "stays as it was: .*bloomd.conf:3: there is no group"
	api SADD allow 192.0.2.60
	says "^ERR the allowlist is not changed by this socket"
}

# A disk that is full refuses what writes, says so, and nothing is half done.
t_full_disk()
{
	local lines

	mkdir "$T/disk"
	mount -t tmpfs -o size=1m xbt "$T/disk"
	state=$T/disk/state
	begin
	answers 1 SADD bad 10.77.0.3
	blocked 10.77.0.3
	/usr/bin/python3 - "$counters/api.sock" <<-'END' || fail "full disk"
		import random, redis, sys
		api = redis.Redis(unix_socket_path=sys.argv[1])
		for turn in range(200):
		    with api.pipeline(transaction=False) as pipeline:
		        for i in range(500):
		            pipeline.sadd("fill", "%060x.example" % random.getrandbits(240))
		        answers = pipeline.execute(raise_on_error=False)
		    if isinstance(answers[0], Exception):
		        break
		sys.exit(None if str(answers[0]).startswith(("cannot write", "no space")) or "space left" in str(answers[0]) else "after %d turns: %s" % (turn, answers[0]))
	END
	answers 1 SISMEMBER bad 10.77.0.3
	blocked 10.77.0.3
	passes 10.77.0.4
	lines=$(grep -c 'cannot make a change that came by the socket' "$T/agent.err") || fail "no failure is told"
	[[ $lines -le $((SECONDS / 60 + 2)) ]] || fail "it is told $lines times"
}

run_tests
