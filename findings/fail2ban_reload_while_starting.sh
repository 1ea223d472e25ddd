#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fail2ban 1.1.0: what becomes of `fail2ban-client reload` while the command of an action's `actionstart` still runs?
#
# Guessed: the client waits, or the action's `actionreload` runs behind its `actionstart`, with the new parameters.
# Seen: the client says OK, and `actionreload` never runs, then or later; behind the start it runs. So an action that
# starts slowly (one that waits for a lock, as at boot) keeps the parameters that it began with, while fail2ban tells the
# new ones to whoever asks it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring trixie fail2ban=1.1.0-8 python3=3.13.5-1 busybox-static=1:1.37.0-6+b9
for applet in sh sleep; do ln -s busybox "$root/usr/bin/$applet"; done

seconds=0
# configure WORD: a jail that watches an empty file, whose action writes down what it runs, with this word.
configure()
{
	mkdir -p "$root/etc/own"/{action.d,filter.d,jail.d}
	cat >"$root/etc/own/fail2ban.conf" <<-END
		[Definition]
		loglevel = INFO
		logtarget = /tmp/own.log
		syslogsocket = auto
		socket = /tmp/own.sock
		pidfile = /tmp/own.pid
		dbfile = None
		dbpurgeage = 1d
		dbmaxmatches = 10
	END
	cat >"$root/etc/own/filter.d/none.conf" <<-END
		[Definition]
		failregex = ^never <HOST>$
	END
	cat >"$root/etc/own/action.d/slow.conf" <<-END
		[Definition]
		actionstart = echo start <word> >>/tmp/ran; while [ -e /tmp/hold ]; do sleep 0.1; done; echo started >>/tmp/ran
		actionreload = echo reload <word> >>/tmp/ran
		actionban = :
		actionunban = :
		[Init]
		word = none
	END
	cat >"$root/etc/own/jail.conf" <<-END
		[DEFAULT]
		[own]
		enabled = true
		filter = none
		backend = polling
		logpath = /tmp/empty
		action = slow[word=$1]
	END
}

inside() { env -i PATH=/usr/bin:/usr/sbin LC_ALL=C.UTF-8 /usr/sbin/chroot "$root" "$@"; }
client() { inside /usr/bin/python3 -W ignore /usr/bin/fail2ban-client -c /etc/own -s /tmp/own.sock "$@"; }
has() { grep -qx "$1" "$root/tmp/ran" 2>/dev/null; }
comes()
{
	until has "$1"; do
		((++seconds < 600)) || fail "'$1' does not come: $(cat "$root/tmp/ran" "$root/tmp/own.log" "$work/server" 2>&1 | tail -n 9)"
		sleep 0.1
	done
}
ends()
{
	kill $server 2>/dev/null && wait "$server" || true
	rm -rf "$work"
}

server=
mkdir -p "$root"/{dev,run}
mknod "$root/dev/null" c 1 3
mknod "$root/dev/urandom" c 1 9
trap ends EXIT
touch "$root/tmp/empty" "$root/tmp/hold"
configure one
inside /usr/bin/python3 -W ignore /usr/bin/fail2ban-server -c /etc/own -f start >"$work/server" 2>&1 &
server=$!
comes "start one"
configure two
said=$(client reload)
rm "$root/tmp/hold"
comes started
configure three
client reload >/dev/null
comes "reload three"
inside /usr/bin/python3 -V
echo "the client says $said; the action ran: $(paste -sd, "$root/tmp/ran")"
[[ $said == OK && $(paste -sd, "$root/tmp/ran") == "start one,started,reload three" ]] || fail "it runs something else"
