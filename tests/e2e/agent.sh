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
