#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bouncer of bloomd beside CrowdSec's local API, the real one of Debian (1.4.6).
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"
. "$(dirname "$0")/crowdsec.sh"

# Other types and scopes are no bans of addresses; a value says itself whether it is a prefix.
t_bans_come_into_force()
{
	local bans=(10.77.0.4 10.77.0.6 10.77.3.0/24 20.0.0.0/8 2a00:1234::/32 31.7.8.0/24 31.7.9.9 fd77::3)

	lapi
	ctl -q attach x0
	ctl -q add 10.77.0.5
	ban --ip 10.77.0.3 --type captcha
	ban --scope Country --value FR
	ban --scope AS --value 64500
	ban --scope Username --value root
	ban --ip 10.77.0.4
	ban --ip ::ffff:10.77.0.6
	ban --ip fd77::3
	ban --range 10.77.3.0/24
	ban --range 20.1.2.3/8
	ban --range 2a00:1234::1/32
	printf 'duration,scope,value\n1h,ip,31.7.8.0/24\n1h,ip,31.7.9.9\n' >"$T/import.csv"
	cscli decisions import -i "$T/import.csv"
	cscli decisions list --all -o raw >"$T/out"
	grep -q ',Ip:31.7.8.0/24,' "$T/out" || fail "CrowdSec says by the scope what is a prefix"
	bouncer
	wait_for "the first bans" works
	blocked 10.77.0.4 10.77.0.6 10.77.3.9 10.77.3.200 fd77::3
	passes 10.77.0.2 10.77.0.3 fd77::2
	[[ $(list_text | cut -d' ' -f1 | LC_ALL=C sort | paste -sd ' ') == "${bans[*]}" ]] || fail "other entries: $(list_text)"
	[[ $(left_out type) -eq 1 ]] || fail "$(left_out type) of another type"
	says_agent 'crowdsec, all decisions: 8 entries added, 0 removed, 0 renewed; 8 in list crowdsec$'
	# Later ones, and one of an address that another list has. The end of a captcha does not end a ban.
	ban --ip 10.77.0.3
	ban --ip 10.77.0.5
	ban --ip 10.77.0.4 --type captcha
	wait_for "a ban" is_listed 10.77.0.5
	comes_blocked 10.77.0.3
	cscli decisions delete --ip 10.77.0.4 --type captcha
	cscli decisions delete --ip 10.77.0.3
	cscli decisions delete --ip 10.77.0.5
	cscli decisions delete --range 10.77.3.0/24
	wait_for "the end of a ban" is_not_listed 10.77.3.0/24
	wait_for "the end of another" is_not_listed 10.77.0.3
	wait_for "the end of the last" is_not_listed 10.77.0.5
	comes_through 10.77.0.3 10.77.3.9
	blocked 10.77.0.4 10.77.0.5
	[[ $(listed) -eq $(lapi_bans) ]] || fail "$(listed) entries, and CrowdSec has $(lapi_bans)"
	exits 0 feeds
	says '^crowdsec: (updated|unchanged)$'
	says '^  list     crowdsec, 7 entries$'
	exits 2 policy allow-only
	complains 'sources that nobody added by hand: 7 in list crowdsec by crowdsec '
	exits 0 metrics
	says '^xdp_bloom_feed_entries\{feed="crowdsec"\} 7$'
	says '^xdp_bloom_feed_period_seconds\{feed="crowdsec"\} 1$'
	says '^xdp_bloom_feed_last_success_timestamp_seconds\{feed="crowdsec"\} [1-9]'
	says '^xdp_bloom_crowdsec_resyncs_total\{cause="start"\} 1$'
	says '^xdp_bloom_crowdsec_resyncs_total\{cause="failure"\} 0$'
	# 1.4.6 takes no metrics of use: it is said once.
	says_agent 'crowdsec: the server takes no metrics of use'
	[[ $(grep -c 'metrics of use' "$T/agent.err") -eq 1 ]] || fail "it says it again and again"
	agent_ends
	blocked 10.77.0.4
}

