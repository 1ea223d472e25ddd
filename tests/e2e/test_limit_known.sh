#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Limits that let known sources send more: who has connected, and who has not. The rates are so low that the burst
# passes, and no more.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=known.sh
. "$(dirname "$0")/known.sh"
. "$root/tests/e2e/rollback.sh"

# limit OPTION...: of a burst of 5.
limit() { exits 0 limit add echo --to udp/9 --rate 1/h --burst 5 "$@"; }

are_over() { [[ $(packets limited) -eq $1 ]]; }

# blast OVER COUNT SOURCE: of so many datagrams to port 9, so many are over the limit.
blast()
{
	local before

	before=$(packets limited)
	in_client python3 -c 'import socket, sys
one = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
one.bind((sys.argv[1], 4001))
for _ in range(int(sys.argv[3])):
    one.sendto(b"x", (sys.argv[2], 9))' "$3" "$(to "$3")" "$2"
	# What comes after them has come behind them.
	passes "$3"
	are_over $((before + $1)) || fail "$(($(packets limited) - before)) of $2 from $3 are over the limit, not $1"
}

# Customers who have connected, and one who has not.
begin_customers()
{
	need_cgroup
	serve
	ctl -q attach x0
	exits 0 known on
	reaches tcp 10.77.0.2
	reaches tcp fd77::2
	knows_not 10.77.0.4
}

t_known_may_send_more()
{
	begin_customers
	limit --known 10x
	[[ ! -s $T/err ]] || fail "$(cat "$T/err")"
	blast 0 50 10.77.0.2
	blast 3 3 10.77.0.2
	blast 7 57 fd77::2
	blast 7 12 10.77.0.4
	exits 1 test 10.77.0.2 --to udp/10
	exits 1 test 10.77.0.2 --to udp/9
	says '^10.77.0.2 to udp/9 is dropped now: over a limit$'
	# It goes on as one that nobody knows.
	exits 0 limit reset
	exits 0 known forget 10.77.0.2
	blast 3 8 10.77.0.2
	blast 0 50 fd77::2
	exits 0 status
	says '^  echo      1/h packets per /32 and /64 to udp/9, over it: drop, [0-9]+ packets, known sources: 10x$'
	exits 0 limit list
	says '^name +rate +of +burst +per +over +known +capacity '
	says '^echo +1/h +packets +5 +32,64 +drop +10x +16384 '
	exits 0 -j limit list
	json '[(l["name"], l["known"]) for l in d["limits"]] == [("echo", "10x")]'
}

t_known_are_exempt()
{
	begin_customers
	limit --known exempt
	blast 0 500 10.77.0.2
	blast 0 500 fd77::2
	blast 4 9 10.77.0.4
	exits 1 test 10.77.0.2 --to udp/9
	says '^10.77.0.2 to udp/9 passes now: not listed$'
	exits 0 limit list
	says '^echo .* drop +exempt '
}

# The filter follows `known on`, `clear` and `off`, and what was sent before counts as what it was.
t_from_known_on_to_off()
{
	need_cgroup
	serve
	ctl -q attach x0
	limit --known 10x
	complains 'no source is known, because remembering is off: until it is on, limit echo is the same for all'
	blast 2 7 10.77.0.2
	exits 0 status
	says 'known sources: 10x, but NOBODY IS KNOWN$'
	exits 0 known on
	reaches tcp 10.77.0.2
	exits 0 limit reset
	blast 0 50 10.77.0.2
	exits 0 known clear
	exits 0 status
	blast 2 7 10.77.0.2
	reaches tcp 10.77.0.2
	exits 0 limit reset
	blast 1 51 10.77.0.2
	exits 0 known off
	complains 'limits are the same for all sources now, since none is known'
	blast 2 7 10.77.0.2
	exits 0 known on
	# Who was saved is known again.
	exits 0 limit reset
	blast 1 51 10.77.0.2
	exits 0 detach --all
	exits 0 attach x0
	blast 1 51 10.77.0.2
	# A policy without --known admits nobody for being known.
	exits 0 policy allow-only --force
	blocked 10.77.0.2
	exits 0 policy allow-only --known
	passes 10.77.0.2
}

# After a boot, the maps come back in front of the filter.
t_power_cut()
{
	begin_customers
	limit --known 10x
	exits 0 known save
	power_cut
	exits 0 up
	blast 1 51 10.77.0.2
	blast 2 7 10.77.0.4
}

t_trial()
{
	begin_customers
	limit --known 10x --rollback 60
	exits 0 status
	says 'limit add echo --to udp/9 --rate 1/h --known 10x'
	blast 1 51 10.77.0.2
	blast 2 7 10.77.0.4
	exits 0 commit
	exits 0 -j limit list
	json 'd["limits"][0]["known"] == "10x"'
	exits 0 limit reset
	blast 1 51 10.77.0.2
}

# In one restore, with what is remembered.
t_save_and_restore()
{
	begin_customers
	limit --known 10x
	exits 0 save
	cp "$T/out" "$T/saved"
	says '"known":"10x"'
	exits 0 limit del echo
	exits 0 known off
	exits 0 restore "$T/saved"
	exits 0 save
	cmp "$T/out" "$T/saved"
	blast 1 51 10.77.0.2
	blast 2 7 10.77.0.4
}

t_wrong_words()
{
	for one in 10 0x 1001x x Exempt 1.5x ''; do
		is_refused 2 'known sources may send 1x to 1000x as much, as 10x, or are exempt' \
			limit add echo --to udp/9 --rate 1/h --known "$one"
	done
	exits 0 limit list
	[[ ! -s $T/out ]] || fail "$(cat "$T/out")"
}

run_tests
