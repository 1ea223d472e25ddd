# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# A page of the manual: its commands, as somebody types them who follows it, and the files that it shows.
# For sourcing behind lib.sh.

is_packaged() { [[ -n ${XB_TEST_INSTALLED:-} ]]; }

# With what the reader has installed it, and where files are then that pages name. Who did it otherwise has $others.
others="the packages" examples=/usr/local/share/doc/xdp-bloom

# page_items NAME: what stands in its blocks, in order: "$ COMMAND", without the comment behind it; "= FILE" where
# a block names one, and "+ LINE" of that file. A block of text is neither, nor is a command for who has installed
# otherwise. NAME may be a path, without .md.
page_items()
{
	local file=$root/docs/recipes/$1.md

	[[ $1 != /* ]] || file=$1.md
	[[ -z ${XB_TEST_FOLLOWED:-} ]] || echo "${file#"$root"/}" >>"$XB_TEST_FOLLOWED"
	awk -v others="# with $others\$" '/^```/ {inside = !inside; text = /^```text/; file = 0; next}
		$0 ~ others {next}
		!inside || text {next}
		/^# \// {file = 1; print "= " substr($0, 3); next}
		file {print "+ " $0; next}
		{sub(/ +#.*/, "")}
		length {print "$ " $0}' "$file"
}

# --- following it -----------------------------------------------------------------------------------

# page NAME [LEAST]: from now on this is the page, which shows so many commands at least.
page()
{
	mapfile -t items < <(page_items "$1")
	at=0 number=0 commands=$(printf '%s\n' "${items[@]}" | grep -c '^\$ ')
	[[ $commands -ge ${2:-1} ]] || fail "the page shows only $commands commands"
	cd "$T" || exit
	follows_readme
}

