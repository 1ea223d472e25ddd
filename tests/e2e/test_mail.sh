#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A mail server asks bloomd: Postfix by its socketmap and its policy delegation.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2119,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=mail.sh
. "$(dirname "$0")/mail.sh"
. "$root/tests/e2e/agent.sh"

sockets=/var/spool/postfix/xdp-bloom

# postfix_and_agent [LINE...]: both, and these lines of [postfix].
postfix_and_agent()
{
	lay postfix
	install_postfix
	install -d -m 2750 -g postfix "$sockets"
	printf '%s\n' '[postfix]' "socketmap = $sockets/socketmap" "policy = $sockets/policy" "$@" >"$T/bloomd.conf"
	agent
}

# start_with_policy: Postfix asks for each client.
start_with_policy()
{
	echo '587 inet n - y - - smtpd' >>/etc/postfix/master.cf
	postconf -e 'smtpd_client_restrictions = check_policy_service unix:xdp-bloom/policy'
	start_postfix
}

# configure LINE...: these lines of [postfix] instead.
configure()
{
	printf '%s\n' '[postfix]' "socketmap = $sockets/socketmap" "policy = $sockets/policy" "$@" >"$T/bloomd.conf"
	: >"$T/agent.err"
	kill -HUP "$agent"
	says_agent "bloomd: reloaded"
}

# restrict RESTRICTION...: of clients, from now on.
restrict()
{
	local before former one

	in_server postconf -e "smtpd_client_restrictions = $*"
	former=$(smtpds)
	before=$(master_reloads)
	in_server postfix reload >"$T/out" 2>&1 || fail "$(cat "$T/out")"
	wait_for "a reload" master_has_reloaded "$before"
	for one in $former; do
		wait_for "the end of a process with the former ones" has_ended "$one"
	done
}

smtpds() { pgrep -x smtpd -P "$(tr -d ' ' </var/spool/postfix/pid/master.pid)" || true; }
master_reloads() { grep -c 'master.*: reload -- version' "$T/postfix.log" || true; }
master_has_reloaded() { [[ $(master_reloads) -gt $1 ]]; }
has_ended() { ! kill -0 "$1" 2>/dev/null; }

refused=": Client host rejected:"

t_policy()
{
	postfix_and_agent 'counted = PREPEND X-Listed: %l'
	start_with_policy
	mail 10.77.0.2 "250 "
	mail fd77::2 "250 "
	ctl -q add 10.77.0.3 fd77::3 --list bad
	ctl -q add 10.77.3.0/24 fd77:0:0:0:3::/80 --list worse
	mail 10.77.0.3 "554 5.7.1 <unknown[10.77.0.3]>$refused 10.77.0.3 is listed (bad)"
	mail fd77::3 "554 5.7.1 <unknown[fd77::3]>$refused fd77::3 is listed (bad)"
	mail 10.77.3.9 "554 5.7.1 <unknown[10.77.3.9]>$refused 10.77.3.9 is listed (worse)"
	mail fd77::3:0:0:9 "554 5.7.1 <unknown[fd77::3:0:0:9]>$refused fd77::3:0:0:9 is listed (worse)"
	mail 10.77.0.4 "250 "
	mail fd77::4 "250 "
	# The allowlist wins.
	ctl -q allow add 10.77.3.9
	mail 10.77.3.9 "250 "
	mail 10.77.3.200 "554 "
	ctl -q del 10.77.0.3
	mail 10.77.0.3 "250 "
	# What only counts is told apart, and a list that drops wins.
	ctl -q add 10.77.0.3 10.77.0.4 --list counts
	ctl -q verdict counts count
	ctl -q add 10.77.0.3 --list bad
	mail 10.77.0.3 "554 5.7.1 <unknown[10.77.0.3]>$refused 10.77.0.3 is listed (bad)"
	rm -rf /var/spool/mail/reader
	mail 10.77.0.4 "250 "
	wait_for "the header" grep -rqx 'X-Listed: counts' /var/spool/mail/reader/new
	[[ $(counted policy ok) -eq 13 ]] || fail "counted are $(counted policy ok)"
	[[ $(counted policy error) -eq 0 ]] || fail "errors: $(counted policy error)"
	# Lists that hold for other ports are not asked.
	exits 0 flush --yes
	ctl -q add 10.77.0.3 --list mail
	ctl -q scope mail tcp/25
	ctl -q add 10.77.0.4 --list web
	ctl -q scope web tcp/443
	mail 10.77.0.3 "554 "
	mail 10.77.0.3 "250 " a@partner.example 587
	mail 10.77.0.4 "250 "
	ctl -q scope mail all
	mail 10.77.0.3 "554 " a@partner.example 587
}

