#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Interfaces move to another network namespace, commands run in another one, and a namespace is gone: each
# is reported, and none ends the protection of what stayed.
# shellcheck source-path=SCRIPTDIR disable=SC2154
# shellcheck disable=SC2119 # begin without arguments attaches x0
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/interfaces.sh"

# begin_to_move [ARGUMENT...]: what begin() does, where it can be told what moves away.
begin_to_move()
{
	begin "$@"
	! is_dispatched x0 || skip "libxdp knows interfaces of this network namespace only"
}

still='x0 is in another network namespace, where the filter is still on it'

# It is called filtered where it is, and drops there.
t_moved_away_and_drops_there()
{
	begin_to_move
	ip netns add "$server-o"
	ip -n "$server" link set x0 netns "$server-o"
	ip -n "$server-o" link set x0 up
	ip -n "$server-o" addr add "$server4/24" dev x0
	passes 10.77.0.2 10.77.0.4
	blocked 10.77.0.3
	exits 3 -j status
	json '[(one["kind"], one["interface"]) for one in d["problem_details"]] == [("elsewhere", "x0")]'
	exits 0 add 10.77.0.4
	! grep -q unfiltered "$T/err" || fail "$(cat "$T/err")"
	blocked 10.77.0.4
	exits 0 metrics
	says '^xdp_bloom_enforcing\{interface="x0"\} 1$'
	says '^xdp_bloom_problems\{kind="elsewhere"\} 1$'
	exits 0 detach x0
	passes 10.77.0.3
	ip netns del "$server-o"
}

t_moved_away_and_back()
{
	local number

	begin_to_move
	number=$(index_of x0)
	ip -n "$server" link set x0 netns "$client" name m0
	exits 3 status
	says "PROBLEM +$still; bring it back, or .bloomctl detach x0. takes the filter off\$"
	says '^x0 +attached, in another network namespace '
	exits 0 add 10.77.0.4
	complains "warning: $still\$"
	exits 3 up
	complains '1 of the wanted interfaces is not filtered here'
	ip -n "$client" -d link show m0 | contains prog/xdp || fail "it lost its filter"
	join c0 0 "index $number"
	exits 0 attach c0
	filters c0
	ip -n "$client" link set m0 netns "$server" name x0
	ip -n "$server" link set x0 up
	exits 0 up
	wanted x0 c0
	filters x0 c0
	exits 0 detach --all
	[[ -z $(program_on x0)$(program_on c0) ]] || fail "a program stays"
}

# It comes back with another number, and the command that gives it a row of that number is killed. Then it is renamed.
t_moved_back_and_renamed_after_a_kill()
{
	local number point

	begin_to_move
	for point in row-enrolled row-renumbered; do
		number=$(index_of x0)
		ip -n "$server" link set x0 netns "$client" name m0
		join c0 0 "index $number"
		ip -n "$client" link set m0 netns "$server" name x0
		ip -n "$server" link set x0 up
		[[ $(index_of x0) -ne $number ]] || fail "it has its former number"
		is_killed_at $point
		rename x0 y0
		exits 0 up
		complains 'x0 is called y0 now, and is protected under that name'
		wanted y0
		filters y0
		[[ -z $(program_on c0) ]] || fail "c0 has $(program_on c0)"
		exits 0 detach y0
		ip -n "$server" link del c0
		rename y0 x0
		exits 0 attach x0
	done
}

# away_and_back NUMBER: x0 leaves, comes back, and has this number now.
away_and_back()
{
	ip -n "$server" link set x0 netns "$client" name m0
	ip -n "$client" link set m0 netns "$server" name x0 index "$1" || skip "ip cannot ask for a number here"
	ip -n "$server" link set x0 up
	[[ $(index_of x0) -eq $1 ]] || fail "it has the number $(index_of x0)"
}

# The row of the former number, which a writer that was killed left behind, means nothing later.
t_row_that_is_left_behind()
{
	begin_to_move
	away_and_back 4711
	is_killed_at row-enrolled
	exits 0 up
	rename x0 y0
	exits 0 up
	join x0 0
	exits 0 attach x0
	wanted x0 y0
	ip -n "$server" link del x0
	exits 3 up
	join x0 0
	exits 0 up
	wanted x0 y0
	filters x0 y0
}

t_renamed_while_it_has_two_rows()
{
	begin_to_move
	away_and_back 4711
	is_killed_at row-enrolled
	rename x0 y0
	is_killed_at names-followed
	rename y0 z0
	exits 0 up
	wanted z0
	filters z0
}

