#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A share of the torture of the world, with libxdp's dispatcher: tests/vm/run world STEPS SEED says how much.
# shellcheck disable=SC2154
name=vm/world/torture
[[ $name =~ $XB_TEST_PATTERN ]] || exit 0
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
bin=$XB_TEST_DIR/bin
# A failure says all that led to it.
# shellcheck disable=SC2086
tests/world/run --dispatched --without races --programs "$bin/bloomctl" "$bin/bloomctl-fault" "$bin/pass.bpf.o" \
	${XB_WORLD_STEPS:-40} ${XB_WORLD_SEED:-}
exit 0
