#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the rules of docs/fleet.md let the users of a server do: all that a host of this fleet needs, and nothing else.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# user NAME: makes it as the document says, with its password in $T/NAME.
user()
{
	local rules

	rules=$(fleet_rules "$1" | sed "s/>secret/>secret-$1/")
	[[ -n $rules ]] || fail "docs/fleet.md has no rules for $1"
	# shellcheck disable=SC2086 # they are words
	ask_redis acl setuser "$1" $rules >"$T/out"
	grep -qx OK "$T/out" || fail "$1: $(cat "$T/out")"
	(umask 077 && echo "secret-$1" >"$T/$1")
}

as() { timeout 20 redis-cli -s "$T/redis.sock" --no-auth-warning --user "$1" --pass "secret-$1" "${@:2}"; }

# may / may_not USER WORD...
may() { [[ $(as "$@") != *NOPERM* ]] || fail "$1 may not: ${*:2}"; }
may_not() { [[ $(as "$@") == *NOPERM* ]] || fail "$1 may: ${*:2}: $(as "$@")"; }

server_with_users()
{
	redis
	user publisher
	user follower
	# Whoever is no user is not let in.
	ask_redis config set requirepass hidden >"$T/out"
	ask_redis() { redis-cli -s "$T/redis.sock" --no-auth-warning -a hidden "$@"; }
}

# host HOST USER [LINE...]
host()
{
	configure_host "$1" "user = $2" "password-file = $T/$2" "${@:3}"
	up "$1"
}

manifest() { ask_redis get 'xb:{test}:snapshot' | md5sum; }
is_new_snapshot() { [[ $(manifest) != "$1" ]]; }
begins_at() { [[ $(ask_redis --csv xrange 'xb:{test}:log' - + COUNT 1) == "\"$1-0\","* ]]; }
reports() { [[ $(ask_redis hlen 'xb:{test}:reports') -eq $1 ]]; }

# All that a host does: begin a log, publish, follow, snapshots, trimming, reports, resync.
t_the_rules_let_a_fleet_work()
{
	local before

	server_with_users
	host a publisher 'snapshot-every = 2'
	patience=8
	wait_for "a in the fleet" reads a
	configure_host b 'user = follower' "password-file = $T/follower"
	sed -i '/^publish/d' "$T/b/bloomd.conf"
	up b
	wait_for "b in the fleet" reads b
	before=$(manifest)
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	wait_for "a snapshot" is_new_snapshot "$before"
	wait_for "the log without its begin" begins_at 2
	of b -q fleet resync
	wait_for "a resync" grep -q 'resynced (asked)' "$T/b/log"
	wait_for "the reports" reports 2
	wait_for "the same" are_equal a b
	! grep -h NOPERM "$T"/?/log || fail "something is not allowed"
}

t_a_follower_cannot_publish()
{
	local log='xb:{test}:log' before

	server_with_users
	host a publisher
	patience=8
	wait_for "a in the fleet" reads a
	publishes 1 of a -q add 192.0.2.1
	before=$(ask_redis xrange "$log" - + | md5sum)
	may_not follower xadd "$log" '*' e x
	may_not follower xtrim "$log" MAXLEN 0
	may_not follower xdel "$log" 1-0
	may_not follower xsetid "$log" 99-0
	may_not follower del "$log"
	may_not follower unlink "$log"
	may_not follower rename "$log" other
	may_not follower expire "$log" 1
	may_not follower set "$log" x
	may_not follower set 'xb:{test}:snapshot' x
	may_not follower del 'xb:{test}:snapshot'
	may_not follower append 'xb:{test}:snapshot' x
	may_not follower getdel 'xb:{test}:snapshot'
	may_not follower copy 'xb:{test}:snapshot' 'xb:{test}:reports' REPLACE
	may_not follower set 'xb:{test}:lease' x
	may_not follower set 'xb:{test}:chunk:0:0' x
	may_not follower del 'xb:{test}:reports'
	may_not follower hset "$log" a b
	may_not follower hset 'xb:{other}:reports' a b
	may_not follower get 'xb:{other}:snapshot'
	no_way_round follower
	[[ $(ask_redis xrange "$log" - + | md5sum) == "$before" ]] || fail "the log is another one"
	may follower get 'xb:{test}:snapshot'
	may follower xrange "$log" - +
	may follower hset 'xb:{test}:reports' a b
	# Nor can bloomd, if the configuration says that it publishes.
	host b follower
	wait_for "b in the fleet" reads b
	of b -q add 192.0.2.2
	wait_for "the refusal" grep -q 'fleet: cannot publish: .*NOPERM' "$T/b/log"
	[[ $(ask_redis xrange "$log" - + | md5sum) == "$before" ]] || fail "it has published"
	has b 192.0.2.2 || fail "it is not listed there"
}

