/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From many hosts to their network: the prefixes in which many entries of one list lie. */
#ifndef XB_ENGINE_AGGREGATE_H
#define XB_ENGINE_AGGREGATE_H

#include "engine/edit.h"

struct xb_aggregate_terms {
	const char *list, *into;  /* whose entries are counted; which list the prefixes are for */
	uint64_t least;		  /* entries */
	uint8_t length4, length6; /* of the prefixes; 0: none of this family */
	uint32_t timeout; /* seconds that they are to be listed for; 0: none is listed yet */
};

/* A prefix, and how many longer ones and single addresses of the list lie in it. */
struct xb_aggregate {
	struct xb_entry prefix;
	uint64_t entries;
};

/* In store order; all zero before. */
struct xb_aggregates {
	struct xb_aggregate *item;
	size_t count, room;
};

void xb_aggregates_free(struct xb_aggregates *found);

/* Finds those that the list `into` does not have for as long as the timeout says, nor a wider one.
 * Without a timeout: those that it does not have at all. now: seconds since 1970. -ENOENT without a
 * message: there is no list `list`; of the other one that is no error. */
int xb_aggregates_find(struct xb_txn *txn, const struct xb_aggregate_terms *terms, uint32_t now,
		       struct xb_aggregates *found);

/* In a write: adds what was found to the list `into`, with a comment that says how many entries it
 * stands for. Returns as xb_edit_all(). */
int xb_aggregates_add(struct xb_writer *writer, const struct xb_aggregate_terms *terms,
		      const struct xb_aggregates *found, struct xb_edit_result *result,
		      struct xb_edit_refusal *refusal);

#endif
