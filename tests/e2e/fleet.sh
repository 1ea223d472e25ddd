# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# shellcheck disable=SC2119,SC2120 # redis with and without options
# A server of Redis, or Valkey, and some hosts of a fleet, each a bloomd with a state of its own; none of them has
# an interface. For tests that have sourced lib.sh.

declare -A host_pid

# Leases last for half a minute, and what was refused is tried again after a quarter.
patience=$((4 * patience))

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
	nsenter --net="/run/netns/${redis_namespace:-$server}" "$T/redis-server" --unixsocket "$T/redis.sock" \
		--save '' "$@" >>"$T/redis.log" 2>&1 &
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
		"${lines[@]}" "${@:2}" >"$T/$1/bloomd.conf"
}

# configure_follower HOST [LINE...]: it does not publish.
configure_follower()
{
	configure_host "$@"
	sed -i '/^publish/d' "$T/$1/bloomd.conf"
}

# reload HOST: its bloomd takes the section that is there now.
reload()
{
	local before

	before=$(grep -c ': reloaded$' "$T/$1/log" || true)
	kill -HUP "${host_pid[$1]}"
	wait_for "a reload" has_reloaded "$1" $((before + 1))
}
has_reloaded() { [[ $(grep -c ': reloaded$' "$T/$1/log") -ge $2 ]]; }

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

# stands HOST POINT: its bloomd is started, and stands still at this fault point. continues HOST: it goes on.
stands()
{
	XB_PAUSE=$2 up "$1" "$XB_TEST_DIR/bin/bloomd-fault"
	wait_for "$1 at $2" is_stopped "${host_pid[$1]}"
}
continues() { kill -CONT "${host_pid[$1]}"; }

# dies HOST POINT: it is started, and ends there.
dies()
{
	XB_FAULT=$2 up "$1" "$XB_TEST_DIR/bin/bloomd-fault"
	wait "${host_pid[$1]}" || true
}

# field HOST NAME: of its state.
field() { of "$1" -j fleet | "$XB_TEST_DIR/bin/field" fleet "$2"; }
# Waits ask for these: no process but bloomctl begins.
is_in() { [[ $(of "$1" fleet)$'\n' =~ ^[^:]+:\ $2[:$'\n'] ]]; }
outbox_is() { [[ $(of "$1" fleet) == *$'\n  outbox   '"$2 to publish"* ]]; }
reads() { is_in "$1" reading; }
shows() { of "$1" fleet | contains "$2"; }
shows_no() { ! shows "$@"; }
has_message() { [[ $(field "$1" message) == *"$2"* ]]; }

# What its lists have, in words that are the same on all hosts.
listing() { of "$1" list; }
has() { [[ $'\n'$(listing "$1") == *$'\n'"$2 "* ]]; }
has_not() { ! has "$@"; }
entries() { listing "$1" | wc -l; }
# What hosts share of an entry. Where several have added it, each keeps the time at which it did.
terms() { listing "$1" | sed 's/ added [^ ]*//'; }
are_equal() { [[ $(terms "$1") == "$(terms "$2")" && $(terms "$1") == "$(terms "${3:-$2}")" ]]; }

# What is wrong with a host, for who looks for the cause.
state_of() { field "$1" state; field "$1" message; listing "$1" | head; tail -n 5 "$T/$1/log"; }

# in_fleet HOST...: sooner or later.
in_fleet()
{
	local host

	for host; do
		(wait_for "$host in the fleet" reads "$host") || fail "$host: $(state_of "$host")"
	done
}

# published HOST...: all that they listed, sooner or later.
published()
{
	local host

	for host; do
		wait_for "an empty outbox of $host" outbox_is "$host" 0
	done
}

# comes HOST ENTRY... / goes HOST ENTRY...: they are listed there, or taken out, sooner or later.
comes()
{
	local entry

	for entry in "${@:2}"; do
		(wait_for "$entry on $1" has "$1" "$entry") || fail "$1: $(state_of "$1")"
	done
}
goes()
{
	local entry

	for entry in "${@:2}"; do
		wait_for "the end of $entry on $1" has_not "$1" "$entry"
	done
}

# adds HOST OTHER ENTRY...: what one lists another one has, sooner or later.
adds()
{
	of "$1" -q add "${@:3}"
	comes "$2" "${@:3}"
}

# agree NUMBER HOST...: two or three have the same, sooner or later, and so many entries; "-": however many.
agree()
{
	(wait_for "the same" are_equal "${@:2}") || fail "$(state_of "$2"; state_of "$3"; state_of "${4:-$3}")"
	[[ $1 == - || $(entries "$2") -eq $1 ]] || fail "not $1: $(listing "$2" | head)"
}

