# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# Pinned parameters that say something else. For sourcing behind lib.sh.

# What this version writes, and where it stands in struct xb_params.
layout=$(sed -n 's/^#define XB_GENERATION_LAYOUT //p' "$root/include/xdp_bloom/layout.h") layout_at=196

# lie OFFSET NUMBER...: the parameters in the pins of each generation, changed there, and longer by $longer bytes.
lie()
{
	local pin value

	for pin in "$pins"/gen-*/params; do
		value=$(bpftool -j map dump pinned "$pin" | python3 -c '
import json, struct, sys
value = bytes(int(x, 16) for x in json.load(sys.stdin)[0]["value"]) + bytes(int(sys.argv[1]))
for offset, number in zip(sys.argv[2::2], sys.argv[3::2]):
    value = value[:int(offset)] + struct.pack("<I", int(number, 0)) + value[int(offset) + 4:]
print(len(value), *value)' "${longer:-0}" "$@")
		rm "$pin"
		# shellcheck disable=SC2086
		bpftool map create "$pin" type array key 4 value ${value%% *} entries 1 name params
		# shellcheck disable=SC2086
		bpftool map update pinned "$pin" key 0 0 0 0 value ${value#* }
	done
	echo "lie: $*"
}
