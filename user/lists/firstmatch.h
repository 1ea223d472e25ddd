/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules in order, each for some sources: what the first one that matches does with a source, worked
 * out for all sources in one sweep. */
#ifndef XB_LISTS_FIRSTMATCH_H
#define XB_LISTS_FIRSTMATCH_H

#include "lists/sources.h"

/* What may become of packets that a rule is asked about. Several bits: it depends on what else they
 * say. */
enum xb_effect {
	XB_PASSES = 1,
	XB_RETURNS = 2, /* it goes back to where the chain was called */
	XB_DROPS = 4,
	XB_GOES_ON = 8, /* to the next rule */
};

struct xb_asked {
	struct xb_span span;
	uint32_t rank;	      /* of the rule; the lowest is asked first */
	uint32_t tag;	      /* of the rule */
	unsigned int effects; /* XB_EFFECT bits */
	bool named; /* the file names these sources; else the rule is for all others, too */
};

/* All zero is an empty one. */
struct xb_first_match {
	struct xb_asked *asked;
	size_t count, room;
};

/* What becomes of sources. Tags are those of the rules. */
struct xb_outcome {
	struct xb_sources passes, returns; /* some of their packets do */
	struct xb_sources ended;	   /* none goes on behind the rules */
	/* All that are left are dropped, of sources that the file names, and of others. */
	struct xb_sources dropped, others;
};

int xb_first_match_add(struct xb_first_match *rules, const struct xb_asked *asked);

/* Replaces *outcome, which is empty or was made so before. The rules are in another order then. */
int xb_first_match_resolve(struct xb_first_match *rules, struct xb_outcome *outcome);

void xb_outcome_free(struct xb_outcome *outcome);

#endif
