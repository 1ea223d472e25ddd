#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Known customers: who has connected passes under allow-only --known, and nobody else.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=cgroup.sh
. "$(dirname "$0")/cgroup.sh"

need_cgroup() { [[ -n ${XB_TEST_CGROUP:-} ]] || skip "cgroup v2 is not mounted, or no group can be made"; }

# A customer connects, and connects again when only known ones may.
t_known_customers_pass()
{
	need_cgroup
	serve
	ctl attach x0
	exits 0 known on
	reaches tcp 10.77.0.2
	reaches tcp fd77::2
	exits 0 known test 10.77.0.2
	exits 0 known test fd77::2
	exits 1 known test 10.77.0.4
	exits 0 policy allow-only --known
	complains 'UDP services'
	reaches tcp 10.77.0.2
	reaches tcp fd77::2
	! reaches tcp 10.77.0.4 0.5 || fail "a stranger connects"
	exits 0 policy enforce
	reaches tcp 10.77.0.4
	exits 0 known off
	[[ ! -e $pins/known && -s $state/known ]]
}

run_tests
