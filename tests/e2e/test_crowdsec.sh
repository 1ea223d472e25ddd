#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bouncer of bloomd beside CrowdSec's local API, the real one of Debian (1.4.6), and a stand-in for what
# that version cannot be brought to do.
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"
. "$(dirname "$0")/crowdsec.sh"

# --- with the real one ------------------------------------------------------------------------------

t_bans_come_into_force()
{
	lapi
	ctl -q attach x0
	ctl -q add 10.77.0.5
	ban --ip 10.77.0.3
	ban --range 10.77.3.0/24
	ban --ip fd77::3
	bouncer
	wait_for "the first bans" works
	blocked 10.77.0.3 10.77.3.9 10.77.3.200 fd77::3
	passes 10.77.0.2 10.77.0.4 fd77::2
	[[ $(listed) -eq $(lapi_bans) ]] || fail "$(listed) entries, and CrowdSec has $(lapi_bans)"
	# Later ones, and one of an address that another list has.
	ban --ip 10.77.0.4
	ban --ip 10.77.0.5
	wait_for "a ban" is_listed 10.77.0.5
	blocked 10.77.0.4
	cscli decisions delete --ip 10.77.0.3
	cscli decisions delete --ip 10.77.0.5
	cscli decisions delete --range 10.77.3.0/24
	wait_for "the end of a ban" is_not_listed 10.77.3.0/24
	wait_for "the end of another" is_not_listed 10.77.0.3
	wait_for "the end of the last" is_not_listed 10.77.0.5
	passes 10.77.0.3 10.77.3.9
	blocked 10.77.0.4 10.77.0.5
	[[ $(listed) -eq $(lapi_bans) ]] || fail "$(listed) entries, and CrowdSec has $(lapi_bans)"
	exits 0 feeds
	says '^crowdsec: (updated|unchanged)$'
	says '^  list     crowdsec, 2 entries$'
	exits 0 metrics
	says '^xdp_bloom_feed_entries\{feed="crowdsec"\} 2$'
	says '^xdp_bloom_feed_period_seconds\{feed="crowdsec"\} 1$'
	says '^xdp_bloom_feed_last_success_timestamp_seconds\{feed="crowdsec"\} [1-9]'
	says '^xdp_bloom_crowdsec_resyncs_total\{cause="start"\} 1$'
	says '^xdp_bloom_crowdsec_resyncs_total\{cause="failure"\} 0$'
	says_agent 'crowdsec, all decisions: 3 entries added, 0 removed, 0 renewed; 3 in list crowdsec$'
	# 1.4.6 takes no metrics of use: it is said once.
	says_agent 'crowdsec: the server takes no metrics of use'
	[[ $(grep -c 'metrics of use' "$T/agent.err") -eq 1 ]] || fail "it says it again and again"
	agent_ends
	blocked 10.77.0.4
}

# Other types and scopes are no bans of addresses; a value says itself whether it is a prefix.
t_what_is_a_ban()
{
	lapi
	ctl -q attach x0
	ban --ip 10.77.0.3 --type captcha
	ban --scope Country --value FR
	ban --scope AS --value 64500
	ban --scope Username --value root
	ban --ip 10.77.0.4
	ban --range 20.1.2.3/8
	ban --ip ::ffff:10.77.0.6
	ban --range 2a00:1234::1/32
	cat >"$T/import.csv" <<-END
		duration,scope,value
		1h,ip,31.7.8.0/24
		1h,ip,31.7.9.9
	END
	cscli decisions import -i "$T/import.csv"
	cscli decisions list --all -o raw >"$T/out"
	grep -q ',Ip:31.7.8.0/24,' "$T/out" || fail "CrowdSec says by the scope what is a prefix"
	bouncer
	wait_for "the bans" works
	blocked 10.77.0.4 10.77.0.6
	passes 10.77.0.3
	list_text | cut -d' ' -f1 | sort >"$T/listed"
	sort <<-END | diff "$T/listed" - || fail "other entries"
		10.77.0.4
		10.77.0.6
		20.0.0.0/8
		2a00:1234::/32
		31.7.8.0/24
		31.7.9.9
	END
	[[ $(left_out type) -eq 1 ]] || fail "$(left_out type) of another type"
	# The end of a captcha does not end a ban.
	ban --ip 10.77.0.4 --type captcha
	cscli decisions delete --ip 10.77.0.4 --type captcha
	sleep 2.5
	blocked 10.77.0.4
}

