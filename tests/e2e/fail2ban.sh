# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# fail2ban of Debian, unpacked by scripts/setup, in the foreground with a configuration of its own, and
# bloomd beside it. For sourcing behind lib.sh.

fail2ban=$programs/fail2ban session=0
# The sources that are banned besides those of lib.sh: two customers, the first with three addresses.
customer6=(2001:db8:0:1::2 2001:db8:0:1::3 2001:db8:0:1::4 2001:db8:0:2::2)

need_fail2ban()
{
	[[ -d $fail2ban ]] || skip "fail2ban is not in build/: scripts/setup unpacks it"
}

# But that there was no jail yet, when a test asked for it.
no_complaint()
{
	! grep -E 'ERROR|CRITICAL' "$T/fail2ban.log" | grep -v UnknownJailException || fail "fail2ban complains"
}

# Debian's configuration, and our actions as `make install` leaves them.
lay_fail2ban()
{
	rm -rf "$T/fail2ban"
	cp -a "$fail2ban/etc/fail2ban" "$T/fail2ban"
	cp "$root"/packaging/fail2ban/action.d/xdp-bloom.* "$T/fail2ban/action.d/"
}

# These, and what is in $T/jail.local; jails read $T/auth.log.
configure()
{
	need_fail2ban
	lay_fail2ban
	rm "$T/fail2ban/jail.d/defaults-debian.conf"
	cat >"$T/fail2ban/fail2ban.local" <<-END
		[Definition]
		logtarget = $T/fail2ban.log
		socket = $T/fail2ban.sock
		pidfile = $T/fail2ban.pid
		dbfile = $T/fail2ban.db
	END
	cp "$T/jail.local" "$T/fail2ban/jail.local"
	touch "$T/auth.log"
}

# jail [NAME=VALUE...]: the jail sshd with the Python action, whose options these are.
# shellcheck disable=SC2120 # test files give some
jail()
{
	local options

	printf -v options ', %s' "socket=\"$counters/api.sock\"" settle=2 "$@"
	cat >"$T/jail.local" <<-END
		[DEFAULT]
		banaction = xdp-bloom.py[bloomctl="$bloomctl --state $state --pin $pins --run $counters"$options]
		usedns = no
		ignoreself = false
		maxretry = 2
		bantime = ${bantime:-1h}
		${increment:-}
		[sshd]
		enabled = true
		backend = polling
		logpath = $T/auth.log
		${ports:-}
	END
	configure
}

