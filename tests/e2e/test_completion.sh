#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the shell offers to complete the commands of bloomctl and bloomd.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# completes WANTED WORD...: what is offered for the last word.
completes()
{
	COMP_WORDS=(bloomctl "${@:2}")
	COMP_CWORD=$(($# - 1))
	_bloomctl
	[[ "${COMPREPLY[*]}" == "$1" ]] || fail "${*:2}: '${COMPREPLY[*]}', not '$1'"
}

t_completion()
{
	# compgen fails when it has nothing to offer.
	trap - ERR
	set +e
	# shellcheck source=/dev/null
	. "$root/packaging/bloomctl.bash"
	bloomctl() { ctl "$@"; }
	ctl add example.com --list ads
	ctl allow add 198.51.100.1
	completes ads add 192.0.2.1 --list ''
	completes ads import file --list ''
	completes 'ads allow' allow add 192.0.2.1 --list ''
	completes 'enforce monitor allow-only' policy ''
	completes 'enforce monitor allow-only' policy --force ''
	completes 'enforce monitor allow-only' policy --rollback 60 ''
	completes 'enforce monitor allow-only' policy --rollback = 60 ''
	completes monitor -q policy mon
	completes '' policy monitor ''
	completes '' policy monitor --force ''
	completes '--known --force --rollback' policy monitor --
	completes ads verdict ''
	completes ads verdict --rollback 60 ''
	completes 'drop refused nxdomain truncate count' verdict ads ''
	completes '' verdict ads drop ''
	completes '' verdict ads drop --rollback 60 ''
	completes ads scope ''
	completes all scope ads ''
	completes '' scope ads all ''
	completes off limit ''
	completes '' limit off ''
	completes 'dns tls http' ports ''
	completes off ports tls ''
	completes '' ports tls off ''
	completes 'add del list test refuse accept' allow ''
	completes "$(ctl help | awk '/^$/ {n++; next} n == 1 {printf "%s%s", sep, $1; sep = " "}')" ''
	completes 'auto native skb' attach --mode ''
	completes native attach --mode = n
	completes 'auto native skb' attach --mode =
	completes '' add --comment ''
	completes dhcp allow refuse ssh dh
	echo >"$T/listed"
	completes "$T/listed" import "$T/lis"
	completes "$T" list --state "$T"
	# What is typed is not run.
	completes '' list "\$(touch $T/run)" "a[\$(touch $T/run)]" ''
	[[ ! -e $T/run ]] || fail "completion runs what is typed"
}

# The kernel takes almost any byte in the name of an interface.
t_completion_runs_no_name()
{
	trap - ERR
	set +e
	# shellcheck source=/dev/null
	. "$root/packaging/bloomctl.bash"
	bloomctl() { ctl "$@"; }
	cd "$T" || exit 1
	ip -n "$server" link add '$(id>ran)' type veth peer name peer
	exits 0 -q attach x0 '$(id>ran)'
	completes '\$\(id\>ran\) x0' detach ''
	completes x0 detach x
	[[ ! -e ran ]] || fail "completion runs the name of an interface"
}

t_completion_of_feeds()
{
	local feed

	trap - ERR
	set +e
	# shellcheck source=/dev/null
	. "$root/packaging/bloomctl.bash"
	bloomctl() { ctl "$@"; }
	completes update feeds ''
	completes '' feeds update ''
	printf '[feed %s]\nurl = file:///none\n' drop dshield >"$T/bloomd.conf"
	agent
	for feed in drop dshield; do
		wait_for "the state of $feed" test -e "$state/feeds/$feed.json"
	done
	completes 'drop dshield' feeds update ''
	completes dshield feeds update ds
	completes '' feeds update drop ''
	agent_ends
}

# offers WANTED WORD...: by bloomd, for the last word.
offers()
{
	COMP_WORDS=(bloomd "${@:2}")
	COMP_CWORD=$(($# - 1))
	_bloomd
	[[ "${COMPREPLY[*]}" == "$1" ]] || fail "${*:2}: '${COMPREPLY[*]}', not '$1'"
}

t_completion_of_bloomd()
{
	local all='--config --state --pin --run --check --help --version'

	trap - ERR
	set +e
	# shellcheck source=/dev/null
	. "$root/packaging/bloomd.bash"
	bloomd() { "$bloomd" "$@"; }
	echo >"$T/written"
	mkdir "$T/made"
	offers "$all" ''
	offers "$all" --check ''
	offers '--config --check' --c
	offers "$T/written" --config "$T/wr"
	offers "$T/written" --config = "$T/wr"
	offers "$T/made" --check --state "$T/ma"
	offers '' --run "$T/wr"
	offers "$all" --pin "$T/made" ''
	offers '' nonsense
	# What is typed is not run.
	offers '' "\$(touch $T/run)" "a[\$(touch $T/run)]"
	[[ ! -e $T/run ]] || fail "completion runs what is typed"
}

run_tests
