#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The real fail2ban bans by xdp-bloom: with the Python action, which speaks to bloomd.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2119,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=fail2ban.sh
. "$(dirname "$0")/fail2ban.sh"
# shellcheck source=page.sh
. "$(dirname "$0")/page.sh"

# fail2ban ends a ban on time; if it is dead, the entry does, some time later.
t_end_of_a_ban()
{
	local since

	bantime=60 jail type=allports
	begin
	fails 10.77.0.3
	becomes_listed 10.77.0.3
	comes_blocked 10.77.0.3
	bans_become_short
	becomes_free 10.77.0.3
	comes_through 10.77.0.3
	f2b set sshd bantime 60
	since=$EPOCHSECONDS
	fails 10.77.0.4
	becomes_listed 10.77.0.4
	server_ends KILL
	ends_behind 10.77.0.4 210
}

# Those that there are as well; but fail2ban looks at them only when one that was made since then is over.
bans_become_short()
{
	f2b set sshd bantime 4
	fails 10.77.0.5
}

# When its time is over.
end_of() { redis-cli -s "$counters/api.sock" ZSCORE f2b-sshd "$1"; }

# ends_behind ENTRY SECONDS: so long after its ban, which was made after $since.
ends_behind()
{
	local at

	at=$(end_of "$1")
	((at - since >= $2 && at - EPOCHSECONDS <= $2 + 1)) ||
		fail "$1 ends $((at - since)) s after $since and $((at - EPOCHSECONDS)) s from now, not in $2"
}

# Two sources of one customer are one entry, as long as one of the two is banned.
t_networks()
{
	local -a two=("${customer6[@]:0:2}")
	local end

	customers
	jail type=allports
	begin
	# Of addresses in no customer's network each is for itself.
	fails fd77::3
	becomes_listed fd77::3
	passes fd77::2 "${customer6[@]}"
	fails "${two[0]}"
	becomes_listed 2001:db8:0:1::/64
	comes_blocked "${customer6[@]:0:3}"
	passes "${customer6[3]}"
	end=$(end_of 2001:db8:0:1::/64)
	sleep 1 # so that the other ban ends later
	fails "${two[1]}"
	wait_for "the other ban" ends_later 2001:db8:0:1::/64 "$end"
	f2b set sshd unbanip "${two[0]}"
	sleep 0.3
	blocked "${customer6[@]:0:3}"
	fails "${two[0]}"
	wait_for "the first ban again" is_banned "${two[0]}"
	wait_for "three bans in the database" are_kept 3
	# What was counted is there again after a kill: from the database alone, since what fail2ban finds in its log once more
	# may be a ban before that is restored, and again behind an unban.
	server_ends KILL
	: >"$T/auth.log"
	server_starts
	wait_for "the first ban again" is_banned "${two[0]}"
	wait_for "the other ban again" is_banned "${two[1]}"
	f2b set sshd unbanip "${two[1]}"
	sleep 0.3
	comes_blocked "${customer6[@]:0:3}"
	f2b set sshd unbanip "${two[0]}"
	becomes_free 2001:db8:0:1::/64
	comes_through "${customer6[@]}"
}

# bans NUMBER: 10.77.0.3 and others, by the client.
bans()
{
	local -a some
	local i

	for ((i = 1; i < $1; i += 1000)); do
		mapfile -t some < <(seq -f "%.0f" $i $((i + 999 < $1 ? i + 999 : $1 - 1)) |
			awk '{printf "100.64.%d.%d\n", $1 / 250, $1 % 250}')
		f2b set sshd banip "${some[@]}"
	done
	f2b set sshd banip 10.77.0.3
}

# How many transactions changed what is listed.
sequence() { ctl metrics | awk '$1 == "xdp_bloom_store_sequence" {print $2}'; }

# transactions NUMBER WORDS...: since $before.
transactions()
{
	local number=$(($(sequence) - before))

	((number == $1)) || fail "${*:2}: $number transactions"
	before=$(sequence)
}