# ends_of LIST: its entries with the minutes that they have left.
ends_of()
{
	ctl -j list --list "$1" | python3 -c '
import datetime, json, sys
for entry in json.load(sys.stdin)["entries"]:
    for member in entry["lists"]:
        end = datetime.datetime.fromisoformat(member["expires"].replace("Z", "+00:00"))
        left = end - datetime.datetime.now(datetime.timezone.utc)
        print(entry["entry"], round(left.total_seconds() / 60))'
}

# An export lists what the bouncer does, until then.
t_exports()
{
	local form

	lapi
	ctl -q attach x0
	for form in 'decisions list -o json' 'decisions list -o raw' 'alerts list -o json'; do
		# shellcheck disable=SC2086
		cscli $form >"$T/export"
		exits 2 import "$T/export" --list export
		complains ': no entries$'
		exits 2 import "$T/export" --list export --replace
		exits 0 import "$T/export" --list export --replace --force
	done
	ban --ip 5.9.0.1 --duration 90m --reason 'why, "so"'
	ban --ip 5.9.0.1 --duration 5h
	ban --ip 5.9.0.2 --duration 1s
	ban --ip ::ffff:5.9.0.3
	ban --ip 2a01:4f8::7 --duration 100h
	ban --range 5.10.0.9/16 --duration 20m
	ban --ip 5.9.0.4 --type captcha
	ban --scope Country --value FR
	ban --scope AS --value 64500
	ban --scope Username --value root
	ban --scope Session --value 1234
	bouncer
	wait_for "the bans" works
	wait_for "the end of one" is_not_listed 5.9.0.2
	for form in 'decisions list -o json' 'decisions list -o raw' 'alerts list -o json'; do
		# shellcheck disable=SC2086
		cscli $form >"$T/export"
		exits 0 import "$T/export" --list export --replace --force
		complains "[56] lines were left out .*'1234' is no address, but of the scope Session, "
		[[ $(ends_of export) == "$(ends_of crowdsec)" ]] || fail "$form: $(ends_of export), but $(ends_of crowdsec)"
		[[ $(ends_of export | wc -l) -eq 4 ]] || fail "$form: $(ends_of export)"
	done
	ctl list --list export | contains '^5.9.0.1 .* comment "' || fail "no reason: $(ctl list --list export)"
	cscli alerts list -o raw >"$T/export"
	exits 2 import "$T/export" --list export
	complains 'export them by cscli with -o json$'
}

# A ban ends by its time, whether CrowdSec says so or not; with several, by the last.
t_bans_end()
{
	lapi
	ctl -q attach x0
	begun=$(date +%s)
	ban --ip 10.77.0.3 --duration 10m
	ban --ip 10.77.0.5 --duration "$((3 * patience))s"
	ban --ip 10.77.0.4 --duration "$((3 * patience))s"
	ban --ip 10.77.0.4 --duration 1h30m0.5s
	ban --ip 10.77.0.6 --duration 0.2s
	bouncer
	wait_for "the first bans" works
	blocked 10.77.0.3 10.77.0.4
	ends_within 10.77.0.3 598 602 || fail "10.77.0.3 ends in $(ends 10.77.0.3) s"
	ends_within 10.77.0.4 5398 5402 || fail "10.77.0.4 ends in $(ends 10.77.0.4) s"
	wait_for "the end of a ban" is_not_listed 10.77.0.5
	comes_through 10.77.0.5 10.77.0.6
	blocked 10.77.0.3 10.77.0.4
	# It is extended by another decision, and shortened when that is deleted.
	ban --ip 10.77.0.4 --duration 5h
	wait_for "the longer time" ends_within 10.77.0.4 17998 18002
	cscli decisions delete --id "$(cscli decisions list -o raw --ip 10.77.0.4 | sed -n 's/,.*,[45]h.*//p')"
	wait_for "the shorter time" ends_within 10.77.0.4 5398 5402
	blocked 10.77.0.4
}

