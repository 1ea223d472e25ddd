# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# shellcheck disable=SC2119,SC2120 # redis with and without options
# A server of Redis, or Valkey, and some hosts of a fleet, each a bloomd with a state of its own; none of them has
# an interface. For tests that have sourced lib.sh.

declare -A host_pid

# server_program: sets $program to that of the fleet's server: what XB_TEST_FLEET_SERVER says, a file or a name, or what is
# installed. In Debian redis-server is a link to redis-check-rdb, which packages without a service have; so it is
# for Valkey.
server_program()
{
	local name

	program=$(command -v "${XB_TEST_FLEET_SERVER:-}" || true)
	[[ -z ${XB_TEST_FLEET_SERVER:-} || -n $program ]] || fail "XB_TEST_FLEET_SERVER: there is no $XB_TEST_FLEET_SERVER"
	for name in redis-server redis-check-rdb valkey-server valkey-check-rdb; do
		[[ -n $program ]] || program=$(command -v $name || true)
	done
	[[ -n $program ]] || skip "no server of Redis or Valkey (Debian: redis-tools has it as redis-check-rdb)"
}

# A line that says which it is, in front of the tests: "# server: Valkey 8.1.1".
name_server()
{
	(T=$XB_TEST_DIR server_program >/dev/null && exec -a redis-server "$program" --version) 2>/dev/null |
		sed -nE 's/^(.*) server v=([^ ]*) .*/# server: \1 \2/p'
}

# serve_fleet OPTION...: in the server's namespace, or in $redis_namespace. $redis is its number.
serve_fleet()
{
	local program

	server_program
	# By its name it knows what it is to do.
	ln -sf "$program" "$T/redis-server"
	nsenter --net="/run/netns/${redis_namespace:-$server}" "$T/redis-server" --unixsocket "$T/redis.sock" --save '' "$@" >>"$T/redis.log" 2>&1 &
	redis=$!
	(wait_for "the server" redis_answers) || fail "redis-server: $(tail -n 3 "$T/redis.log")"
}

# redis [OPTION...]: starts the server, which keeps what it has.
redis()
{
	mkdir -p "$T/redis"
	serve_fleet --port 0 --dir "$T/redis" --appendonly yes --appendfsync always "$@"
}

ask_redis() { redis-cli -s "$T/redis.sock" "$@"; }
redis_answers() { [[ $(ask_redis ping 2>&1) =~ PONG|NOAUTH ]]; }

redis_dies()
{
	kill -KILL "$redis"
	wait "$redis" || true
}

# configure_host HOST [LINE...]: what its section has besides the usual.
configure_host()
{
	mkdir -p "$T/$1"
	printf '%s\n' '[fleet]' "url = unix:$T/redis.sock" 'name = test' 'publish = default' 'follow = default' \
		"${@:2}" >"$T/$1/bloomd.conf"
}

# of HOST COMMAND...: bloomctl there. Only what is about interfaces wants to be in their namespace, by within=in_server.
of() { ${within:-} "$bloomctl" --state "$T/$1/state" --pin "$pins-$1" --run "$T/$1/run" "${@:2}" 2>"$T/$1/err"; }

# up HOST [PROGRAM]: starts its bloomd.
up()
{
	: >"$T/$1/log"
	nsenter --net="/run/netns/$server" "${2:-$bloomd}" --config "$T/$1/bloomd.conf" --state "$T/$1/state" \
		--pin "$pins-$1" --run "$T/$1/run" >>"$T/$1/log" 2>&1 &
	host_pid[$1]=$!
	(wait_for "bloomd" logs "$1" ": ready") || fail "$1: $(tail -n 3 "$T/$1/log")"
}

# clocked HOST SECONDS: starts its bloomd with a clock that is so much ahead, until set_ahead says otherwise.
clocked()
{
	[[ -e $XB_TEST_DIR/wallclock.so ]] ||
		"${CC:-cc}" -shared -fPIC -o "$XB_TEST_DIR/wallclock.so" "$root/tests/e2e/wallclock.c"
	set_ahead "$1" "$2"
	XB_CLOCK_AHEAD=$T/$1/ahead preloaded "$XB_TEST_DIR/wallclock.so" up "$1"
}

