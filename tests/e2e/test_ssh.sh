#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who works over ssh does not lock himself out: real connections, commands run through them alone.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/member.sh"

declare -A door # by session: where its commands go in

# The tool as it is called inside a session; nothing but arguments tells it where to work.
there="$bloomctl --state $XB_TEST_DIR/e2e/state --pin $XB_TEST_BPFFS/e2e --run $XB_TEST_DIR/e2e/run"

serve_sessions()
{
	in_server python3 "$root/tests/e2e/session.py" serve "$T/ready" >"$T/server.log" 2>&1 &
	wait_for "the server of sessions" test -e "$T/ready"
}

# log_in NAME COMMAND...: a client that takes lines for the server's shell and ends each answer with
# "= CODE".
log_in()
{
	local name=$1 fd

	shift
	mkfifo "$T/$name.in"
	: >"$T/$name.out"
	(
		for fd in "${door[@]}"; do # or the other session would never end
			exec {fd}>&-
		done
		"$@" <"$T/$name.in" >"$T/$name.out" 2>"$T/$name.err"
	) &
	exec {fd}>"$T/$name.in"
	door[$name]=$fd
	over "$name" true || fail "no session of $*: $(head -c 300 "$T/$name.err")"
}

log_in_from() { log_in "$1" in_client python3 "$root/tests/e2e/session.py" connect "$2" "$(to "$2")"; }

# A session from 10.77.0.2, which switches the filter on.
begin()
{
	serve_sessions
	log_in_from one 10.77.0.2
	over one "$there attach x0" || fail "attach: $(cat "$T/out")"
}

log_out()
{
	local fd=${door[$1]}

	exec {fd}>&-
}

answers() { grep -c '^= ' "$T/$1.out" || true; }

# over SESSION COMMAND: runs it there; what it says is in $T/out. Fails without an answer in time or with
# the command.
over()
{
	local name=$1 before

	before=$(answers "$name")
	echo "${*:2}" >&"${door[$name]}"
	for ((i = 0; i < ${tries:-$((200 * patience))}; i++)); do
		if [[ $(answers "$name") -gt $before ]]; then
			awk -v skip="$before" '/^= / { n++; next } n == skip' "$T/$name.out" >"$T/out"
			[[ $(tail -n 1 "$T/$name.out") == "= 0" ]]
			return
		fi
		sleep 0.05
	done
	return 1
}

works() { over "$1" echo still here && says '^still here$' || fail "session $1 is dead"; }

# An answer that must not come.
dead() { ! tries=$((16 * patience)) over "$1" echo still here || fail "session $1 goes on"; }

# All sessions but those named are over for the server too.
only_sessions() { wait_for "the end of a session" eval "[[ \$(pgrep -c -x sshd) -eq $((1 + $1)) ]]"; }

# keep_session PEER NEIGHBOUR GATEWAY OWN NET: the peer lists its way in, all of it, and switches on.
keep_session()
{
	local peer=$1 neighbour=$2 gateway=$3 own=$4 net=$5

	ip -n "$server" route add default via "$gateway" dev x0
	serve_sessions
	log_in_from one "$peer"
	over one "$there add $net $peer $gateway $own" || fail "add: $(cat "$T/out")"
	over one "$there attach x0" || fail "attach: $(cat "$T/out")"
	works one
	passes "$peer" "$gateway"
	blocked "$neighbour"
	over one "$there allow list --list auto:ssh"
	says "^$peer list auto:ssh .*comment \"process [0-9]*, from port [0-9]*\"$"
	[[ $(wc -l <"$T/out") -eq 1 ]] || fail "more than one peer"
	over one "$there rotate" || fail "rotate: $(cat "$T/out")"
	works one
	over one "$there status" || fail "status: $(cat "$T/out")"
	says "^  $peer +ssh +process"
	over one "head -c 500000 /dev/zero | od -v | tail -n 1"
	says '^1720440$'
	blocked "$neighbour"
}

t_session_ipv4() { keep_session 10.77.0.2 10.77.0.3 10.77.0.6 10.77.0.1 10.77.0.0/24; }
t_session_ipv6() { keep_session fd77::2 fd77::3 fd77::4 fd77::1 fd77::/64; }

