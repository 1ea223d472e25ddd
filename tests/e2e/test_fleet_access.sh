#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the rules of docs/fleet.md let the users of a server do: all that a host of this fleet needs, and nothing else.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

server_with_users()
{
	redis
	user publisher
	user follower
	# Whoever is no user is not let in.
	ask_redis config set requirepass hidden >"$T/out"
	ask_redis() { redis-cli -s "$T/redis.sock" --no-auth-warning -a hidden "$@"; }
}

# A host that may publish.
publisher()
{
	new_key
	server_with_users
	lines=("key-file = $T/key")
	joins a 'user = publisher' "password-file = $T/publisher" "$@"
}

# answers USER: to the commands of standard input, a line each; of an array its elements.
answers() { timeout 20 redis-cli -s "$T/redis.sock" --no-auth-warning --user "$1" --pass secret | grep .; }

# may_not USER: any of the commands of standard input.
may_not()
{
	local commands answers i

	mapfile -t commands
	mapfile -t answers < <(printf '%s\n' "${commands[@]}" | answers "$1")
	for i in "${!commands[@]}"; do
		[[ ${answers[i]:-} == *NOPERM* ]] || fail "$1 may: ${commands[i]}: ${answers[*]:i:1}"
	done
}

begins_at() { [[ $(ask_redis --csv xrange 'xb:{test}:log' - + COUNT 1) == "\"$1-0\","* ]]; }
reports() { [[ $(ask_redis hlen 'xb:{test}:reports') -eq $1 ]]; }

# All that a host does: begin a log, publish, follow, snapshots, trimming, reports, resync, verify.
t_the_rules_let_a_fleet_work()
{
	local before

	publisher 'snapshot-every = 2'
	configure_follower b 'user = follower' "password-file = $T/follower"
	up b
	in_fleet b
	before=$(manifest)
	adds a b 192.0.2.1
	wait_for "a snapshot" is_new_manifest "$before"
	wait_for "the log without its begin" begins_at 2
	of b -q fleet resync
	says_log b 'resynced \(asked\)'
	wait_for "the reports" reports 2
	agree 1 a b
	of b fleet verify >"$T/out" || fail "$(cat "$T/out" "$T/b/err")"
	plant b put default 192.0.2.2
	! of b fleet verify >"$T/out" || fail "$(cat "$T/out")"
	says '^extra    192.0.2.2 list default'
	! grep -h NOPERM "$T"/?/log || fail "something is not allowed"
}

# What reaches all keys, or the server itself.
no_way_round=(flushall flushdb 'keys *' 'scan 0' randomkey 'eval return 0' 'script load x' 'function list'
	'config get requirepass' 'config set requirepass x' 'acl list' 'acl setuser follower allcommands' save shutdown
	'replicaof 127.0.0.1 1' 'client list' 'client kill TYPE normal' monitor 'swapdb 0 1' 'move xb:{test}:log 1'
	'migrate 127.0.0.1 1 xb:{test}:log 0 100' 'restore xb:{test}:log 0 x' 'object encoding xb:{test}:log'
	'dump xb:{test}:log' 'sort xb:{test}:log STORE x' 'publish a b' 'subscribe a' 'module list')

t_a_follower_cannot_publish()
{
	local log='xb:{test}:log' before command

	publisher
	publishes 1 of a -q add 192.0.2.1
	before=$(ask_redis xrange "$log" - + | md5sum)
	may_not follower <<-END
		xadd $log * e x
		xtrim $log MAXLEN 0
		xdel $log 1-0
		xsetid $log 99-0
		del $log
		unlink $log
		rename $log other
		expire $log 1
		set $log x
		set xb:{test}:snapshot x
		del xb:{test}:snapshot
		append xb:{test}:snapshot x
		getdel xb:{test}:snapshot
		copy xb:{test}:snapshot xb:{test}:reports REPLACE
		set xb:{test}:lease x
		set xb:{test}:chunk:0:0 x
		del xb:{test}:reports
		hset $log a b
		hset xb:{other}:reports a b
		get xb:{other}:snapshot
		$(printf '%s\n' "${no_way_round[@]}")
	END
	for command in 'get xb:{test}:snapshot' "xrange $log - +" 'hset xb:{test}:reports a b'; do
		! answers follower <<<"$command" | contains NOPERM || fail "a follower may not: $command"
	done
	# Nor can bloomd, if the configuration says that it publishes. It reads on.
	joins b 'user = follower' "password-file = $T/follower"
	of b -q add 192.0.2.2
	says_log b 'fleet: cannot publish: .*NOPERM'
	[[ $(ask_redis xrange "$log" - + | md5sum) == "$before" ]] || fail "it has published"
	has b 192.0.2.2 || fail "it is not listed there"
	outbox_is b 1 || fail "it does not wait"
	adds a b 192.0.2.3
}

t_a_publisher_cannot_touch_other_fleets()
{
	local key

	publisher
	# A fleet beside it.
	configure_host c 'name = other' "password-file = $T/hidden"
	(umask 077 && echo hidden >"$T/hidden")
	up c
	in_fleet c
	of c -q add 192.0.2.3
	published c
	ask_redis mset 'xb:{other}:lease' x 'xb:{other}:chunk:0:0' x nobodys x >"$T/out"
	of a -q add 192.0.2.1
	published a
	has_not a 192.0.2.3 && has_not c 192.0.2.1 || fail "they share"
	{
		for key in 'xb:{other}:log' 'xb:{test}' 'xb:{testing}:log' 'xb:{t}:log' '{test}:log' 'xxb:{test}:log' log; do
			printf '%s\n' "xadd $key 2-0 e x" "xtrim $key MAXLEN 0" "xrange $key - +" "xread STREAMS $key 0" "del $key" \
				"watch $key"
		done
		for key in 'xb:{other}:snapshot' 'xb:{other}:lease' 'xb:{other}:chunk:0:0' nobodys; do
			printf '%s\n' "get $key" "set $key y" "set $key y NX GET PX 30000" "del $key" "expire $key 1" "pexpire $key 1"
		done
		printf '%s\n' 'hset xb:{other}:reports a c' 'hgetall xb:{other}:reports' "${no_way_round[@]}"
		# Not together with a key of its own either.
		printf '%s\n' 'del xb:{test}:lease xb:{other}:lease' 'watch xb:{test}:log xb:{other}:log' \
			'xread STREAMS xb:{test}:log xb:{other}:log 0 0'
	} >"$T/commands"
	may_not publisher <"$T/commands"
	[[ $(ask_redis get nobodys) == x && $(ask_redis xlen 'xb:{other}:log') -eq 2 ]] ||
		fail "something of the other fleet is another one"
	# A host of one fleet with the name of another.
	configure_host b 'user = publisher' "password-file = $T/publisher" 'name = other'
	up b
	says_log b 'fleet: auth: .*NOPERM'
	of b -q add 192.0.2.2
	has b 192.0.2.2 || fail "it is not listed there"
	[[ $(ask_redis xlen 'xb:{other}:log') -eq 2 ]] || fail "it has published"
}

run_tests