# The server tells the longest of several decisions alone, unless asked not to, also where the origin of
# that one was not asked for.
t_origins()
{
	lapi
	ctl -q attach x0
	begun=$(date +%s)
	printf 'duration,scope,value\n10h,ip,10.77.0.3\n10h,ip,10.77.0.4\n' >"$T/import.csv"
	cscli decisions import -i "$T/import.csv"
	ban --ip 10.77.0.3
	bouncer 'origins = cscli'
	wait_for "the bans" works
	blocked 10.77.0.3
	passes 10.77.0.4
	ends_within 10.77.0.3 3598 3602 || fail "it ends in $(ends 10.77.0.3) s"
	bouncer_reload 'origins = cscli, cscli-import' 'scope = icmp'
	wait_for "the others" is_listed 10.77.0.4
	comes_blocked 10.77.0.4
	blocked 10.77.0.3
	ctl scope | contains 'crowdsec.*icmp' || fail "the list has no scope: $(ctl scope)"
	ends_within 10.77.0.3 35998 36002 || fail "it ends in $(ends 10.77.0.3) s"
}

# Without the server, all goes on; when it is back, nothing is missing.
t_the_server_is_away()
{
	lapi
	ctl -q attach x0
	ban --ip 10.77.0.3
	ban --ip 10.77.0.4 --duration 6s
	bouncer
	wait_for "the bans" works
	lapi_stop
	wait_for "its failure" has_state no-connection
	says_agent 'warning: crowdsec: no-connection: .*what is listed stays until its time'
	blocked 10.77.0.3
	wait_for "the end of a ban" is_not_listed 10.77.0.4
	comes_through 10.77.0.4
	exits 0 feeds
	says '^crowdsec: no-connection, [0-9]+ failures? in a row$'
	says '^  why      .*127.0.0.1'
	# That its metrics of use were not taken may be told beside.
	[[ $(grep -c 'warning: crowdsec: no-connection' "$T/agent.err") -eq 1 ]] || fail "it says it again and again"
	lapi_start
	ban --ip 10.77.0.6
	exits 0 feeds update crowdsec
	says '^bloomd fetches 1 feed$'
	wait_for "the next ban" is_listed 10.77.0.6
	says_agent 'crowdsec works again'
	has_resyncs failure 1 || fail "it relies on what it does not know"
	comes_blocked 10.77.0.6
	blocked 10.77.0.3
	# What is deleted while bloomd is away.
	agent_ends KILL 137
	cscli decisions delete --ip 10.77.0.3
	blocked 10.77.0.3
	agent
	wait_for "the end of a ban" is_not_listed 10.77.0.3
	comes_through 10.77.0.3
	blocked 10.77.0.6
}

# Another program with the same key takes what is new. All decisions come in time again.
t_what_never_arrives()
{
	local number

	lapi
	ctl -q attach x0
	bouncer 'resync = 4s'
	wait_for "the first answer" works
	# As often as it takes to be the one that gets it.
	for number in 1 2 3 4 5; do
		agent_stops
		ban --ip 5.9.0.$number
		in_server curl -s -H "X-Api-Key: $(cat "$T/key")" -A thief/1 \
			'http://127.0.0.1:8080/v1/decisions/stream?startup=false' >"$T/stolen"
		kill -CONT "$agent"
		! grep -q "5.9.0.$number\"" "$T/stolen" || break
	done
	grep -q "5.9.0.$number\"" "$T/stolen" || fail "nothing is stolen"
	wait_for "what was stolen" is_listed "5.9.0.$number"
	has_resyncs period 1 || fail "it came otherwise"
}

agent_stops()
{
	kill -STOP "$agent"
	wait_for "its stop" is_stopped "$agent"
	wait_for "the end of its processes" has_no_process
}

has_no_process() { ! pgrep -P "$agent" -r D,R,S,T; }

