/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The changes of a transaction: the entries that came and went, listed or allowed. */
#ifndef XB_STORE_CHANGES_H
#define XB_STORE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/entry.h"

enum xb_what {
	XB_GONE,    /* is no longer listed (allowed) */
	XB_LISTED,  /* is listed (allowed) now */
	XB_ALTERED, /* a name of which the lists, and so perhaps the verdict, changed */
};

struct xb_change {
	struct xb_entry entry; /* names are in the arena of the changes */
	enum xb_what what;
};

/* A transaction with more changes than this is "bulk": its changes are not kept one by one, and
 * a new generation is built for it. */
#define XB_CHANGES_MAX (1U << 17)

struct xb_changes {
	struct xb_change *change;
	size_t count, room;
	struct xb_arena names;
	bool bulk;
	bool tightens; /* something is listed that was not, or has a stricter verdict; kept in bulk,
			  too */
};

/* Appends a change, with a copy of the entry's name. */
int xb_changes_add(struct xb_changes *changes, const struct xb_entry *entry, enum xb_what what);
/* Appends the changes in `more`. The result is bulk if one of them is, or if there are too many. */
int xb_changes_append(struct xb_changes *changes, const struct xb_changes *more);

/*
 * Reduces the changes, which are in the order in which they were made, to their net result: each
 * entry once, in store order. An entry that came and went again is no change. -EIO with a message:
 * out of memory.
 */
int xb_changes_settle(struct xb_changes *changes);

void xb_changes_set_bulk(struct xb_changes *changes);
void xb_changes_free(struct xb_changes *changes);

static inline bool xb_changes_any(const struct xb_changes *changes)
{
	return changes->bulk || changes->count;
}

#endif