# Another device gets both the name and the number that it had.
t_its_name_and_number_are_taken()
{
	local number

	begin_to_move
	number=$(index_of x0)
	away_and_back 4711
	rename x0 y0
	join x0 0 "index $number"
	exits 0 up
	wanted x0 y0
	rename y0 z0
	exits 0 up
	wanted x0 z0
	filters x0 z0
}

# The cells that a number may have are taken by the neighbours of it.
t_no_room_for_two_rows()
{
	local i

	ctl add 10.77.0.3
	! is_dispatched x0 || skip "libxdp knows interfaces of this network namespace only"
	ip -n "$server" link del x0
	ip -n "$server" link add w0 index $((4096 + (200 ^ 1))) type veth peer name p0
	for i in 1 2 3 4 5 6; do
		ip -n "$server" link add w$i index $((200 + i)) type veth peer name p$i
	done
	join x0 0 "index 207"
	exits 0 attach x0 w0 w1 w2 w3 w4 w5 w6
	away_and_back 200
	exits 0 up
	wanted x0 w0 w1 w2 w3 w4 w5 w6
	filters x0
}

# It has the number of one that is wanted, too, and is gone.
t_number_of_one_that_is_gone()
{
	join x1 0 "index 4711"
	begin_to_move x0 x1
	ip -n "$server" link del x1
	away_and_back 4711
	exits 3 up
	complains 'x1 is unfiltered: missing'
	join x1 0
	exits 0 up
	wanted x0 x1
	filters x0 x1
}

# Another device has its name meanwhile, and loses it.
t_moved_away_and_its_name_went_on()
{
	begin_to_move
	ip -n "$server" link set x0 netns "$client" name m0
	join c0 0
	rename_here c0 x0
	exits 0 up
	rename_here x0 c0
	exits 3 up
	complains "$still"
	ip -n "$client" link set m0 netns "$server" name x0
	ip -n "$server" link set x0 up
	exits 0 up
	wanted c0 x0
	filters c0 x0
}

# Each network namespace has numbers of its own.
t_moved_away_to_a_number_that_is_filtered_here()
{
	begin_to_move
	ip -n "$server" link set x0 netns "$client" name m0
	join c0 0 "index $(ip -n "$client" -o link show m0 | cut -d: -f1)"
	exits 0 attach c0
	filters c0
	exits 3 status
	says "$still"
	exits 0 detach c0
	ip -n "$client" -d link show m0 | contains prog/xdp || fail "the other one lost its filter"
	exits 0 attach c0
	exits 0 detach x0
	! ip -n "$client" -d link show m0 | contains prog/xdp || fail "the filter stays on it"
	wanted c0
	filters c0
}

# It comes back without its name, and without a row, which another one has that got its number.
t_moved_away_and_back_by_another_name()
{
	local number

	begin_to_move
	number=$(index_of x0)
	ip -n "$server" link set x0 netns "$client" name m0
	join c0 0 "index $number"
	exits 0 attach c0
	ip -n "$client" link set m0 netns "$server" name y0
	ip -n "$server" link set y0 up
	exits 3 status
	says 'y0 is filtered, but is not wanted'
	exits 0 add 10.77.0.4
	[[ -z $(program_on y0) ]] || fail "a program stays"
	filters c0
}

# Its wish went to one here that is also called by its name, and is attached by its own.
t_moved_away_and_its_name_was_taken()
{
	begin_to_move
	ip -n "$server" link set x0 netns "$client" name m0
	join c0 0 "index 4711"
	ip -n "$server" link property add dev c0 altname x0
	exits 0 add 10.77.0.4
	exits 0 status
	exits 0 attach c0
	wanted c0
	! ip -n "$client" -d link show m0 | contains prog/xdp || fail "the filter stays on it"
	filters c0
}

elsewhere() { in_client "$bloomctl" --state "$state" --pin "$pins" --run "$counters" "$@" >"$T/out" 2>"$T/err"; }

everything() { program_on x0 && ctl save && find "$pins" -printf "%i %p\n" 2>/dev/null | sort; }

# refuses_elsewhere COMMAND...: each of them, and it changes nothing; status says where they belong.
refuses_elsewhere()
{
	local command code before

	before=$(everything || true)
	for command; do
		code=0
		# shellcheck disable=SC2086
		elsewhere $command || code=$?
		[[ $code -eq 3 ]] || fail "$command: exit code $code"
		one_line
		complains "another network namespace.*nsenter --net=/run/netns/$server "
	done
	[[ $before == "$(everything || true)" ]] || fail "something has changed"
	! elsewhere status || fail "status finds nothing wrong"
	says "PROBLEM.*another network namespace.*nsenter --net=/run/netns/$server "
}