# joins HOST [LINE...]: as configure_host, and then it is in the fleet.
joins()
{
	configure_host "$@"
	up "$1"
	in_fleet "$1"
}

# fleet HOST...: a server and these hosts, which read the same log. The lines of $lines are in the section of each.
lines=()
fleet()
{
	local host

	redis
	for host; do
		configure_host "$host"
		up "$host"
	done
	in_fleet "$@"
}

# new_key [NAME]: a secret in $T/NAME.
new_key() { (umask 077 && openssl rand -hex 32 >"$T/${1:-key}"); }

# fleet_with_key HOST...: as fleet, with a secret in $T/key.
fleet_with_key()
{
	new_key
	lines=("key-file = $T/key")
	fleet "$@"
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
log_is() { [[ $(log_length) -eq $1 ]]; }
log_is_there() { [[ $(log_length) -gt 0 ]]; }

# began_one TERM: some host began a log of that term; and only one of them.
has_begun() { grep -qhE "began a log at .*, term $1" "$T"/?/log; }
began_one()
{
	wait_for "a log of term $1" has_begun "$1"
	[[ $(cat "$T"/?/log | grep -c "began a log at .*, term $1") -eq 1 ]] || fail "not one of them began: $(cat "$T"/?/log)"
}

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

# makes_snapshot HOST: a new one, now, as if one were due each second.
manifest() { ask_redis --no-raw get 'xb:{test}:snapshot'; }
is_new_manifest() { [[ $(manifest) != "$1" ]]; }
makes_snapshot()
{
	local before

	before=$(manifest)
	sed -i '/^snapshot-every/d; $a snapshot-every = 1' "$T/$1/bloomd.conf"
	kill -HUP "${host_pid[$1]}"
	(wait_for "a snapshot" is_new_manifest "$before") || fail "$1 makes no snapshot: $(tail -n 3 "$T/$1/log")"
	sed -i '/^snapshot-every/d' "$T/$1/bloomd.conf"
	kill -HUP "${host_pid[$1]}"
	in_fleet "$1"
}

# plant HOST put|del LIST ENTRY...: behind the fleet's back, as tests/e2e/plant.c says.
plant() { "$XB_TEST_DIR/bin/plant" "$T/$1/state" "${@:2}" || fail "plant ${*:2}"; }

# many NUMBER: as many addresses, in $T/many.
many()
{
	python3 -c 'import sys
for i in range(int(sys.argv[1])):
    print("20.%d.%d.%d" % (i >> 16, i >> 8 & 255, i & 255))' "$1" >"$T/many"
}

# metric HOST NAME: its value.
metric() { of "$1" metrics | sed -n "s/^xdp_bloom_$2{.*} //p"; }
metric_is() { [[ $(metric "$1" "$2") == "$3" ]]; }

logs() { finds "$2" "$T/$1/log"; }
# says_log HOST PATTERN: bloomd may do a thing a moment before it says so.
says_log() { (wait_for "the line" logs "$1" "$2") || fail "'$2' is not in the log of $1: $(tail -n 5 "$T/$1/log")"; }

# said_once HOST PATTERN: its log has it, sooner or later, and not twice.
said_once()
{
	says_log "$@"
	[[ $(grep -cE -- "$2" "$T/$1/log") -eq 1 ]] || fail "$1 says it again: $(cat "$T/$1/log")"
}

# says_once HOST PATTERN: the same, but once for each connection.
says_once()
{
	local connections

	says_log "$@"
	connections=$((1 + $(grep -c ': connected again$' "$T/$1/log" || true)))
	[[ $(grep -cE -- "$2" "$T/$1/log") -le $connections ]] || fail "$1 says it again: $(cat "$T/$1/log")"
}

# fleet_rules USER: those of docs/fleet.md, for this fleet, with the password secret.
fleet_rules() { sed -n "s/^user $1 //p" "$root/docs/fleet.md" | sed 's/{NAME}/{test}/g; s/>[A-Z-]*/>secret/'; }

# user NAME: makes it as that page says, with its password in $T/NAME.
user()
{
	# shellcheck disable=SC2046 # they are words
	ask_redis acl setuser "$1" $(fleet_rules "$1") >"$T/out"
	grep -qx OK "$T/out" || fail "$1: $(cat "$T/out")"
	(umask 077 && echo secret >"$T/$1")
}

# calls COMMAND: how often the server was asked so.
calls() { ask_redis info commandstats | sed -n "s/^cmdstat_$1:calls=\([0-9]*\),.*/\1/p" | grep . || echo 0; }
called() { [[ $(calls "$1") -ge $2 ]]; }

# connections HOST: the processes that bloomd has for them, the oldest first: the reader's.
connections() { pgrep -P "${host_pid[$1]}" -x bloomd-redis; }
