# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# What tests of bloomset share.

bloomset=$XB_TEST_DIR/bin/bloomset

# set_exits CODE ARGUMENT...: as exits, of bloomset.
set_exits()
{
	local wanted=$1 code=0

	shift
	"$bloomset" "$@" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq $wanted ]] ||
		fail "bloomset $*: exit code $code, not $wanted: $(head -c 300 "$T/err")"
}
