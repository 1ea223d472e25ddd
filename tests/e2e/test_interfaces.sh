#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is wanted of interfaces, what the kernel has, and what is said of it: renamed, replaced, moved, seen
# from another network namespace.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# rename OLD NEW: on both sides.
rename()
{
	local side

	for side in "$server" "$client"; do
		ip -n "$side" link set "$1" down
		ip -n "$side" link set "$1" name "$2"
		ip -n "$side" link set "$2" up
	done
}

# swap ONE OTHER: each gets the other's name.
swap()
{
	rename "$1" passing
	rename "$2" "$1"
	rename passing "$2"
}

# over IFACE: from now on the two talk over it.
over()
{
	local side

	for side in "$server" "$client"; do
		ip -n "$side" -4 addr flush scope global
		ip -n "$side" -6 addr flush scope global
	done
	address "$1"
}

filters()
{
	local name

	for name; do
		over "$name"
		passes 10.77.0.2
		blocked 10.77.0.3
	done
}

lets_pass() { over "$1" && passes 10.77.0.2 10.77.0.3; }

program_on() { ip -n "$server" -d link show "$1" | grep -o 'prog/xdp id [0-9]*' || true; }

index_of() { ip -n "$server" -o link show "$1" | cut -d: -f1; }

begin()
{
	ctl add 10.77.0.3
	ctl -q attach "${@:-x0}"
}

# wanted NAME...: status is content with just these.
wanted()
{
	exits 0 -j status
	json "sorted(i['name'] for i in d['interfaces']) == sorted('$*'.split())"
}

t_renamed_and_another_has_its_name()
{
	begin
	rename x0 wan0
	join x0 0
	exits 0 attach x0
	complains 'x0 is called wan0 now, and another interface is x0: both are protected'
	wanted x0 wan0
	filters x0 wan0
	exits 0 detach x0 wan0
	lets_pass wan0
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
}

