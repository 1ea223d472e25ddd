/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a source known: for the program that learns. */
#ifndef XDP_BLOOM_LEARN_H
#define XDP_BLOOM_LEARN_H

#include "known.h"

/* By a call, so that the verifier follows its many tries once, not once for each word. */
__noinline enum xb_known_put known_put_bit(__u64 *word, __u64 bit, __u32 now)
{
	return word ? xb_known_put_bit(word, bit, now) : XB_KNOWN_NO_PLACE;
}

/* Puts the source into the set that learns. now: the present period. */
static __always_inline enum xb_known_put known_learn(struct xb_known *known, __u64 hash, __u32 now)
{
	struct xb_probes probes = xb_probes_of(&known->key, hash);
	__u32 learner = *(volatile __u16 *)&known->learner;
	struct xb_known_line *line = known_line(known, learner, &probes);
	enum xb_known_put put =
		line ? xb_known_line_put(line, &probes, now, known_put_bit) : XB_KNOWN_NO_PLACE;

	if (put == XB_KNOWN_IS_NEW && learner < XB_KNOWN_SETS)
		__sync_fetch_and_add(&known->set[learner].fresh[now & 1], 1);
	return put;
}

#endif
