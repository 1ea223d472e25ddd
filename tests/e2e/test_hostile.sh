#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a process inherits decides nothing: environment, descriptors, limits, signals.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/member.sh"

# In force, with something listed, in the hands of a group.
begin()
{
	share
	ctl add 10.77.0.3 fd77::3
	ctl -q attach x0
	blocked 10.77.0.3 fd77::3
}

sound()
{
	exits 0 status
	exits 0 test 10.77.0.3 fd77::3
	blocked 10.77.0.3 fd77::3
	passes 10.77.0.2
}

# privileged FILE: gives it the three capabilities, as setcap cap_bpf,cap_net_admin,cap_perfmon=ep.
privileged()
{
	python3 -c 'import os, struct, sys
low, high = 1 << 12, 1 << 39 - 32 | 1 << 38 - 32
os.setxattr(sys.argv[1], "security.capability",
            struct.pack("<5I", 0x02000001, low, 0, high, 0))' "$1" ||
		skip "no capabilities on files here"
}

# with_environment COMMAND...: as a member, with every variable that somebody might heed.
with_environment()
{
	in_server setpriv --reuid "$member" --regid "$group" --clear-groups --inh-caps=-all \
		--bounding-set=-all,+bpf,+net_admin,+perfmon -- env XB_TRAP="$T/open/sprung" LD_PRELOAD="$T/open/trap.so" \
		LD_LIBRARY_PATH="$T/open" LD_AUDIT="$T/open/trap.so" GCONV_PATH="$T/open" \
		LIBXDP_OBJECT_PATH="$T/open" LIBXDP_BPFFS="$T/open" LIBXDP_BPFFS_AUTOMOUNT=1 \
		LIBXDP_SKIP_DISPATCHER=1 LIBBPF_LOG_LEVEL=debug TMPDIR="$T/open" HOME="$T/open" \
		PATH="$T/open" IFS=/ LC_ALL=tr_TR.UTF-8 LANG=/../../x LANGUAGE=%n%s POSIXLY_CORRECT=1 \
		XB_STATE="$T/open" XB_FAULT=commit-after XB_FAULT_SEEN="$T/open/seen" \
		XDP_OBJECT_PATH="$T/open" MALLOC_CHECK_=3 SSH_CONNECTION='%n%n%n%s 99999999999 x y' "$@"
}

t_environment()
{
	local tool=$T/bloomctl verb

	command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
	begin
	install -d -m 0777 "$T/open"
	"${CC:-cc}" -shared -fPIC -o "$T/open/trap.so" "$root/tests/e2e/trap.c"
	cp "$T/open/trap.so" "$T/open/libidn2.so.0"
	install -m 0755 "$bloomctl" "$tool"
	with_environment "$tool" --version >/dev/null
	[[ -e $T/open/sprung ]] || fail "the trap does not work"
	rm "$T/open/sprung"
	privileged "$tool"
	# A name beyond ASCII loads a library.
	for verb in "add 10.77.0.4 bücher.example" rotate "policy monitor" "policy enforce" \
		"test 10.77.0.4" status save "up" "del 10.77.0.4" "detach x0" "attach x0"; do
		# shellcheck disable=SC2046,SC2086
		with_environment "$tool" $(places) $verb >"$T/out" 2>"$T/err" ||
			fail "$verb: $(cat "$T/err")"
	done
	[[ $(cd "$T/open" && echo *) == "libidn2.so.0 trap.so" ]] ||
		fail "the environment was heeded: $(cd "$T/open" && echo *)"
	right_modes
	sound
}

t_long_environment()
{
	local long verb bpffs=()

	begin
	long=$(head -c 40000 /dev/zero | tr '\0' A)
	# Root may tell libxdp where its dispatcher has its pins.
	is_dispatched x0 || bpffs=(LIBXDP_BPFFS="/$long")
	# shellcheck disable=SC2046
	for verb in rotate "add 10.77.0.4"; do
		in_server env SSH_CONNECTION="$long 22 $long 22" LC_ALL="$long" TMPDIR="$long" \
			"${bpffs[@]}" "$bloomctl" $(places) $verb
	done
	blocked 10.77.0.4
	sound
}

