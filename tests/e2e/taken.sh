# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# A program of bloomd that somebody has taken over by what it read: it tries what taken.c does. For tests that have
# sourced lib.sh.

# What it tries.
taken_tries="shell exec store bpffs bpf api control pair mount parent write"

# take_over PROGRAM LIBRARY...: a bloomd in $T/bin beside this program of it, which is taken over; and the socket
# $T/open.sock, which everybody may use.
take_over()
{
	command -v "${CC:-cc}" >/dev/null || skip "no compiler"
	mkdir "$T/bin"
	cp "$bloomd" "$T/bin"
	(cd "$root" && "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -DXB_TAKEN_OVER -Iinclude -Iuser -o "$T/bin/$1" \
		"user/${1#bloomd-}"/*.c user/sandbox/*.c tests/e2e/taken.c "${@:2}")
	python3 -c 'import os, socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.listen()
time.sleep(600)' "$T/open.sock" &
	wait_for "an open socket" test -S "$T/open.sock"
	chmod 0755 "$T"
}