# A ban ends by its time, whether CrowdSec says so or not; with several, by the last.
t_bans_end()
{
	lapi
	ctl -q attach x0
	ban --ip 10.77.0.3 --duration 3s
	ban --ip 10.77.0.4 --duration 3s
	ban --ip 10.77.0.4 --duration 1h30m0.5s
	ban --ip 10.77.0.6 --duration 0.2s
	bouncer
	wait_for "the first bans" works
	blocked 10.77.0.3 10.77.0.4
	ends_within 10.77.0.4 5390 5402 || fail "10.77.0.4 ends in $(ends 10.77.0.4) s"
	wait_for "the end of a ban" is_not_listed 10.77.0.3
	passes 10.77.0.3 10.77.0.6
	blocked 10.77.0.4
	# It is extended by another decision, and shortened when that is deleted.
	ban --ip 10.77.0.4 --duration 5h
	wait_for "the longer time" ends_within 10.77.0.4 17990 18002
	cscli decisions delete --id "$(cscli decisions list -o raw --ip 10.77.0.4 | sed -n 's/,.*,5h.*\|,.*,4h59m.*//p')"
	wait_for "the shorter time" ends_within 10.77.0.4 5300 5402
	blocked 10.77.0.4
}

# The server tells the longest of several decisions alone, unless asked not to, also where the origin of
# that one was not asked for.
t_origins()
{
	lapi
	ctl -q attach x0
	printf 'duration,scope,value\n10h,ip,10.77.0.3\n10h,ip,10.77.0.4\n' >"$T/import.csv"
	cscli decisions import -i "$T/import.csv"
	ban --ip 10.77.0.3
	bouncer 'origins = cscli'
	wait_for "the bans" works
	blocked 10.77.0.3
	passes 10.77.0.4
	ends_within 10.77.0.3 3500 3602 || fail "it ends in $(ends 10.77.0.3) s"
	bouncer_reload 'origins = cscli, cscli-import' 'scope = icmp'
	wait_for "the others" is_listed 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
	ctl scope | grep -q 'crowdsec.*icmp' || fail "the list has no scope: $(ctl scope)"
	ends_within 10.77.0.3 35000 36002 || fail "it ends in $(ends 10.77.0.3) s"
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
	passes 10.77.0.4
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
	blocked 10.77.0.3 10.77.0.6
	# What is deleted while bloomd is away.
	agent_ends KILL 137
	cscli decisions delete --ip 10.77.0.3
	blocked 10.77.0.3
	agent
	wait_for "the end of a ban" is_not_listed 10.77.0.3
	passes 10.77.0.3
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
	# An entry that somebody took out of the list comes back.
	ctl -q del "5.9.0.$number" --list crowdsec
	wait_for "what was taken out" is_listed "5.9.0.$number"
}

agent_stops()
{
	kill -STOP "$agent"
	wait_for "its stop" is_stopped "$agent"
	! pgrep -P "$agent" -x bloomd-fetch >"$T/none" || sleep 0.3
}

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
	cscli machines add -a --force >"$T/none"
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
	blocked 10.77.0.3 10.77.0.4
}

