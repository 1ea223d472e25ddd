# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The ground the end-to-end tests stand on. A test file sources this, defines functions t_NAME, and
# ends with `run_tests`. Each test runs in a subshell of its own under `set -e`, with a server
# ($server) and a client namespace joined by veth, and its own state, pins and counters.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=$(basename "$0" .sh)
suite=$(basename "$(dirname "$(realpath "$0")")")/${suite#test_}

# By hand, a test file runs through scripts/test, which makes the mounts.
[[ -n ${XB_TEST_BPFFS:-} && -n ${XB_TEST_DIR:-} ]] || exec "$root/scripts/test" "^$suite/"

bloomctl=$XB_TEST_DIR/bin/bloomctl faulty=$XB_TEST_DIR/bin/bloomctl-fault

bloomd=$XB_TEST_DIR/bin/bloomd

# Other programs, unpacked by scripts/setup, or elsewhere in other versions.
programs=${XB_TEST_PROGRAMS:-$root/build}
PATH=$PATH:$programs/prometheus/usr/bin

# Nor must it decide what tests see that somebody runs them over ssh.
unset SSH_CONNECTION SSH_CLIENT

# On an emulated processor what must come may come late.
patience=${XB_TEST_PATIENCE:-1}

server4=10.77.0.1 server6=fd77::1
# Addresses the client has; 10.77.3.0/24 and fd77:0:0:0:3::/80 for prefixes.
client4=(10.77.0.2 10.77.0.3 10.77.0.4 10.77.0.5 10.77.0.6 10.77.3.9 10.77.3.200)
client6=(fd77::2 fd77::3 fd77::4 fd77::3:0:0:9)

# --- saying what is wrong ---------------------------------------------------------------------------

fail()
{
	echo "$*" >"$T/why"
	echo "line ${BASH_LINENO[*]}: $*"
	exit 1
}

skip()
{
	echo "$*" >"$T/why"
	exit 77
}

# rest SECONDS: without a process, since nobody ever writes there.
rest() { read -rt "$1" <>"$XB_TEST_DIR/never" || true; }

# wait_for WHAT COMMAND...: until the command succeeds. What takes half a minute and more will not come: a busy machine
# may be that slow. What comes late is asked for less often, and seen a tenth later at most.
wait_for()
{
	# The command sees these, too.
	local wait_begun=${EPOCHREALTIME/./} waited=0 pause

	until "${@:2}" >/dev/null 2>&1; do
		[[ $waited -lt $((31000000 * patience)) ]] || fail "$1 does not come"
		printf -v pause 0.%06d $((waited < 500000 ? 50000 : waited > 4000000 ? 400000 : waited / 10))
		rest "$pause"
		waited=$((${EPOCHREALTIME/./} - wait_begun))
	done
}

# Whether the programs have AddressSanitizer in them.
is_sanitized() { [[ -n ${ASAN_OPTIONS:-} ]]; }

# preloaded LIBRARY COMMAND...: with the library loaded before all others. The address sanitizer wants to be the first, and
# does without.
preloaded()
{
	LD_PRELOAD=$1 ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:verify_asan_link_order=0} "${@:2}"
}

# --- namespaces -------------------------------------------------------------------------------------

in_server() { nsenter --net="/run/netns/$server" "$@"; }
in_client() { nsenter --net="/run/netns/$client" "$@"; }

# join IFACE NUMBER [SERVER-OPTIONS [CLIENT-OPTIONS]]: a veth of that name between the two.
join()
{
	printf '%s\n' "link add $1 netns $server address 02:00:00:00:0$2:01 ${3:-} type veth peer name $1 netns $client \
		address 02:00:00:00:0$2:02 ${4:-}" | ip -batch -
	ip -n "$server" link set "$1" up
	ip -n "$client" link set "$1" up
}