# counted PROTOCOL OUTCOME: requests by the metrics.
counted()
{
	ctl metrics | awk -v of="command=\"$1\",outcome=\"$2\"" 'index($1, of) {n = $2} END {print n + 0}'
}

# The domain of the sender, by the lists that the configuration names; the client comes first.
t_senders()
{
	postfix_and_agent 'senders = bad, worse' 'counted = PREPEND X-Listed: %l'
	start_with_policy
	ctl -q add evil.example --list bad
	ctl -q add sub.worse.example --list worse
	ctl -q add other.example 10.77.0.3 --list other
	ctl -q scope bad tcp/443
	mail 10.77.0.4 "554 5.7.1 <unknown[10.77.0.4]>$refused evil.example is listed (bad)" a@evil.example
	mail 10.77.0.4 "554 5.7.1 <unknown[10.77.0.4]>$refused mail.evil.example is listed (bad)" a@mail.evil.example
	mail 10.77.0.4 "554 " "$(printf '%0200d' 0)@Evil.Example"
	mail 10.77.0.4 "554 " '"b@partner.example"@evil.example'
	mail 10.77.0.4 "554 " a@sub.worse.example
	mail 10.77.0.4 "250 " a@worse.example
	mail 10.77.0.4 "250 " a@other.example
	mail 10.77.0.4 "250 " ""
	mail 10.77.0.3 "554 5.7.1 <unknown[10.77.0.3]>$refused 10.77.0.3 is listed (other)" a@evil.example
	ctl -q allow add mail.evil.example
	mail 10.77.0.4 "250 " a@mail.evil.example
	ctl -q verdict worse count
	mail 10.77.0.4 "250 " a@sub.worse.example
	configure 'senders = other'
	mail 10.77.0.4 "250 " a@evil.example
	mail 10.77.0.4 "554 " a@other.example
	configure
	mail 10.77.0.4 "250 " a@other.example
}


# What the configuration says, in the words of Postfix; what has expired is not listed.
t_actions_and_expiry()
{
	postfix_and_agent 'listed = DEFER_IF_PERMIT Later, %a: %l, 100%%'
	start_with_policy
	ctl -q add 10.77.0.3 --list bad
	mail 10.77.0.3 "450 4.7.1 <unknown[10.77.0.3]>$refused Later, 10.77.0.3: bad, 100%"
	configure 'listed = 521 Go away'
	mail 10.77.0.3 "521 5.7.1 <unknown[10.77.0.3]>$refused Go away"
	configure 'listed = DUNNO'
	mail 10.77.0.3 "250 "
	configure 'listed = reject'
	mail 10.77.0.3 "554 5.7.1 <unknown[10.77.0.3]>$refused Access denied"
	ctl -q verdict bad count
	mail 10.77.0.3 "250 "
	configure 'counted = REJECT Counted by %l'
	mail 10.77.0.3 "554 5.7.1 <unknown[10.77.0.3]>$refused Counted by bad"
	ctl -q add 10.77.0.4 --list bad --timeout 60
	mail 10.77.0.4 "554 "
	ctl -q del 10.77.0.4
	ctl -q add 10.77.0.4 --list bad --timeout 2
	# While nobody may write, the entry stays in the store and the filter.
	exec 7>>"$state/writer.lock"
	flock 7
	sleep 2.5
	mail 10.77.0.4 "250 "
	flock -u 7
}