# LAPI listens at a path from 1.6.3 on: before this one, something passes on what comes there.
t_socket()
{
	lapi
	ctl -q attach x0
	ban --ip 10.77.0.3
	nsenter --net="/run/netns/$server" python3 "$root/tests/e2e/passon.py" "$T/lapi.sock" 127.0.0.1 8080 &
	wait_for "the socket" test -S "$T/lapi.sock"
	chmod 0600 "$T/lapi.sock"
	bouncer "url = unix:$T/lapi.sock"
	wait_for "the ban" works
	blocked 10.77.0.3
	ban --ip 10.77.0.4
	wait_for "the next ban" is_listed 10.77.0.4
	rm "$T/lapi.sock"
	wait_for "its failure" has_state no-connection
	ctl feeds | grep -q "why      cannot connect to $T/lapi.sock" || fail "it says: $(ctl feeds)"
	blocked 10.77.0.3 10.77.0.4
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
	# Nobody but root empties so much at once: neither a server that was taken over, nor one that errs.
	cscli decisions delete --all
	wait_for "a refusal" has_state refused max-change
	[[ $(listed) -eq $((count + 1)) ]] || fail "$(listed) are listed"
	blocked 10.77.0.3
	bouncer_reload "max-change = $((count + 2))"
	wait_for "that they go" has_listed 0
	passes 10.77.0.3
}

# --- with the stand-in ------------------------------------------------------------------------------

# What newer servers answer when their database fails in the middle: valid, and not all.
t_a_whole_answer_that_is_not()
{
	local half=20

	stand_in
	ctl -q attach x0
	answer whole "$(decisions 0 3000),$(decision 5000 10.77.0.3)"
	bouncer
	wait_for "the bans" has_listed 3001
	for half in "" "$(decisions 0 1)" "$(decisions 0 2900)"; do
		answer whole "$half"
		resync
		[[ $(listed) -eq 3001 ]] || fail "$(listed) are listed"
	done
	printf '{"new":null,"deleted":null}' >"$T/whole"
	resync
	[[ $(listed) -eq 3001 ]] || fail "$(listed) are listed"
	# Nor after a start, when what the server has told is forgotten.
	agent_ends
	agent
	wait_for "an answer" works
	next_request
	[[ $(listed) -eq 3001 ]] || fail "$(listed) are listed after a start"
	blocked 10.77.0.3
}

t_answers_that_are_none()
{
	local answer

	stand_in
	ctl -q attach x0
	answer whole "$(decision 1 10.77.0.3)"
	bouncer
	wait_for "the ban" works
	for answer in '' '{}' 'null' '[]' '{"new":[]}' '{"message":"access forbidden"}' '{"new":[],"deleted":[]}}' \
		'{"new":[],"deleted":[],"new":[]}' '{"new":[{"id":1' '{"new":{},"deleted":[]}' '{"new":[],"deleted":[}' \
		'<html><body>checking your browser</body></html>' "$(printf '{"new":[],"deleted":[\xff]}')"; do
		printf '%s' "$answer" >"$T/whole"
		fails_with "$answer" corrupt
	done
	printf 'CUT\n{"new":[],"deleted":[' >"$T/whole"
	fails_with "half an answer" truncated
	printf 'HTTP 500\n{"new":[],"deleted":[]}' >"$T/whole"
	fails_with "an error" http-error
	printf 'HTTP 302 Location: /elsewhere\n' >"$T/whole"
	fails_with "a redirect" http-error
	[[ $(requests elsewhere) -eq 0 ]] || fail "the key goes elsewhere"
	answer whole "$(decision 2 10.77.0.4)"
	exits 0 feeds update crowdsec
	wait_for "the next ban" is_listed 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
	[[ $(requests 'agent=xdp-bloom/[^/ ]* key=standin') -eq $(requests .) ]] || fail "who asks? $(tail -n 1 "$T/requests")"
}

# fails_with WHAT OUTCOME: of an answer to a request for all, which changes nothing.
fails_with()
{
	exits 0 feeds update crowdsec
	wait_for "$2 after $1 ($(ctl -j feeds))" has_state "$2"
	is_listed 10.77.0.3 || fail "after $1 nothing is listed"
	answer whole "$(decision 1 10.77.0.3)"
	exits 0 feeds update crowdsec
	wait_for "its recovery" works
}

