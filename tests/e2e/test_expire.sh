#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Entries that have expired: nobody is told that they are listed, and `expire` takes them out.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

t_expired_is_not_listed()
{
	local seconds=$((5 * patience))

	exits 0 -j expire
	json 'd["expired"] == 0'
	[[ ! -e $state/store.mdb ]] || fail "expire made a store"
	exits 0 attach x0
	exits 0 add 10.77.0.6 10.77.0.5 10.77.0.7 fine.example
	exits 0 add 10.77.0.4 --timeout 3000
	cat >"$T/batch" <<-END
		allow add 10.77.0.6 --timeout $seconds
		add 10.77.0.3 old.example --timeout $seconds
		add 10.77.0.5 10.77.3.0/24 --list short --timeout $seconds
	END
	exits 0 batch "$T/batch"
	exits 0 expire
	says '^0 expired$'
	sleep $seconds.1

	exits 1 test 10.77.0.3
	says '^10.77.0.3 is not listed$'
	says '^10.77.0.3 expired 2'
	says '^10.77.0.3 is dropped now: expired, and enforced until `bloomctl expire` or '
	exits 1 -j test 10.77.3.9
	json 'not d["entries"][0]["listed"] and d["entries"][0]["expired"] and not d["entries"][0]["by"]'
	exits 1 test below.old.example
	says '^old.example expired 2'
	exits 1 test old.example
	says '^old.example is dropped now: expired, '
	exits 0 test 10.77.0.5
	! grep -q short "$T/out" || fail "of a list that it has left: $(cat "$T/out")"
	exits 0 test 10.77.0.6
	says '^allow 10.77.0.6 expired'
	says '^10.77.0.6 passes now: expired, '
	exits 1 allow test 10.77.0.6
	exits 0 -j list
	json '[one["entry"] for one in d["entries"]] == ["10.77.0.4", "10.77.0.5", "10.77.0.6", "10.77.0.7", "fine.example"]'
	exits 2 list --list short
	exits 0 allow list
	! grep -q 10.77.0.6 "$T/out" || fail "allowed: $(cat "$T/out")"
	exits 0 -j status
	json 'd["expired"] == 5 and d["listed"] == {"ipv4_prefixes": 0, "ipv4_hosts": 4, "ipv6_prefixes": 0, "domains": 1, "exceptions": 0}'
	json '[(one["name"], one["entries"]) for one in d["lists"] if one["entries"]] == [("default", 5)]'
	json 'd["ok"] and d["allowlist"]["manual"] == 0'
	exits 0 status
	says '^expired     5 entries, to be taken out by `bloomctl expire`'
	exits 0 save
	! grep -qE '"10.77.0.3"|old.example|short|"allow":"10.77.0.6"' "$T/out" || fail "saved: $(cat "$T/out")"
	blocked 10.77.0.3 10.77.3.9
	passes 10.77.0.6

	exits 0 expire
	says '^5 expired$'
	passes 10.77.0.3 10.77.3.9
	blocked 10.77.0.4 10.77.0.5 10.77.0.6
	exits 1 test 10.77.0.3
	says '^10.77.0.3 passes now: not listed$'
	exits 0 -j status
	json 'd["expired"] == 0 and d["listed"]["ipv4_hosts"] == 4'
	exits 0 -j expire
	json 'd["expired"] == 0'
}

# The filter is built behind the step in which the interface's own addresses are allowed. Nothing to do is done without a
# lock, whoever holds it.
t_while_an_interface_is_attached()
{
	exits 0 add 10.77.0.3
	exits 0 add 10.77.0.4 --timeout 1
	stands_at commit-after attach x0
	sleep 2
	goes_on 0
	blocked 10.77.0.3
	passes 10.77.0.4
	exits 0 status
	exits 0 add 192.0.2.1 --timeout 3000
	exec 7>>"$state/writer.lock"
	flock 7
	in_server timeout $((60 * patience)) "$bloomctl" --state "$state" --pin "$pins" --run "$counters" expire >"$T/out" ||
		fail "it waits for a lock"
	says '^0 expired$'
}

has_no_program() { ! ip -n "$server" -d link show x0 | contains prog/xdp; }

# ends_what_is_over UNIT: what the unit runs afterwards takes the program of a trial off.
ends_what_is_over()
{
	local after

	after=$(sed -n "s|^ExecStartPost=-/bin/sh -c '\(.*\)' /usr/local/sbin/bloomctl$|\1|p" "$1")
	[[ -n $after ]] || fail "$(cat "$1")"
	# systemd makes one dollar of two.
	after=${after//\"\$\$0\"/$bloomctl --state $state --pin $pins --run $counters}
	after=${after//\$\$/\$}
	exits 0 attach x0 --rollback 1
	wait_for "the end of the trial" eval '! ctl status'
	in_server sh -c "$after"
	has_no_program || fail "x0 still has the program"
	exits 1 status
}

t_units_are_installed_and_removed()
{
	local units="$T/root/usr/local/lib/systemd/system" file name

	[[ -x $root/build/bloomctl ]] || skip "nothing is built to install"
	# Wherever the environment would have it: perf sets PREFIX for what it runs.
	PREFIX=/usr SBINDIR=/usr/sbin make -s -C "$root" -o build/bloomctl -o build/libxdp-bloom.a install install-dev \
		DESTDIR="$T/root"
	grep -qx 'ExecStart=/usr/local/sbin/bloomctl -q expire' "$units/xdp-bloom-expire.service" ||
		fail "$(cat "$units/xdp-bloom-expire.service")"
	[[ -e $units/xdp-bloom-expire.timer ]]
	ends_what_is_over "$units/xdp-bloom-expire.service"
	grep -q 'Also=.*xdp-bloom-expire.timer' "$units/xdp-bloom.service"
	for file in "$root"/packaging/* "$root"/packaging/fail2ban/{*,*/*}; do
		[[ -f $file ]] || continue # what makes packages of it
		name=${file##*/}
		[[ $name != *.bash ]] || name=completions/${name%.bash}
		[[ -n $(find "$T/root" -type f -path "*/$name") ]] || fail "$name is not installed"
	done
	make -s -C "$root" uninstall DESTDIR="$T/root"
	[[ -z $(find "$T/root" -type f) ]] || fail "left: $(find "$T/root" -type f)"
}

run_tests
