/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of the fleet's log that are to be applied, and the body of the write that does it. */
#ifndef XB_BLOOMD_FOLLOW_H
#define XB_BLOOMD_FOLLOW_H

#include "bloomd/fleet/mac.h"
#include "engine/context.h"

/* An entry as it came. */
struct follow_item {
	uint64_t position;
	uint8_t *bytes;
	size_t size;
};

/* In the order in which they came; what has been applied is in front of `next`. */
struct follow_queue {
	struct follow_item *item;
	size_t count, room, next;
};
int follow_queue_add(struct follow_queue *queue, uint64_t position, const void *bytes, size_t size);
void follow_queue_clear(struct follow_queue *queue);
static inline bool follow_queue_is_empty(const struct follow_queue *queue)
{
	return queue->next == queue->count;
}

/* Why entries were left. */
enum follow_stop {
	FOLLOW_ALL,   /* none was */
	FOLLOW_MORE,  /* enough for one write */
	FOLLOW_GAP,   /* the next one is missing */
	FOLLOW_BEGIN, /* it begins a later epoch */
	FOLLOW_BAD,   /* it does not chain, or cannot be read */
};

struct follow {
	const struct mac_key *key;
	const struct follow_queue *queue;
	size_t done; /* entries that were applied, or were here already */
	enum follow_stop stop;
	char why[256]; /* of FOLLOW_BAD */
	bool forged;   /* of FOLLOW_BAD: it was not written with this key for this place */
	uint64_t changes;
	bool foreign; /* the fleet has lists that this host does not share */
};

/* The body of a write; context: a struct follow. Returns 0 or an error with its message; an entry
 * that does not fit is no error, but stops before it. */
int follow_apply(struct xb_writer *writer, void *context);

#endif
