#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Feeds: whatever a server answers, the last good list stays in force, and the next good one is taken.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"

t_a_list_comes_into_force()
{
	begin
	configure 'every = 1h'
	passes 5.9.0.7
	agent
	wait_for "the first list" has_outcome main updated
	keeps_list
	exits 0 feeds
	says '^main: updated$'
	says '^  list     main, 101 entries, read as plain$'
	exits 0 log
	says '  `bloomd feed main`  main \+101$'
	exits 0 -j feeds
	json 'd["feeds"][0]["period"] == 3600 and d["feeds"][0]["status"] == 200 and "etag" not in d["feeds"][0]'
	ends_as unchanged
	grep -q 'if-none-match: "version-1"' "$T/requests" || fail "it does not say what it has"
	[[ $(count status) -eq 304 && $(count failures) -eq 0 ]] || fail "304 is a failure: $(ctl feeds)"
	# The server must not say "unchanged" of a list that is another one by now.
	ctl -q del 5.9.0.9 --list main
	ends_as updated
	! grep -q if-none-match "$T/requests" || fail "it asks with a condition"
	keeps_list
	agent_ends
	exits 0 feeds
	says '^main: updated$'
	exits 3 feeds update
	one_line
	complains 'bloomd does not run'
	blocked 5.9.0.7
	# Over a restart, the list and the time of the next fetch stay.
	rm -f "$T/requests"
	agent
	sleep 0.5
	[[ ! -e $T/requests ]] || fail "a restart fetches at once"
	keeps_list
	exits 2 feeds update other
	one_line
	complains 'no feed of this name'
	ends_as unchanged
}

t_what_is_taken()
{
	local how

	begin
	configure 'every = 1h'
	agent
	wait_for "the first list" has_outcome main updated
	for how in chunked gzip gzip-unframed gzip-file moved; do
		takes $how
	done
	agent_ends
	sed -i 's|^url = .*|url = http://feeds.example:8080/list|' "$T/bloomd.conf"
	agent
	wait_for "the list of another server" has_outcome main unchanged
	takes good
	takes to-https
}

t_half_a_list_is_not_taken()
{
	begin
	configure 'every = 1h'
	agent
	wait_for "the first list" has_outcome main updated
	refuses cut truncated
	refuses chunked-cut truncated
	refuses gzip-cut truncated
	refuses gzip-damaged corrupt # other damage: unit/fetch/test_body
	refuses brotli corrupt
	refuses unframed-cut unframed
	refuses unframed unframed
	refuses two-lengths corrupt
	refuses one-length-twice corrupt
	refuses length-list corrupt
	refuses identity corrupt
	refuses length-and-chunks corrupt
	takes good
	agent_ends
	configure 'every = 1h' 'accept-unframed = yes'
	agent
	takes unframed
	refuses identity corrupt
	agent_ends
	configure 'every = 1h' 'expect-end = 5.9.1.1'
	agent
	refuses unframed-cut refused format
	mode unframed
	ends_as unchanged
}

t_a_server_that_fails()
{
	begin
	configure 'every = 1h' 'time-limit = 60s' 'max-bytes = 300k'
	agent
	wait_for "the first list" has_outcome main updated
	refuses 403 http-error
	refuses 404 http-error
	refuses 500 http-error
	refuses loop too-many-redirects
	refuses to-http redirect
	refuses to-file redirect
	refuses to-gopher redirect
	refuses wrong-ca tls
	refuses wrong-name tls
	refuses closed no-connection
	refuses garbage no-connection
	refuses endless too-large
	refuses large too-large
	refuses gzip-bomb too-large
	mode good
	name_server
	ends_as no-name
	keeps_list
	name_server feeds.example
	kill $feedserver
	wait $feedserver || true
	ends_as no-connection
	keeps_list
	serve_feeds
	takes good
	configure 'every = 1h' 'time-limit = 1s' 'max-bytes = 300k'
	agent_reloads
	refuses slow timeout
}

has_no_failures() { [[ $(count failures) -eq 0 ]]; }