# However many there are, stopping, starting and unbanning all of them is a transaction each.
t_restart_with_many()
{
	local before

	jail type=allports
	# However long this machine takes to restore them: otherwise the first ban waits 10 s at most for the last, and one
	# that comes 0.1 s after the others is a transaction of its own.
	sed -i 's/^LINGER_MOST = [0-9]*/LINGER_MOST = 600/; s/^LINGER = [0-9.]*/LINGER = 2/' "$T/fail2ban/action.d/xdp-bloom.py"
	begin
	bans 3000
	wait_for "all bans" is_listing 3000
	comes_blocked 10.77.0.3
	wait_for "all bans in the database" are_kept 3000
	before=$(sequence)
	server_ends
	is_listing 0 || fail "fail2ban has ended, and $(listed) are listed"
	comes_through 10.77.0.3
	transactions 1 "the end"
	server_starts
	wait_for "all bans again" is_listing 3000
	comes_blocked 10.77.0.3
	sleep 3 # until what is no ban any more is taken out
	transactions 1 "the start"
	f2b unban --all
	is_listing 0 || fail "unban --all returns, and $(listed) are listed"
	transactions 1 "unban --all"
}

# Called by the test in place of fail2ban, the action makes requests as large as bloomd takes, and not larger; sends
# restored bans in one transaction, also if fail2ban takes its time; and makes a ban longer by fail2ban's call alone, long
# before the whole list is compared.
t_what_the_action_asks()
{
	need_fail2ban
	agent
	with_python python3 -W ignore "$root/tests/e2e/driveaction.py" "$counters/api.sock" requests restore prolong ||
		fail "the action errs"
}

restart_by()
{
	server_ends "$1"
	server_starts
	wait_for "10.77.0.3 again" is_banned 10.77.0.3
	[[ $1 == KILL ]] || sleep 3 # until what is no ban would be taken out: here is nothing
	wait_for "that what is no ban any more is taken out" is_listing 500
}

# Not one packet passes while it is dead and while it starts, nor in a restart with keep=yes; what it does not ban any more
# is let go.
t_kill_and_keep()
{
	jail type=allports keep=yes
	begin
	bans 500
	wait_for "all bans" is_listing 500
	wait_for "all bans in the database" are_kept 500
	ctl -q add 10.77.0.5 --list f2b-sshd
	comes_blocked 10.77.0.3
	flood restart_by KILL
	is_listing 500 || fail "$(listed) are listed"
	comes_through 10.77.0.5
	flood restart_by TERM
	is_listing 500 || fail "$(listed) are listed"
	blocked 10.77.0.3
	f2b unban --all
	is_listing 0 || fail "unban --all returns, and $(listed) are listed"
}

# Somebody empties the list: the next sign of life of a banned source brings it back.
t_repair()
{
	jail type=allports
	sed -i 's/^EACH = [0-9]*/EACH = 600/' "$T/fail2ban/action.d/xdp-bloom.py"
	agent
	ctl -q add 10.77.0.5 --list f2b-sshd
	begin_without_bloomd
	fails 10.77.0.3 10.77.0.4
	becomes_listed 10.77.0.3
	becomes_listed 10.77.0.4
	wait_for "the first comparison" is_free 10.77.0.5 # the next one comes much later
	ctl -q flush --yes
	comes_through 10.77.0.3
	sleep 4 # what comes at once was under way
	is_free 10.77.0.3 || fail "10.77.0.3 comes back by itself"
	fails 10.77.0.3
	becomes_listed 10.77.0.3
	becomes_listed 10.77.0.4
}

is_banned_longer() { f2b set sshd banip "$1" && ends_later "$@"; }

# One entry that cannot be listed does not keep others out, and somebody who bans what is banned makes that longer.
t_bloomd_is_away()
{
	local before one

	jail type=allports
	begin
	f2b set sshd banip 10.77.0.5 198.51.100.0/24
	becomes_listed 198.51.100.0/24
	before=$(end_of 10.77.0.5)
	f2b set sshd unbanip 198.51.100.0/24
	becomes_free 198.51.100.0/24
	# While bloomd answers the first one, the others come together.
	kill -STOP "$agent"
	f2b set sshd banip 198.51.100.1 0.0.0.0/1 10.77.0.3 10.77.0.4
	wait_for "the last ban" is_banned 10.77.0.4
	kill -CONT "$agent"
	for one in 198.51.100.1 10.77.0.3 10.77.0.4; do
		becomes_listed $one
	done
	wait_for "a word of it" grep -q '0.0.0.0/1 cannot be in list f2b-sshd: ERR 0.0.0.0/1 is a prefix shorter' "$T/fail2ban.log"
	f2b set sshd unbanip 10.77.0.4
	becomes_free 10.77.0.4
	wait_for "a later end" is_banned_longer 10.77.0.5 "$before"
	agent_ends KILL 137
	fails 10.77.0.4
	wait_for "the second ban" is_banned 10.77.0.4
	f2b set sshd unbanip 10.77.0.3
	wait_for "a word of it" grep -qE 'ERROR +list f2b-sshd: .*; trying again' "$T/fail2ban.log"
	agent
	becomes_listed 10.77.0.4
	becomes_free 10.77.0.3
	wait_for "a word of it" grep -q 'list f2b-sshd is as it should be again' "$T/fail2ban.log"
}