# A store that cannot be read defers mail and says so, unless the administrator wants it to pass; so does an agent that
# is not there, as Postfix is configured.
t_nobody_knows()
{
	postfix_and_agent
	start_with_policy
	mail 10.77.0.2 "250 "
	# At once: bloomd looks at a file as soon as it is there, and LMDB begins a store in an empty one.
	echo rubbish >"$state/rubbish"
	ln "$state/store.mdb" "$state/away"
	mv "$state/rubbish" "$state/store.mdb"
	mail 10.77.0.2 "450 4.7.1 <unknown[10.77.0.2]>$refused Service temporarily unavailable"
	says_agent 'a question of Postfix cannot be answered: .*store.mdb: MDB_INVALID'
	asks 10.77.0.2 tcp/25 1
	configure 'unavailable = DUNNO'
	mail 10.77.0.2 "250 "
	restrict "check_client_access socketmap:unix:xdp-bloom/socketmap:tcp/25"
	mail 10.77.0.2 "451 4.3.5 <unknown[10.77.0.2]>$refused Server configuration error"
	mv "$state/away" "$state/store.mdb"
	mail 10.77.0.2 "250 "
	[[ $(counted policy error) -eq 2 && $(counted socketmap error) -eq 2 ]] || fail "$(ctl metrics | grep api_requests)"
	agent_ends KILL 137
	restrict "check_policy_service unix:xdp-bloom/policy"
	mail 10.77.0.2 "451 4.3.5 "
	restrict "check_policy_service { unix:xdp-bloom/policy, default_action=DUNNO, try_limit=1 }"
	mail 10.77.0.2 "250 "
	agent
	ctl -q add 10.77.0.2 --list bad
	mail 10.77.0.2 "554 "
}

# asks KEY MAP CODE [ANSWER]: as postmap does.
asks()
{
	local code=0

	in_server postmap -q "$1" "socketmap:unix:$sockets/socketmap:$2" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq $3 ]] || fail "postmap of $1 in $2: $code, not $3: $(cat "$T/out" "$T/err")"
	[[ $(cat "$T/out") == "${4:-}" ]] || fail "postmap of $1 in $2: '$(cat "$T/out")', not '${4:-}'"
}

t_socketmap()
{
	local key

	postfix_and_agent 'listed = REJECT %a by %l' 'counted = WARN %l'
	ctl -q add 10.77.0.3 198.51.100.0/24 2001:db8::/32 evil.example =alone.example --list bad
	ctl -q add 192.0.2.7 --list only25
	ctl -q scope only25 tcp/25
	ctl -q add 192.0.2.8 --list new
	ctl -q verdict new count
	asks 10.77.0.3 bad 0 "REJECT 10.77.0.3 by bad"
	asks 10.77.0.3 tcp/25 0 "REJECT 10.77.0.3 by bad"
	asks 10.77.0.3 new 1
	asks 198.51.100.77 bad 0 "REJECT 198.51.100.77 by bad"
	asks 2001:db8:0:0::9 bad 0 "REJECT 2001:db8::9 by bad"
	asks 192.0.2.7 tcp/25 0 "REJECT 192.0.2.7 by only25"
	asks 192.0.2.7 tcp/587 1
	asks 192.0.2.7 only25 0 "REJECT 192.0.2.7 by only25"
	asks 192.0.2.8 tcp/25 0 "WARN new"
	asks evil.example tcp/25 0 "REJECT evil.example by bad"
	asks www.evil.example bad 0 "REJECT www.evil.example by bad"
	asks 'some"@"one@mail.evil.example' bad 0 "REJECT mail.evil.example by bad"
	asks someone@alone.example bad 0 "REJECT alone.example by bad"
	asks someone@www.alone.example bad 1
	for key in 10.77.0.4 evil example 198.51.100 2001:db8 '<>' 'a b' '[10.77.0.3]' 'a@[10.77.0.3]' \
		"$(printf '%05000d' 0)" $'\xff\xfe@\xff'; do
		asks "$key" bad 1
		asks "$key" tcp/25 1
	done
	ctl -q allow add 198.51.100.77 www.evil.example
	asks 198.51.100.77 bad 1
	asks www.evil.example bad 1
	asks a.www.evil.example bad 1
	asks mail.evil.example bad 0 "REJECT mail.evil.example by bad"
	asks 10.77.0.3 no-such-list 1
	# Each list once, as many as have room.
	ctl -q add 192.0.2.20 --list bad
	ctl -q add 192.0.2.0/24 --list bad
	ctl -q add 192.0.2.20 --list ba
	asks 192.0.2.20 tcp/25 0 "REJECT 192.0.2.20 by bad,ba"
	asks 192.0.2.8 tcp/25 0 "REJECT 192.0.2.8 by bad"
	printf 'add 192.0.2.20 --list another-list-%d\n' {10..40} | ctl -q batch -
	in_server postmap -q 192.0.2.20 "socketmap:unix:$sockets/socketmap:tcp/25" >"$T/out"
	says '^REJECT 192.0.2.20 by bad,ba,another-list-10,(another-list-[0-9]+,)+\.\.\.$'
	[[ $(wc -c <"$T/out") -gt 200 && $(wc -c <"$T/out") -lt 250 ]] || fail "$(wc -c <"$T/out") bytes"
	[[ ! -s $T/err ]] || fail "$(cat "$T/err")"
	asks 10.77.0.3 tcp/ 1
	grep -q "'tcp/' is neither the name of a list nor a service" "$T/err" || fail "$(cat "$T/err")"
}