set_ahead() { echo "$2" >"$T/$1/ahead.new" && mv "$T/$1/ahead.new" "$T/$1/ahead"; }

# down HOST [SIGNAL]
down()
{
	kill "-${2:-TERM}" "${host_pid[$1]}"
	wait "${host_pid[$1]}" || true
}

# field HOST NAME: of its state.
field() { of "$1" -j fleet | "$XB_TEST_DIR/bin/field" fleet "$2"; }
# Waits ask for these: no process but bloomctl begins.
is_in() { [[ $(of "$1" fleet)$'\n' =~ ^[^:]+:\ $2[:$'\n'] ]]; }
outbox_is() { [[ $(of "$1" fleet) == *$'\n  outbox   '"$2 to publish"* ]]; }
reads() { is_in "$1" reading; }

# What its lists have, in words that are the same on all hosts.
listing() { of "$1" list; }
has() { [[ $'\n'$(listing "$1") == *$'\n'"$2 "* ]]; }
has_not() { ! has "$@"; }
# What hosts share of an entry. Where several have added it, each keeps the time at which it did.
terms() { listing "$1" | sed 's/ added [^ ]*//'; }
are_equal() { [[ $(terms "$1") == "$(terms "$2")" && $(terms "$1") == "$(terms "${3:-$2}")" ]]; }

# fleet HOST...: a server and these hosts, which read the same log. The lines of $lines are in the
# section of each.
lines=()
fleet()
{
	redis
	for host; do
		configure_host "$host" "${lines[@]}"
		up "$host"
	done
	for host; do
		# shellcheck disable=SC2030 # of this wait alone
		(patience=12 && wait_for "$host in the fleet" reads "$host") ||
			fail "$host is $(field "$host" state): $(field "$host" message) $(tail -n 3 "$T/$host/log")"
	done
}

# publishes NUMBER COMMAND...: what it lists or deletes takes so many entries of the log, and they are there.
publishes()
{
	local before

	before=$(log_end)
	"${@:2}"
	wait_for "$1 entries of the log" log_ends_behind $((before + $1))
}

# last_of_log: sets $last to the position of the last entry.
last_of_log()
{
	last=$(ask_redis --csv xrevrange "xb:{${fleet:-test}}:log" + - COUNT 1)
	[[ ! $last =~ ^\"([0-9]+)-0\" ]] || last=${BASH_REMATCH[1]}
}
log_end() { last_of_log && echo "$last"; }
log_ends_behind() { last_of_log && [[ $last -ge $1 ]]; }
log_length() { ask_redis xlen 'xb:{test}:log'; }

# snapshot: of the newest one sets $id, $maker and $position, and of all $chunks and $lasting, of which none will
# expire.
# shellcheck disable=SC2034
snapshot()
{
	local said

	said=$(ask_redis --raw --eval "$root/tests/e2e/snapshot.lua" 'xb:{test}:snapshot')
	[[ $said =~ ^[0-9a-f]{32}\  ]] || return 1
	read -r id maker position chunks lasting <<<"$said"
}
is_newer() { snapshot && [[ $id != "$1" ]]; }

# metric HOST NAME: its value.
metric() { of "$1" metrics | sed -n "s/^xdp_bloom_$2{.*} //p"; }
metric_is() { [[ $(metric "$1" "$2") == "$3" ]]; }

logs() { finds "$2" "$T/$1/log"; }
# says_log HOST PATTERN: bloomd may do a thing a moment before it says so.
says_log() { (wait_for "the line" logs "$1" "$2") || fail "'$2' is not in the log of $1: $(tail -n 5 "$T/$1/log")"; }

# fleet_rules USER: those of docs/fleet.md, for this fleet, with the password secret.
fleet_rules() { sed -n "s/^user $1 //p" "$root/docs/fleet.md" | sed 's/{NAME}/{test}/g; s/>[A-Z-]*/>secret/'; }

# calls COMMAND: how often the server was asked so.
calls() { ask_redis info commandstats | sed -n "s/^cmdstat_$1:calls=\([0-9]*\),.*/\1/p" | grep . || echo 0; }
called() { [[ $(calls "$1") -ge $2 ]]; }

# connections HOST: the processes that bloomd has for them, the oldest first: the reader's.
connections() { pgrep -P "${host_pid[$1]}" -x bloomd-redis; }