# Fixed neighbours: nothing that a test counts or blocks comes from finding them.
server_address()
{
	printf '%s\n' "addr add $server4/16 dev $1" "addr add $server6/64 dev $1 nodad"
	printf "neigh replace %s lladdr 02:00:00:00:00:02 dev $1 nud permanent\n" "${client4[@]}" "${client6[@]}"
}

client_address()
{
	printf "neigh replace %s lladdr 02:00:00:00:00:01 dev $1 nud permanent\n" $server4 $server6
	printf "addr add %s/16 dev $1\n" "${client4[@]}"
	printf "addr add %s/64 dev $1 nodad\n" "${client6[@]}"
}

# address IFACE
address()
{
	server_address "$1" | ip -n "$server" -batch -
	client_address "$1" | ip -n "$client" -batch -
}

make_world()
{
	: >"$XB_TEST_DIR/resolv.conf"
	ip -batch - <<-END
		netns add $server
		netns add $client
		link add x0 netns $server address 02:00:00:00:00:01 type veth peer name x0 netns $client address 02:00:00:00:00:02
	END
	{
		printf 'link set %s up\n' lo x0
		server_address x0
	} | ip -n "$server" -batch -
	{
		printf 'link set %s up\n' lo x0
		client_address x0
	} | ip -n "$client" -batch -
	in_server sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0 2>/dev/null || true
}

end_world()
{
	local pid

	for pid in $(printf 'netns pids %s\n' "$server" "$client" | ip -force -batch -); do
		kill -KILL "$pid" 2>/dev/null
	done
	printf 'netns del %s\n' "$server" "$client" | ip -force -batch -
	while [[ -d $T/disk ]] && umount -l "$T/disk"; do :; done
	rm -rf "$T" "$pins"*
}

# --- the tool ---------------------------------------------------------------------------------------

tool() { in_server "$1" --state "$state" --pin "$pins" --run "$counters" "${@:2}"; }

ctl() { tool "$bloomctl" "$@"; }

# exits CODE ARGUMENT...: runs bloomctl, keeps what it says in $T/out and $T/err; the code must be that.
exits()
{
	local wanted=$1 code=0

	shift
	ctl "$@" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq $wanted ]] ||
		fail "bloomctl $*: exit code $code, not $wanted: $(head -c 300 "$T/err")$(grep -m 1 ^PROBLEM "$T/out")"
}

# no_problem: status finds nothing amiss, though perhaps nothing is attached. Its JSON is in $T/out.
no_problem()
{
	local code=0

	ctl -j status >"$T/out" 2>"$T/err" || code=$?
	[[ $code -le 1 ]] || fail "status: exit code $code: $(head -c 300 "$T/err" "$T/out")"
}