t_everything_listed()
{
	serve_sessions
	log_in_from four 10.77.0.2
	log_in_from six fd77::2
	over four "$there attach x0" || fail "attach: $(cat "$T/out")"
	over six "$there add 0.0.0.0/0 ::/0 --force" || fail "add: $(cat "$T/out")"
	works four
	works six
	blocked 10.77.0.3 fd77::3
	# The one that attached may well be gone before the other adds.
	over six "$there del 0.0.0.0/0 ::/0"
	passes 10.77.0.3 fd77::3
}

# end_session HOW: by its client, or by a signal to its server.
end_session()
{
	if [[ $1 == killed ]]; then
		kill -KILL "$(pgrep -n -x sshd)"
	else
		log_out one
	fi
	only_sessions 0
}

# As long as the connection, not longer.
t_session_ends()
{
	local how

	serve_sessions
	for how in ended killed; do
		rm -f "$T/one.in"
		log_in_from one 10.77.0.2
		over one "$there attach x0" || fail "attach: $(cat "$T/out")"
		over one "$there add 10.77.0.0/24"
		works one
		passes 10.77.0.2
		end_session $how
		passes 10.77.0.2
		ctl add 192.0.2.1
		exits 0 allow list --list auto:ssh
		[[ ! -s $T/out ]]
		exits 1 allow test 10.77.0.2
		blocked 10.77.0.2
		ctl del 192.0.2.1 10.77.0.0/24
	done
}

# elsewhere NAMESPACE-OPTIONS... COMMAND...
elsewhere() { in_server unshare "$@"; }

# A command from another PID or time namespace sees no session, or one that began at another time: the peer
# stays. A command from here finds that it ended.
t_from_another_namespace()
{
	begin
	over one "$there add 10.77.0.0/24"
	# shellcheck disable=SC2086
	elsewhere --pid --fork --mount-proc $there add 192.0.2.1
	passes 10.77.0.2
	# shellcheck disable=SC2086
	elsewhere --pid --fork --mount-proc $there rotate
	works one
	# /proc is still that of the outer namespace.
	# shellcheck disable=SC2086
	elsewhere --pid --fork $there add 192.0.2.2 2>"$T/err"
	complains 'the automatic allowlist is not brought up to date: /proc .* another PID namespace'
	works one
	if [[ -e /proc/self/timens_offsets ]]; then
		# shellcheck disable=SC2086
		elsewhere --time --boottime 3600 --monotonic 3600 --fork $there add 192.0.2.3
		works one
	fi
	exits 0 allow list --list auto:ssh
	says '^10.77.0.2 '
	log_out one
	only_sessions 0
	# shellcheck disable=SC2086
	elsewhere --pid --fork --mount-proc $there add 192.0.2.4
	exits 0 allow test 10.77.0.2
	ctl add 192.0.2.5
	exits 1 allow test 10.77.0.2
}

# A process of this boot may have the number and the start time of one before it.
t_from_another_boot()
{
	begin
	ctl add 192.0.2.1
	exits 0 allow test 10.77.0.2
	echo 01234567-89ab-cdef-0123-456789abcdef >"$T/boot_id"
	mount --bind "$T/boot_id" /proc/sys/kernel/random/boot_id
	trap 'umount -l /proc/sys/kernel/random/boot_id' EXIT
	ctl add 192.0.2.2
	exits 1 allow test 10.77.0.2
}

t_two_sessions_of_a_peer()
{
	serve_sessions
	log_in_from one 10.77.0.2
	log_in_from two 10.77.0.2
	over one "$there attach x0" || fail "attach: $(cat "$T/out")"
	over two "$there add 10.77.0.2"
	log_out one
	only_sessions 1
	over two "$there add 10.77.0.3" || fail "add: $(cat "$T/out")"
	works two
	log_out two
	only_sessions 0
	ctl add 10.77.0.4
	blocked 10.77.0.2 10.77.0.3 10.77.0.4
}

# What was refused is dropped, also when it hurts; accepted again, the connection goes on.
t_refused()
{
	serve_sessions
	log_in_from one 10.77.0.2
	over one "$there add 10.77.0.2"
	tries=$((16 * patience)) over one "$there attach x0 --refuse ssh" || true
	wait_for "the interface" ctl status
	dead one
	blocked 10.77.0.2
	exits 0 allow list --list auto:ssh
	[[ ! -s $T/out ]]
	exits 0 -j status
	json 'd["ok"] and d["allowlist"]["refused"] == ["ssh"]'
	ctl allow accept ssh
	works one
	passes 10.77.0.2
}

