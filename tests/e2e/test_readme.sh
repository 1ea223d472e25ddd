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

# commands PAGE: what its code blocks show, without the comments.
commands() { page_items "$1" | sed -n 's/^\$ \(.*[^ ]\) *$/\1/p'; }

# --- the README -------------------------------------------------------------------------------------

# Those of its commands that cannot run here, and why.
declare -A elsewhere=(
	[scripts/demo]="e2e/demo runs it"
	[scripts/demo-fleet]="e2e/demo runs it"
	[scripts/test]="it runs this test"
	["scripts/setup --build"]="it installs packages on the machine; scripts/test begins with scripts/setup"
	["scripts/setup --package && scripts/package"]="the same; package/ makes the packages"
	["apt install ./build/packages/xdp-bloom_*.deb ./build/packages/xdp-bloom-agent_*.deb"]="package/ does so in a root of its own"
)

# other_command: where curl would fetch the list, it is here. Of the README's addresses for examples import takes none.
other_command()
{
	case $1 in
	"curl -LO https://"*.netset) printf '%s\n' '# a list' 8.8.8.0/24 198.51.100.0/24 >"${1##*/}" ;;
	"make && make install") lay_usr_local && in_tree "$1" ;;
	*) fail "nobody says how '$1' is tried" ;;
	esac
}

lift_etc() { umount -l /usr/local /etc 2>/dev/null || true; }

in_tree() { (cd "$root" && WERROR='' bash -c "$1"); }

# A /usr/local and an /etc for this test alone.
lay_usr_local()
{
	lay_etc
	mkdir "$T/disk/local" "$T/disk/localwork"
	mount -t overlay overlay -o "lowerdir=/usr/local,upperdir=$T/disk/local,workdir=$T/disk/localwork" /usr/local
}