# contains PATTERN: some line of what comes has it, an extended regular expression. All is read: a writer that meets a pipe
# without a reader fails, and the pipe with it. For few lines no process begins.
contains()
{
	local line lines

	mapfile -t lines
	if [[ ${#lines[@]} -gt 50 ]]; then
		grep -qE -- "$1" <<<"$(printf '%s\n' "${lines[@]}")"
		return
	fi
	for line in "${lines[@]}"; do
		[[ ! $line =~ $1 ]] || return 0
	done
	return 1
}

# finds PATTERN FILE
finds() { contains "$1" <"$2"; }

says() { finds "$1" "$T/out" || fail "stdout lacks '$1': $(head -c 300 "$T/out")"; }
complains() { finds "$1" "$T/err" || fail "stderr lacks '$1': $(head -c 300 "$T/err")"; }

# One line on stderr, no more, nothing on stdout.
one_line()
{
	local LC_ALL=C lines

	mapfile lines <"$T/err"
	[[ ${#lines[@]} -eq 1 && ${lines[0]} == *$'\n' ]] || fail "not one line on stderr: $(head -c 500 "$T/err")"
	[[ ${#lines[0]} -lt 1000 ]] || fail "a line of ${#lines[0]} bytes on stderr"
	[[ ! -s $T/out ]] || fail "something on stdout: $(head -c 300 "$T/out")"
}

# is_refused CODE PATTERN ARGUMENT...: bloomctl ends with this code, and says why in one line.
is_refused()
{
	exits "$1" "${@:3}"
	one_line
	complains "$2"
}

# evaluate FILE EXPRESSION [WORD...]: sets $answer to "=" and what it is of the JSON there, d, or to why it cannot be told; the
# words are in w. A process of evaluate.py answers for all tests of a file.
evaluate()
{
	local IFS=$'\x1f' place=$XB_TEST_DIR/answer.$BASHPID from

	[[ -p $place ]] || mkfifo "$place"
	exec {from}<>"$place"
	printf '%s\n' "$place$IFS$1$IFS${2//$'\n'/ }${3+$IFS${*:3}}" 1<>"$XB_TEST_DIR/asked"
	IFS= read -rd '' -t 60 -u "$from" answer || answer="nobody answers"
	exec {from}>&-
}

# json EXPRESSION: of what the last command said, read as JSON into d.
json()
{
	local answer

	evaluate "$T/out" "d['schema'] == 1 and bool($1)"
	[[ $answer == =True ]] || fail "not true: $1, of $(head -c 400 "$T/out"): $answer"
}

# of_json EXPRESSION [WORD...]: what it is of the JSON on standard input, d; the words are in w.
of_json()
{
	local answer said=$XB_TEST_DIR/said.$BASHPID

	cat >"$said"
	evaluate "$said" "$@"
	[[ $answer == =* ]] || {
		echo "$1: $answer" >&2
		return 1
	}
	printf '%s\n' "${answer#=}"
}

# packets REASON [IFACE]: how many passed or were dropped for it.
packets()
{
	ctl -j stats | of_json 'sum(r["packets"] for i in d["interfaces"] if i["name"] in (w[1:] or [i["name"]])
		for r in i["reasons"] if r["reason"] == w[0])' "$@"
}

# entries_of LIST [OPTION...]: in order, in a line.
entries_of() { ctl -j "${@:2}" list --list "$1" | of_json '" ".join(sorted(one["entry"] for one in d["entries"]))'; }

# is_dispatched IFACE: libxdp joins the programs of the server's interface.
is_dispatched()
{
	local id

	id=$(ip -n "$server" -d link show "$1" | grep -o 'prog/xdp id [0-9]*' | grep -o '[0-9]*$')
	[[ $(bpftool prog show id "$id" 2>/dev/null) == *"name xdp_dispatcher "* ]]
}

# --- the agent --------------------------------------------------------------------------------------

# agent: starts bloomd in the server's namespace, with $T/bloomd.conf; $agent is its number,
# $T/agent.err its log.
agent()
{
	touch "$T/bloomd.conf"
	: >"$T/agent.err" # an earlier one was ready, too
	nsenter --net="/run/netns/$server" "${agent_program:-$bloomd}" --config "$T/bloomd.conf" --state "$state" \
		--pin "$pins" --run "$counters" >"$T/agent.out" 2>"$T/agent.err" &
	agent=$!
	(wait_for "bloomd" grep -q ": ready" "$T/agent.err") || fail "bloomd is not ready: $(tail -n 3 "$T/agent.err")"
}

# agent_ends [SIGNAL [CODE]]: by SIGTERM, with 0, unless told otherwise.
# shellcheck disable=SC2120
agent_ends()
{
	local code=0

	kill "-${1:-TERM}" "$agent"
	wait "$agent" || code=$?
	[[ $code -eq ${2:-0} ]] || fail "bloomd ends with $code: $(tail -n 3 "$T/agent.err")"
	# A process of one that was killed holds its lock for a moment longer.
	[[ ${1:-TERM} != KILL ]] || wait_for "the end of its processes" flock -n "$state/bloomd.lock" true
}

# The configuration that is there now is in force.
agent_reloads()
{
	local before

	before=$(reloads)
	kill -HUP "$agent"
	wait_for "a reload" has_reloaded $((before + 1))
}

reloads() { grep -c ': reloaded$' "$T/agent.err" || true; }
has_reloaded() { [[ $(reloads) -ge $1 ]]; }

# says_agent PATTERN: in its log, sooner or later.
says_agent() { wait_for "'$1' in the log" grep -qE -- "$1" "$T/agent.err"; }

# --- a command that stands still --------------------------------------------------------------------

is_stopped()
{
	local line

	read -r line <"/proc/$1/stat" && [[ $line == *") T "* ]]
}

# stands_at POINT COMMAND...: starts it, and returns when it stands still at this fault point. $paused
# is its number; its output is in $T/paused.out and $T/paused.err.
stands_at()
{
	local point=$1

	shift
	XB_PAUSE=$point nsenter --net="/run/netns/$server" "$faulty" --state "$state" --pin "$pins" \
		--run "$counters" -q "$@" >"$T/paused.out" 2>"$T/paused.err" &
	paused=$!
	wait_for "$1 to $point" is_stopped $paused
}

# goes_on CODE: it ends with this code. At a point that it comes to again, it stops again.
goes_on()
{
	local code=0

	while kill -CONT $paused 2>/dev/null; do rest 0.1; done &
	wait $paused || code=$?
	[[ $code -eq $1 ]] || fail "ends with $code, not $1: $(cat "$T/paused.err")"
}

# is_awaited FILE [COUNT]: so many sleep, in the kernel, until its lock is free. The first waits for the lock, the others
# behind it. Nothing is shown if the process that took the lock has ended.
is_awaited() { [[ $(grep -cE -- "-> (FLOCK|OFDLCK) .*:$(stat -c %i "$1") " /proc/locks) -ge ${2:-1} ]]; }

# dies_at POINT COMMAND...: it is killed at this fault point.
dies_at()
{
	local code=0

	XB_FAULT=$1 tool "$faulty" -q "${@:2}" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 137 ]] || fail "${*:2}: not killed at $1: exit code $code: $(head -c 300 "$T/err")"
}

# --- traffic ----------------------------------------------------------------------------------------

to()
{
	case $1 in
	*:*) echo "$server6" ;;
	*) echo "$server4" ;;
	esac
}

ping_from() { in_client ping -q -n -c 1 -W "$2" -I "$1" "$(to "$1")" >/dev/null 2>&1; }

# What was dropped, neighbours have asked for in vain: without an end of that, the next packet waits with those before,
# and is given up with them.
ask_neighbours_anew()
{
	ip -n "$client" -6 neigh flush all nud incomplete nud failed
	ip -n "$server" -6 neigh flush all nud incomplete nud failed
} 2>/dev/null

passes()
{
	local one

	for one; do
		[[ $one != *:* ]] || ask_neighbours_anew
		ping_from "$one" $((2 * patience)) || fail "$one does not get through"
	done
}

# All at once: each waits for an answer that must not come.
blocked()
{
	local one pids=() free=""

	for one; do
		(! ping_from "$one" 0.3) &
		pids+=($!)
	done
	for one; do
		wait "${pids[0]}" || free+=" $one"
		pids=("${pids[@]:1}")
	done
	[[ -z $free ]] || fail "gets through:$free"
}

# comes_through ADDRESS...: after bloomd took it out by itself. A list shows that first, and the filter follows.
comes_through()
{
	local one

	for one; do
		wait_for "that $one gets through" ping_from "$one" 1
	done
}

is_dropped() { ! ping_from "$1" 0.3; }

# comes_blocked ADDRESS...: after bloomd listed it by itself, which a list shows before the filter follows.
comes_blocked()
{
	local one

	for one; do
		wait_for "that $one is dropped" is_dropped "$one"
	done
}

# Datagrams that came to the server, to ports where nobody listens.
arrived() { in_server awk '/^Udp: [0-9]/ {print $3}' /proc/net/snmp; }

# flood COMMAND...: 10.77.0.3 sends all the while, which is listed; not one packet of it may arrive. They are 50 at least.
flood()
{
	local sender sent before

	before=$(arrived)
	rm -f "$T/flood" # of an earlier one, which is ready
	# Not a function: the signal is for the sender itself.
	nsenter --net="/run/netns/$client" python3 -S -E "$root/tests/e2e/flood.py" 10.77.0.3 $server4 9 50 >"$T/flood" &
	sender=$!
	wait_for "the flood" grep -q ready "$T/flood"
	"$@"
	sleep 0.1
	kill -TERM $sender
	wait $sender
	sent=$(tail -n 1 "$T/flood")
	[[ $(arrived) -eq $before ]] || fail "$(($(arrived) - before)) of $sent packets arrive"
}

# reaches tcp|udp SOURCE [SECONDS [PORT]]
reaches()
{
	# shellcheck disable=SC2086
	in_client python3 -S -E "$root/tests/e2e/peer.py" "$1" "$2" "$(to "$2")" "${3:-$((2 * patience))}" ${4:-}
}

# Whom the machine asks for names, as scripts/test covers /etc/resolv.conf.
resolvers()
{
	[[ -e /etc/resolv.conf ]] || skip "no /etc/resolv.conf to cover"
	[[ $# -eq 0 ]] || printf 'nameserver %s\n' "$@" >"$XB_TEST_DIR/resolv.conf"
}

# serve_on PORT; "": the one that peer.py takes by itself
serve_on()
{
	in_server python3 -S -E "$root/tests/e2e/peer.py" serve "$T/ready$1" ${1:+"$1"} >/dev/null 2>&1 &
	wait_for "the echo server" test -e "$T/ready$1"
}

serve()
{
	serve_on ""
}

# --- running ----------------------------------------------------------------------------------------

run_test()
{
	set -eE -o pipefail
	trap 'echo "line $LINENO in ${FUNCNAME[0]:-main}: $BASH_COMMAND"' ERR
	exec </dev/null
	make_world
	[[ -z ${XB_TEST_INSTALLED:-} ]] || takes_packages
	"$1"
}

run_tests()
{
	local name test number=0 code why before now asked evaluator

	mkfifo "$XB_TEST_DIR/never" "$XB_TEST_DIR/asked"
	# It has it open from its beginning, so that nothing is lost that is asked before it reads.
	exec {asked}<>"$XB_TEST_DIR/asked"
	python3 -IS "$root/tests/e2e/evaluate.py" <&"$asked" >/dev/null 2>&1 {asked}>&- &
	evaluator=$!
	exec {asked}>&-
	for test in $(compgen -A function t_); do
		name=$suite/${test#t_}
		[[ -z ${XB_TEST_PATTERN:-} || $name =~ $XB_TEST_PATTERN ]] || continue
		number=$((number + 1))
		server=$XB_TEST_ID-s$number client=$XB_TEST_ID-c$number
		T=$XB_TEST_DIR/e2e pins=$XB_TEST_BPFFS/e2e
		state=$T/state counters=$T/run
		rm -rf "$T" "$pins"*
		mkdir -p "$T"
		before=${EPOCHREALTIME/./}
		(run_test "$test" "$number") >"$T/log" 2>&1
		code=$?
		now=${EPOCHREALTIME/./}
		why=$(cat "$T/why" 2>/dev/null)
		case $code in
		0) printf 'ok   %s (%d.%01d s)\n' "$name" $(((now - before) / 1000000)) \
			$(((now - before) / 100000 % 10)) ;;
		77) echo "skip $name: $why" ;;
		*)
			echo "FAIL $name: ${why:-$(tail -n 1 "$T/log")}"
			tail -n 30 "$T/log" | sed 's/^/     | /'
			;;
		esac
		end_world 2>/dev/null
	done
	# A control group with a process in it would stay.
	{ kill "$evaluator" && wait "$evaluator"; } 2>/dev/null
	exit 0
}
