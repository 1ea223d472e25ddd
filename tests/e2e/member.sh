# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# A group that may use bloomctl, and commands run by one of it, with three capabilities and no
# other. Neither user nor group is known to the machine. For sourcing behind lib.sh.

member=54321 group=54322 outsider=54323
three=(bpf net_admin perfmon)

# What root sets up once: see "Without root" in docs/security.md.
share()
{
	install -d -m 2750 -g "$group" "$state"
	install -d -m 2750 -g "$group" "$counters"
	install -d -m 2770 -g "$group" "$counters/counters" "$pins"
	ctl up
}

# with_rights UID GID "CAPABILITY..." COMMAND...: in the server's namespace.
with_rights()
{
	local uid=$1 gid=$2 one plus=""

	for one in $3; do
		plus+=,+$one
	done
	in_server setpriv --reuid "$uid" --regid "$gid" --clear-groups --bounding-set "-all$plus" \
		--inh-caps "-all$plus" --ambient-caps "-all$plus" -- "${@:4}"
}

places() { echo "--state $state --pin $pins --run $counters"; }

# shellcheck disable=SC2046
member_ctl() { with_rights "$member" "$group" "${three[*]}" "$bloomctl" $(places) "$@"; }

# as CODE UID GID "CAPABILITY..." ARGUMENT...: like `exits`, by somebody else.
as()
{
	local wanted=$1 who=("$2" "$3" "$4") code=0

	shift 4
	# shellcheck disable=SC2046
	with_rights "${who[@]}" "$bloomctl" $(places) "$@" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq $wanted ]] || fail "bloomctl $* (user ${who[0]}, group ${who[1]}, ${who[2]:-no capabilities}):" \
		"exit code $code, not $wanted: $(head -c 300 "$T/err")"
}

member_exits() { as "$1" "$member" "$group" "${three[*]}" "${@:2}"; }

# All that commands have made belongs to the group, and to nobody beyond it.
right_modes()
{
	local wrong

	wrong=$(find "$state" "$counters" "$pins" \
		\( ! -gid "$group" -o -perm /0007 -o -type f ! -perm 0660 -o \
		-type d ! -perm -2070 ! -path "$state" ! -path "$counters" -o -type l \) -printf '%M %g %p; ')
	[[ -z $wrong ]] || fail "modes: $wrong"
}