# Of an IPv6 address Postfix asks some tables for the front, which may be another address.
t_socketmap_of_postfix()
{
	postfix_and_agent
	postconf -e 'smtpd_client_restrictions = check_client_access socketmap:unix:xdp-bloom/socketmap:tcp/25' \
		'smtpd_sender_restrictions = check_sender_access socketmap:unix:xdp-bloom/socketmap:bad' \
		'smtpd_helo_restrictions = check_helo_access socketmap:unix:xdp-bloom/socketmap:bad'
	start_postfix
	ctl -q add 10.77.0.3 10.77.3.0/24 fd77::3 evil.example --list bad
	mail 10.77.0.3 "554 5.7.1 <unknown[10.77.0.3]>$refused 10.77.0.3 is listed (bad)"
	mail 10.77.3.9 "554 "
	mail fd77::3 "554 "
	mail fd77::3:0:0:9 "250 "
	mail 10.77.0.4 "250 "
	mail 10.77.0.4 "554 5.7.1 <a@mail.evil.example>: Sender address rejected: mail.evil.example is listed (bad)" \
		a@mail.evil.example
	ctl -q add client.example --list bad
	mail 10.77.0.4 "554 5.7.1 <client.example>: Helo command rejected: client.example is listed (bad)"
}

# Idle ones do not shut others out: the one that has been silent for longest goes. Those that ask and do not read cost little
# memory and no time. What comes in pieces, and what is no request: unit/bloomd/postfix.
t_a_thousand()
{
	postfix_and_agent
	ctl -q add 10.77.0.3 --list bad
	in_server python3 -S -E - "$sockets" "/proc/$agent" <<-'END' || fail "see above"
	import socket, sys, time
	def worked():
	    return int(open(sys.argv[2] + "/schedstat").read().split()[0]) / 1e9
	def memory():
	    return next(int(line.split()[1]) for line in open(sys.argv[2] + "/status") if line.startswith("RssAnon:"))
	def connect(name):
	    one = socket.socket(socket.AF_UNIX)
	    one.settimeout(60)
	    one.connect(sys.argv[1] + "/" + name)
	    return one
	def ask(one):
	    one.sendall(b"request=smtpd_access_policy\nsender=" + b"x" * 3000000 + b"\nclient_address=10.77.0.3\n\n")
	    said = one.recv(1000)
	    assert said == b"action=REJECT 10.77.0.3 is listed (bad)\n\n", said
	def fill(one, text):
	    one.setblocking(False)
	    try:
	        while True:
	            one.send(text * 100)
	    except BlockingIOError:
	        return one
	first = connect("policy")
	ask(first)
	many = [connect("policy" if i % 2 else "socketmap") for i in range(1020)]
	ask(many[-1])
	assert first.recv(1) == b"", "the oldest is there"
	asks = {"socketmap": b"13:bad 10.77.0.3,", "policy": b"request=smtpd_access_policy\nclient_address=10.77.0.3\n\n"}
	before = memory()
	deaf = [fill(connect(name), text) for name, text in asks.items() for _ in range(50)]
	ask(connect("policy"))
	for _ in range(30):
	    begun = worked()
	    time.sleep(1)
	    if worked() - begun < 0.1:
	        break
	else:
	    sys.exit("bloomd has no second without work for them")
	assert memory() - before < 8192, "memory grew by %d KiB" % (memory() - before)
	END
}

