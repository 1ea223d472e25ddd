# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2119,SC2120,SC2154
# CrowdSec's local API (LAPI) of Debian in the server's namespace, with a configuration of its own and
# without the internet; a stand-in for what that version does not do; and the bouncer of bloomd beside
# them. For tests that have sourced lib.sh.

crowdsec_root=$programs/crowdsec # unpacked by scripts/setup

# --- the real one -----------------------------------------------------------------------------------

cscli()
{
	in_server "$crowdsec_root/usr/bin/cscli" -c "$T/lapi/config.yaml" "$@" 2>"$T/cscli.err" ||
		fail "cscli $*: $(tail -n 3 "$T/cscli.err")"
}

# lapi_configure [LINE...]: more lines of its server.
lapi_configure()
{
	local lapi=$T/lapi

	[[ -x $crowdsec_root/usr/bin/crowdsec ]] || skip "no CrowdSec, which scripts/setup unpacks"
	mkdir -p "$lapi"/{data,hub,notifications,plugins}
	echo '{}' >"$lapi/hub/.index.json"
	echo 'simulation: false' >"$lapi/simulation.yaml"
	echo '# none' >"$lapi/online_api_credentials.yaml"
	echo 'url: http://127.0.0.1:8080' >"$lapi/local_api_credentials.yaml"
	touch "$lapi/acquis.yaml"
	cp "$crowdsec_root/etc/crowdsec/profiles.yaml" "$lapi"
	cat >"$lapi/config.yaml" <<-END
		common: {daemonize: false, log_media: stdout, log_level: info, working_dir: $lapi}
		config_paths:
		  config_dir: $lapi/
		  data_dir: $lapi/data/
		  simulation_path: $lapi/simulation.yaml
		  hub_dir: $lapi/hub/
		  index_path: $lapi/hub/.index.json
		  notification_dir: $lapi/notifications/
		  plugin_dir: $lapi/plugins/
		crowdsec_service: {acquisition_path: $lapi/acquis.yaml, parser_routines: 1}
		cscli: {output: human, color: no}
		db_config: {log_level: info, type: sqlite, db_path: $lapi/data/crowdsec.db, flush: {max_items: 500000, max_age: 7d}}
		api:
		  client: {insecure_skip_verify: true, credentials_path: $lapi/local_api_credentials.yaml}
		  server:
		    log_level: info
		    listen_uri: 127.0.0.1:8080
		    profiles_path: $lapi/profiles.yaml
		    online_client: {credentials_path: $lapi/online_api_credentials.yaml}
		$(printf '    %s\n' "$@")
		prometheus: {enabled: false}
	END
}

lapi_answers() { in_server curl -sk -o "$T/none" "${lapi_url:-http://127.0.0.1:8080}/v1/decisions"; }

# Not a function: it is killed by its number.
lapi_start()
{
	nsenter --net="/run/netns/$server" "$crowdsec_root/usr/bin/crowdsec" -c "$T/lapi/config.yaml" -no-cs -no-capi \
		>>"$T/lapi.log" 2>&1 &
	lapi_pid=$!
	wait_for "CrowdSec ($(tail -n 3 "$T/lapi.log"))" lapi_answers
}

lapi_stop()
{
	kill "$lapi_pid"
	wait "$lapi_pid" || true
}

# machine: whose password each cscli shows. A hash of the usual cost takes the server 60 ms each time.
machine()
{
	cscli machines add tests --password secret --force >"$T/none"
	python3 - "$T/lapi/data/crowdsec.db" <<-'END'
	import sqlite3, sys
	with sqlite3.connect(sys.argv[1]) as database:
	    database.execute("UPDATE machines SET password = '$2b$04$/XxnQVxaxq6eytEuoWcQJORMH0SkVsANb/NeRCnbJ09khmUJuHw4G'")
	END
}

# lapi: a running one, with a machine for cscli and a key for a bouncer, which are made once for all tests of this file.
lapi()
{
	local made=$XB_TEST_DIR/lapi

	if [[ ! -d $made ]]; then
		lapi_configure
		machine
		make_key bouncer
		cp -a "$T/lapi" "$made"
		cp -a "$T/key" "$made/bouncer"
	else
		cp -a "$made" "$T/lapi"
		cp -a "$made/bouncer" "$T/key"
	fi
	lapi_start
}

# make_key NAME: a new one, which is the bouncer's from now on.
make_key()
{
	cscli bouncers add "$1" -o raw >"$T/key"
	chmod 0600 "$T/key"
}

# ban [OPTION...]: a decision.
ban() { cscli decisions add --duration 1h "$@"; }

# Bans of addresses that CrowdSec has now.
lapi_bans() { cscli decisions list --all -o raw --limit 0 | grep -cE '^[0-9]+,[^,]*,(Ip|Range):[^,]*,.*,ban,'; }

# --- the stand-in -----------------------------------------------------------------------------------

