#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The pages for the administrators of a fleet: every command, in the order in which they show it, with a server that
# is reached by TLS and by the rules that they give.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"
# shellcheck source=fail2ban.sh
. "$(dirname "$0")/fail2ban.sh"
# shellcheck source=page.sh
. "$(dirname "$0")/page.sh"

# --- the machine with the server --------------------------------------------------------------------

# It is the client's; what Debian's package would have made there.
lay_server()
{
	local program

	server_program
	mkdir -p "$T/redis" /etc/redis
	printf '%s\n' "dir $T/redis" "unixsocket $T/redis.sock" >/etc/redis/redis.conf
	getent passwd redis >/dev/null || echo 'redis:x:64999:64999::/nonexistent:/bin/false' >>/etc/passwd
	getent group redis >/dev/null || echo 'redis:x:64999:' >>/etc/group
	echo '10.77.0.2 redis.example.net' >>/etc/hosts
	ln -sf "$program" "$T/redis-server"
}

redis_starts()
{
	nsenter --net="/run/netns/$client" "$T/redis-server" /etc/redis/redis.conf >>"$T/redis.log" 2>&1 &
	redis=$!
	(wait_for "the server" grep -q 'Ready to accept connections' "$T/redis.log") || fail "$(tail -n 3 "$T/redis.log")"
}

other_service()
{
	case $1 in
	"restart redis-server") redis_starts ;;
	"restart fail2ban") server_starts ;;
	"reload-or-restart bloomd") if is_running; then agent_reloads; else agent; fi ;;
	*) fail "systemctl $1" ;;
	esac
}

