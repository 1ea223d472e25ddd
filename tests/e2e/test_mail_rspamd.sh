#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A mail server asks bloomd: rspamd by its multimap, and both rspamd and Postfix as the page for administrators sets
# them up.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2119,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=mail.sh
. "$(dirname "$0")/mail.sh"
# shellcheck source=page.sh
. "$(dirname "$0")/page.sh"

# A map of addresses and some of names. What counts once may not count again for each prefix that rspamd asks for, and a
# comment changes no score.
t_rspamd()
{
	lay rspamd
	install_rspamd
	cat >/etc/rspamd/local.d/multimap.conf <<-END
		redis { servers = "$counters/query.sock"; timeout = 30s; }
		LISTED_CLIENT { type = "ip"; map = "redis://bad"; score = 4; }
		LISTED_SENDER { type = "from"; filter = "email:domain"; map = "redis://names"; score = 6; }
		LISTED_LINK { type = "url"; map = "redis://names"; score = 3; }
		ALLOWLISTED { type = "ip"; map = "redis://allow"; score = -5; }
	END
	printf '[api]\nquery-group = _rspamd\n' >"$T/bloomd.conf"
	chmod 755 "$T"
	agent
	chmod 711 "$counters"
	ctl -q add 192.0.2.7 198.51.100.0/24 2001:db8:1::/48 2001:db8:2::7 --list bad
	ctl -q add 192.0.2.8 --list bad --comment 'GREAT:-100 and more'
	ctl -q add 192.0.2.9 --list bad --comment '-50'
	ctl -q add 192.0.2.10 2001:db8:2::10 --list other
	ctl -q add evil.example.org --list names --comment '77'
	start_rspamd
	scan "" 192.0.2.1 a@partner.example "see http://www.partner.example.org/"
	scan "LISTED_CLIENT=4.00" 192.0.2.7 a@partner.example
	scan "LISTED_CLIENT=4.00" 198.51.100.99 a@partner.example
	scan "LISTED_CLIENT=4.00" 2001:db8:2::7 a@partner.example
	scan "LISTED_CLIENT=4.00" 2001:db8:1:2::9 a@partner.example
	scan "LISTED_CLIENT=4.00" 192.0.2.8 a@partner.example
	! grep -q GREAT "$T/out" || fail "the comment is a symbol: $(cat "$T/out")"
	scan "LISTED_CLIENT=4.00" 192.0.2.9 a@partner.example
	scan "" 192.0.2.10 a@partner.example
	scan "" 2001:db8:2::10 a@partner.example
	scan "LISTED_SENDER=6.00" 192.0.2.1 a@evil.example.org
	scan "LISTED_SENDER=6.00" 192.0.2.1 a@mail.evil.example.org
	scan "LISTED_LINK=3.00" 192.0.2.1 a@partner.example "see http://www.evil.example.org/page"
	ctl -q allow add 192.0.2.7 --list allow
	scan "ALLOWLISTED=-5.00 LISTED_CLIENT=4.00" 192.0.2.7 a@partner.example
	ctl -q del 198.51.100.0/24
	scan "" 198.51.100.99 a@partner.example
	# Without the agent, mail goes on.
	agent_ends KILL 137
	scan "" 192.0.2.7 a@evil.example.org
}

other_service()
{
	case $1 in
	daemon-reload | "enable bloomd") ;;
	"restart bloomd")
		agent_ends
		sed -n 's/^ExecStartPre=+//p' /etc/systemd/system/bloomd.service.d/*.conf | in_server sh -e
		agent
		;;
	"restart rspamd") start_rspamd ;;
	*) fail "systemctl $1" ;;
	esac
}

page_did()
{
	case $1 in
	# Of addresses for examples and in private networks import takes none.
	"bloomctl import"*) ctl -q add 203.0.113.7 10.77.0.3 --list doubtful ;;
	"postmap -q 203"*) says '^REJECT 203.0.113.7 is on our list doubtful; call' ;;
	"postmap -q someone"*) says '^REJECT www.spam.example.org is on our list spamdomains' ;;
	"rspamc "*) says '^Symbol: LISTED_CLIENT \(4.00\)' ;;
	esac
}

lay_run()
{
	mkdir -p /run/xdp-bloom "$T/run"
	chmod 0700 "$T/run"
	mount --bind "$T/run" /run/xdp-bloom
	counters=/run/xdp-bloom
}

# The recipe, from its first line to its last.
t_recipe()
{
	local rejected=": Client host rejected:"

	lay postfix rspamd
	install_postfix
	install_rspamd
	is_packaged || lay_run
	lay_configuration
	ctl -q attach x0
	starts bloomd
	start_postfix
	mail 10.77.0.3 "250 "
	echo 8.8.8.8 >"$T/doubtful.txt"
	printf 'From: <someone@www.spam.example.org>\n\nsee http://www.spam.example.org/\n' >"$T/mail.eml"
	page_runs mail-server 13
	passes 10.77.0.3
	mail 10.77.0.3 "554 5.7.1 <unknown[10.77.0.3]>$rejected 10.77.0.3 is on our list doubtful; call +1 555"
	mail 10.77.0.4 "250 "
	mail 10.77.0.4 "554 5.7.1 <unknown[10.77.0.4]>$rejected spam.example.org is on our list spamdomains; call" \
		a@spam.example.org
	mail 10.77.0.4 "554 " a@www.spam.example.org
	mail 10.77.0.4 "250 " a@partner.example
	scan "LISTED_CLIENT=4.00 LISTED_LINK=6.00 LISTED_SENDER=6.00" 203.0.113.7 someone@www.spam.example.org \
		"see http://www.spam.example.org/"
	scan "" 192.0.2.1 a@partner.example
	agent_ends KILL 137
	mail 10.77.0.3 "250 "
	mail 10.77.0.4 "250 " a@spam.example.org
	agent
	mail 10.77.0.4 "554 " a@spam.example.org
}

t_recipe_after_the_readme() { after_the_readme t_recipe x0; }

run_tests
