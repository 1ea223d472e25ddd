// SPDX-License-Identifier: GPL-2.0-or-later
/* The filter program as it ships, with its work counted: what a packet costs in look-ups, rounds
 * and bytes, on whatever machine. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "counted.h"

struct work work;

#define bpf_map_lookup_elem(map, key) (work.lookups++, bpf_map_lookup_elem(map, key))
#define bpf_xdp_load_bytes(ctx, at, to, size)                                                      \
	(work.loads++, work.bytes += (size), bpf_xdp_load_bytes(ctx, at, to, size))
#define bpf_loop(most, body, data, flags)                                                          \
	({                                                                                         \
		long rounds = bpf_loop(most, body, data, flags);                                   \
		work.rounds += rounds;                                                             \
		rounds;                                                                            \
	})

#include "filter.bpf.c" /* NOLINT(bugprone-suspicious-include): the same, counted */
