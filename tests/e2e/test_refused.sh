#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A refused command changes nothing: not the store, not the kernel, not a trial (I8), whichever verb
# it is and whatever is wrong with it.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# Everything there is, as text; not the time a trial has left, nor whether a packet has come.
world()
{
	ctl -j status | sed -E 's/"seconds_left":[0-9]*//g; s/"(packets_seen|no_packets_since)":[a-z0-9]*//g' || true
	# All that is listed, allowed and wanted, and every setting.
	sha256sum "$state/store.mdb"
	find "$state" "$pins" "$counters" | sort
	ip -n "$server" -d link show | grep -o 'prog/xdp id [0-9]*\|^[0-9]*: [^ ]*'
	# Without what is the time, and what stands in a file only since somebody looked.
	find "$counters" -name '*.counters' -exec head -c 64 {} + | sha256sum
	for one in "$pins"/gen-*/policy "$pins"/link/slot; do
		[[ ! -e $one ]] || bpftool map dump pinned "$one"
	done
} 2>&1

# Also when something is amiss.
seconds_left() { { ctl -j status || true; } | grep -o '"seconds_left":[0-9]*' | cut -d: -f2; }

# refused CODE COMMAND...: it ends with the code and one line, and writes nothing to the store.
refused()
{
	local lines

	exits "$@"
	mapfile lines <"$T/err"
	[[ ${#lines[@]} -eq 1 ]] || fail "${*:2}: not one line: $(head -c 300 "$T/err")"
	[[ ! $state/store.mdb -nt $T/before ]] || fail "${*:2}: it is refused and writes to the store"
}

# unchanged: behind those that were refused, nothing is any different. Nothing that is done and undone looks as before:
# a change has a number in the store, each filter and each program one in the kernel.
unchanged()
{
	world >"$T/after"
	cmp -s "$T/before" "$T/after" ||
		fail "something is refused and changes $(diff "$T/before" "$T/after" | head -n 6 | cut -c 1-200)"
}

# Files that are wrong in different ways, each with something good in front.
wrong_files()
{
	ctl save >"$T/good.json"
	head -c 300 "$T/good.json" >"$T/cut.json"
	sed 's/10\.77\.0\.3"/10.77.0.333"/' "$T/good.json" >"$T/entry.json"
	sed 's/"schema":[ ]*[0-9]*/"schema": 99/' "$T/good.json" >"$T/schema.json"
	sed 's/"policy":[ ]*"[a-z-]*"/"policy": "perhaps"/' "$T/good.json" >"$T/policy.json"
	head -c 3000 /dev/urandom >"$T/noise"
	: >"$T/empty"
	echo 'nothing that is an entry, in any format' >"$T/words"
	printf '192.0.2.%d\n' {1..9} >"$T/list"
	printf 'add 192.0.2.50\ndel 10.77.0.3\nadd nonsense!\n' >"$T/batch-entry"
	printf 'add 192.0.2.50\nallow add 192.0.2.51\ndel 192.0.2.222\n' >"$T/batch-absent"
	printf 'add 192.0.2.50\nadd 10.77.0.3\n' >"$T/batch-again"
	printf 'add 192.0.2.50\nadd "192.0.2.51\n' >"$T/batch-quote"
	printf 'policy monitor\n' >"$T/batch-verb"
	printf 'add 192.0.2.50 --timeout x\n' >"$T/batch-option"
}

# bad_usage [OPTION...]: what is refused before anything is looked at.
bad_usage()
{
	local line

	while IFS= read -r line; do
		# shellcheck disable=SC2086
		refused 2 $line
	done <<-END
		nonsense
		--nonsense
		attach
		attach x0 --mode sideways
		attach x0 --refuse nobody
		attach x0 --rollback 0
		attach x0 --rollback 86401
		attach x0 --rollback
		detach
		detach --all x0
		detach x0 --nonsense
		up x0
		status x0
		add
		add 192.0.2.50 nonsense!
		add 192.0.2.50 192.0.2.300
		add 192.0.2.50/33
		add 192.0.2.50 --list a/b
		add 192.0.2.50 --list
		add 192.0.2.50 --timeout x
		add 192.0.2.50 --timeout 0
		add 192.0.2.50 --nonsense
		add 192.0.2.50 nodot
		del
		del nonsense!
		del 10.77.0.3 nonsense!
		del 10.77.0.3 --list a/b
		allow
		allow nonsense
		allow add
		allow add 192.0.2.50 nonsense!
		allow del nonsense!
		allow refuse
		allow refuse ssh nobody
		allow accept nobody
		test
		test nonsense!
		list x
		policy perhaps
		policy monitor enforce
		policy --rollback 5
		policy monitor --nonsense
		verdict one perhaps
		verdict a/b drop
		verdict one drop count
		verdict one --rollback 5
		verdict nosuch
		scope one perhaps
		scope one tcp/0
		scope one tcp/25,
		scope one tcp/25 udp/53
		scope a/b all
		scope allow tcp/25
		scope one --rollback 5
		scope nosuch
		ports nowhere 53
		ports dns 0
		limit 0
		limit x
		ports dns 53,x
		ports dns 65536
		expire x
		help nonsense
		flush x
		flush --list a/b --yes
		import
		import $T/list $T/list
		import $T/list --format nonsense
		import $T/list --list a/b
		import $T/list --verdict perhaps
		import $T/list --scope perhaps
		import $T/list --min-entries 10
		import $T/list --expect-end nothing
		import $T/list --dry-run --rollback 5
		import $T/nosuch
		import $T/words
		import $T/noise
		import $T/empty
		import $T/empty --list one --replace
		restore
		restore $T/nosuch
		batch
		batch $T/nosuch
		batch $T/noise
		batch $T/batch-entry
		batch $T/batch-quote
		batch $T/batch-verb
		batch $T/batch-option
		rotate x
		rotate --fpr 2
		rotate --fpr x
		rotate --capacity x
		rotate --rollback x
		commit x
		stats --names x
		stats x
		watch --rate x
		plan
		plan --entries x
	END
	refused 2 add 192.0.2.50 --comment $'a\nb'
	refused 2 add 192.0.2.50 --comment "$(printf 'x%.0s' {1..256})"
	refused 2 add 192.0.2.50 --comment $'\xff'
}

# What can only be refused when the world has been looked at.
bad_change()
{
	refused 2 attach nosuch0
	refused 2 attach x0 nosuch0
	refused 2 attach nosuch0 --rollback 5
	refused 2 attach x0 --mode skb --rollback 5
	refused 1 detach nosuch0
	refused 1 detach x0 nosuch0
	refused 2 add 10.77.0.3
	refused 2 add 192.0.2.50 10.77.0.3
	refused 1 del 192.0.2.222
	refused 1 del 10.77.0.3 192.0.2.222
	refused 1 del 10.77.0.3 --list two
	refused 2 allow add 198.51.100.7
	refused 1 allow del 192.0.2.222
	refused 2 batch "$T/batch-again"
	refused 1 batch "$T/batch-absent"
	refused 2 import "$T/list" --list many --replace
	refused 2 flush --list nosuch --yes
	refused 2 flush
	for one in empty noise cut.json entry.json policy.json schema.json; do
		refused 2 restore "$T/$one"
	done
	refused 3 rotate --capacity 9000000000
	refused 3 rotate --capacity 9000000000 --rollback 5
}

begin()
{
	ctl add 10.77.0.3 fd77::3 198.51.100.0/24
	ctl add 10.77.0.4 bad.example --list one
	ctl add worse.example --list two --comment "two's" --timeout 80000
	printf '172.16.%s\n' {0..11}.{0..249} >"$T/many"
	ctl -q import "$T/many" --list many --include-bogons
	ctl allow add 198.51.100.7
	ctl verdict two count
	ctl -q attach x0
	ctl -q up
	wrong_files
}

t_every_verb()
{
	begin
	world >"$T/before"
	bad_usage
	bad_change
	refused 1 commit
	unchanged
	blocked 10.77.0.3
}

# trial_goes_on SECONDS-BEFORE START
trial_goes_on()
{
	local now

	now=$(seconds_left)
	[[ $now -le $1 && $now -ge $(($1 - (SECONDS - $2) - 2)) ]] ||
		fail "the trial had $1 s, has $now $((SECONDS - $2)) s later"
}

# During a trial, too; and then nothing else is let in.
t_during_a_trial()
{
	local started=$SECONDS left

	begin
	ctl -q policy monitor --rollback 600 2>/dev/null
	left=$(seconds_left)
	world >"$T/before"
	bad_usage
	for one in "add 192.0.2.50" "del 10.77.0.3" "allow add 192.0.2.50" "policy enforce" \
		"policy allow-only --rollback 5" "verdict one count" "scope one tcp/25" "ports dns off" "flush --yes" \
		"import $T/list" "restore $T/good.json" "batch $T/batch-again" "rotate" "up" "attach x0"; do
		# shellcheck disable=SC2086
		refused 3 --wait 0 $one
	done
	# detach does not wait for a trial, it ends it: if it detaches anything.
	refused 1 --wait 0 detach nosuch0
	refused 1 --wait 0 detach nosuch0 nosuch1
	refused 1 --wait 0 detach x0 nosuch0
	unchanged
	trial_goes_on "$left" $started
	passes 10.77.0.3
}

t_during_a_trial_of_an_interface()
{
	local started=$SECONDS left

	begin
	join x1 1
	ctl -q attach x1 --rollback 600 2>/dev/null
	left=$(seconds_left)
	world >"$T/before"
	bad_change
	refused 2 attach x1
	refused 2 attach x0 --rollback 5
	refused 2 attach x1 --rollback 5
	refused 3 policy monitor --rollback 5
	unchanged
	trial_goes_on "$left" $started
}

# Slots of IPv6 take most room: no table of IPv4 is too large for what --capacity takes.
t_more_than_a_table_can_have()
{
	ctl add fd77::3
	ctl -q attach x0
	world >"$T/before"
	refused 2 rotate --capacity 68719476720
	unchanged
}

run_tests