t_reload()
{
	jail type=allports
	begin
	fails 10.77.0.3
	becomes_listed 10.77.0.3
	comes_blocked 10.77.0.3
	flood client reload
	jail
	client reload
	wait_for "the port" eval "ctl scope f2b-sshd | contains 'tcp/22$'"
	is_listed 10.77.0.3 || fail "10.77.0.3 is free after a reload"
	bans_for_the_port becomes_free
	fails 10.77.0.4
	becomes_listed 10.77.0.4
	server_ends
	is_listing 0 || fail "fail2ban has ended, and $(listed) are listed"
	no_complaint
}

# fail2ban makes a ban longer after it was made, and says so later.
t_longer()
{
	local since

	increment=$(printf '%s\n' "bantime.increment = true" "bantime.multipliers = 1 1000") \
		bantime=60 jail type=allports
	begin
	since=$EPOCHSECONDS
	fails 10.77.0.3
	becomes_listed 10.77.0.3
	ends_behind 10.77.0.3 210
	bans_become_short
	becomes_free 10.77.0.3
	fails 10.77.0.3
	becomes_listed 10.77.0.3
	patience=$((3 * patience)) wait_for "a longer ban" ends_later 10.77.0.3 $((since + 4000))
}

# ends_later ENTRY TIME: than at that time.
ends_later() { (($(end_of "$1") > $2)); }

# ship FILE DIRECTORY: what the page copies, with the places of this test in it.
ship()
{
	local one

	lay_share
	for one in xdp-bloom.py xdp-bloom.conf; do
		cmp "$T/root/etc/fail2ban/action.d/$one" "$T/fail2ban/action.d/$one" || fail "$one is not installed"
	done
	sed -i -E "s|xdp-bloom\.py(\[(.*)\])?$|xdp-bloom.py[bloomctl=\"$bloomctl --state $state --pin $pins --run $counters\", socket=\"$counters/api.sock\", \2]|" \
		"$1"
	sed -i 's|, \]|]|' "$1"
	cp "$1" "${2/#\/etc/$T}"
}

other_command()
{
	local -a words

	eval "words=($1)"
	case $1 in
	"cp "*) if is_packaged; then "${words[@]}"; else ship "${words[@]:1}"; fi ;;
	"fail2ban-client "*) client "${words[@]:1}" ;;
	*) fail "nobody knows how to try '$1'" ;;
	esac
}

other_service()
{
	[[ $1 == "restart fail2ban" ]] || fail "systemctl $1"
	last_jail=recidive server_starts
}

page_did()
{
	case $1 in
	*" banip "*) becomes_listed 203.0.113.7 ;;
	*" unbanip "*) becomes_free 203.0.113.7 ;;
	"fail2ban-client status"*) grep -q 203.0.113.7 "$T/client" || fail "$(cat "$T/client")" ;;
	"bloomctl test"*) says '^203.0.113.7 to tcp/443 is dropped now: listed$' ;;
	"bloomctl list"*) says '^203.0.113.7 list f2b-nginx-http-auth ' ;;
	"bloomctl scope"*) says 'tcp/80,tcp/443$' ;;
	esac
}

# Each command of the page does what it says there.
t_recipe()
{
	jail
	rm "$T/fail2ban/jail.local"
	printf '[%s]\nbackend = polling\nlogpath = %s\n' nginx-http-auth "$T/auth.log" nginx-botsearch "$T/auth.log" \
		recidive "$T/auth.log" >"$T/fail2ban/jail.d/logs.local"
	rename eth0
	page_runs fail2ban 12
	f2b set recidive banip 203.0.113.9
	becomes_listed 203.0.113.9
	exits 0 test 203.0.113.9 --to udp/53
	says '^203.0.113.9 to udp/53 is dropped now: listed$'
	no_complaint
}

t_recipe_after_the_readme()
{
	readme=(eth0)
	mishap=killed
	# But that bloomd is away, and that it tries again.
	no_complaint()
	{
		! grep -E 'ERROR|CRITICAL' "$T/fail2ban.log" | grep -vE 'UnknownJailException|; trying again$' || fail "fail2ban complains"
	}
	t_recipe
}

run_tests
