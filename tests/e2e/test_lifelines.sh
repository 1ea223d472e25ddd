#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lifelines are allowed automatically, follow the machine, and are left out where the user refuses them.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/allow.sh"

# Without interfaces, sessions and leases the automatic lists are empty, but known.
t_automatic_lists_are_known()
{
	local kind

	for kind in address gateway resolver loopback link-local ssh time dhcp peer; do
		exits 0 allow list --list "auto:$kind"
		[[ ! -s $T/out && ! -s $T/err ]]
	done
	exits 0 -j allow list --list auto:ssh
	json 'd["entries"] == []'
	exits 2 allow list --list auto:nosuch
	one_line
	complains 'there is no list auto:nosuch'
	ctl -q attach x0
	exits 0 allow list --list auto:ssh
	exits 0 allow list --list auto:loopback
	says '^127.0.0.0/8 list auto:loopback '
}

t_lifelines()
{
	with_gateways
	resolvers 10.77.0.5
	begin
	has 10.77.0.1 address 'on x0'
	has fd77::1 address 'on x0'
	has 10.77.0.6 gateway 'default route of x0'
	has fd77::4 gateway 'default route of x0'
	has 10.77.0.5 resolver /etc/resolv.conf
	has 127.0.0.0/8 loopback 'this machine itself'
	has ::1 loopback 'this machine itself'
	has 169.254.0.0/16 link-local 'autoconfiguration, cloud metadata'
	has fe80::/10 link-local 'neighbour discovery, router advertisements'
	json 'not any(a["kind"] in ("ssh", "time") for a in d["allowlist"]["automatic"])'
	json 'd["allowlist"]["manual"] == 0 and [l["name"] for l in d["lists"]] == ["default"]'
	passes 10.77.0.5 10.77.0.6 fd77::4
	blocked 10.77.0.2 10.77.0.3 10.77.0.4 fd77::2 fd77::3
	exits 0 status
	says '^  10.77.0.6 +gateway +default route of x0$'
	! grep -q 'auto:' "$T/out" || fail "lists nobody made: $(grep auto: "$T/out")"
	exits 0 allow list --list auto:resolver
	says '^10.77.0.5 list auto:resolver .* comment "/etc/resolv.conf"$'
	[[ $(wc -l <"$T/out") -eq 1 ]]
}

t_nothing_attached_nothing_allowed()
{
	with_gateways
	ctl add "${everybody[@]}"
	ctl policy monitor
	exits 0 allow list
	[[ ! -s $T/out ]] || fail "$(cat "$T/out")"
	ctl policy enforce
	ctl attach x0
	passes 10.77.0.6 fd77::4
	blocked 10.77.0.2 fd77::2
	ctl allow add 10.77.0.2
	ctl detach --all
	exits 1 -j status
	json 'd["allowlist"] == {"entries": 1, "manual": 1, "automatic": [], "refused": []}'
}

# Commands that look at the machine anew; the others need not.
t_lifelines_follow()
{
	local command number=0

	resolvers 192.0.2.100
	begin
	ctl save >"$T/saved"
	echo 203.0.113.1 >"$T/list"
	for command in up rotate "attach x0" "import $T/list" "policy monitor" "policy enforce" \
		"allow refuse time" "allow accept time" "restore $T/saved"; do
		exits 0 allow test 192.0.2.$((100 + number))
		number=$((number + 1))
		resolvers 192.0.2.$((100 + number))
		# shellcheck disable=SC2086
		exits 0 $command
		exits 0 allow test 192.0.2.$((100 + number))
		exits 1 allow test 192.0.2.$((99 + number))
	done
	ip -n "$server" addr add 10.77.9.1/24 dev x0
	with_gateways
	blocked 10.77.0.6
	exits 0 up
	has 10.77.9.1 address 'on x0'
	passes 10.77.0.6
	ip -n "$server" addr del 10.77.9.1/24 dev x0
	ip -n "$server" route replace default via 10.77.0.5
	exits 0 up
	lacks 10.77.9.1 address
	blocked 10.77.0.6
	passes 10.77.0.5 fd77::4
}