# The peer stays allowed by hand when its session ends.
t_allowed_by_hand_too()
{
	begin
	over one "$there add 10.77.0.0/24"
	over one "$there allow add 10.77.0.2"
	exits 0 -j status
	json 'd["allowlist"]["manual"] == 1 and "ssh" in [a["kind"] for a in d["allowlist"]["automatic"]]'
	exits 2 allow del 10.77.0.2
	one_line
	complains 'allow refuse ssh'
	log_out one
	only_sessions 0
	ctl add 192.0.2.1
	passes 10.77.0.2
	exits 0 -j status
	json 'd["allowlist"]["manual"] == 1 and "ssh" not in [a["kind"] for a in d["allowlist"]["automatic"]]'
	ctl allow del 10.77.0.2
	blocked 10.77.0.2
}

t_allow_only()
{
	begin
	over one "$there add 10.77.0.4"
	over one "$there policy allow-only" || fail "policy: $(cat "$T/out")"
	works one
	passes 10.77.0.4
	blocked 10.77.0.3
}

# Keys, configuration and host key of its own.
start_sshd()
{
	ssh-keygen -q -t ed25519 -N '' -f "$T/host"
	ssh-keygen -q -t ed25519 -N '' -f "$T/key"
	cp "$T/key.pub" "$T/authorized"
	chmod 0600 "$T/authorized"
	[[ -d /run/sshd ]] || {
		mkdir /run/sshd
		trap 'rmdir /run/sshd' EXIT
	}
	cat >"$T/sshd_config" <<-END
		Port 2222
		HostKey $T/host
		AuthorizedKeysFile $T/authorized
		PermitRootLogin prohibit-password
		StrictModes no
		UsePAM no
		UseDNS no
		PidFile none
	END
	in_server "$(command -v sshd)" -D -e -f "$T/sshd_config" >"$T/server.log" 2>&1 &
	wait_for "sshd" grep -q 'Server listening' "$T/server.log"
}

real_ssh()
{
	in_client ssh -F none -p 2222 -i "$T/key" -b "$1" -o BatchMode=yes -o StrictHostKeyChecking=no \
		-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR root@"$(to "$1")" "${@:2}"
}

t_real_sshd()
{
	command -v sshd >/dev/null && command -v ssh >/dev/null || skip "sshd is not installed"
	start_sshd
	real_ssh 10.77.0.2 true || skip "sshd does not let root in by key: $(tail -n 1 "$T/server.log")"
	ip -n "$server" route add default via 10.77.0.6 dev x0
	# shellcheck disable=SC2016
	log_in one real_ssh 10.77.0.2 'while read -r line; do env -i sh -c "$line"; echo "= $?"; done 2>&1'
	over one "$there add 10.77.0.0/24 10.77.0.1 10.77.0.2 10.77.0.6" || fail "add: $(cat "$T/out")"
	over one "$there attach x0" || fail "attach: $(cat "$T/out")"
	works one
	passes 10.77.0.2 10.77.0.6
	blocked 10.77.0.3
	over one "$there allow list --list auto:ssh"
	says '^10.77.0.2 list auto:ssh '
	log_out one
	only_sessions 0
	ctl add 192.0.2.1
	exits 1 allow test 10.77.0.2
	blocked 10.77.0.2
}

# A member of the group whose /proc shows nobody else's processes does not take them for gone.
t_member_who_sees_nobody()
{
	share
	begin
	in_server()
	{
		nsenter --net="/run/netns/$server" unshare --mount bash -c \
			'mount -t proc -o hidepid=invisible proc /proc && exec "$@"' - "$@"
	}
	member_exits 0 add 0.0.0.0/0 --force
	blocked 10.77.0.3
	works one
	over one "$there allow list --list auto:ssh"
	says '^10.77.0.2 list auto:ssh '
	log_out one
	only_sessions 0
	member_exits 0 add 10.77.0.4
	blocked 10.77.0.2
}

run_tests