# What the server has told it does not tell again: after a delta that was lost, all is asked for.
t_a_delta_that_is_lost()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decision 1 10.77.0.3)"
	bouncer
	wait_for "the ban" works
	next_request startup=false
	answer whole "$(decision 1 10.77.0.3),$(decision 2 10.77.0.4)"
	printf 'CUT\n{"new":[%s]' "$(decision 2 10.77.0.4)" >"$T/delta"
	wait_for "what was lost" is_listed 10.77.0.4
	has_resyncs failure 1 || fail "it came otherwise"
	# Decisions come and go by deltas.
	next_request startup=false
	answer delta "$(decision 3 10.77.0.6)" "$(decision 1 10.77.0.3 -1s)"
	wait_for "a ban" is_listed 10.77.0.6
	passes 10.77.0.3
	# Deletions first: what is banned again stays so.
	answer delta "$(decision 4 10.77.0.6)" "$(decision 3 10.77.0.6 -1s)"
	wait_for "the delta" test -e "$T/delta.taken"
	next_request startup=false
	blocked 10.77.0.6
	# A process that dies with an answer has lost it.
	answer whole "$(decision 4 10.77.0.6),$(decision 5 10.77.0.5)"
	rm "$T/delta.taken"
	answer delta "$(decision 5 10.77.0.5)"
	wait_for "the delta" test -e "$T/delta.taken"
	agent_ends KILL 137
	agent
	wait_for "the ban" is_listed 10.77.0.5
	blocked 10.77.0.4 10.77.0.5 10.77.0.6
}

# Times that are odd spoil nothing for the others, and nobody is banned for ever.
t_durations()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decision 1 5.9.0.1 -3h59m48s),$(decision 2 5.9.0.2 0.4s),$(decision 3 5.9.0.3 ''),$(
		decision 4 5.9.0.4 soon),$(decision 5 5.9.0.5 59m59.999999999s),$(decision 6 5.9.0.6 2562047h47m16.854775807s),$(
		decision 7 not.an.address),$(decision 8 5.9.0.8 1h),$(decision 9 dead),{},{\"id\":10},3,$(
		decision 11 10.77.0.3 1.5h)"
	bouncer
	wait_for "the last ban" is_listed 10.77.0.3
	blocked 10.77.0.3
	wait_for "the shortest ban's end" is_not_listed 5.9.0.2
	list_text | cut -d' ' -f1 >"$T/listed"
	printf '5.9.0.5\n5.9.0.6\n5.9.0.8\n10.77.0.3\n' | diff "$T/listed" - || fail "others are listed"
	ends_within 10.77.0.3 5380 5402 || fail "1.5h is $(ends 10.77.0.3) s"
	ends_within 5.9.0.5 3580 3602 || fail "59m59.9s is $(ends 5.9.0.5) s"
	# For ever is the end of the store's time, in 2106.
	ends_within 5.9.0.6 1000000000 4294967295 || fail "as long as Go can is $(ends 5.9.0.6) s"
	[[ $(left_out unreadable) -eq 7 ]] || fail "$(left_out unreadable) were not understood"
	says_agent 'warning: crowdsec: 7 bans left out because they are not understood, 0 because'
	# The same decisions again change no time.
	resync
	! grep -q ' [1-9][0-9]* renewed' "$T/agent.err" || fail "it renews: $(grep renewed "$T/agent.err")"
}

# A database that was made anew gives old numbers to other addresses.
t_numbers_that_come_again()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decision 1 10.77.0.3),$(decision 2 10.77.0.4),$(decision 3 10.77.0.4 2h)"
	bouncer
	wait_for "the bans" works
	answer whole "$(decision 1 10.77.0.5),$(decision 2 10.77.0.6)"
	resync
	blocked 10.77.0.3 10.77.0.4 10.77.0.5 10.77.0.6
	answer delta "" "$(decision 1 10.77.0.5 -1s),$(decision 3 10.77.0.4 -1s)"
	wait_for "the end of a ban" is_not_listed 10.77.0.5
	blocked 10.77.0.3 10.77.0.4 10.77.0.6
	# The other decision of this one ends sooner.
	ends_within 10.77.0.4 3500 3602 || fail "it ends in $(ends 10.77.0.4) s"
}

