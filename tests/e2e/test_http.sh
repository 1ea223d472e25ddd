#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The web server of bloomd: metrics, health, the page, and clients that mean no good.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/agent.sh"

t_page_seen()
{
	command -v chromium >/dev/null || skip "no chromium"
	configure '[http]' "listen = $web"
	exits 0 attach x0
	exits 0 add 10.77.0.3 10.77.3.0/24 fd77::3 ads.example
	starts_agent
	for i in 1 2 3 4 5 6 7; do
		in_client ping -q -n -c 20 -i 0.01 -W 1 -I 10.77.0.3 $server4 >/dev/null || true
		in_client ping -q -n -c $((RANDOM % 90 + 10)) -i 0.01 -W 1 -I 10.77.0.2 $server4 >/dev/null || true
		sleep 2
	done
	sleep 4
	in_server timeout 60 chromium --headless --no-sandbox --disable-gpu --window-size=1280,1400 \
		--virtual-time-budget=20000 --screenshot=/tmp/shot.png http://$web/ >/tmp/chromium.log 2>&1 || true
	ls -la /tmp/shot.png
}

run_tests
