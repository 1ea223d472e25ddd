#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The section [crowdsec] of the configuration, and the page that shows administrators how to set it up.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"
. "$(dirname "$0")/crowdsec.sh"
. "$(dirname "$0")/page.sh"

# --- configuration ----------------------------------------------------------------------------------

t_the_section_goes()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decision 1 10.77.0.3)"
	bouncer
	wait_for "the ban" works
	: >"$T/bloomd.conf"
	kill -HUP "$agent"
	says_agent 'feed crowdsec is removed, and list crowdsec stays'
	[[ ! -e $state/feeds/crowdsec.json ]] || fail "its state stays"
	blocked 10.77.0.3
	bouncer_reload 'list = banned' 'on-removal = flush'
	wait_for "the ban" works
	[[ $(list_text banned | wc -l) -eq 1 ]] || fail "the list has another name"
	agent_ends
	: >"$T/bloomd.conf"
	agent
	says_agent 'feed crowdsec is removed, and list banned emptied'
}

# wrong PATTERN LINE...: of the whole file.
wrong()
{
	local code=0

	printf '%s\n' "${@:2}" >"$T/wrong.conf"
	in_server "$bloomd" --config "$T/wrong.conf" --check >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 2 ]] || fail "${*:2}: exit code $code"
	one_line
	complains "$1"
}

t_what_is_wrong_in_the_configuration()
{
	local section='[crowdsec]'

	echo key >"$T/key"
	chmod 0600 "$T/key"
	wrong 'has no url' "$section" "key-file = $T/key"
	wrong 'needs key-file, or cert and cert-key' "$section" 'url = http://127.0.0.1'
	wrong 'needs both cert and cert-key' "$section" 'url = http://127.0.0.1' "cert = $T/key"
	wrong 'wrong.conf:2: .*no blanks' "$section" 'url = http://127.0.0.1/?a=b'
	wrong 'wrong.conf:2: .*https://, http:// or unix:' "$section" 'url = ftp://127.0.0.1'
	wrong 'wrong.conf:2: .*whole path of a socket' "$section" 'url = unix:lapi.sock'
	wrong 'wrong.conf:2: cannot use /no/such' "$section" 'key-file = /no/such'
	wrong 'wrong.conf:2: ' "$section" 'every = 0'
	wrong 'wrong.conf:2: ' "$section" 'resync = 8d'
	wrong "wrong.conf:2: 'allow'" "$section" 'list = allow'
	wrong 'wrong.conf:2: ' "$section" 'max-change = 0.5'
	wrong 'wrong.conf:2: ' "$section" 'max-share = 101%'
	wrong 'wrong.conf:2: not a whole number of seconds' "$section" 'usage-metrics = often'
	wrong "unknown key 'api-key'" "$section" 'api-key = secret'
	wrong 'in the clear' "$section" 'url = http://192.0.2.1:8080' "key-file = $T/key"
	wrong 'in the clear' "$section" 'url = http://127.0.0.1.example:8080' "key-file = $T/key"
	wrong 'fill the same list' '[feed drop]' 'url = https://a.example/' 'list = crowdsec' "$section" \
		'url = http://[::1]:8080' "key-file = $T/key"
	wrong 'name of the bouncer' '[feed crowdsec]' 'url = https://a.example/' 'list = other' "$section" \
		'url = http://localhost' "key-file = $T/key"
	printf '%s\n' "$section" 'url = http://192.0.2.1:8080' "key-file = $T/key" 'cleartext = yes' >"$T/right.conf"
	in_server "$bloomd" --config "$T/right.conf" --check || fail "with cleartext"
}

# --- the page for administrators ---------------------------------------------------------------------

other_command() { eval "$1"; }
other_service() { [[ $1 == "disable --now crowdsec-firewall-bouncer" ]] || fail "systemctl $1"; }

page_did()
{
	case $1 in
	"systemctl enable"* | "systemctl reload"*)
		# The bloomd of packages runs already, and has not read the new file before it reloads.
		! is_packaged || [[ $1 == *reload* ]] || return 0
		wait_for "the decisions ($(ctl feeds))" works
		next_answer
		;;
	"bloomctl feeds") says '^crowdsec: (updated|unchanged)$' ;;
	"bloomctl list"*) says '^5.9.0.1 ' ;;
	"bloomctl feeds update"*) next_answer && next_answer ;;
	"bloomctl test"*) says 'is dropped now: listed$' ;;
	esac
}

# The commands of the page, in their order, and its files of configuration.
t_recipe()
{
	lapi
	lay_etc
	cscli bouncers add firewall >"$T/none"
	rename eth0
	ban --ip 5.9.0.1
	page_runs crowdsec 15
	ctl scope crowdsec | contains 'tcp/22,tcp/80,tcp/443' || fail "no scope: $(ctl scope crowdsec)"
	ctl verdict crowdsec | contains count || fail "no verdict: $(ctl verdict crowdsec)"
	cscli bouncers list -o raw >"$T/out"
	! grep -q firewall "$T/out" || fail "the other bouncer stays"
}

t_recipe_after_the_readme() { after_the_readme t_recipe eth0; }

run_tests