# Much at once is held; what comes with it is not.
t_much_goes_at_once()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decisions 0 3000),$(decision 5000 10.77.0.3)"
	bouncer
	wait_for "the bans" has_listed 3001
	answer delta "$(decision 5001 10.77.0.4)" "$(decisions 0 900 -1s)"
	wait_for "a ban" is_listed 10.77.0.4
	wait_for "that 900 go" has_listed 2102
	answer delta "$(decision 5002 10.77.0.6)" "$(decisions 900 2100 -1s),$(decision 5000 10.77.0.3 -1s)"
	wait_for "a ban" is_listed 10.77.0.6
	wait_for "a refusal" has_state refused max-change
	[[ $(listed) -eq 2103 ]] || fail "$(listed) are listed"
	says_agent 'warning: crowdsec: refused by max-change: 2101 of 2103 entries would go at once; they stay'
	metric_is 'feed_refusals_total{feed="crowdsec",guard="max-change"}' 1
	blocked 10.77.0.3 10.77.0.4 10.77.0.6
	# It is told until all decisions come again; what is known of each was not lost.
	next_request
	has_state refused max-change || fail "it is told no more"
	answer delta "" "$(decision 5000 10.77.0.3 -1s)"
	wait_for "the end of one" is_not_listed 10.77.0.3
	answer whole "$(decisions 900 2100),$(decision 5001 10.77.0.4),$(decision 5002 10.77.0.6)"
	resync
	# Someone who wants that says so.
	bouncer_reload 'max-change = 5000'
	wait_for "an answer" works
	answer delta "" "$(decisions 900 2100 -1s)"
	wait_for "that they go" has_listed 2
	blocked 10.77.0.4 10.77.0.6
}

metric_is() { [[ $(ctl metrics | awk -v name="xdp_bloom_$1" '$1 == name {print $2}') -eq $2 ]] || fail "$1 is not $2"; }

# A server that bans everybody.
t_too_wide()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decision 1 0.0.0.0/0),$(decision 2 ::/0),$(decision 3 128.0.0.0/1),$(decision 4 10.77.0.3)"
	bouncer
	wait_for "the ban" works
	passes 10.77.0.2
	blocked 10.77.0.3
	[[ $(listed) -eq 1 && $(left_out too-wide) -eq 3 ]] || fail "$(listed) are listed, $(left_out too-wide) too wide"
	answer delta "$(for i in $(seq 16); do printf '%s,' "$(decision $((100 + i)) "$((20 + i)).0.0.0/8" 1h ban Range)"; done)$(
		decision 5 10.77.0.4)" "$(decision 4 10.77.0.3 -1s)"
	wait_for "a refusal" has_state refused max-share
	is_not_listed 10.77.0.3 || fail "what is over stays"
	[[ $(listed) -eq 0 ]] || fail "$(listed) are listed"
	answer whole "$(decisions 0 20),$(decision 5 10.77.0.4)"
	bouncer_reload 'max-entries = 20'
	wait_for "another refusal" has_state refused max-entries
	[[ $(listed) -eq 0 ]] || fail "$(listed) are listed"
	bouncer_reload 'max-entries = 21'
	wait_for "the bans" has_listed 21
	blocked 10.77.0.4
	# The allowlist wins, as ever.
	ctl -q allow add 10.77.0.4
	passes 10.77.0.4
}