# The key is in its file alone.
t_the_key()
{
	lapi
	ctl -q attach x0
	ban --ip 10.77.0.3
	cp "$T/key" "$T/good"
	echo not-the-key-0123456789 >"$T/key"
	bouncer
	wait_for "a refusal" has_state http-error
	exits 0 -j feeds
	json 'd["feeds"][0]["status"] == 403'
	passes 10.77.0.3
	# No reload, no restart: the file is read each time.
	cat "$T/good" >"$T/key"
	exits 0 feeds update crowdsec
	wait_for "the ban" is_listed 10.77.0.3
	rm "$T/key"
	wait_for "a failure" has_state no-key
	blocked 10.77.0.3
	cp "$T/good" "$T/key"
	chmod 0600 "$T/key"
	exits 0 feeds update crowdsec
	wait_for "its recovery" works
	ctl metrics >"$T/metrics"
	tr '\0' '\n' <"/proc/$agent/cmdline" >"$T/command"
	ctl -j feeds >"$T/feeds"
	! grep -rlE "not-the-key|$(cat "$T/good")" "$T"/{agent.err,metrics,command,feeds} "$state" "$counters" ||
		fail "the key is shown"
	chmod 0644 "$T/key"
	code=0
	in_server "$bloomd" --config "$T/bloomd.conf" --check 2>"$T/err" || code=$?
	[[ $code -eq 2 ]] || fail "a key that everybody can read: $code"
	grep -q "bloomd.conf:3: everybody can read $T/key" "$T/err" || fail "it says: $(cat "$T/err")"
}

# TLS, with a key or with a certificate in its place.
t_tls()
{
	make_ca ca
	make_ca ca2
	certify lapi localhost ca
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=bouncer/OU=bouncer-ou" \
		-keyout "$T/client.key" -out "$T/client.csr" 2>"$T/none"
	printf 'extendedKeyUsage=clientAuth\n' >"$T/client.ext"
	openssl x509 -req -in "$T/client.csr" -CA "$T/ca.crt" -CAkey "$T/ca.key" -days 2 -extfile "$T/client.ext" \
		-out "$T/client.crt" 2>"$T/none"
	chmod 0600 "$T"/*.key
	lapi_url=https://localhost:8080
	lapi_configure 'tls:' "  cert_file: $T/lapi.crt" "  key_file: $T/lapi.key" '  client_verification: VerifyClientCertIfGiven' \
		"  ca_cert_path: $T/ca.crt" '  bouncers_allowed_ou: [bouncer-ou]' '  agents_allowed_ou: [agent-ou]'
	sed -i 's|http://127.0.0.1|https://localhost|' "$T/lapi/local_api_credentials.yaml"
	machine
	sed -i 's|http://127.0.0.1|https://localhost|' "$T/lapi/local_api_credentials.yaml"
	lapi_start
	make_key bouncer
	ctl -q attach x0
	ban --ip 10.77.0.3
	bouncer "url = $lapi_url" "ca = $T/ca2.crt"
	wait_for "a refusal" has_state tls
	passes 10.77.0.3
	bouncer_reload "url = $lapi_url" "ca = $T/ca.crt"
	wait_for "the ban" works
	blocked 10.77.0.3
	ban --ip 10.77.0.4
	bouncer_reload "url = $lapi_url" "ca = $T/ca.crt" "cert = $T/client.crt" "cert-key = $T/client.key"
	! grep -q key-file "$T/bloomd.conf" || fail "it has a key"
	wait_for "the next ban" is_listed 10.77.0.4
	comes_blocked 10.77.0.4
	blocked 10.77.0.3
}

t_many_bans()
{
	local count=3000

	[[ -z ${XB_TEST_ALL:-} ]] || count=100000
	lapi
	ctl -q attach x0
	ban --ip 10.77.0.3
	bouncer
	wait_for "the first ban" is_listed 10.77.0.3
	awk -v count=$count 'BEGIN {print "duration,scope,value"
		for (i = 0; i < count; i++) printf "4h,ip,5.%d.%d.%d\n", i / 65536, i / 256 % 256, i % 256}' >"$T/import.csv"
	# CrowdSec's database is for one at a time: with many, the import fails if somebody asks meanwhile.
	agent_stops
	cscli decisions import -i "$T/import.csv"
	kill -CONT "$agent"
	[[ $(lapi_bans) -eq $((count + 1)) ]] || fail "CrowdSec has $(lapi_bans)"
	patience=$((patience * 6))
	# Some never arrive by themselves (6 of 650, in a run by hand).
	resync
	wait_for "all of them" has_listed $((count + 1))
	blocked 10.77.0.3
	# Whoever does not know what it has is told everything, and changes nothing.
	agent_ends
	agent
	wait_for "all of them again" has_resyncs start 2
	wait_for "their end" works
	[[ $(listed) -eq $((count + 1)) ]] || fail "$(listed) are listed"
}

run_tests
