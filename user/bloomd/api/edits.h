/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The changes that one transaction makes for many requests. Their entries are applied in the order
 * of the store, which is many times faster than in the order in which they came; changes of the
 * same entry keep theirs, so each request finds what those before it have left.
 */
#ifndef XB_BLOOMD_EDITS_H
#define XB_BLOOMD_EDITS_H

#include "base/arena.h"
#include "engine/edit.h"

enum edit_outcome {
	EDIT_SAME, /* it was as wished, or absent */
	EDIT_ADDED,
	EDIT_RENEWED,
	EDIT_REMOVED,
};

/* Rules of ZADD. */
#define EDIT_NEW_ONLY	 1U /* NX */
#define EDIT_OLD_ONLY	 2U /* XX */
#define EDIT_LATER_ONLY	 4U /* GT: of what is there, only if the expiry becomes later */
#define EDIT_SOONER_ONLY 8U /* LT */

/* What a request wants: to put entries into a list, or to take them out. */
struct edit {
	const char *list; /* lasts until the edits are applied */
	bool add, allow;
	bool timed; /* sets the expiry of entries that are there, too */
	uint8_t rules;
	uint32_t first, count; /* of the edits' slots */
	uint32_t id;	       /* of the list */
};

struct edit_slot {
	uint32_t expires; /* 0: never */
	uint8_t outcome;
};

struct edit_op {
	struct xb_entry entry;
	uint32_t slot;
	uint32_t edit; /* number that the caller gave */
};

/* All zero: none. */
struct edits {
	struct edit_op *op;
	struct edit_slot *slot;
	size_t count, op_room, slot_room;
	struct edit_op *sorted;
	size_t sorting, sorted_room;
	struct xb_arena names;
};
void edits_free(struct edits *edits);
void edits_clear(struct edits *edits);

/* Appends an entry to the edit, which is the last one. Returns 0 or an error with its message;
 * then the caller gives up the edit by edits_cancel(). number: of the edit. */
int edits_take(struct edits *edits, struct edit *edit, uint32_t number, const char *text,
	       size_t size, uint32_t expires);
void edits_cancel(struct edits *edits, struct edit *edit);

/* In a write transaction, for the edits of one step: edits_begin(), then edits_gather() for each in
 * the order in which they came, then edits_apply(). Return 0 or an error with its message. */
void edits_begin(struct edits *edits);
int edits_gather(struct edits *edits, struct xb_writer *writer, struct edit *edit);
int edits_apply(struct edits *edits, struct xb_writer *writer,
		const struct edit *(*find)(const void *all, uint32_t number), const void *all);

/* How many entries of the edit came out so. */
uint32_t edits_count(const struct edits *edits, const struct edit *edit, enum edit_outcome outcome);

#endif
