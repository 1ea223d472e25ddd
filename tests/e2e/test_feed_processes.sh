#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The processes behind feeds: what they may, how they end, and what the configuration says of feeds.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"
# shellcheck source=taken.sh
. "$(dirname "$0")/taken.sh"

fetching() { pgrep -P "$agent" -x bloomd-fetch; }

# A fetch stands still, though perhaps not the first one: each has but a second.
has_stopped_one()
{
	local child

	ctl -q feeds update
	child=$(fetching) && kill -STOP "$child" && is_stopped "$child"
}

# One that was nearly done when it was stopped has told its end before: then another one.
one_that_stands_is_ended() { why_is 'not done in time, and ended' || { has_stopped_one && false; }; }

why_is() { ctl feeds | contains "^  why      $1"; }
ends_with_it() { ! kill -0 "$1" 2>/dev/null; }

knows() { grep -c "GET /$1 .*\(key: hidden\|authorization\)" -i "$T/requests"; }

# To the host of the URL, and to no other, nor to that one by way of another.
t_a_feed_says_who_asks()
{
	begin
	certify server 'feeds.example,DNS:other.example' ca
	name_server 'feeds.example other.example'
	echo 'Key: hidden-key' >"$T/header"
	echo 'Hidden:Word' >"$T/user"
	chmod 0600 "$T/header" "$T/user"
	mode known
	configure 'every = 1h' "header-file = $T/header" "user-file = $T/user"
	agent
	wait_for "the list" has_outcome main updated
	mode to-another
	echo 2 >"$T/version"
	ends_as updated
	[[ $(grep -c '^to-another get /\(list\|back\|elsewhere\) ' "$T/requests") -eq 3 ]] || fail "$(cat "$T/requests")"
	[[ $(knows list) -eq 1 && $(knows back) -eq 0 && $(knows elsewhere) -eq 0 ]] || fail "$(cat "$T/requests")"
	# The file is read anew with each fetch.
	chmod 0640 "$T/header"
	ends_as no-key
	why_is "cannot read $T/header: others than root can read it\$"
	chmod 0600 "$T/header"
	echo 'no header' >"$T/header"
	ends_as no-key
	why_is "$T/header has another line than headers, such as 'Key: VALUE'\$"
	printf 'A: b\nKey: hidden-key\n\n' >"$T/header"
	echo hidden >"$T/user"
	ends_as no-key
	why_is "$T/user has no line USER:PASSWORD alone\$"
	echo 'Hidden:Word' >"$T/user"
	mode known
	ends_as unchanged
	! grep -rq 'idden' "$state/feeds" "$T/agent.err" || fail "a secret is told"
}

# In place of bloomd-fetch, one that answers whatever $T/bin/lie says.
t_answers_that_are_lies()
{
	local lie

	begin
	mkdir "$T/bin"
	cp "$bloomd" "$bloomd-fetch" "$T/bin"
	agent_program=$T/bin/bloomd
	configure 'every = 1h' 'max-bytes = 4k'
	agent
	wait_for "the first list" has_outcome main updated
	cat >"$T/bin/bloomd-fetch" <<-'END'
		#!/usr/bin/python3
		import os, struct, sys
		def answer(outcome=1, status=200, bytes=8, time=0, etag=b"", detail=b"", magic=0x78626632, body=b"5.9.9.9\n"):
		    os.write(5, body)
		    os.write(4, struct.pack("<IIIIQq256s256s256s", magic, outcome, status, 0, bytes, time, etag, b"", detail))
	END
	echo "exec(open('$T/bin/lie').read())" >>"$T/bin/bloomd-fetch"
	for lie in 'pass' 'sys.exit(1)' 'os.write(4, b"junk")' 'answer(magic=1)' 'answer(outcome=16)' \
		'answer(outcome=2**32 - 1)' 'answer(status=1000)' 'answer(bytes=9)' 'answer(bytes=2**63)' \
		'answer(time=-1)' 'answer(time=2**40)' 'answer(etag=b"a\nb")' 'answer(etag=b"a" * 256)' \
		'answer(detail=b"\x1b[2J")' 'answer(bytes=5000, body=b"#" * 5000)' 'os.kill(os.getpid(), 11)' \
		'os.ftruncate(4, 10**9)'; do
		echo "$lie" >"$T/bin/lie"
		ends_as failed
		keeps_list
	done
	printf '%s\n' 'answer(body=b"5.9.0.7\n")' >"$T/bin/lie"
	ends_as updated
	[[ $(listed) -eq 1 ]] || fail "a good answer is not taken"
	# The descriptors that it has are its own.
	echo "os.system('ls -l /proc/self/fd >$T/descriptors')" >"$T/bin/lie"
	ends_as failed
	! grep -E '/(store.mdb|bloomd.lock|[a-z]*.sock)|socket:|bpf' "$T/descriptors" || fail "it inherits more"
	grep -q '/memfd:body' "$T/descriptors" || fail "it has no body: $(cat "$T/descriptors")"
}

