#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine with an allowlist, fail2ban and three sets in nftables: whom its rules drop is listed, whom they let pass is not.
# Rulesets by a seed: tests/engines.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/imports.sh"

free=(10.77.0.2 10.77.0.4 10.77.0.6 10.77.3.9 fd77::2 fd77::4)
bad=(10.77.0.3 10.77.0.5 10.77.3.200 fd77::3 fd77::3:0:0:9)

rules()
{
	in_server nft -f - <<-'END'
		table inet filter {
			set admins {
				type ipv4_addr
				elements = { 10.77.0.4 comment "never drop" }
			}
			set bad {
				type ipv4_addr
				flags interval
				elements = { 10.77.0.3, 10.77.0.4/31 }
			}
			set bad6 {
				type ipv6_addr
				flags interval
				elements = { fd77::3, fd77::3:0:0:0/80 }
			}
			chain drops {
				ip6 saddr fd77::4 return
				counter log prefix "accept no more " drop
			}
			chain input {
				type filter hook input priority filter; policy accept;
				iifname "lo" accept
				ip saddr @admins accept
				ip saddr @bad counter drop comment "accept"
				ip6 saddr @bad6 jump drops
				ip saddr != @admins tcp dport 8080 drop
			}
			chain nat {
				type nat hook prerouting priority dstnat; policy accept;
				ip saddr 10.77.0.3 return
			}
		}
		table inet f2b-table {
			set addr-set-sshd {
				type ipv4_addr
				elements = { 10.77.3.9 }
			}
			set addr-set-recidive {
				type ipv4_addr
				flags timeout
				elements = { 10.77.3.200 timeout 1h }
			}
			chain f2b-chain {
				type filter hook input priority filter - 1; policy accept;
				tcp dport 22 ip saddr @addr-set-sshd reject with icmp port-unreachable
				ip saddr @addr-set-recidive reject with icmp port-unreachable
			}
		}
	END
}

t_machine()
{
	rules
	passes "${free[@]}"
	blocked "${bad[@]}"
	in_server nft -j list ruleset >"$T/list"
	in_server nft list ruleset >"$T/text"
	in_server nft flush ruleset
	exits 0 attach x0
	passes "${free[@]}" "${bad[@]}"
	refused import "$T/text" --list fw
	complains 'text:.*: the file has rules, .*`nft -j list ruleset \| bloomctl import -` gives what nft has loaded'
	exits 0 import - --list fw --include-bogons <"$T/list"
	has fw '10.77.0.3 10.77.0.5 10.77.3.200 fd77::3 fd77::3:0:0:0/80'
	complains 'f2b-chain handle [0-9]+. refuses only under a condition, a port or protocol'
	ctl list --list fw | contains '^10.77.3.200 .* expires ' || fail "no timeout: $(ctl list --list fw)"
	passes "${free[@]}"
	blocked "${bad[@]}"
	exits 0 import - --list fw --include-bogons --replace --dry-run <"$T/list"
	says '0 added.* 0 removed'
}

run_tests
