#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An interface stays protected when it gets another name, when another one gets its name or number, and
# when it has alternative names.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/interfaces.sh"

# swap ONE OTHER: each gets the other's name.
swap()
{
	rename "$1" passing
	rename "$2" "$1"
	rename passing "$2"
}

t_renamed_is_followed()
{
	begin
	rename x0 y0
	exits 3 status
	says 'PROBLEM.*x0 is called y0 now'
	exits 0 add 10.77.0.4
	complains 'x0 is called y0 now, and is protected under that name'
	wanted y0
	filters y0
	exits 0 up
	[[ ! -s $T/err ]] || fail "told again: $(cat "$T/err")"
	exits 1 detach x0
	exits 0 detach y0
	lets_pass y0
	# Nobody has looked since: the old name still means it.
	exits 0 attach y0
	rename y0 z0
	exits 0 detach y0
	lets_pass z0
	wanted
}

# Each gets a name by which the next one was wanted.
t_renamed_one_after_another()
{
	join x1 0
	begin x0 x1
	rename x1 x2
	rename x0 x1
	exits 0 add 10.77.0.4
	wanted x1 x2
	filters x1 x2
	exits 0 status
}

# udev gives such a name for a moment.
t_passing_name_is_not_followed()
{
	begin
	rename x0 rename7
	exits 0 up
	rename rename7 x0
	wanted x0
	filters x0
}

# The wish has the second name, the row the first, or the second as well, and the device that one or a third.
t_renamed_after_a_kill()
{
	local point

	begin
	for point in names-followed rows-named; do
		rename x0 y0
		is_killed_at $point
		filters y0
		exits 0 up
		wanted y0
		filters y0
		rename y0 x0
		exits 0 up
		rename x0 y0
		is_killed_at $point
		rename y0 z0
		exits 3 status
		exits 0 up
		complains 'y0 is called z0 now, and is protected under that name'
		wanted z0
		filters z0
		exits 0 detach z0
		rename z0 x0
		exits 0 attach x0
	done
}

# A command that does not see the pins changes nothing of it, nor does one that is refused.
t_renamed_again_after_a_kill_and_a_refusal()
{
	begin
	rename x0 y0
	is_killed_at names-followed
	# shellcheck disable=SC2016
	! unshare --mount sh -c 'umount -l "$0" && exec "$@"' "$XB_TEST_BPFFS" nsenter --net="/run/netns/$server" \
		"$bloomctl" --state "$state" --pin "$pins" --run "$counters" add 10.77.0.9 2>"$T/err" || fail "it is not refused"
	complains hidden
	rename y0 z0
	exits 0 up
	wanted z0
	filters z0
}

# The second name was wanted before, and a third interface has it now.
t_renamed_again_after_a_kill_and_another_has_its_name()
{
	local point

	ctl add 10.77.0.3
	for point in names-followed rows-named; do
		join x1 0
		ctl -q attach x0 x1
		ip -n "$server" link del x0
		rename x1 x0
		is_killed_at $point
		rename x0 y0
		join x0 0
		exits 3 status
		exits 0 up
		complains 'x0 is called y0 now, and another interface is x0: both are protected'
		wanted x0 y0
		filters x0 y0
		exits 0 detach --all
		ip -n "$server" link del y0
	done
}

# udev swaps two names, and bloomctl looks in between: two devices are left to one wish.
t_swap_that_is_not_over()
{
	join x1 0
	begin x0 x1
	rename x0 rename4
	rename x1 x0
	exits 0 up
	rename x0 y0
	exits 0 up
	filters rename4 y0
	rename rename4 x1
	exits 0 up
	wanted x1 y0
	filters x1 y0
}

# A store whose filter is not in force has nothing to say of its interfaces.
t_a_refused_command_names_no_row()
{
	begin
	rename x0 y0
	is_killed_at names-followed
	rename y0 x0
	state=$T/other exits 0 attach x0
	state=$T/other exits 0 add 10.77.0.3
	exits 3 add 10.77.0.9
	complains 'enforces the list of another store'
	rename x0 z0
	state=$T/other exits 0 up
	filters z0
}

t_a_damaged_record_is_told()
{
	begin
	rename x0 y0
	is_killed_at names-followed
	python3 - "$state/store.mdb" <<-'END'
	import sys
	with open(sys.argv[1], "r+b") as file:
	    store = bytearray(file.read())
	    place = -1
	    while (place := store.find(b"renamed", place + 1)) >= 0:
	        store[place + 7 + 8] ^= 1
	    file.seek(0)
	    file.write(store)
	END
	exits 3 status
	complains 'damaged'
	exits 3 up
	complains 'damaged'
	filters y0
}

t_swapped_names()
{
	join x1 0
	begin x0 x1
	swap x0 x1
	exits 0 up
	wanted x0 x1
	filters x0 x1
	exits 0 detach x1
	wanted x0
	swap x0 x1
	exits 3 status
	exits 0 up
	complains 'x0 is called x1 now, and another interface is x0'
	wanted x0 x1
	filters x0 x1
}

t_number_used_again()
{
	local number=4711

	join a0 0 "index $number"
	begin a0
	ip -n "$server" link del a0
	join c0 0 "index $number"
	join a0 0
	[[ $(index_of c0) -eq $number ]] || fail "c0 has another number: $(index_of c0)"
	exits 3 status
	says 'PROBLEM.*a0 is unfiltered: not attached'
	exits 0 up
	wanted a0
	filters a0
	[[ -z $(program_on c0) ]] || fail "c0 has $(program_on c0)"
	exits 0 -j stats
	json '[i["name"] for i in d["interfaces"] if i["name"] != "other"] == ["a0"]'
}

t_alternative_names()
{
	local long=interface-with-a-long-name

	ip -n "$server" link property add dev x0 altname wan altname $long || skip "no alternative names here"
	ctl add 10.77.0.3
	exits 0 attach wan
	says '^x0 attached'
	wanted x0
	exits 0 attach x0 $long wan
	[[ $(wc -l <"$T/out") -eq 1 ]] || fail "told more than once: $(cat "$T/out")"
	wanted x0
	filters x0
	exits 0 detach $long
	wanted
	lets_pass x0
}

# A store that has the other name, as one that was restored.
t_alternative_name_in_a_file()
{
	ip -n "$server" link property add dev x0 altname wan || skip "no alternative names here"
	begin
	ctl save | sed 's/"interface":"x0"/"interface":"wan"/' >"$T/saved"
	ctl detach x0
	exits 0 restore "$T/saved"
	wanted wan
	filters x0
	exits 0 attach x0
	wanted x0
	exits 0 restore "$T/saved"
	wanted x0 wan
	exits 0 up
	[[ ! -s $T/err ]] || fail "a note: $(cat "$T/err")"
	exits 0 detach x0
	wanted
	lets_pass x0
}

run_tests
