#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A host that goes back in the log reads again what it has known: an entry that was deleted there, and is listed since,
# is listed all the while.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

entry=192.0.2.1

# begin_with HOST: a publishes; HOST is configured already.
begin_with()
{
	redis
	joins a
	up "$1"
	in_fleet "$1"
	publishes 1 of a -q add $entry
	comes "$1" $entry
}

is_deleted() { publishes 1 of a -q del $entry && goes "$1" $entry; }

# So many that they do not come at once.
is_listed_again()
{
	many 20000
	of a -q import "$T/many"
	adds a "$1" $entry
	published a
}

# save NAME: what the server has.
save()
{
	redis_dies
	cp -a "$T/redis" "$T/$1"
	redis
}

# replace_by NAME: what the server has, and what follows from that.
replace_by()
{
	redis_dies
	rm -r "$T/redis"
	mv "$T/$1" "$T/redis"
	redis
}

# loses HOST NAME: the server has what NAME says, and refuses to take anything until `takes`; the host sees that.
loses()
{
	redis_dies
	rm -r "$T/redis"
	mv "$T/$2" "$T/redis"
	redis --min-replicas-to-write 1
	says_log "$1" 'has lost entries behind'
	wait_for "the end of the log" has_read_all "$1"
}
takes() { ask_redis config set min-replicas-to-write 0 >"$T/out"; }

# watches HOST: whether the entry is listed there, from now on.
watches()
{
	(
		while :; do
			if of "$1" test $entry >"$T/look"; then
				echo >>"$T/looks"
			elif finds 'is not listed' "$T/look"; then
				cp "$T/look" "$T/gone"
			fi
			rest 0.02
		done
	) &
	watcher=$!
	wait_for "a look" test -s "$T/looks"
}

was_listed()
{
	wait_for "the end of the log" has_read_all "$1"
	kill "$watcher"
	wait "$watcher" || true
	[[ $(wc -l <"$T/looks") -ge 10 ]] || fail "only $(wc -l <"$T/looks") looks"
	[[ ! -e $T/gone ]] || fail "it was gone for a moment: $(tail -n 4 "$T/$1/log")"
	has "$1" $entry || fail "it is gone"
}

has_read_all() { reads "$1" && [[ $(field "$1" position) -eq $(log_end) ]]; }

t_after_a_resync()
{
	configure_follower b
	begin_with b
	is_deleted b
	is_listed_again b
	watches b
	of b -q fleet resync
	says_log b 'resynced \(asked\)'
	was_listed b
}

t_after_a_log_that_comes_back()
{
	configure_follower b
	begin_with b
	save before
	is_deleted b
	is_listed_again b
	down a
	save after
	replace_by before
	says_log b 'has lost entries behind'
	wait_for "the end of the log" has_read_all b
	watches b
	replace_by after
	wait_for "the end of the log" has_read_all b
	was_listed b
	[[ $(of b list | grep -c '^20\.') -eq 20000 ]] || fail "b has $(of b list | wc -l) entries"
}

# The server has the delete, and not what came behind it; b has that from another, and could not publish it again yet.
t_after_a_delete_that_is_known()
{
	configure_host b
	begin_with b
	save before
	is_deleted b
	save deleted
	adds a b $entry
	published a
	down a
	loses b before
	! outbox_is b 0 || fail "b has published it again"
	watches b
	replace_by deleted
	published b
	was_listed b
	up a
	in_fleet a
	agree 1 a b
}

# What a did last is lost, and waits again, while a goes back further, to the snapshot that began the log. There it meets
# what it did before in the same terms: a delete, and a put.
t_what_was_made_before()
{
	configure_follower b
	begin_with b
	of a -q add 192.0.2.2
	of a -q del 192.0.2.2
	of a -q del $entry
	publishes 1 of a -q add $entry
	comes b $entry
	goes b 192.0.2.2
	published a
	save before
	is_deleted b
	adds a b 192.0.2.2
	published a
	loses a before
	outbox_is a 2 || fail "$(field a outbox) changes wait"
	of a -q fleet resync
	says_log a 'resynced \(asked\)'
	takes
	published a
	wait_for "b" has_read_all b
	agree 1 a b
	has a 192.0.2.2 || fail "a has $(listing a): $(cat "$T/a/log")"
}

# A put of a, a delete of b behind it, and the same put again, of which the log has kept the first.
t_a_put_behind_a_delete_that_is_lost_with_it()
{
	configure_host b
	begin_with b
	save before
	publishes 1 of b -q del $entry
	goes a $entry
	down b
	of a -q add $entry
	published a
	loses a before
	of a -q fleet resync
	says_log a 'resynced \(asked\)'
	wait_for "the end of the log" has_read_all a
	up b
	says_log b 'has lost entries behind'
	takes
	published a b
	agree 1 a b
}

run_tests