# Who lists what will not be dropped hears of it.
t_listing_what_is_allowed_is_told()
{
	local row
	local rows=(
		"10.77.0.1|10.77.0.1 will not be dropped: it is on the allowlist \\(address, on x0\\)"
		"10.77.0.6|10.77.0.6 will not be dropped: it is on the allowlist \\(gateway, default route of x0\\)"
		"fd77::4|fd77::4 will not be dropped: it is on the allowlist \\(gateway, default route of x0\\)"
		"203.0.113.7|203.0.113.7 will not be dropped: 203.0.113.0/24 is on the allowlist \\(list office\\)"
		"10.77.0.0/29|10.77.0.1 will not be dropped, though 10.77.0.0/29 covers it: .*; 1 more are like it"
		"127.0.0.1|127.0.0.1 will not be dropped: 127.0.0.0/8 is on the allowlist \\(loopback, "
	)

	with_gateways
	ctl -q attach x0
	ctl allow add 203.0.113.0/24 --list office
	for row in "${rows[@]}"; do
		exits 0 add "${row%%|*}"
		complains "^bloomctl: ${row#*|}"
		[[ $(grep -c 'will not be dropped' "$T/err") -eq 1 ]] || fail "$(cat "$T/err")"
	done
	exits 0 add 192.0.2.7 10.77.0.3 fd77::3
	[[ ! -s $T/err ]] || fail "$(cat "$T/err")"
	exits 0 -q add 203.0.113.8
	[[ ! -s $T/err ]]
	exits 0 -j add 203.0.113.9 192.0.2.8
	json 'd["exempt"] == 1'
	printf '10.77.0.0/24\n192.0.2.1\n203.0.113.10\n' >"$T/list"
	exits 0 import "$T/list" --list feed --include-bogons
	complains '10.77.0.1 will not be dropped, though 10.77.0.0/24 covers it: .*; 1 more are like it$'
	ctl add 192.0.2.0/24
	ctl -q policy allow-only --force
	exits 0 add 203.0.113.11
	[[ ! -s $T/err ]]
}

t_other_interfaces()
{
	join x1 1
	ip -n "$server" addr add 10.78.0.1/24 dev x1
	begin
	lacks 10.78.0.1 address
	exits 0 attach x1
	has 10.78.0.1 address 'on x1'
	exits 0 detach x1
	exits 0 up
	lacks 10.78.0.1 address
	has 10.77.0.1 address 'on x0'
}

t_refuse_and_accept()
{
	local kind

	with_gateways
	resolvers 10.77.0.5
	begin
	exits 0 allow refuse gateway
	lacks 10.77.0.6 gateway
	lacks fd77::4 gateway
	blocked 10.77.0.6 fd77::4
	passes 10.77.0.5
	exits 0 status
	says '^  refused +gateway$'
	exits 0 up
	blocked 10.77.0.6 fd77::4
	accepts gateway
	passes 10.77.0.6 fd77::4
	exits 0 allow refuse all
	json_status_kinds '[]'
	blocked 10.77.0.5 10.77.0.6 fd77::4
	accepts resolver
	json_status_kinds '["resolver"]'
	passes 10.77.0.5
	accepts all
	passes 10.77.0.5 10.77.0.6 fd77::4
	for kind in address gateway resolver loopback link-local; do
		exits 0 allow refuse $kind
		exits 0 -j status
		json "d['allowlist']['refused'] == ['$kind']"
		json "not any(a['kind'] == '$kind' for a in d['allowlist']['automatic'])"
		exits 0 allow accept $kind
		exits 0 -j status
		json "any(a['kind'] == '$kind' for a in d['allowlist']['automatic'])"
	done
}

json_status_kinds()
{
	exits 0 -j status
	json "sorted(set(a['kind'] for a in d['allowlist']['automatic'])) == $1"
}

t_attach_refuses()
{
	with_gateways
	resolvers 10.77.0.5
	ctl add "${everybody[@]}"
	exits 0 attach x0 --refuse gateway,resolver
	blocked 10.77.0.5 10.77.0.6 fd77::4
	exits 0 -j status
	json 'd["allowlist"]["refused"] == ["gateway", "resolver"]'
	exits 0 attach x0
	blocked 10.77.0.5 10.77.0.6 fd77::4
	accepts gateway
	passes 10.77.0.6 fd77::4
	blocked 10.77.0.5
}

t_by_hand_and_by_itself()
{
	with_gateways
	begin
	exits 0 allow add 10.77.0.6 10.77.0.3
	exits 0 -j status
	json 'd["allowlist"]["manual"] == 2'
	json 'd["allowlist"]["entries"] == 1 + len(set(a["entry"] for a in d["allowlist"]["automatic"]))'
	exits 0 allow refuse gateway
	passes 10.77.0.6
	exits 0 allow accept gateway
	exits 2 allow del 10.77.0.6
	one_line
	exits 0 allow del 10.77.0.6 --list allow
	passes 10.77.0.6
	exits 0 allow refuse gateway
	blocked 10.77.0.6
}

run_tests