t_processes_that_are_killed()
{
	local child

	begin
	configure 'every = 1h' 'time-limit = 60s'
	agent
	wait_for "the first list" has_outcome main updated
	mode slow
	ctl -q feeds update
	wait_for "a fetch" fetching
	kill -SEGV "$(fetching)"
	wait_for "its end" has_outcome main failed
	keeps_list
	ctl -q feeds update
	wait_for "a fetch" fetching
	child=$(fetching)
	agent_ends KILL 137
	wait_for "the end of what it started" ends_with_it "$child"
	keeps_list
	agent
	takes good
	# The program is missing.
	mkdir "$T/bin"
	cp "$bloomd" "$T/bin"
	agent_ends
	agent_program=$T/bin/bloomd
	agent
	ends_as failed
	why_is 'cannot run .*bloomd-fetch' || fail "it is not said: $(ctl feeds)"
	keeps_list
	agent_ends
	# It does not end in time by itself.
	agent_program=$bloomd
	mode slow
	configure 'every = 1h' 'time-limit = 1s'
	agent
	wait_for "a fetch that stands still" has_stopped_one
	wait_for "its end" one_that_stands_is_ended
	has_outcome main timeout || fail "$(ctl feeds)"
	keeps_list
}

# A feed gets another name, and fills the same list: nobody empties it meanwhile. Then its list changes its name, and the
# former one is emptied once the new one is in force.
t_another_name_after_a_reload()
{
	begin
	configure 'every = 1h' 'on-removal = flush' 'list = shared'
	agent
	wait_for "the first list" has_outcome main updated
	mode 500
	sed -i 's/^\[feed main\]/[feed renamed]/' "$T/bloomd.conf"
	kill -HUP "$agent"
	wait_for "the end of the former" has_no_state main
	wait_for "a fetch" has_outcome renamed http-error
	has_all shared || fail "the list is emptied"
	blocked 5.9.0.7
	sed -i 's/^list = shared/list = second/' "$T/bloomd.conf"
	agent_reloads
	has_all shared || fail "the list is emptied before another is filled"
	mode good
	wait_for "the new list" brings_all second
	wait_for "the end of the former list" eval '! has_all shared'
	blocked 5.9.0.7
}

brings_all() { ctl -q feeds update renamed && has_all "$1"; }
has_all() { [[ $(ctl list --list "$1" 2>/dev/null | wc -l) -eq 101 ]]; }

# Sets child. The one that fetches the file comes and goes before.
has_a_stopped_child()
{
	for child in $(pgrep -P "$agent"); do
		! is_stopped "$child" || return 0
	done
	return 1
}