# as USER SOCKET: whether this user can connect.
connects() { setpriv --reuid "$1" --regid "$1" --clear-groups python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$sockets/$2" 2>/dev/null; }

t_who_may_ask()
{
	postfix_and_agent
	[[ $(stat -c %a:%U:%G "$sockets/policy" "$sockets/socketmap") == $'660:root:postfix\n660:root:postfix' ]] ||
		fail "$(ls -l "$sockets")"
	connects postfix policy && connects postfix socketmap || fail "Postfix may not"
	! connects reader policy && ! connects nobody socketmap || fail "others may"
	configure 'mode = 0600'
	! connects postfix policy || fail "the mode stays"
	configure 'group = reader'
	chmod 755 "$sockets"
	connects reader policy || fail "the group stays"
	! connects postfix policy || fail "the group stays, too"
	: >"$T/bloomd.conf"
	kill -HUP "$agent"
	wait_for "the end of the sockets" test ! -e "$sockets/policy" -a ! -e "$sockets/socketmap"
	configure
	connects postfix policy || fail "Postfix may not any more"
	asks 10.77.0.3 bad 1
	agent_ends KILL 137
	[[ -S $sockets/policy ]] || fail "no socket is left"
	agent
	asks 10.77.0.3 bad 1
	agent_ends
	[[ ! -e $sockets/policy && ! -e $sockets/socketmap ]] || fail "sockets are left"
}

# With the rights that the unit leaves it, bloomd gives a socket to the group of its directory.
t_with_the_rights_of_the_unit()
{
	local code=0

	postfix_and_agent
	agent_ends
	limited_agent ""
	agent
	[[ $(grep CapEff "/proc/$agent/status") == *0000c000201000 ]] || fail "$(grep Cap "/proc/$agent/status")"
	connects postfix policy && connects postfix socketmap || fail "Postfix may not"
	! connects nobody policy || fail "others may"
	agent_ends
	chmod 755 "$sockets"
	chgrp root "$sockets"
	echo 'group = postfix' >>"$T/bloomd.conf"
	tool "$T/limited" --config "$T/bloomd.conf" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "ends with $code"
	complains "cannot set who may use $sockets/socketmap: Operation not permitted"
}

# starts_not WHY: bloomd ends with 3, and says that.
starts_not()
{
	local code=0

	tool "$bloomd" --config "$T/bloomd.conf" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "ends with $code"
	complains "$1"
}

t_where_the_sockets_are()
{
	postfix_and_agent
	mkdir -m 755 "$T/other"
	sed "s|$sockets|$T/other|" -i "$T/bloomd.conf"
	kill -HUP "$agent"
	wait_for "the sockets" test -S "$T/other/policy" -a -S "$T/other/socketmap"
	[[ ! -e $sockets/policy && ! -e $sockets/socketmap ]] || fail "sockets are left"
	sed "s|$T/other|$T/nowhere|" -i "$T/bloomd.conf"
	kill -HUP "$agent"
	says_agent "the sockets for Postfix: cannot look at $T/nowhere: No such file"
	sockets=$T/other asks 10.77.0.3 bad 1
	agent_ends
	starts_not "cannot look at $T/nowhere: No such file"
	sed "s|$T/nowhere|$T/other|" -i "$T/bloomd.conf"
	chmod 775 "$T/other"
	starts_not "$T/other is writable for others than its owner"
	chmod 755 "$T/other"
	chown postfix "$T/other"
	starts_not "$T/other has to belong"
	chown root "$T/other"
	echo file >"$T/other/policy"
	starts_not "policy is there, and is no socket"
}

run_tests
