#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check says what is not as it should be, and nothing else: by lines, as JSON, and as a plugin of Nagios.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# feed LAST_SUCCESS NEXT_FETCH [MESSAGE]: what bloomd would have left of it.
feed()
{
	mkdir -p "$state/feeds"
	printf '{"list":"main","outcome":"%s","message":"%s","period":3600,"last_success":%s,"last_attempt":%s,"next_fetch":%s}' \
		"${3:+failed}" "${3:-}" "$1" "$1" "$2" >"$state/feeds/main.json"
}

is_silent()
{
	exits 0 check "$@"
	[[ ! -s $T/out && ! -s $T/err ]] || fail "it says: $(cat "$T/out" "$T/err")"
}

# only_says PATTERN: it is the one line of the answer, and the exit code is 3.
only_says()
{
	exits 3 check
	says "$1"
	[[ $(wc -l <"$T/out") -eq 1 && ! -s $T/err ]] || fail "it says: $(cat "$T/out" "$T/err")"
}

t_all_is_well()
{
	exits 0 attach x0
	exits 0 add 10.77.0.3
	is_silent
	exits 0 -j check
	json 'd == {"schema": 1, "ok": True, "problems": [], "problem_details": []}'
	exits 0 check --nagios
	says '^XDP-BLOOM OK: policy enforce, all is in force \| interfaces=1 listed=1$'
	is_refused 2 'check takes no arguments' check x0
	is_refused 2 'two forms of one answer' -j check --nagios
	is_refused 2 "monitr" check --policy monitr
}

t_nothing_is_attached()
{
	only_says '^no interface is attached, so nothing is filtered; `bloomctl attach INTERFACE` filters one$'
	exits 2 check --nagios
	says '^XDP-BLOOM CRITICAL: no interface is attached, .* \| interfaces=0 listed=0$'
	# What is tried is filtered, though not yet wanted.
	exits 0 attach x0 --rollback 60
	is_silent
	exits 0 commit
	is_silent
	# The wish stays, and the interface is gone.
	ip -n "$server" link del x0
	exits 3 check
	says '^x0 '
	exits 2 check --nagios
}

t_policy()
{
	exits 0 attach x0
	exits 0 policy monitor --rollback 60
	only_says '^the policy is monitor: nothing is dropped$'
	is_silent --policy monitor
	exits 3 check --policy enforce
	says '^the policy is monitor, and not enforce$'
	exits 2 check --nagios
	exits 0 commit
	exits 0 policy enforce
	is_silent --policy enforce
	exits 3 -j check --policy allow-only
	json '[one["kind"] for one in d["problem_details"]] == ["other_policy"] and not d["ok"]'
}

t_feeds()
{
	local now

	now=$(date +%s)
	exits 0 attach x0
	feed $((now - 3000)) $((now + 600))
	is_silent
	# bloomd may be a little late, and then no more.
	feed $((now - 7000)) $((now - 3000))
	is_silent
	feed $((now - 9000)) $((now - 5000))
	only_says '^feed main was to be fetched at 20[0-9T:-]*Z, and has not been; does bloomd run\?$'
	exits 1 check --nagios
	feed $((now - 9 * 86400)) $((now + 600)) 'refused | once more'
	only_says '^feed main has brought no list since 20[0-9T:-]*Z: refused \| once more; `bloomctl feeds` says more$'
	exits 1 check --nagios
	says '^XDP-BLOOM WARNING: feed main .*: refused / once more; .* \| interfaces=1 listed=0$'
	# The worst comes to the exit code, and each to a line.
	exits 0 policy monitor
	exits 2 check --nagios
	[[ $(wc -l <"$T/out") -eq 2 ]] || fail "$(cat "$T/out")"
	rm -r "$state/feeds"
	exits 0 policy enforce
	is_silent
}

t_room_and_damage()
{
	mkdir -p "$T/disk"
	mount -t tmpfs -o size=20M xbt "$T/disk"
	state=$T/disk/state
	exits 0 attach x0
	is_silent
	head -c 8M /dev/zero >"$T/disk/other"
	only_says "^the file system of $state has 1[12] MiB left, and the store may need 16$"
	exits 1 check --nagios
	rm "$T/disk/other"
	is_silent
	head -c 5000 /dev/zero >"$state/store.mdb"
	exits 3 check
	exits 3 check --nagios
	says '^XDP-BLOOM UNKNOWN: '
}

# However much there is.
t_status_fits_a_screen()
{
	local one

	for one in {1..40}; do echo "add 192.0.2.$one --list list$one"; done >"$T/batch"
	exits 0 batch "$T/batch"
	for one in {1..15}; do exits 0 limit add limit$one --to udp/$one --rate 1/s; done
	exits 3 check
	exits 1 status
	[[ $(wc -l <"$T/out") -eq 25 ]] || fail "$(cat "$T/out")"
	says '^  and [0-9]+ more lists: `bloomctl -p status`$'
	says '^  and [0-9]+ more limits: `bloomctl limit list`$'
	says '^NOTHING IS FILTERED'
	# Each of the shown, and the number of the others, are all.
	[[ $(($(grep -c '^  list[0-9]' "$T/out") + $(sed -n 's/^  and \([0-9]*\) more lists.*/\1/p' "$T/out"))) -eq 40 ]] || fail "$(cat "$T/out")"
}

# As systemd would run it: it takes one percent of two, and one dollar.
t_mail_of_a_unit()
{
	local command

	mkdir "$T/bin"
	printf '#!/bin/sh\ncat >"%s/mail"\n[ "$*" = -t ]\n' "$T" >"$T/bin/sendmail"
	printf '#!/bin/sh\necho "says of $4 $5: no interface is attached"\nexit 3\n' >"$T/bin/systemctl"
	chmod +x "$T/bin"/*
	command=$(sed -n 's/^ExecStart=//p' "$root/packaging/xdp-bloom-mail@.service")
	command=${command//%%/%} command=${command//\$\$/\$} command=${command//%i/xdp-bloom-check.service}
	command=${command//%H/here} command=${command//\\\\/\\}
	PATH=$T/bin:$PATH eval "$command"
	finds '^To: root$' "$T/mail"
	finds '^Subject: xdp-bloom-check.service failed on here$' "$T/mail"
	finds '^says of --lines=40 xdp-bloom-check.service: no interface' "$T/mail"
	[[ $(sed -n 3p "$T/mail") == "" ]]
}

run_tests