# Whatever of 0, 1 and 2 is closed, no answer lands in a file.
t_closed_descriptors()
{
	local verb code

	begin
	exits 0 add 10.77.0.4 --comment land-mark
	for verb in list save status stats "add 10.77.0.5 --exist" rotate "policy monitor" "policy enforce" \
		"import - --list x" "test 10.77.0.4" nosuch; do
		code=0
		# shellcheck disable=SC2086
		{
			ctl $verb <&- || true
			ctl $verb >&- || true
			ctl $verb 2>&- || true
			ctl $verb <&- >&- || true
			ctl $verb >&- 2>&- || true
			ctl $verb <&- 2>&- || true
			ctl $verb <&- >&- 2>&- || true
		} >"$T/out" 2>"$T/err"
		! grep -rlaE 'bloomctl:|"schema"|unfiltered|packets|^default ' "$state" "$counters" ||
			fail "$verb: an answer in a file"
		exits 0 status
	done
	code=0
	ctl list >&- 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "list without stdout: exit code $code"
	sound
	blocked 10.77.0.4 10.77.0.5
}

# limited LIMIT VERB...: done, or refused with a reason; never half.
limited()
{
	local limit=$1 code=0

	shift
	: >"$T/out"
	# A pipe has no size that could be limited.
	# shellcheck disable=SC2046
	in_server prlimit "$limit" "$bloomctl" $(places) "$@" 2>&1 >/dev/null | cat >"$T/err" ||
		code=${PIPESTATUS[0]}
	[[ $code -eq 0 || $code -eq 3 ]] || fail "$* under $limit: exit code $code: $(cat "$T/err")"
	# Warnings may stand before.
	[[ $code -eq 0 || $(tail -n 1 "$T/err") == bloomctl:* ]] || fail "$* under $limit: no word"
	echo "$* under $limit: $code $(cat "$T/err")"
	ctl -q test 10.77.0.3 fd77::3 || fail "$* under $limit: the list is another"
	ctl stats | contains x0 || fail "$* under $limit: x0 has been given up"
	blocked 10.77.0.3 fd77::3
}

t_few_descriptors()
{
	local number numbers=(5 13 21 {27..35} 76 84 92 100)

	[[ -z ${XB_TEST_FEW:-} ]] || numbers=(5 21 {28..34..3} 84)
	begin
	# libxdp asks for more.
	for number in "${numbers[@]}"; do
		limited --nofile="$number" rotate
		limited --nofile="$number" add 10.77.0.5 --exist
	done
	limited --nofile=6 add 10.77.0.6
	complains 'Too many open files'
	sound
}

t_small_files()
{
	local bytes

	begin
	python3 -c 'for i in range(20000): print("172.16.%d.%d" % (i >> 8, i & 255))' >"$T/list"
	for bytes in 0 1 4096 20000 100000; do
		limited --fsize="$bytes" rotate
		limited --fsize="$bytes" import "$T/list" --list big --include-bogons
		limited --fsize="$bytes" add 10.77.0.5 --exist
	done
	limited --fsize=0 rotate
	complains 'File too large'
	sound
}

t_little_memory()
{
	local mib

	begin
	python3 -c 'for i in range(60000): print("172.%d.%d.%d" % (16 + (i >> 16), i >> 8 & 255, i & 255))' >"$T/list"
	limited --memlock=0 rotate
	for mib in 16 64 512; do
		limited --as=$((mib << 20)) add 10.77.0.5 --exist
		limited --as=$((mib << 20)) rotate
	done
	limited --as=$((64 << 20)) rotate
	complains 'address space'
	for mib in 2 4 8 16; do
		limited --data=$((mib << 20)) rotate
		limited --data=$((mib << 20)) import "$T/list" --list big --include-bogons
		ctl -q flush --yes --list big || true
	done
	sound
}

# Blocked or ignored by the parent, whatever it was.
t_signals()
{
	begin
	(
		trap '' CHLD PIPE XFSZ HUP TERM
		exits 0 policy monitor
		exits 0 policy enforce
	)
	for verb in list save; do
		code=0
		ctl $verb 2>"$T/err" 1> >(exec true) || code=$?
		[[ $code -eq 0 || $code -eq 141 ]] || fail "$verb to nobody: exit code $code"
		[[ ! -s $T/err ]] || fail "$verb to nobody: $(cat "$T/err")"
	done
	sound
}

run_tests
