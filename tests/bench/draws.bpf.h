/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program that makes packets keeps between two of them: for each CPU, so that several can
 * make packets at once and share no line. */
#ifndef XB_BENCH_DRAWS_BPF_H
#define XB_BENCH_DRAWS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct draws {
	__u64 state; /* of the random numbers; 0: nothing was drawn yet */
	__u32 drawn; /* from a table */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct draws);
} draws_of_cpu SEC(".maps");

/* Those of this CPU. */
static __always_inline struct draws *draws_mine(void)
{
	__u32 first = 0;
	struct draws *draws = bpf_map_lookup_elem(&draws_of_cpu, &first);

	if (draws && !draws->state)
		draws->state = 0x9e3779b97f4a7c15ULL * (2 * bpf_get_smp_processor_id() + 1);
	return draws;
}

/* xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003) */
static __always_inline __u64 draws_word(struct draws *draws)
{
	__u64 x = draws->state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	draws->state = x;
	return x;
}

#endif