# stand_in [NAMESPACE ADDRESS]: answers what is in $T/whole and $T/delta; see standin.py.
stand_in()
{
	rm -f "$T/serving"
	echo standin >"$T/key"
	chmod 0600 "$T/key"
	# Not a function: it is killed by its number.
	nsenter --net="/run/netns/${1:-$server}" "$root/tests/e2e/standin.py" "$T" 8080 "${2:-127.0.0.1}" 2>"$T/standin.err" &
	stand_in_pid=$!
	wait_for "the stand-in" test -e "$T/serving"
}

# decision ID VALUE [DURATION [TYPE [SCOPE]]]
decision()
{
	printf '{"id":%s,"origin":"cscli","scenario":"test","scope":"%s","type":"%s","value":"%s","duration":"%s"}' \
		"$1" "${5:-Ip}" "${4:-ban}" "$2" "${3-1h0m0s}"
}

# decisions FIRST COUNT [DURATION]: of 5.9.x.y, by number, with their numbers as ids.
decisions()
{
	awk -v first="$1" -v count="$2" -v duration="${3:-1h0m0s}" 'BEGIN {for (i = first; i < first + count; i++)
		printf "%s{\"id\":%d,\"scope\":\"Ip\",\"type\":\"ban\",\"value\":\"5.9.%d.%d\",\"duration\":\"%s\"}",
			(i > first ? "," : ""), i, i / 256, i % 256, duration}'
}

# answer whole|delta NEW DELETED: each without brackets.
answer()
{
	printf '{"new":[%s],"deleted":[%s]}' "$2" "${3:-}" >"$T/$1.new"
	mv "$T/$1.new" "$T/$1"
}

# requests PATTERN: how many the stand-in had.
requests() { grep -cE -- "$1" "$T/requests" || true; }

# has_requests COUNT PATTERN: as many, or more.
has_requests() { [[ $(requests "$2") -ge $1 ]]; }

# next_request [PATTERN]: one of them comes now, and its answer is in force, since another follows.
next_request()
{
	local count

	count=$(requests "${1:-GET}")
	wait_for "a request ${1:-}" has_requests $((count + 2)) "${1:-GET}"
}

# --- the bouncer ------------------------------------------------------------------------------------

# bouncer LINE...: of its section, and bloomd with it; not two seconds between two requests.
bouncer()
{
	bouncer_configure "$@"
	agent
}

bouncer_configure()
{
	{
		echo '[crowdsec]'
		[[ " $*" == *" url ="* ]] || echo 'url = http://127.0.0.1:8080/'
		[[ " $*" == *" cert ="* ]] || echo "key-file = $T/key"
		echo 'every = 1s'
		printf '%s\n' "$@"
	} >"$T/bloomd.conf"
}

bouncer_reload()
{
	bouncer_configure "$@"
	agent_reloads
}

# has_state OUTCOME [GUARD]
has_state() { ctl -j feeds | contains "\"name\":\"crowdsec\",[^}]*\"outcome\":\"$1\"${2:+,\"guard\":\"$2\"}"; }
works() { has_state '(updated|unchanged)'; }

# resync: all decisions come again, and are in force.
resync()
{
	local count

	count=$(resyncs asked)
	exits 0 feeds update crowdsec
	wait_for "a resync" has_resyncs asked $((count + 1))
	next_answer
	works || fail "not well: $(ctl feeds)"
}

# next_answer: of a request that has begun, or of the next one.
next_answer()
{
	local count

	count=$(fetches)
	wait_for "an answer" has_fetches $((count + 1))
}

fetches() { ctl metrics | awk '/^xdp_bloom_feed_fetches_total{feed="crowdsec"/ {sum += $2} END {print sum}'; }
has_fetches() { [[ $(fetches) -ge $1 ]]; }

resyncs() { ctl metrics | sed -n "s/^xdp_bloom_crowdsec_resyncs_total{cause=\"$1\"} //p"; }
has_resyncs() { [[ $(resyncs "$1") -ge $2 ]]; }

left_out() { ctl metrics | sed -n "s/^xdp_bloom_crowdsec_left_out_total{why=\"$1\"} //p"; }

list_text() { ctl list --list "${1:-crowdsec}" 2>/dev/null || true; }
listed() { list_text | grep -c ' list crowdsec ' || true; }
is_listed() { list_text | contains "^$1 "; }
is_not_listed() { ! is_listed "$1"; }
has_listed() { [[ $(listed) -eq $1 ]]; }

# ends_at ENTRY: the second since 1970 in which it ends.
ends_at()
{
	local until

	until=$(ctl -j list --list crowdsec | of_json '"".join(e["lists"][0]["expires"] for e in d["entries"] if e["entry"] == w[0])' "$1")
	date -d "$until" +%s
}

# ends ENTRY: seconds until it does.
ends() { echo $(($(ends_at "$1") - $(date +%s))); }

# ends_within ENTRY LEAST MOST: seconds; not sooner than LEAST after the second $begun, not later than MOST from now.
ends_within()
{
	local left

	left=$(ends "$1")
	[[ $((left + $(date +%s) - begun)) -ge $2 && $left -le $3 ]]
}