# From another machine: it is the same here.
other_command()
{
	local line=${1/#scp redis.example.net:/cp }
	local -a words

	if [[ $1 == "fail2ban-client "* ]]; then
		eval "words=(${1#fail2ban-client })"
		client "${words[@]}"
		return
	fi
	(PATH=$XB_TEST_DIR/bin:$PATH in_server bash -c "$line")
}

is_reading() { ctl fleet | contains '^NAME: reading$'; }

# joins HOST [LINE...]: with the files of the first one, and other lines in its section.
joins()
{
	mkdir -p "$T/$1"
	cat /etc/xdp-bloom/bloomd.conf.d/fleet.conf >"$T/$1/bloomd.conf"
	printf '%s\n' "${@:2}" >>"$T/$1/bloomd.conf"
	up "$1"
	in_fleet "$1"
}

# The section of docs/fleet.md that sets it up, with ten commands and no more.
setup_page()
{
	sed -n '/^## Set it up/,/^## [^S]/p' "$root/docs/fleet.md" >"$T/setup.md"
	page "$T/setup" 10
	[[ $commands -eq 10 ]] || fail "the page has $commands commands"
}

# --- docs/fleet.md ----------------------------------------------------------------------------------

t_ten_commands()
{
	lay_etc
	lay_server
	setup_page
	upto "systemctl reload-or-restart bloomd"
	wait_for "the log" is_reading
	upto "bloomctl fleet"
	says '^NAME: reading$'
	says 'default, 0 entries, published, followed$'
	to_the_end
	ctl -q add 192.0.2.1
	mkdir "$T/b"
	of b -q add 192.0.2.2
	joins b
	comes b 192.0.2.1
	wait_for "what the second had" ctl -q test 192.0.2.2
	a_follower_joins
	strangers_stay_out
	agent_ends
}

# With the other user; what it lists itself, it cannot publish, even if its configuration says so.
a_follower_joins()
{
	(umask 077 && echo OTHER-PASSWORD >"$T/follower")
	joins c 'user = follower' "password-file = $T/follower"
	comes c 192.0.2.2
	of c -q add 192.0.2.3
	says_log c 'fleet: cannot publish: .*NOPERM'
	! ctl -q test 192.0.2.3 || fail "a follower has published"
}

strangers_stay_out()
{
	local words

	for words in ping "config get port" "xread streams xb:{NAME}:log 0"; do
		# shellcheck disable=SC2086 # they are words
		in_server redis-cli -h redis.example.net --tls --cacert /etc/redis/fleet.crt $words >"$T/out" 2>&1 || true
		says 'NOAUTH'
	done
	! in_server timeout 5 redis-cli -h redis.example.net ping 2>/dev/null | contains . || fail "it answers without TLS"
}

# --- docs/recipes/fleet.md --------------------------------------------------------------------------

# lay_fleet LIST: the ten commands, with this list.
lay_fleet()
{
	local mishap='' # of the page behind it

	setup_page
	upto "= /etc/xdp-bloom/bloomd.conf.d/fleet.conf"
	sed -i "s/ default$/ $1/" /etc/xdp-bloom/bloomd.conf.d/fleet.conf
	upto "systemctl reload-or-restart bloomd"
}

# bloomctl, as fail2ban finds it.
lay_bloomctl()
{
	mkdir "$T/path"
	printf '#!/bin/sh\nexec %s --state %s --pin %s --run %s "$@"\n' "$bloomctl" "$state" "$pins" "$counters" >"$T/path/bloomctl"
	chmod +x "$T/path/bloomctl"
	PATH=$T/path:$PATH
}

bans() { wait_for "the ban of $1" ctl -q test "$1"; }

t_recipe()
{
	lay_etc
	lay_server
	rename eth0
	lay_fleet bans
	jail
	rm "$T/fail2ban/jail.local"
	printf '[sshd]\nenabled = true\nbackend = polling\nlogpath = %s\n' "$T/auth.log" >"$T/fail2ban/jail.d/logs.local"
	is_packaged || lay_bloomctl
	page fleet 21
	upto "systemctl enable --now xdp-bloom bloomd"
	wait_for "the log" is_reading
	mkdir -p /etc/fail2ban/action.d /etc/fail2ban/jail.d
	upto "bloomctl fleet"
	says '^NAME: reading$'
	for one in action.d jail.d; do
		upto "= /etc/fail2ban/$one/xdp-bloom-fleet.conf"
		is_packaged || cp /etc/fail2ban/$one/xdp-bloom-fleet.conf "$T/fail2ban/$one/"
	done
	upto "systemctl restart fail2ban"
	joins b
	the_router_follows
	upto "fail2ban-client set sshd banip 203.0.113.7"
	bans 203.0.113.7
	comes b 203.0.113.7
	comes c 203.0.113.7
	upto "bloomctl test 203.0.113.7"
	says '^203.0.113.7 is dropped now: listed$'
	upto "bloomctl list --list bans"
	says '^203.0.113.7 list bans .*expires .* comment "sshd on '
	upto "bloomctl del 203.0.113.7 --list bans"
	goes b 203.0.113.7
	goes c 203.0.113.7
	day_by_day
	to_the_end
	says_agent 'no longer in the fleet NAME'
	has b 203.0.113.8 || fail "what it banned is gone on another host"
	no_complaint
	agent_ends
}

t_recipe_after_the_readme() { after_the_readme t_recipe eth0; }

# The page's section for it, on another host.
the_router_follows()
{
	upto "= /etc/xdp-bloom/bloomd.conf.d/follow.conf"
	mkdir -p "$T/c"
	mv /etc/xdp-bloom/bloomd.conf.d/follow.conf "$T/c/bloomd.conf"
	(umask 077 && echo OTHER-PASSWORD >"$T/follower")
	sed -i "s|^password-file.*|password-file = $T/follower|" "$T/c/bloomd.conf"
	"$bloomd" --config "$T/c/bloomd.conf" --check
	up c
	in_fleet c
	upto "bloomctl fleet"
	! of c -q add 203.0.113.9 --list bans || fail "the router can change the list"
}

day_by_day()
{
	upto "bloomctl fleet"
	says '^  log      position ([0-9]+) of \1, '
	upto "bloomctl allow add 198.51.100.7"
	of b -q add 198.51.100.7 203.0.113.8 --list bans
	bans 203.0.113.8
	upto "bloomctl scope bans tcp/22,tcp/80,tcp/443"
	exits 1 test 203.0.113.8 --to udp/53
	exits 0 allow test 198.51.100.7
	[[ $(of b scope bans) != *tcp/22* ]] || fail "the scope is shared"
	upto "bloomctl fleet verify"
	says 'no difference'
	upto "bloomctl fleet resync"
	says_agent 'fleet: resynced \(asked\)'
}

run_tests