# What the unit does at boot.
other_service()
{
	[[ $1 == "enable --now xdp-bloom" ]] || fail "systemctl $1"
	grep -q '^ExecStart=.*/bloomctl up$' /usr/local/lib/systemd/system/xdp-bloom.service
	exits 0 up
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

has_budget() { bpftool -j map dump pinned "$pins/link/watch" | grep -q '"budget":[1-9]'; }

t_five_minutes()
{
	local line number=0

	rename eth0
	cd "$T"
	while read -r line; do
		if [[ -n ${elsewhere[$line]:-} ]]; then
			unset "elsewhere[$line]"
			continue
		fi
		case $line in
		"bloomctl doctor") ctl doctor >"$T/out" 2>"$T/err" || [[ $? -eq 3 ]] || fail "doctor: exit code $?" ;;
		"bloomctl watch") reads_for_a_while ;;
		"bloomctl test 198.51.100.7") type_in 1 "$line" ;;
		*) type_in 0 "$line" ;;
		esac
		number=$((number + 1))
		[[ $line != "bloomctl attach"* ]] || says 'eth0 attached in (native|skb) mode'
		[[ $line != "bloomctl policy enforce"* ]] || enforced
		[[ $line != "make && "* ]] || [[ $(/usr/local/sbin/bloomctl --version) == xdp-bloom* ]] || fail "nothing is installed"
	done < <(commands "$root/README")
	[[ $number -ge 20 ]] || fail "the README shows only $number commands"
	[[ ${#elsewhere[@]} -eq 0 ]] || fail "the README does not show: ${!elsewhere[*]}"
	! ip -n "$server" -d link show eth0 | grep -q 'prog/xdp' || fail "eth0 is not as it was before"
	uninstall >"$T/out"
	[[ -z $(find "$T/disk/local" "$T/disk/etc/fail2ban" -type f) ]] || fail "make uninstall leaves: $(find "$T/disk/local" -type f)"
}

# uninstall [VARIABLE...]: what the machine itself has attached stays, and so do its units. A filter seems to be there if
# the file $T/filter is.
uninstall()
{
	mkdir -p "$T/tools"
	printf '#!/bin/sh\necho "$@" >>%s\necho %s\n' "$T/systemctl" "$T/units/bloomd.service" >"$T/tools/systemctl"
	printf '#!/bin/sh\n[ "$2" = %s ]\n' "$T/jails/action.d/xdp-bloom.conf" >"$T/tools/dpkg-query"
	chmod +x "$T/tools"/*
	# shellcheck disable=SC2016 # of the inner shell
	(cd "$root" && PATH=$T/tools:$PATH WERROR='' unshare -m bash -c 'mount -t bpf bpf /sys/fs/bpf && { [[ ! -e $1 ]] ||
		mkdir -p /sys/fs/bpf/xdp-bloom/link; } && exec make uninstall "${@:2}"' uninstall "$T/filter" "$@")
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

t_uninstall_takes_the_filter_off()
{
	local last

	[[ ! -e /usr/sbin/bloomctl && ! -e /usr/local/sbin/bloomctl ]] || skip "another bloomctl is on this machine"
	lay_elsewhere
	exits 0 attach x0
	uninstall "${places[@]}" >"$T/uninstalled"
	! ip -n "$server" -d link show x0 | grep -q 'prog/xdp' || fail "x0 is still filtered, and bloomctl is gone"
	exits 1 -j status
	json 'd["interfaces"] == []'
	last=$(tail -n 1 "$T/systemctl")
	grep -qx 'disable --now bloomd.service' "$T/systemctl" || fail "bloomd goes on: $last"
	! grep -q 'disable --now xdp-bloom' "$T/systemctl" || fail "units of others are disabled: $last"
	[[ -e $T/jails/action.d/xdp-bloom.conf ]] || fail "a file of a package is gone"
	grep -q "$T/jails/action.d/xdp-bloom.conf stays" "$T/uninstalled" || fail "nothing is said of a file that stays: $(cat "$T/uninstalled")"
	[[ ! -e $T/jails/action.d/xdp-bloom.py && ! -e $T/sbin/bloomctl ]] || fail "files stay: $(ls "$T/sbin" "$T/jails/action.d")"
}

t_uninstall_stops_if_the_filter_stays()
{
	[[ ! -e /usr/sbin/bloomctl && ! -e /usr/local/sbin/bloomctl ]] || skip "another bloomctl is on this machine"
	lay_elsewhere
	printf '#!/bin/sh\nexit 3\n' >"$T/sbin/bloomctl"
	! uninstall "${places[@]}" >"$T/out" 2>"$T/err" || fail "it goes on although the filter stays"
	grep -q '^make uninstall: the filter cannot be taken off, so everything stays$' "$T/err" || fail "$(cat "$T/err")"
	[[ -x $T/sbin/bloomctl && -e $T/units/bloomd.service ]] || fail "files are gone: $(ls "$T/sbin" "$T/units")"
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
	local line number=0
	local -a words

	rename eth0
	cd "$T"
	echo '{"cidr":"9.9.9.0/24","sblid":"SBL1"}' >drop_v4.json
	echo 8.8.8.8 >cbl.txt
	echo 8.8.4.4 >mail.txt
	while read -r line; do
		eval "words=(${line#bloomctl })"
		case $line in
		"bloomctl watch") continue ;;
		"bloomctl test"*) ctl -q add 192.0.2.7 --list attackers --exist && exits 1 "${words[@]/192.0.2.7/203.0.113.7}" ;;&
		*) type_in 0 "$line" ;;
		esac
		number=$((number + 1))
		[[ $line != "bloomctl stats"* ]] || counts_first
	done < <(commands "$root/docs/mail")
	[[ $number -ge 11 ]] || fail "the page shows only $number commands"
	exits 0 test 9.9.9.9
	says '^9.9.9.9 is dropped now: listed$'
	exits 0 test 8.8.8.8 --to tcp/25
	says '^8.8.8.8 to tcp/25 is dropped now: listed$'
	for one in 8.8.8.8 8.8.4.4; do
		exits 1 test $one --to tcp/443
		says "^$one to tcp/443 passes now: listed, but for tcp/25"
	done
	exits 0 test 8.8.4.4 --to tcp/993
	says '^8.8.4.4 to tcp/993 is dropped now: listed$'
}

# What the page says of the lists at that point.
counts_first()
{
	exits 0 test 8.8.8.8 --to tcp/25
	says '^8.8.8.8 to tcp/25 passes now: listed, and the verdict is count$'
}

# --- a flood ----------------------------------------------------------------------------------------

t_floods()
{
	local line number=0

	[[ -n ${XB_TEST_CGROUP:-} ]] || skip "cgroup v2 is not mounted, or no group can be made"
	rename eth0
	cd "$T"
	echo 9.9.9.9 >customers.txt
	while read -r line; do
		case $line in
		"bloomctl known test"*) type_in 1 "$line" ;;
		*) type_in 0 "$line" ;;
		esac
		number=$((number + 1))
		[[ $line != "bloomctl known on"* ]] || a_customer_connects
		[[ $line != "bloomctl policy allow-only --known"* ]] || enemies_are_out
		[[ $line != "bloomctl policy allow-only --rollback"* ]] || customers_are_in
	done < <(commands "$root/docs/floods")
	[[ $number -ge 21 ]] || fail "the page shows only $number commands"
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
