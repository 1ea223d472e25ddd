#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# attach, detach and restore of several interfaces leave each as it was wanted, also when they fail; every
# command warns while a wanted interface is unfiltered.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/interfaces.sh"

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

t_numbers_4096_apart()
{
	local i names=()

	for i in 1 2 3 4 5 6 7 8 9; do
		names+=("n$i")
		join "n$i" 0 "index $((i * 4096 + 100))"
	done
	# Of this number the first cell is n1's.
	join n0 0 "index 101"
	names+=(n0)
	ctl add 10.77.0.3
	exits 0 attach "${names[@]}"
	wanted "${names[@]}"
	filters n1 n9 n0
	exits 0 -j stats
	json 'len([i for i in d["interfaces"] if i["name"] != "other"]) == 10'
	json 'any(r["packets"] for i in d["interfaces"] if i["name"] == "n0" for r in i["reasons"] if r["reason"] == "listed_ipv4_host")'
}

t_failed_attach_leaves_nothing_allowed()
{
	join q0 5 "numtxqueues 1 numrxqueues 1" "numtxqueues 4 numrxqueues 1"
	ip -n "$server" addr add 192.0.2.1/24 dev q0
	ip -n "$server" -6 addr add fe80::5/64 dev q0 nodad
	exits 3 attach q0 --mode native
	exits 1 -j status
	json 'd["allowlist"]["automatic"] == []'
	ctl -q attach x0
	exits 3 attach q0 --mode native
	nothing_is_allowed_for q0
}

nothing_is_allowed_for()
{
	exits 0 -j status
	json "not any('$1' in a['why'] for a in d['allowlist']['automatic'])"
	json "any('x0' in a['why'] for a in d['allowlist']['automatic'])"
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
	join x2 1
	ip -n "$server" -6 addr add fe80::6/64 dev x2 nodad
	ctl -q attach x2
	exits 0 -j status
	json 'any("x2" in a["why"] for a in d["allowlist"]["automatic"])'
	ip -n "$server" link del x2
	exits 0 detach x2
	[[ ! -s $T/err ]] || fail "detach of one that was deleted says $(cat "$T/err")"
	nothing_is_allowed_for x2
}

t_detach_named_twice()
{
	begin
	ip -n "$server" link property add dev x0 altname wan
	exits 0 detach x0 x0
	[[ -z $(program_on x0) ]] || fail "x0 is attached"
	ctl -q attach x0
	exits 0 detach wan x0
	[[ -z $(program_on x0) ]] || fail "x0 is attached"
}

other() { state=$T/other tool "$bloomctl" "$@" >"$T/out" 2>"$T/err"; }

t_two_state_directories()
{
	begin
	! other add 10.77.0.4 || fail "adds to a list that is not in force"
	other attach x0 || fail "it may take over: $(cat "$T/err")"
	complains "$pins enforced another store; it now enforces $T/other"
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
	complains 'enforced another store'
	blocked 10.77.0.3
	passes 10.77.0.4
	other detach x0 || fail "it means the interface: $(cat "$T/err")"
	complains 'warning: detached, though the filter is that of another store than '"$T/other"
	says '^x0 detached$'
	[[ $(wc -l <"$T/err") -eq 1 ]] || fail "not one line: $(cat "$T/err")"
	lets_pass x0
	passes 10.77.0.3
	exits 0 up
	blocked 10.77.0.3
}

# Whoever detaches means the interface, whatever became of the state directory.
t_detach_without_the_state()
{
	local how

	begin
	mv "$state" "$T/away"
	for how in x0 "-j detach x0" --all; do
		rm -rf "$state"
		[[ $how == x0 ]] || mkdir "$state"
		blocked 10.77.0.3
		# shellcheck disable=SC2086
		[[ $how == -j* ]] && exits 0 $how || exits 0 detach $how
		lets_pass x0
		[[ -z $(program_on x0) ]] || fail "detach $how leaves a program"
		passes 10.77.0.3
		[[ $how != -j* ]] || json 'd["detached"] and d["left"] == []'
		rm -rf "$state"
		mv "$T/away" "$state"
		exits 0 up
		mv "$state" "$T/away"
	done
	mv "$T/away" "$state"
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

run_tests