t_a_publisher_cannot_touch_other_fleets()
{
	local key

	server_with_users
	ask_redis xadd 'xb:{other}:log' 1-0 e x >"$T/out"
	ask_redis mset 'xb:{other}:snapshot' x 'xb:{other}:lease' x 'xb:{other}:chunk:0:0' x nobodys x >"$T/out"
	ask_redis hset 'xb:{other}:reports' a b >"$T/out"
	for key in 'xb:{other}:log' 'xb:{test}' 'xb:{testing}:log' 'xb:{t}:log' '{test}:log' 'xxb:{test}:log' log; do
		may_not publisher xadd "$key" 2-0 e x
		may_not publisher xtrim "$key" MAXLEN 0
		may_not publisher xrange "$key" - +
		may_not publisher xread STREAMS "$key" 0
		may_not publisher del "$key"
		may_not publisher watch "$key"
	done
	for key in 'xb:{other}:snapshot' 'xb:{other}:lease' 'xb:{other}:chunk:0:0' nobodys; do
		may_not publisher get "$key"
		may_not publisher set "$key" y
		may_not publisher set "$key" y NX GET PX 30000
		may_not publisher del "$key"
		may_not publisher expire "$key" 1
		may_not publisher pexpire "$key" 1
	done
	may_not publisher hset 'xb:{other}:reports' a c
	may_not publisher hgetall 'xb:{other}:reports'
	# Not together with a key of its own either.
	may_not publisher del 'xb:{test}:lease' 'xb:{other}:lease'
	may_not publisher watch 'xb:{test}:log' 'xb:{other}:log'
	may_not publisher xread STREAMS 'xb:{test}:log' 'xb:{other}:log' 0 0
	no_way_round publisher
	[[ $(ask_redis get 'xb:{other}:snapshot') == x && $(ask_redis xlen 'xb:{other}:log') -eq 1 ]] ||
		fail "something of the other fleet is another one"
	# A host of one fleet with the name of another.
	host a publisher 'name = other'
	wait_for "the refusal" grep -q 'fleet: auth: .*NOPERM' "$T/a/log"
	of a -q add 192.0.2.1
	has a 192.0.2.1 || fail "it is not listed there"
	[[ $(ask_redis xlen 'xb:{other}:log') -eq 1 ]] || fail "it has published"
}

# no_way_round USER: what reaches all keys, or the server itself.
no_way_round()
{
	local words

	set -f
	while read -r words; do
		# shellcheck disable=SC2086 # they are words
		may_not "$1" $words
	done <<-'END'
		flushall
		flushdb
		keys *
		scan 0
		randomkey
		eval return 0
		script load x
		function list
		config get requirepass
		config set requirepass x
		acl list
		acl setuser follower allcommands
		save
		shutdown
		replicaof 127.0.0.1 1
		client list
		client kill TYPE normal
		monitor
		swapdb 0 1
		move xb:{test}:log 1
		migrate 127.0.0.1 1 xb:{test}:log 0 100
		restore xb:{test}:log 0 x
		object encoding xb:{test}:log
		dump xb:{test}:log
		sort xb:{test}:log STORE x
		publish a b
		subscribe a
		module list
	END
	set +f
}

run_tests