t_retry_after_and_backoff()
{
	local wait

	begin
	configure 'every = 1s'
	agent
	wait_for "the first list" has_outcome main updated
	mode 429
	wait_for "a refusal" has_outcome main http-error
	wait=$(ctl -j feeds | python3 -c 'import datetime, json, sys
feed = json.load(sys.stdin)["feeds"][0]
next_fetch, last = (datetime.datetime.strptime(feed[key], "%Y-%m-%dT%H:%M:%SZ") for key in ("next_fetch", "last_attempt"))
print(int((next_fetch - last).total_seconds()))')
	[[ $wait -eq 3 ]] || fail "it waits for $wait s"
	mode good
	echo 7 >"$T/version"
	# Without being asked.
	wait_for "the next good list" is_listed 5.9.1.7
	wait_for "that no failures are counted" has_no_failures
}

t_a_list_that_cannot_be_meant()
{
	local guard

	begin
	configure 'every = 1h' 'max-change = 1.5' 'canary = 8.8.8.8, github.com' 'max-share = 0.5%' \
		'max-entries = 300' 'max-age = 30d'
	agent
	wait_for "the first list" has_outcome main updated
	exits 0 metrics
	for guard in entries last_success_timestamp_seconds content_timestamp_seconds; do
		says "^xdp_bloom_feed_$guard\{feed=\"main\"\} [1-9]"
	done
	# An alert sees the first refusal only if there was a 0 before it.
	for guard in $(sed -n '/^| guard /,/^$/s/^| \(`[^|]*`\) |.*/\1/p' "$root/docs/agent.md" | tr -d '`,'); do
		says "^xdp_bloom_feed_refusals_total\{feed=\"main\",guard=\"$guard\"\} 0$"
	done
	[[ -n ${guard:-} ]] || fail "docs/agent.md has no guards"
	refuses html refused html
	refuses empty refused empty
	refuses comments refused empty
	refuses halved refused max-change
	refuses doubled refused max-change
	refuses canary refused canary
	refuses wide refused max-share
	refuses old refused max-age
	refuses ahead refused max-age
	refuses nonsense refused format
	[[ $(metric feed_refusals_total guard max-change) -eq 2 ]] || fail "$(ctl metrics | grep refusals)"
	takes good
}

# The first end of an entry.
first_end() { ctl -j list --list main | of_json 'min(l["expires"] for e in d["entries"] for l in e["lists"])'; }

# is_renewed END: another fetch lets none of them end before that, or even then.
is_renewed()
{
	ctl -q feeds update
	[[ $(listed) -eq 101 ]] || fail "$(listed) are listed"
	[[ $(first_end) > $1 ]]
}

has_failed_again() { ctl -q feeds update && has_outcome main http-error; }

is_empty() { [[ $(listed) -eq 0 ]]; }

t_entries_that_are_listed_again_live_on()
{
	local before

	begin
	configure 'every = 30s' 'timeout = 60s'
	agent
	wait_for "the first list" has_outcome main updated
	for _ in 1 2 3; do
		before=$(first_end)
		wait_for "a later end" is_renewed "$before"
	done
	blocked 5.9.0.7
	mode 500
	wait_for "a failure" has_failed_again
	before=$(first_end)
	ends_as http-error
	[[ $(first_end) == "$before" ]] || fail "a fetch that fails lets them live on"
	# Nor do they outlive their timeout.
	mode good
	configure 'every = 1h' 'timeout = 1s'
	agent_reloads
	wait_for "their end" is_empty
	comes_through 5.9.0.7
	configure 'every = 1h' 'timeout = 60s'
	agent_reloads
	wait_for "the list" is_listed 5.9.1.1
	comes_blocked 5.9.0.7
	keeps_list
}

has_scope() { [[ $(ctl scope main) == "$1" ]]; }

# The scope comes with the entries; another one is set though the list is the same, and without the
# key the list keeps its own.
t_the_scope_of_a_feed()
{
	begin
	configure 'every = 1h' 'scope = tcp/587,tcp/25'
	agent
	wait_for "the first list" has_outcome main updated
	has_scope tcp/25,tcp/587 || fail "$(ctl scope main)"
	configure 'every = 1h' 'scope = tcp/465'
	agent_reloads
	wait_for "the other scope" has_scope tcp/465
	configure 'every = 1h'
	agent_reloads
	ends_as unchanged
	has_scope tcp/465 || fail "$(ctl scope main)"
	[[ $(listed) -eq 101 ]] || fail "$(listed) entries are listed"
	configure 'scope = tcp/0'
	: >"$T/agent.err"
	kill -HUP "$agent"
	wait_for "the refusal" grep -q "stays as it was: .*bloomd.conf:4: 'tcp/0' is not a service" "$T/agent.err"
	agent_ends
}

run_tests
