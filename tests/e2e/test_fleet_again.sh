#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A host that goes back in the log reads again what it has known: an entry that was deleted there, and is listed since,
# is listed all the while.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

entry=192.0.2.1

# begin_with HOST: a publishes; HOST is configured already.
begin_with()
{
	redis
	configure_host a
	up a
	wait_for "a in the fleet" reads a
	up "$1"
	wait_for "$1 in the fleet" reads "$1"
	publishes 1 of a -q add $entry
	wait_for "it" has "$1" $entry
}

# follower HOST: it does not publish.
follower()
{
	configure_host "$1"
	sed -i /^publish/d "$T/$1/bloomd.conf"
}

is_deleted() { publishes 1 of a -q del $entry && wait_for "its end" has_not "$1" $entry; }

# So many that they do not come at once.
is_listed_again()
{
	python3 -c 'for i in range(40000): print("20.0.%d.%d" % (i >> 8, i & 255))' >"$T/many"
	of a -q import "$T/many"
	of a -q add $entry
	wait_for "it again" has "$1" $entry
	wait_for "the changes" outbox_is a 0
}

# save NAME: what the server has.
save()
{
	redis_dies
	cp -a "$T/redis" "$T/$1"
	redis
}

# replace_by NAME [OPTION...]: of the server.
replace_by()
{
	redis_dies
	rm -r "$T/redis"
	mv "$T/$1" "$T/redis"
	redis "${@:2}"
}

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
	kill "$watcher"
	wait "$watcher" || true
	[[ $(wc -l <"$T/looks") -ge 10 ]] || fail "only $(wc -l <"$T/looks") looks"
	[[ ! -e $T/gone ]] || fail "it was gone for a moment: $(tail -n 4 "$T/$1/log")"
	has "$1" $entry || fail "it is gone"
}

has_read_all() { reads "$1" && [[ $(field "$1" position) -eq $(log_end) ]]; }

t_after_a_resync()
{
	follower b
	begin_with b
	is_deleted b
	is_listed_again b
	watches b
	of b -q fleet resync
	patience=12
	wait_for "the resync" logs b 'resynced \(asked\)'
	wait_for "the end of the log" has_read_all b
	was_listed b
}

t_after_a_log_that_comes_back()
{
	follower b
	begin_with b
	save before
	is_deleted b
	is_listed_again b
	down a
	save after
	replace_by before
	patience=12
	wait_for "the loss" logs b 'has lost entries behind'
	wait_for "the end of the log" has_read_all b
	watches b
	replace_by after
	wait_for "the end of the log" has_read_all b
	was_listed b
	[[ $(of b list | grep -c '^20\.') -eq 40000 ]] || fail "b has $(of b list | wc -l) entries"
}

# The server has the delete, and not what came behind it; b has that from another, and could not publish it again yet.
t_after_a_delete_that_is_known()
{
	configure_host b
	begin_with b
	save before
	is_deleted b
	save deleted
	of a -q add $entry
	wait_for "it again" has b $entry
	wait_for "the changes" outbox_is a 0
	down a
	patience=12
	replace_by before --min-replicas-to-write 1
	wait_for "the loss" logs b 'has lost entries behind'
	wait_for "the end of the log" has_read_all b
	! outbox_is b 0 || fail "b has published it again"
	watches b
	replace_by deleted
	wait_for "what b publishes" outbox_is b 0
	wait_for "the end of the log" has_read_all b
	was_listed b
	up a
	wait_for "a in the fleet" reads a
	wait_for "the same" are_equal a b
	has a $entry || fail "a has lost it"
}

# goes_back COMMAND...: what a did last is lost, and waits again, while a goes back further, to the snapshot that began the
# log. There it meets what it did before in the same terms.
goes_back()
{
	save before
	"$@"
	patience=12
	replace_by before --min-replicas-to-write 1
	wait_for "the loss" logs a 'has lost entries behind'
	wait_for "the end of the log" has_read_all a
	outbox_is a 1 || fail "$(field a outbox) changes wait"
	of a -q fleet resync
	wait_for "the resync" logs a 'resynced \(asked\)'
	ask_redis config set min-replicas-to-write 0 >"$T/out"
	wait_for "what a publishes" outbox_is a 0
	wait_for "b" has_read_all b
	# shellcheck disable=SC2030 # of this wait alone
	(patience=1 && wait_for "the same" are_equal a b) || fail "a: $(listing a); b: $(listing b)"
}

t_a_delete_that_was_made_before()
{
	follower b
	begin_with b
	is_deleted b
	publishes 1 of a -q add $entry
	wait_for "it again" has b $entry
	goes_back is_deleted b
	has_not a $entry || fail "a has it again: $(cat "$T/a/log")"
}

t_a_put_that_was_made_before()
{
	follower b
	begin_with b
	is_deleted b
	goes_back publishes 1 of a -q add $entry
	has a $entry || fail "a has lost it: $(cat "$T/a/log")"
}

# A put of a, a delete of b behind it, and the same put again, of which the log has kept the first.
t_a_put_behind_a_delete_that_is_lost_with_it()
{
	configure_host b
	begin_with b
	save before
	patience=12
	publishes 1 of b -q del $entry
	wait_for "its end" has_not a $entry
	down b
	of a -q add $entry
	wait_for "the changes" outbox_is a 0
	replace_by before --min-replicas-to-write 1
	wait_for "the loss" logs a 'has lost entries behind'
	wait_for "the end of the log" has_read_all a
	of a -q fleet resync
	wait_for "the resync" logs a 'resynced \(asked\)'
	wait_for "the end of the log" has_read_all a
	up b
	wait_for "the loss" logs b 'has lost entries behind'
	ask_redis config set min-replicas-to-write 0 >"$T/out"
	wait_for "what a publishes" outbox_is a 0
	wait_for "what b publishes" outbox_is b 0
	wait_for "the same" are_equal a b
	has a $entry || fail "a has lost it: $(cat "$T/a/log")"
}

run_tests