# plain_jail [NAME=VALUE...]: the same with the plain action.
plain_jail()
{
	local options=""

	[[ $# -eq 0 ]] || printf -v options ', %s' "$@"
	# shellcheck disable=SC2119
	jail
	sed -i "s|^banaction = .*|banaction = xdp-bloom[bloomctl=\"$bloomctl --state $state --pin $pins --run $counters\"$options]|" \
		"$T/jail.local"
	configure
}

# What Python has compiled stays beside it: otherwise each process does half of its work for that.
with_python() { PYTHONPATH=$fail2ban/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE="" in_server "$@"; }

# shellcheck disable=SC2120
client()
{
	with_python python3 -W ignore "$fail2ban/usr/bin/fail2ban-client" -c "$T/fail2ban" "$@" >"$T/client" 2>&1 ||
		fail "fail2ban-client $*: $(tail -n 3 "$T/client")"
}

# f2b WORD...: the same of a command that is the server's alone, in a tenth of the time.
ask_f2b() { python3 -S -E "$root/tests/e2e/f2b.py" "$T/fail2ban.sock" "$@"; }
f2b() { ask_f2b "$@" >"$T/client" 2>&1 || fail "fail2ban-client $*: $(tail -n 3 "$T/client")"; }

has_jail() { [[ -S $T/fail2ban.sock ]] && ask_f2b status "${last_jail:-sshd}"; }

server_starts()
{
	PYTHONPATH=$fail2ban/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE="" nsenter --net="/run/netns/$server" \
		python3 -W ignore "$fail2ban/usr/bin/fail2ban-server" -c "$T/fail2ban" -f start >"$T/fail2ban.out" 2>&1 &
	banner=$!
	wait_for "fail2ban" has_jail
}

# server_ends [SIGNAL]
server_ends()
{
	kill "-${1:-TERM}" $banner
	wait $banner || [[ ${1:-TERM} != TERM ]] || fail "fail2ban ends with $?"
	rm -f "$T/fail2ban.sock" "$T/fail2ban.pid"
}

# fails ADDRESS...: each fails twice to log in, which bans it. A line of the same process would be one more
# of the session before.
fails()
{
	local one

	for one; do
		for _ in 1 2; do
			printf '%s server sshd[%d]: Failed password for root from %s port 4711 ssh2\n' \
				"$(LC_ALL=C date '+%b %e %H:%M:%S')" $((++session)) "$one"
		done
	done >>"$T/auth.log"
}

is_listed() { ctl -q test "$1" >/dev/null; }
is_free() { ! is_listed "$1"; }
becomes_listed() { wait_for "the ban of $1" is_listed "$1"; }
becomes_free() { wait_for "the end of the ban of $1" is_free "$1"; }

# is_banned ADDRESS: in the opinion of fail2ban.
is_banned() { f2b get sshd banip && grep -qwF -- "$1" "$T/client"; }

# are_kept NUMBER: so many bans are in fail2ban's database, which a thread of its own writes later. A kill leaves these.
are_kept()
{
	python3 -c 'import sqlite3, sys
found = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True).execute("SELECT count(*) FROM bips").fetchone()
sys.exit(found != (int(sys.argv[2]),))' "$T/fail2ban.db" "$1"
}

listed() { ctl list | wc -l; }
is_listing() { [[ $(listed) -eq $1 ]]; }

# How many transactions there were.
commits() { ctl metrics | awk '$1 == "xdp_bloom_commit_duration_seconds_count" {print $2}'; }

# The two networks of customers, without a word of neighbour discovery.
customers()
{
	local one

	ip -n "$server" route add 2001:db8::/32 dev x0
	for one in "${customer6[@]}"; do
		ip -n "$server" neigh replace "$one" lladdr 02:00:00:00:00:02 dev x0 nud permanent
		ip -n "$client" addr add "$one/128" dev x0 nodad
	done
}

begin_without_bloomd()
{
	trap 'tail -n 12 "$T/fail2ban.log"' EXIT
	ctl -q attach x0
	server_starts
}

# shellcheck disable=SC2119
begin()
{
	agent
	begin_without_bloomd
}

misses_the_port() { ! reaches tcp "$1" 0.5 22; }

# bans_for_the_port UNBANNED: two that fail are banned for the port of the jail, and no other. UNBANNED is what an
# address is as soon as fail2ban says that it is unbanned: is_free, or becomes_free.
bans_for_the_port()
{
	serve_on 22
	serve_on 80
	fails 10.77.0.3 fd77::3
	becomes_listed 10.77.0.3
	becomes_listed fd77::3
	wait_for "that 10.77.0.3 reaches the port no more" misses_the_port 10.77.0.3
	wait_for "that fd77::3 reaches the port no more" misses_the_port fd77::3
	reaches tcp 10.77.0.3 "" 80 || fail "10.77.0.3 does not reach another port"
	reaches tcp 10.77.0.4 "" 22 || fail "a source that did nothing does not reach the port"
	exits 0 scope f2b-sshd
	says 'tcp/22$'
	f2b set sshd unbanip 10.77.0.3
	"$1" 10.77.0.3 || fail "10.77.0.3 is listed after its unban"
	wait_for "10.77.0.3 back" reaches tcp 10.77.0.3 2 22
	f2b unban --all
	is_free fd77::3 || fail "unban --all returns, and fd77::3 is listed"
}