# Nobody has looked since: the old name still means it.
t_renamed_is_detached_by_the_old_name()
{
	begin
	rename x0 y0
	exits 0 detach x0
	lets_pass y0
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

# A command that is refused elsewhere, where the pins were lost, leaves nothing that hides what is wrong here.
t_lost_pins_and_a_refusal_elsewhere()
{
	begin
	rm -rf "$pins"
	! unshare --net "$bloomctl" --state "$state" --pin "$pins" --run "$counters" attach nosuch0 2>"$T/err" ||
		fail "nosuch0 is attached"
	exits 3 status
	says 'x0 is unfiltered'
	exits 0 up
	filters x0
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

t_renamed_in_repair()
{
	local code=0

	begin
	rename x0 y0
	XB_FAULT="names-followed" tool "$faulty" -q up || code=$?
	[[ $code -eq 137 ]] || fail "no such fault point: exit code $code"
	filters y0
	exits 0 up
	wanted y0
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

t_moved_away_and_back()
{
	local number

	begin
	! is_dispatched x0 || skip "libxdp knows interfaces of this network namespace only"
	number=$(index_of x0)
	ip -n "$server" link set x0 netns "$client" name m0
	exits 3 status
	says 'PROBLEM.*x0 is unfiltered: in another network namespace'
	exits 0 add 10.77.0.4
	complains 'x0 is unfiltered: in another network namespace'
	exits 3 up
	ip -n "$client" -d link show m0 | grep -q prog/xdp || fail "it lost its filter"
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

t_moved_away_and_detached()
{
	begin
	! is_dispatched x0 || skip "libxdp knows interfaces of this network namespace only"
	ip -n "$server" link set x0 netns "$client" name m0
	exits 0 detach x0
	wanted
	! ip -n "$client" -d link show m0 | grep -q prog/xdp || fail "the filter stays on it"
}

# Each network namespace has numbers of its own.
t_moved_away_to_a_number_that_is_filtered_here()
{
	begin
	! is_dispatched x0 || skip "libxdp knows interfaces of this network namespace only"
	ip -n "$server" link set x0 netns "$client" name m0
	join c0 0 "index $(ip -n "$client" -o link show m0 | cut -d: -f1)"
	exits 0 attach c0
	filters c0
	exits 3 status
	says 'x0 is unfiltered: in another network namespace'
	exits 0 detach c0
	ip -n "$client" -d link show m0 | grep -q prog/xdp || fail "the other one lost its filter"
	exits 0 attach c0
	exits 0 detach x0
	! ip -n "$client" -d link show m0 | grep -q prog/xdp || fail "the filter stays on it"
	wanted c0
	filters c0
}

# It comes back without its name, and without a row, which another one has that got its number.
t_moved_away_and_back_by_another_name()
{
	local number

	begin
	! is_dispatched x0 || skip "libxdp knows interfaces of this network namespace only"
	number=$(index_of x0)
	ip -n "$server" link set x0 netns "$client" name m0
	join c0 0 "index $number"
	exits 0 attach c0
	ip -n "$client" link set m0 netns "$server" name y0
	ip -n "$server" link set y0 up
	exits 3 status
	says 'y0 is filtered, and nobody wants it'
	exits 0 add 10.77.0.4
	[[ -z $(program_on y0) ]] || fail "a program stays"
	filters c0
}

# Its wish went to one here that is also called by its name, and is attached by its own.
t_moved_away_and_its_name_was_taken()
{
	begin
	! is_dispatched x0 || skip "libxdp knows interfaces of this network namespace only"
	ip -n "$server" link set x0 netns "$client" name m0
	join c0 0 "index 4711"
	ip -n "$server" link property add dev c0 altname x0
	exits 0 add 10.77.0.4
	exits 0 status
	exits 0 attach c0
	wanted c0
	! ip -n "$client" -d link show m0 | grep -q prog/xdp || fail "the filter stays on it"
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
	ip -n "$client" -d link show x0 | grep -q prog/xdp || fail "not attached"
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
	ip -n "$client" -d link show x0 | grep -q prog/xdp || fail "not attached"
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
}

t_change_of_mode_that_fails()
{
	ip -n "$server" link add br0 type bridge || skip "no bridges here"
	begin x0 br0 --mode skb
	passes 10.77.0.2
	exits 3 attach br0 --mode native
	one_line
	complains 'br0: the driver has no native XDP'
	exits 3 attach x0 br0 --mode native
	one_line
	exits 0 -j status
	json 'all(i["mode"] == "skb" and i["state"] == "attached" for i in d["interfaces"])'
	blocked 10.77.0.3
	exits 0 -j stats
	json 'sum(r["packets"] for i in d["interfaces"] if i["name"] == "x0" for r in i["reasons"] if r["reason"] == "clean") >= 1'
}

t_change_of_mode_is_told()
{
	begin x0 --mode skb
	blocked 10.77.0.3
	exits 0 attach x0 --mode native
	says 'x0 attached in native mode, before in skb; unfiltered for [0-9.]+ ms'
	exits 0 -j attach x0 --mode skb
	json '0 < d["interfaces"][0]["unfiltered_microseconds"] < 1e6'
	wanted x0
	exits 0 -j stats
	json 'sum(r["packets"] for r in d["interfaces"][0]["reasons"] if r["reason"] == "listed_ipv4_host") >= 1'
}

t_unknown_name_ends_no_trial()
{
	begin
	ctl -q policy monitor --rollback 60
	exits 1 detach nosuch0
	one_line
	exits 1 detach x0 nosuch0
	exits 0 -j status
	json 'd["trial"]["seconds_left"] > 0 and d["interfaces"][0]["state"] == "attached"'
	passes 10.77.0.3
	exits 0 detach x0
}

t_numbers_4096_apart()
{
	local i names=()

	for i in 1 2 3 4 5 6 7 8 9; do
		names+=("n$i")
		join "n$i" 0 "index $((i * 4096 + 100))"
	done
	ctl add 10.77.0.3
	exits 0 attach "${names[@]}"
	wanted "${names[@]}"
	filters n1 n9
	exits 0 -j stats
	json 'len([i for i in d["interfaces"] if i["name"] != "other"]) == 9'
}

t_failed_attach_leaves_nothing_allowed()
{
	join q0 5 "numtxqueues 1 numrxqueues 1" "numtxqueues 4 numrxqueues 1"
	ip -n "$server" addr add 192.0.2.1/24 dev q0
	exits 3 attach q0 --mode native
	exits 0 -j status
	json 'd["allowlist"]["automatic"] == []'
}

nothing_is_allowed_for()
{
	exits 0 -j status
	json "not any('$1' in a['why'] for a in d['allowlist']['automatic'])"
	json "any('x0' in a['why'] for a in d['allowlist']['automatic'])"
}

t_failed_attach_beside_another_leaves_nothing_allowed()
{
	join q0 5 "numtxqueues 1 numrxqueues 1" "numtxqueues 4 numrxqueues 1"
	ip -n "$server" addr add 192.0.2.1/24 dev q0
	ip -n "$server" -6 addr add fe80::5/64 dev q0 nodad
	ctl -q attach x0
	exits 3 attach q0 --mode native
	nothing_is_allowed_for q0
}

# What is attached keeps what it had, though it is not found now.
t_failed_change_of_mode_leaves_all_allowed()
{
	join q0 5 "numtxqueues 1 numrxqueues 1" "numtxqueues 4 numrxqueues 1"
	ip -n "$server" addr add 192.0.2.1/24 dev q0
	ip -n "$server" route add default via 192.0.2.9 dev q0
	ctl -q attach x0 q0
	ip -n "$server" link set q0 down
	exits 3 attach q0 --mode native
	exits 0 -j status
	json 'any(a["entry"] == "192.0.2.9" for a in d["allowlist"]["automatic"])'
}

t_detach_leaves_nothing_allowed()
{
	join x1 1
	ip -n "$server" -6 addr add fe80::5/64 dev x1 nodad
	ctl -q attach x0
	ctl -q attach x1 --rollback 60
	exits 0 -j status
	json 'any("x1" in a["why"] for a in d["allowlist"]["automatic"])'
	exits 0 detach x1
	nothing_is_allowed_for x1
	ctl -q attach x1
	ip -n "$server" link set x1 netns "$client" name m1
	exits 0 detach x1
	nothing_is_allowed_for x1
}

other() { tool "$bloomctl" --state "$T/other" "$@" >"$T/out" 2>"$T/err"; }

t_two_state_directories()
{
	begin
	! other add 10.77.0.4 || fail "adds to a list that is not in force"
	other attach x0 || fail "it may take over: $(cat "$T/err")"
	complains "$pins had the list of another store.*$T/other"
	other add 10.77.0.4 || fail "now it is its own: $(cat "$T/err")"
	blocked 10.77.0.4
	passes 10.77.0.3
	for command in up "add 10.77.0.5" "del 10.77.0.3" rotate "policy monitor"; do
		# shellcheck disable=SC2086
		exits 3 $command
		complains 'enforces the list of another store'
		one_line
	done
	exits 3 status
	blocked 10.77.0.4
	passes 10.77.0.3
	exits 0 attach x0
	complains 'had the list of another store'
	blocked 10.77.0.3
	passes 10.77.0.4
	other detach x0 || fail "what it wants is its own matter: $(cat "$T/err")"
	blocked 10.77.0.3
}

t_restore_of_another_machine()
{
	begin
	ctl save | sed 's/"interface":"x0"/"interface":"eth7"/' >"$T/saved"
	exits 3 restore "$T/saved"
	complains 'eth7 is unfiltered: missing'
	complains 'restored, but 1 of the wanted interfaces'
	filters x0
	exits 3 status
	exits 0 detach eth7
	wanted x0
	exits 3 restore --interfaces "$T/saved"
	lets_pass x0
	grep -v '"interface"' "$T/saved" >"$T/none"
	ctl -q attach x0
	ctl -q detach eth7
	exits 0 restore "$T/none"
	[[ ! -s $T/err ]] || fail "a warning: $(cat "$T/err")"
	wanted x0
	filters x0
	exits 0 restore "$T/none" --interfaces
	wanted
	lets_pass x0
}

t_what_is_open_is_told()
{
	local command

	join x1 0
	begin x0 x1
	ip -n "$server" link del x0
	for command in "add 10.77.0.4" "del 10.77.0.4" rotate "policy enforce" "detach x1" "attach x1"; do
		# shellcheck disable=SC2086
		exits 0 $command
		complains 'warning: x0 is unfiltered: missing'
		[[ $(wc -l <"$T/err") -eq 1 ]] || fail "$command: told twice: $(cat "$T/err")"
	done
	exits 0 -q add 10.77.0.5
	complains 'warning: x0 is unfiltered: missing'
	exits 0 -j add 10.77.0.6
	grep -qx '{"schema":1,"warning":"x0 is unfiltered: missing"}' "$T/err" || fail "$(cat "$T/err")"
	ip -n "$server" link del x1
	exits 0 add 10.77.0.7
	complains 'nothing is filtered'
}

t_nothing_attached_is_told()
{
	local command

	begin x0
	for command in "detach x0" "add 10.77.0.5" "policy enforce" "flush --yes"; do
		# shellcheck disable=SC2086
		exits 0 $command
		complains '^bloomctl: nothing is filtered: no interface is attached$'
		[[ $(wc -l <"$T/err") -eq 1 ]] || fail "$command: told twice: $(cat "$T/err")"
	done
	exits 0 -q add 10.77.0.6
	[[ ! -s $T/err ]] || fail "a note with -q: $(cat "$T/err")"
	exits 1 del 10.77.0.99
	! grep -q 'nothing is filtered' "$T/err" || fail "it changed nothing: $(cat "$T/err")"
	exits 0 attach x0
	[[ ! -s $T/err ]] || fail "it is attached: $(cat "$T/err")"
}

run_tests
