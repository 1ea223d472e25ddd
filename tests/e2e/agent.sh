# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bloomd beside a filter that drops one address. For sourcing behind lib.sh.

# shellcheck disable=SC2119 # agent without arguments
begin()
{
	ctl -q attach x0
	ctl -q add 10.77.0.3
	agent
	blocked 10.77.0.3
	passes 10.77.0.4
}

# worked: nanoseconds of processors that bloomd took so far. A busy machine makes it wait, but does not add to these.
worked() { awk '{sum += $1} END {printf "%.0f\n", sum}' /proc/"$agent"/task/*/schedstat; }

# costs COUNT COMMAND...: nanoseconds of processors that bloomd takes for one of so many, at the lower quartile: what else
# it does meanwhile falls to a few of them. $meter says what it took so far, if not `worked`.
costs()
{
	local before i

	for ((i = 0; i < $1; i++)); do
		before=$(${meter:-worked})
		"${@:2}"
		sleep 0.15 # beyond what is kept for the next scrape
		echo $(($(${meter:-worked}) - before))
	done | sort -n | sed -n "$((1 + $1 / 4))p"
}

# wakes: how often bloomd woke up so far.
wakes() { awk '/^voluntary/ {print $2}' "/proc/$agent/status"; }

# is_quiet SECONDS: for so long it wakes up only to compare counters, once a second.
is_quiet()
{
	local begun=${EPOCHREALTIME/./} before

	before=$(wakes)
	sleep "$1"
	[[ $((2000000 * ($(wakes) - before))) -le $((3 * (${EPOCHREALTIME/./} - begun))) ]]
}

agent_stands()
{
	kill -STOP "$agent"
	wait_for "its stop" is_stopped "$agent"
}

gone() { ! ctl -q list | contains "^$1 "; }

# limited_agent RIGHTS [OPTION...]: bloomd will have the rights that its unit leaves it, these, and setpriv these options.
limited_agent()
{
	cat >"$T/limited" <<-END
		#!/bin/sh
		umask 0077
		exec setpriv --bounding-set=-all,+bpf,+net_admin,+perfmon,+sys_admin$1 --inh-caps=-all ${*:2} $bloomd "\$@"
	END
	chmod 755 "$T/limited"
	agent_program=$T/limited
}

# resident: memory of its own in KiB; pages of files, such as those of the store, are the kernel's.
resident() { awk '/^Rss(Anon|Shmem):/ {sum += $2} END {print sum}' "/proc/$agent/status"; }