# From 1.6.3 on, servers want to know what becomes of their decisions.
t_metrics_of_use()
{
	stand_in
	echo 201 >"$T/post"
	answer whole "$(decision 1 10.77.0.3),$(decision 2 10.77.3.0/24),$(decision 3 fd77::3)"
	bouncer
	wait_for "metrics" has_requests 1 '^POST /v1/usage-metrics agent=xdp-bloom/[^/ ]* key=standin '
	sed -n 's/^POST .* key=standin //p' "$T/requests" | python3 -c 'import json, sys, time
[component] = json.load(sys.stdin)["remediation_components"]
assert component["type"] == "xdp-bloom" and component["version"] and component["os"]["name"] and component["os"]["version"]
assert component["feature_flags"] == [] and abs(component["utc_startup_timestamp"] - time.time()) < 60
[metrics] = component["metrics"]
assert metrics["meta"]["window_size_seconds"] == 900 and abs(metrics["meta"]["utc_now_timestamp"] - time.time()) < 60
items = {item["labels"]["ip_type"]: (item["name"], item["unit"], item["value"]) for item in metrics["items"]}
assert items == {"ipv4": ("active_decisions", "ip", 2), "ipv6": ("active_decisions", "ip", 1)}, items' || fail "metrics: $(tail -n 1 "$T/requests")"
	[[ $(requests POST) -eq 1 ]] || fail "$(requests POST) times"
	agent_ends
	echo 404 >"$T/post"
	agent
	wait_for "metrics" has_requests 2 POST
	says_agent 'crowdsec: the server takes no metrics of use'
	next_request
	[[ $(requests POST) -eq 2 ]] || fail "it asks again"
	agent_ends
	bouncer 'usage-metrics = no'
	wait_for "an answer" works
	next_request
	[[ $(requests POST) -eq 2 ]] || fail "it was told not to"
}

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
	wrong 'wrong.conf:2: usage-metrics takes no or yes' "$section" 'usage-metrics = 1'
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

# The commands of the page, in their order, and its files of configuration.
t_recipe()
{
	local line number=0 file=""

	lapi
	cscli bouncers add firewall >"$T/none"
	rename_x0
	ban --ip 5.9.0.1
	touch "$T/bloomd.conf"
	while IFS= read -r line; do
		case $line in
		'# /'*) file=$T/${line#'# /etc/xdp-bloom/'} && mkdir -p "${file%/*}" && : >"$file" ;;
		*) if [[ -n $file ]]; then
			# shellcheck disable=SC2001
			sed "s|/etc/xdp-bloom|$T|; s| *#.*||" <<<"$line" >>"$file"
		else
			page_command "${line%%  *#*}"
			number=$((number + 1))
		fi ;;
		esac
		[[ -n $line ]] || file=""
	done < <(awk '/^```/ {inside = !inside; if (!inside) print ""} inside && !/^```/' "$root/docs/recipes/crowdsec.md")
	[[ $number -ge 15 ]] || fail "the page shows only $number commands"
	ctl scope crowdsec | grep -q 'tcp/22,tcp/80,tcp/443' || fail "no scope: $(ctl scope crowdsec)"
	ctl verdict crowdsec | grep -q count || fail "no verdict: $(ctl verdict crowdsec)"
	cscli bouncers list -o raw >"$T/out"
	! grep -q firewall "$T/out" || fail "the other bouncer stays"
}

rename_x0()
{
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name eth0
	ip -n "$server" link set eth0 up
}

# Services of systemd are not started by tests: bloomd is the one that they know.
systemctl()
{
	local count

	case $* in
	"disable --now crowdsec-firewall-bouncer") return 0 ;;
	"enable --now xdp-bloom bloomd")
		exits 0 up
		agent
		;;
	"reload bloomd")
		count=$(grep -c ': reloaded$' "$T/agent.err" || true)
		kill -HUP "$agent"
		wait_for "a reload" has_reloaded $((count + 1))
		;;
	*) fail "systemctl $*" ;;
	esac
	wait_for "the decisions ($(ctl feeds))" works
	next_answer
}

page_command()
{
	local -a words

	case $1 in
	"bloomd --check") in_server "$bloomd" --config "$T/bloomd.conf" --check || fail "--check" ;;
	"bloomctl "*)
		read -ra words <<<"${1#bloomctl }"
		exits 0 "${words[@]}"
		;;&
	"bloomctl feeds") says '^crowdsec: (updated|unchanged)$' ;;
	"bloomctl list"*) says '^5.9.0.1 ' ;;
	"bloomctl feeds update"*) next_answer && next_answer ;;
	"bloomctl test"*) says 'is dropped now: listed$' ;;
	"bloomctl "*) ;;
	*) eval "${1//\/etc\/xdp-bloom/$T}" ;;
	esac
}

run_tests
