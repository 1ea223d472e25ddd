# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the demos have in common: a cage of processes, mounts and namespaces that goes when the script ends, however
# it ends, and how they tell what happens. For sourcing from the top of the tree; ends with run_demo.

demo=$(basename "$0")
# Where the programs are; if somebody says so, nothing is installed or built.
programs=${XB_DEMO_PROGRAMS:-build}

broken()
{
	echo "$demo: $*" >&2
	exit 1
}

# --- the cage ---------------------------------------------------------------------------------------

# The directories of those that were killed while they waited.
clear_leftovers()
{
	local directory pid

	for directory in "${TMPDIR:-/tmp}"/xbd-*-*; do
		pid=${directory##*/xbd-}
		[[ -e /proc/${pid%-*} ]] || rmdir "$directory" 2>/dev/null || true
	done
}

prepare()
{
	[[ -z ${XB_DEMO_PROGRAMS:-} ]] || return 0
	echo "== Installing what is missing, building"
	scripts/setup
	make -j"$(nproc)"
}

outside()
{
	[[ $EUID -eq 0 ]] || broken "root is needed"
	prepare
	mkdir -p /run/netns
	clear_leftovers
	# Before there is something to clear away: a signal is heeded once the directory has its name here.
	cage=
	trap 'trap "" INT TERM HUP; kill -KILL "${inner:-}" 2>/dev/null || true; [[ -z $cage ]] || rm -rf "$cage"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	cage=$(mktemp -d -t "xbd-$$-XXXXXX")
	XB_DEMO_CAGE=$cage setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
		"scripts/$demo" </dev/null &
	inner=$!
	wait "$inner"
}

# run_demo: calls tell, the demo itself, in a cage; $XB_DEMO_CAGE is a directory there.
run_demo()
{
	if [[ -z ${XB_DEMO_CAGE:-} ]]; then
		outside
		return
	fi
	mount -t tmpfs xbd "$XB_DEMO_CAGE"
	mkdir "$XB_DEMO_CAGE/bpf"
	mount -t bpf bpf "$XB_DEMO_CAGE/bpf"
	mount -t tmpfs xbd /run/netns
	tell
}

# --- telling ----------------------------------------------------------------------------------------

indented() { sed 's/^/     /'; }

# The command as a reader would type it, then what it does.
show()
{
	echo "   # $*"
	"$@" | indented
}

from() { nsenter --net="/run/netns/$1" "${@:2}"; }
