#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every command that the README and the pages for mail servers and floods show, in the order in which they show
# them, does what it says there.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=cgroup.sh
. "$(dirname "$0")/cgroup.sh"
# shellcheck source=page.sh
. "$(dirname "$0")/page.sh"

# types CODE COMMAND: what ends otherwise, or runs elsewhere.
types()
{
	if [[ -n ${elsewhere[$2]:-} ]]; then
		unset "elsewhere[$2]"
		return
	fi
	case $2 in
	"bloomctl doctor") ctl doctor >"$T/out" 2>"$T/err" || [[ $? -eq 3 ]] || fail "doctor: exit code $?" ;;
	"bloomctl watch") reads_for_a_while ;;
	"bloomctl known test"* | "bloomctl test 198.51.100.7") type_in 1 "$2" ;;
	*) type_in "$@" ;;
	esac
}

# --- the README -------------------------------------------------------------------------------------

# Those of its commands that cannot run here, and why.
apt="apt install ./build/packages/xdp-bloom_*.deb ./build/packages/xdp-bloom-agent_*.deb"
declare -A elsewhere=(
	[scripts/demo]="e2e/demo runs it"
	[scripts/demo-fleet]="e2e/demo runs it"
	[scripts/test]="it runs this test"
	["scripts/setup"]="it installs packages on the machine; scripts/test begins with scripts/setup"
	["scripts/setup --package && scripts/package"]="the same; package/ makes the packages"
	["$apt"]="package/ does so in a root of its own"
)
! is_packaged || unset "elsewhere[$apt]"
! is_packaged || elsewhere["make && make install"]="whoever makes packages does without"

# other_command: where curl would fetch the list, it is here. Of the README's addresses for examples import takes none.
other_command()
{
	case $1 in
	"curl -LO https://"*.netset) printf '%s\n' '# a list' 8.8.8.0/24 198.51.100.0/24 >"${1##*/}" ;;
	"make && make install") lay_usr_local && in_tree "$1" ;;
	"apt install "*) mkdir build && ln -s /mnt/new build/packages && bash -c "$1" && takes_packages && mishap=killed ;;
	*) fail "nobody says how '$1' is tried" ;;
	esac
}

in_tree() { (cd "$root" && WERROR='' bash -c "$1"); }

# A /usr/local and an /etc for this test alone.
lay_usr_local()
{
	made=1
	lay_etc
	lay_over /usr/local
}

# What the unit does at boot.
other_service()
{
	[[ $1 == "enable --now xdp-bloom" ]] || fail "systemctl $1"
	[[ -z ${made:-} ]] || grep -q '^ExecStart=.*/bloomctl up$' /usr/local/lib/systemd/system/xdp-bloom.service
	starts xdp-bloom
}

# Until somebody types Ctrl-C.
reads_for_a_while()
{
	local reader

	nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" watch >"$T/out" &
	reader=$!
	wait_for "that it reads" has_budget
	kill -INT $reader
	wait $reader
}

has_budget() { bpftool -j map dump pinned "$pins/link/watch" | contains '"budget":[1-9]'; }