# Whoever kills a bloomd and starts one does not wait for the child of the former, which may hang in a system call.
t_another_begins_while_a_child_ends()
{
	local child

	begin
	echo 5.9.0.1 >"$T/list"
	printf '[feed main]\nurl = file://%s\nevery = 1h\n' "$T/list" >"$T/bloomd.conf"
	agent_program=$XB_TEST_DIR/bin/bloomd-fault XB_PAUSE=commit-before agent
	wait_for "a child's commit" has_a_stopped_child
	! readlink /proc/"$child"/fd/* | grep -x "$state/bloomd.lock" || fail "the child holds the lock, too"
	kill -CONT "$child"
	wait_for "the file" has_outcome main updated
	blocked 5.9.0.1
	agent_ends
}

t_a_file_and_its_removal()
{
	begin
	printf '5.9.0.%d\n' {1..20} >"$T/list"
	cat >"$T/bloomd.conf" <<-END
		[feed main]
		url = file://$T/list
		every = 1h
		on-removal = flush
		[feed other]
		url = https://feeds.example:8443/list
		ca = $T/ca.crt
	END
	agent
	wait_for "the file" has_outcome main updated
	wait_for "the other" has_outcome other updated
	blocked 5.9.0.7
	ends_as unchanged
	echo 5.9.0.30 >>"$T/list"
	ends_as updated
	[[ $(listed) -eq 21 ]] || fail "$(listed) entries"
	gzip -c "$T/list" >"$T/list.gz"
	mv "$T/list.gz" "$T/list"
	ends_as unchanged
	rm "$T/list"
	ends_as no-file
	[[ $(listed) -eq 21 ]] || fail "$(listed) entries"
	mkfifo "$T/list"
	ends_as no-file
	printf '[feed other]\nurl = https://feeds.example:8443/list\nca = %s/ca.crt\n' "$T" >"$T/bloomd.conf"
	kill -HUP "$agent"
	wait_for "its end" has_no_state main
	[[ $(listed) -eq 0 ]] || fail "$(listed) entries stay"
	: >"$T/bloomd.conf"
	agent_ends
	agent
	wait_for "the end of the other" has_no_state other
	[[ $(ctl list --list other | wc -l) -eq 101 ]] || fail "the list of a feed that keeps it is gone"
	exits 0 feeds
	says '^no feeds$'
}

has_no_state() { [[ ! -e $state/feeds/$1.json ]]; }

# taken_over WORD: what somebody can do who has taken over the program that fetches; WORD: open, without
# the sandbox. The sockets and the store are as bloomd has them, and one more that is open to everybody.
taken_over()
{
	rm -f "$T/written"
	echo "$state/store.mdb $pins $T/open.sock $counters/control.sock $T/written $1" >"$T/bin/taken.places"
	ends_as failed
	ctl -j feeds | grep -oE 'taken over:[^"]*'
}

t_the_fetching_program_taken_over()
{
	local wanted

	begin
	take_over bloomd-fetch user/base/duration.c -lcurl -lseccomp -lz -ljansson
	configure 'every = 1h'
	# It tries at the start, too: then it finds none of these places, and writes nowhere.
	echo "- - - - $T/none/written open" >"$T/bin/taken.places"
	agent_program=$T/bin/bloomd
	agent
	wait_for "the first try" has_outcome main failed
	# Without the sandbox all of it is possible, so the tries are right.
	wanted=$(printf ' %s=yes' $taken_tries)
	[[ $(taken_over open) == "taken over:$wanted" ]] || fail "without the sandbox: $(ctl feeds)"
	wanted=$(printf ' %s=no' $taken_tries)
	[[ $(taken_over closed) == "taken over:$wanted" ]] || fail "within the sandbox: $(ctl feeds)"
	[[ ! -e $T/written ]] || fail "it wrote a file"
	agent_ends
	# As the unit runs it: root that cannot become another user.
	agent_program=$T/bare
	printf '#!/bin/sh\nexec setpriv --bounding-set -setuid,-setgid %s "$@"\n' "$T/bin/bloomd" >"$T/bare"
	chmod +x "$T/bare"
	agent
	[[ $(taken_over closed) == "taken over:$wanted" ]] || fail "as root in the sandbox: $(ctl feeds)"
}

run_tests
