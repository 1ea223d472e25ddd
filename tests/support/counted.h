/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a packet cost the counted filter. */
#ifndef XB_TESTS_COUNTED_H
#define XB_TESTS_COUNTED_H

#include <linux/types.h>

struct work {
	__u64 lookups; /* in maps: a line each, of a trie or hash more */
	__u64 rounds;  /* of all loops that are calls */
	__u64 loads;   /* of bytes of the packet by the kernel's helper */
	__u64 bytes;   /* that they brought */
};

#endif