t_another_network_namespace()
{
	begin
	refuses_elsewhere up "add 10.77.0.4" "del 10.77.0.3" "detach x0" "detach --all" "attach x0" rotate commit \
		"policy monitor" "policy monitor --rollback 9" "flush --yes" "allow add 10.77.0.3"
	elsewhere list
	elsewhere test 10.77.0.3
	elsewhere -j stats
	complains 'another network namespace; names shown here may be'
	exits 0 status
	filters x0
}

# Its only interface is gone for a while; the namespace is not.
t_its_network_namespace_has_no_interface()
{
	exits 0 attach x0
	ctl add 10.77.0.3
	ip -n "$server" link del x0
	ip -n "$client" link add x0 type veth peer name x0p
	in_client "$bloomctl" --state "$state" --pin "$pins" --run "$counters" add 10.77.0.4 \
		>"$T/out" 2>"$T/err" && fail "taken over from another network namespace"
	complains 'network namespace'
	ip -n "$client" link del x0
	join x0 0
	address x0
	exits 0 up
	wanted x0
	filters x0
	blocked 10.77.0.3
	passes 10.77.0.4
}

t_its_network_namespace_is_gone()
{
	ip netns add "$server-g"
	ip -n "$server-g" link add g0 type veth peer name g1
	nsenter --net="/run/netns/$server-g" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" attach g0 \
		>"$T/out"
	! (server=$server-g is_dispatched g0) || skip "libxdp does not tell that it is gone"
	ip netns del "$server-g"
	wait_for "the end of the namespace" takes_over
	exits 0 detach g0
	ctl add 10.77.0.3
	wanted x0
	filters x0
}

takes_over() { ctl attach x0; }

# refused_elsewhere: whatever would write is, and nothing comes to be or goes there.
refused_elsewhere()
{
	ctl save >"$T/saved"
	refuses_elsewhere up "add 10.77.0.4" "del 10.77.0.3" "attach x0" "attach x0 --rollback 9" "attach nosuch0" rotate \
		"policy monitor" "flush --yes" "allow add 10.77.0.3" "restore $T/saved"
	[[ -z $(ip -n "$client" -d link show | grep prog/xdp) ]] || fail "there is a program"
}

# Only the store knows where interfaces are wanted. The other namespace has one of the same name.
t_elsewhere_after_the_pins_were_lost()
{
	begin
	rm -r "$pins"
	refused_elsewhere
	[[ ! -e $pins ]] || fail "pins were made"
	exits 3 status
	says 'x0 is unfiltered'
	exits 0 up
	filters x0
	blocked 10.77.0.3
}

# A command at home has seen that its only interface is gone: no pin tells that it may come back.
t_elsewhere_after_the_interface_was_deleted()
{
	begin
	ip -n "$server" link del x0
	exits 0 add 10.77.0.5
	ip -n "$client" link add x0 type veth peer name x0p
	refused_elsewhere
	ip -n "$client" link del x0
	join x0 0
	address x0
	exits 0 up
	filters x0
	blocked 10.77.0.3 10.77.0.5
}

# It asks the kernel for nothing that is not there.
t_detach_elsewhere_after_the_pins_were_lost()
{
	begin
	join x1 0
	exits 0 attach x1
	rm -r "$pins"
	elsewhere detach x0
	[[ $(ctl save | grep -c '"interface": *"x') -eq 1 ]] || fail "not one is left: $(ctl save)"
	elsewhere detach --all
	wanted
	[[ ! -e $pins ]] || fail "pins were made"
	elsewhere attach x0
	elsewhere status
	ip -n "$client" -d link show x0 | contains prog/xdp || fail "not attached"
	elsewhere detach x0
}

# What was saved is wanted wherever it is restored.
t_restored_elsewhere()
{
	begin
	ctl save >"$T/saved"
	exits 0 detach x0
	rm -r "$state"
	elsewhere restore "$T/saved"
	elsewhere status
	ip -n "$client" -d link show x0 | contains prog/xdp || fail "not attached"
	elsewhere detach x0
}

