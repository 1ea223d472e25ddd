# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# A watch in the background, the lines that it prints, and the packets that make it print them.

# A watch that should be refused may go on for ever.
tool()
{
	in_server timeout $((30 * patience)) "$1" --state "$state" --pin "$pins" --run "$counters" "${@:2}"
}

# watching ARGUMENT...: bloomctl itself as $watcher, lines to $T/lines, the rest to $T/notes. Returns
# when the kernel tells.
watching()
{
	(exec nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" "$@" >"$T/lines" 2>"$T/notes") &
	watcher=$!
	wait_for 'the watcher' has_budget
}

budget()
{
	/usr/sbin/bpftool -j map dump pinned "$pins/link/watch" 2>/dev/null |
		grep -o '"budget":-\?[0-9]*' | cut -d: -f2
}

# has_budget [LEAST]
has_budget() { [[ $(budget) -ge ${1:-1} ]]; }

lines() { wc -l <"$T/lines"; }

has_lines() { [[ $(lines) -ge $1 ]]; }

# told COUNT: so many lines; it sleeps, or has ended, when it has read all that there was.
told()
{
	wait_for "line $1" has_lines "$1"
	has_ended 2>/dev/null || wait_for "its sleep" is_asleep "$watcher"
	[[ $(lines) -eq $1 ]] || fail "$(lines) lines, not $1: $(head -c 800 "$T/lines")"
}

is_asleep()
{
	local line

	read -r line <"/proc/$1/stat" && [[ $line == *") S "* ]]
}

# has_line PATTERN: some line has it, with one blank between its columns.
has_line() { tr -s ' ' <"$T/lines" | contains "$1"; }

has() { has_line "$1" || fail "no line has '$1': $(head -c 800 "$T/lines")"; }

has_ended() { ! kill -0 "$watcher"; }

# ended CODE: the watcher ends by itself with that exit code.
ended()
{
	local code=0

	wait_for 'the end of the watcher' has_ended
	wait "$watcher" || code=$?
	[[ $code -eq $1 ]] || fail "the watcher's exit code is $code, not $1: $(cat "$T/notes")"
}

silent() { [[ ! -s $T/notes ]] || fail "the watcher says: $(head -c 300 "$T/notes")"; }

# send SOURCE COUNT [SPORT]: UDP datagrams to port 9, as fast as they go.
send()
{
	in_client python3 -S -E -c 'import socket, sys
source, target, count, port = sys.argv[1:]
one = socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET, socket.SOCK_DGRAM)
one.bind((source, int(port)))
for i in range(int(count)):
    one.sendto(b"x", (target, 9))' "$1" "$(to "$1")" "$2" "${3:-0}"
}