t_five_minutes()
{
	page_did()
	{
		case $1 in
		"bloomctl attach"*) says 'eth0 attached in (native|skb) mode' ;;
		"bloomctl policy enforce"*) enforced ;;
		"make && "*) [[ -z ${made:-} ]] || [[ $(/usr/local/sbin/bloomctl --version) == xdp-bloom* ]] || fail "nothing is installed" ;;
		esac
	}
	rename eth0
	page_runs "$root/README" 26
	[[ ${#elsewhere[@]} -eq 0 ]] || fail "the README does not show: ${!elsewhere[*]}"
	! ip -n "$server" -d link show eth0 | contains 'prog/xdp' || fail "eth0 is not as it was before"
	[[ -n ${made:-} ]] || return 0
	uninstall >"$T/out"
	[[ -z $(find "$T/disk/usr/local" "$T/disk/etc/fail2ban" -type f) ]] || fail "make uninstall leaves: $(find "$T/disk/usr/local" -type f)"
}

t_five_minutes_beside_bloomd()
{
	is_packaged || { lay_etc && elsewhere["make && make install"]="five_minutes does so"; }
	starts bloomd
	mishap=killed
	t_five_minutes
	agent_ends
}

# uninstall [VARIABLE...]: what the machine itself has attached stays, and so do its units. A filter seems to be there if
# the file $T/filter is. Without what was built, make need not read what depends on what.
uninstall()
{
	mkdir -p "$T/tools"
	printf '#!/bin/sh\necho "$@" >>%s\necho %s\n' "$T/systemctl" "$T/units/bloomd.service" >"$T/tools/systemctl"
	printf '#!/bin/sh\n[ "$2" = %s ]\n' "$T/jails/action.d/xdp-bloom.conf" >"$T/tools/dpkg-query"
	chmod +x "$T/tools"/*
	# shellcheck disable=SC2016 # of the inner shell
	(cd "$root" && PATH=$T/tools:$PATH WERROR='' unshare -m bash -c 'mount -t bpf bpf /sys/fs/bpf && { [[ ! -e $1 ]] ||
		mkdir -p /sys/fs/bpf/xdp-bloom/link; } && exec make uninstall OUT=/nowhere BPF_OUT=/nowhere "${@:2}"' uninstall "$T/filter" "$@")
}

# installs elsewhere; bloomctl works in the namespace and the directories of the test.
lay_elsewhere()
{
	: >"$T/filter"
	places=("SBINDIR=$T/sbin" "UNITDIR=$T/units" "FAIL2BANDIR=$T/jails" "PREFIX=$T/usr")
	in_tree "make -s install ${places[*]}"
	printf '#!/bin/sh\nexec ip netns exec %s %s --state %s --pin %s --run %s "$@"\n' "$server" "$bloomctl" "$state" "$pins" \
		"$counters" >"$T/sbin/bloomctl"
}

# If it can be taken off; otherwise everything stays.
t_uninstall_takes_the_filter_off()
{
	local last

	[[ ! -e /usr/sbin/bloomctl && ! -e /usr/local/sbin/bloomctl ]] || skip "another bloomctl is on this machine"
	lay_elsewhere
	mv "$T/sbin/bloomctl" "$T/bloomctl"
	install /dev/stdin "$T/sbin/bloomctl" <<<$'#!/bin/sh\nexit 3'
	! uninstall "${places[@]}" >"$T/out" 2>"$T/err" || fail "it goes on although the filter stays"
	grep -q '^make uninstall: the filter cannot be taken off, so everything stays$' "$T/err" || fail "$(cat "$T/err")"
	[[ -x $T/sbin/bloomctl && -e $T/units/bloomd.service ]] || fail "files are gone: $(ls "$T/sbin" "$T/units")"
	mv "$T/bloomctl" "$T/sbin/bloomctl"
	rm "$T/systemctl"
	exits 0 attach x0
	uninstall "${places[@]}" >"$T/uninstalled"
	! ip -n "$server" -d link show x0 | contains 'prog/xdp' || fail "x0 is still filtered, and bloomctl is gone"
	exits 1 -j status
	json 'd["interfaces"] == []'
	last=$(tail -n 1 "$T/systemctl")
	grep -qx 'disable --now bloomd.service' "$T/systemctl" || fail "bloomd goes on: $last"
	! grep -q 'disable --now xdp-bloom' "$T/systemctl" || fail "units of others are disabled: $last"
	[[ -e $T/jails/action.d/xdp-bloom.conf ]] || fail "a file of a package is gone"
	grep -q "$T/jails/action.d/xdp-bloom.conf stays" "$T/uninstalled" || fail "nothing is said of a file that stays: $(cat "$T/uninstalled")"
	[[ ! -e $T/jails/action.d/xdp-bloom.py && ! -e $T/sbin/bloomctl ]] || fail "files stay: $(ls "$T/sbin" "$T/jails/action.d")"
}

# What the README says of the list at that point.
enforced()
{
	exits 0 test 8.8.8.8
	says '^8.8.8.8 is dropped now'
	exits 0 allow test 198.51.100.7
}

# --- a mail server ----------------------------------------------------------------------------------

t_mail()
{
	page_did() { [[ $1 != "bloomctl stats" ]] || counts_first; }
	rename eth0
	echo '{"cidr":"9.9.9.0/24","sblid":"SBL1"}' >"$T/drop_v4.json"
	echo 8.8.8.8 >"$T/cbl.txt"
	echo 9.8.8.8 >"$T/mail.txt"
	page_runs "$root/docs/mail" 12
	exits 0 test 9.9.9.9
	says '^9.9.9.9 is dropped now: listed$'
	exits 0 test 8.8.8.8 --to tcp/25
	says '^8.8.8.8 to tcp/25 is dropped now: listed$'
	for one in 8.8.8.8 9.8.8.8; do
		exits 1 test $one --to tcp/443
		says "^$one to tcp/443 passes now: listed, but for tcp/25"
	done
	exits 0 test 9.8.8.8 --to tcp/993
	says '^9.8.8.8 to tcp/993 is dropped now: listed$'
}

t_mail_after_the_readme() { starts bloomd && after_the_readme t_mail eth0; }

# What the page says of the lists at that point, and of a source that is in none; 192.0.2.7 is in one from then on.
counts_first()
{
	exits 0 test 8.8.8.8 --to tcp/25
	says '^8.8.8.8 to tcp/25 passes now: listed, and the verdict is count$'
	exits 1 test 192.0.2.7
	ctl -q add 192.0.2.7 --list attackers
}

# --- a flood ----------------------------------------------------------------------------------------

t_floods()
{
	[[ -n ${XB_TEST_CGROUP:-} ]] || skip "cgroup v2 is not mounted, or no group can be made"
	page_did()
	{
		case $1 in
		"bloomctl known on"*) a_customer_connects ;;
		"bloomctl policy allow-only --known"*) enemies_are_out ;;
		"bloomctl policy allow-only --force --rollback"*) customers_are_in ;;
		esac
	}
	rename eth0
	echo 9.9.9.9 >"$T/customers.txt"
	page_runs "$root/docs/floods" 21
	exits 0 test 203.0.113.7
	says '^203.0.113.7 is dropped now: listed$'
	exits 1 test 9.9.9.9
	says '^9.9.9.9 passes now: not listed$'
}

a_customer_connects()
{
	serve
	reaches tcp 10.77.0.2
}

# What the page says of the lists at that point.
enemies_are_out()
{
	exits 0 test 203.0.113.7
	says '^203.0.113.7 is dropped now'
}

customers_are_in()
{
	enemies_are_out
	exits 0 test 9.9.9.9
	says '^9.9.9.9 passes now: listed, and the policy is allow-only$'
}

run_tests