boots()
{
	rm -rf "$pins" "$counters"
	echo "01234567-89ab-cdef-0123-456789abcde$1" >"$T/boot_id"
	mountpoint -q /proc/sys/kernel/random/boot_id ||
		mount --bind "$T/boot_id" /proc/sys/kernel/random/boot_id
	trap 'umount -l /proc/sys/kernel/random/boot_id' EXIT
}

# What a killed command had to name was gone with the boot.
t_boot_after_a_kill()
{
	join x1 0
	begin x0 x1
	rename x0 y0
	is_killed_at names-followed
	boots 1
	rename y0 x0
	ctl -q attach x0
	join y0 0
	exits 0 up
	wanted x0 x1 y0
	filters x0 x1 y0
}

# After a boot no namespace is the one of before, but for the initial one; who goes on says so.
t_home_after_a_boot()
{
	local command code

	begin
	ctl save >"$T/saved"
	boots 1
	for command in "add 10.77.0.4" rotate "policy monitor" "attach nosuch0"; do
		code=0
		# shellcheck disable=SC2086
		elsewhere $command || code=$?
		[[ $code -eq 3 || $command == "attach nosuch0" && $code -eq 2 ]] ||
			fail "$command: exit code $code"
		one_line
		[[ ! -e $pins ]] || fail "$command: pins were made"
	done
	exits 3 status
	says 'PROBLEM.*namespace in which .* wants interfaces is gone; `bloomctl up` goes on'
	exits 3 add 10.77.0.4
	complains 'namespace in which .* wants interfaces is gone; `bloomctl up` goes on'
	exits 0 up
	complains 'they are wanted in this one from now on'
	filters x0
	blocked 10.77.0.3
	exits 0 up
	[[ ! -s $T/err ]] || fail "a note: $(cat "$T/err")"
	boots 2
	join x1 0
	exits 0 attach x1
	filters x1
	exits 0 up
	filters x0 x1
	blocked 10.77.0.3
	boots 3
	exits 0 restore "$T/saved"
	filters x0 x1
	boots 4
	exits 0 detach x0
	exits 0 up
	wanted x1
	filters x1
}

t_home_is_gone_without_pins()
{
	ip netns add "$server-g"
	ip -n "$server-g" link add g0 type veth peer name g1
	nsenter --net="/run/netns/$server-g" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" attach g0 \
		>"$T/out"
	rm -r "$pins"
	exits 3 up
	complains "another network namespace.*nsenter --net=/run/netns/$server-g "
	ip netns del "$server-g"
	exits 3 add 10.77.0.3
	complains 'namespace in which .* wants interfaces is gone; `bloomctl up` goes on'
	[[ ! -e $pins ]] || fail "pins were made"
	exits 3 up
	complains 'they are wanted in this one from now on'
	complains 'g0 is unfiltered: missing'
	exits 0 attach x0
	exits 0 add 10.77.0.3
	filters x0
}

t_hidden_file_system()
{
	local code=0

	ip netns exec "$server" "$bloomctl" --state "$state" --pin /sys/fs/bpf/xb-test --run "$counters" attach x0 \
		>"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "exit code $code"
	one_line
	complains 'ip netns exec.*nsenter --net=/run/netns/'
	! grep -q 'mount -t' "$T/err" || fail "advises a mount that ends with the shell"
	ip netns exec "$server" "$bloomctl" --state "$state" --pin /sys/fs/bpf/xb-test --run "$counters" doctor \
		>"$T/out" 2>&1 || true
	grep -q 'hidden here.*nsenter --net=' "$T/out" || fail "doctor: $(cat "$T/out")"
	! grep -q 'mount -t' "$T/out" || fail "doctor advises a mount that ends with the shell"
	ctl -q attach x0
	ctl -q add 10.77.0.3
	for code in "detach x0" "detach --all" stats "-j stats"; do
		# shellcheck disable=SC2086
		! ip netns exec "$server" "$bloomctl" --state "$state" --pin /sys/fs/bpf/xb-test --run "$counters" $code \
			>"$T/out" 2>"$T/err" || fail "$code succeeds where no pin can be seen"
		one_line
		complains 'hidden here.*nsenter --net=/run/netns/'
	done
	exits 0 status
	blocked 10.77.0.3
	exits 0 detach x0
	# Nothing is on the interface: then there is nothing to see.
	ip netns exec "$server" "$bloomctl" --state "$state" --pin /sys/fs/bpf/xb-test --run "$counters" detach --all \
		>"$T/out" 2>"$T/err" || fail "$(cat "$T/err")"
}

run_tests
