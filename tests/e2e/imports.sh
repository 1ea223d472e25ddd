# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# What tests of `bloomctl import` share. For sourcing behind lib.sh.

# list LINE...: the file $T/list has these lines.
list() { printf '%s\n' "$@" >"$T/list"; }

# has LIST LISTED [ALLOWED]: these entries, sorted, and no others.
has()
{
	local found

	found=$(entries_of "$1" 2>/dev/null)
	[[ $found == "$2" ]] || fail "listed is '$found', not '$2'"
	found=$(ctl -j allow list --list "$1" 2>/dev/null |
		of_json '" ".join(sorted(one["entry"] for one in d["entries"]))' 2>/dev/null)
	[[ $found == "${3:-}" ]] || fail "allowed is '$found', not '${3:-}'"
}

# refused ARGUMENT...: in one line, and the store stays as it is.
refused()
{
	ctl save >"$T/before" 2>&1 || true
	exits 2 "$@"
	one_line
	unchanged
}

# unchanged: the store is what it was when $T/before was made.
unchanged()
{
	ctl save >"$T/after" 2>&1 || true
	cmp "$T/before" "$T/after" || fail "the store has changed"
}

# told COUNT: so many lines on stderr.
told() { [[ $(wc -l <"$T/err") -eq $1 ]] || fail "not $1 notes: $(cat "$T/err")"; }