# does_next [CODE]: types the next command of the page, or writes the next file. $shown is what it was, as page_items has it.
does_next()
{
	shown=${items[at]}
	at=$((at + 1))
	if [[ $shown == "= "* ]]; then
		mkdir -p "$(dirname "${shown:2}")"
		: >"${shown:2}"
		for (( ; at < ${#items[@]}; at++)); do
			[[ ${items[at]} == "+ "* ]] || return 0
			printf '%s\n' "${items[at]:2}" >>"${shown:2}"
		done
		return
	fi
	expect "${shown:2}"
	types "${1:-$expected}" "${shown:2}"
	page_did "${shown:2}"
	number=$((number + 1))
	befalls $number "$commands"
}

# upto [CODE] PATTERN: what the page shows next is done, and all behind that to the command or the file ("= FILE") that the
# pattern fits, which ends with that code; 0 unless another is given.
upto()
{
	local code=''

	[[ $# -eq 1 ]] || { code=$1 && shift; }
	while [[ $at -lt ${#items[@]} ]]; do
		if fits "${items[at]}" "$1"; then
			does_next "$code"
			return
		fi
		does_next
	done
	fail "the page does not show '$1' there"
}
# shellcheck disable=SC2053 # it is a pattern
fits() { [[ $1 == $2 || $1 == "$ "$2 ]]; }

to_the_end() { while [[ $at -lt ${#items[@]} ]]; do does_next; done; }

# page_runs NAME LEAST: all of it. After each command, `page_did COMMAND` of the test looks at what it did.
page_runs()
{
	page "$@"
	to_the_end
}

page_did() { :; }

# As type_in; a test may have another.
types() { type_in "$@"; }

# --- behind the README ------------------------------------------------------------------------------

# The interfaces that somebody has attached who followed the README before this page; a test sets them.
readme=()

# What the README shows, and leaves behind.
follows_readme()
{
	follower=$BASHPID
	[[ ${#readme[@]} -gt 0 ]] || return 0
	ctl policy monitor
	ctl import - --list level1 <<<8.8.4.0/24
	ctl attach "${readme[@]}"
	ctl policy enforce
}

# after_the_readme TEST IFACE...: the test for who has attached these, and while bloomd is killed.
after_the_readme()
{
	readme=("${@:2}")
	mishap=killed
	"$1"
}

# without_bloomd TEST: while nobody starts it again.
without_bloomd()
{
	mishap=down
	"$1"
}

# expect LINE: `expected` is the code that it ends with. What is attached already is not on trial, and there is nothing to
# commit.
expect()
{
	expected=0
	[[ $1 != "bloomctl commit" || -z ${untried:-} ]] || expected=1
	untried=
	[[ ${#readme[@]} -eq 0 || $1 != "bloomctl attach "*" --rollback "* ]] || untried=1
}

# --- while bloomd ends ------------------------------------------------------------------------------

# What becomes of bloomd in the middle of a page, if a test says so: "killed", and systemd starts it again; "down", and
# nobody does.
mishap=

# befalls NUMBER ALL: of all commands so many are done. bloomd is a child of the shell that follows the page.
befalls()
{
	[[ -n $mishap && -n ${agent:-} && $1 -ge $(($2 / 2)) && $BASHPID -eq $follower ]] || return 0
	agent_ends KILL 137
	if [[ $mishap == killed ]]; then
		agent
	else
		agent_ends() { :; }
	fi
	mishap=
}

# --- commands ---------------------------------------------------------------------------------------

# type_in CODE LINE
type_in()
{
	local words code=0

	case $2 in
	"bloomctl "*) eval "words=(${2#bloomctl })" && exits "$1" "${words[@]}" ;;
	"systemctl "*) eval "$2" ;;
	"bloomd "*)
		eval "words=(${2#bloomd })"
		is_packaged || words=(--config "$T/bloomd.conf" "${words[@]}")
		in_server "$bloomd" "${words[@]}" >"$T/out" 2>"$T/err" || fail "$2: $(cat "$T/err")"
		;;
	*)
		other_command "$2" >"$T/out" 2>"$T/err" || code=$?
		[[ $code -eq $1 ]] || fail "$2: exit code $code, not $1: $(head -c 300 "$T/out" "$T/err")"
		;;
	esac
}

# Of other programs; a test may have another function, as for the next two.
other_command() { (PATH=$XB_TEST_DIR/bin:$PATH in_place bash -c "$1"); }

# Where they are typed.
in_place() { in_server "$@"; }

# What systemd would do with the services of others.
other_service() { fail "systemctl $1"; }

# systemctl ...: services of systemd are not started by tests. Ours are what they know.
systemctl()
{
	case $* in
	"enable --now xdp-bloom bloomd") starts xdp-bloom && starts bloomd ;;
	"enable --now bloomd") starts bloomd ;;
	"reload bloomd") agent_reloads ;;
	*) other_service "$*" ;;
	esac
}

is_running() { [[ -n ${agent:-} ]] && kill -0 "$agent" 2>/dev/null; }

# starts UNIT: if it does not run.
starts()
{
	case $1 in
	xdp-bloom) exits 0 up ;;
	bloomd) is_running || agent ;;
	esac
}

# --- the machine ------------------------------------------------------------------------------------

# rename NAME: x0 of the server.
rename()
{
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name "$1"
	ip -n "$server" link set "$1" up
}

# lay_over DIRECTORY: what the test writes there is gone with it.
lay_over()
{
	local layer=$T/disk$1

	if [[ ! -d $T/disk ]]; then
		trap lift_etc EXIT
		mkdir "$T/disk"
		mount -t tmpfs xbt "$T/disk"
	fi
	mkdir -p "$layer" "$layer.work"
	mount -t overlay overlay -o "lowerdir=$1,upperdir=$layer,workdir=$layer.work" "$1" || skip "no overlay file system"
}

# lay_etc: an /etc for this test alone, with the configuration of bloomd where pages say it is.
lay_etc()
{
	lay_over /etc
	lay_configuration
}

lift_etc() { umount -l /usr/local/share /usr/local /var/lib /etc 2>/dev/null || true; }

# lay_share: the files in $examples, for this test alone, and the others that `make install` leaves, below $T/root. It is
# asked once for all tests of this file.
lay_share()
{
	[[ -d $XB_TEST_DIR/installed ]] ||
		make -s -C "$root" -o build/bloomctl -o build/bloomd -o build/bloomd-fetch install \
			DESTDIR="$XB_TEST_DIR/installed" PREFIX=/usr/local >/dev/null
	cp -a "$XB_TEST_DIR/installed" "$T/root"
	trap lift_etc EXIT
	mount --bind "$T/root/usr/local/share" /usr/local/share
}

# In an /etc that is the test's.
lay_configuration()
{
	mkdir -p /etc/xdp-bloom/bloomd.conf.d
	rm -f /etc/xdp-bloom/bloomd.conf.d/*
	: >/etc/xdp-bloom/bloomd.conf
	ln -sf /etc/xdp-bloom/bloomd.conf "$T/bloomd.conf"
	ln -sfn /etc/xdp-bloom/bloomd.conf.d "$T/bloomd.conf.d"
}

# outside ADDRESS...: the client has these, too, and the server finds them there.
outside()
{
	local one

	for one; do
		ip -n "$client" addr add "$one/32" dev x0
		ip -n "$server" route add "$one" via 10.77.0.2
	done
}

# gets_to SOURCE DESTINATION [NAMESPACE]: a packet, and its answer comes back; from the client unless told.
# shellcheck disable=SC2031 # what a subshell waits is its own
gets_to() { nsenter --net="/run/netns/${3:-$client}" ping -q -n -c 1 -W $((2 * patience)) -I "$1" "$2" >/dev/null 2>&1; }

never_gets_to() { ! nsenter --net="/run/netns/${3:-$client}" ping -q -n -c 2 -i 0.2 -W 0.5 -I "$1" "$2" >/dev/null 2>&1; }

# shows PATTERN: stdout of the last command has such a line with more than 0 packets behind the reason.
shows() { says "(^| )$1 +[1-9]"; }

# On a machine that has packages.
# shellcheck source=../package/installed.sh
! is_packaged || . "$root/tests/package/installed.sh"
