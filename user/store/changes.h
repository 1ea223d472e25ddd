/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The changes of a transaction: the entries that came and went, listed or allowed. */
#ifndef XB_STORE_CHANGES_H
#define XB_STORE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/entry.h"
#include "xdp_bloom/layout.h"

enum xb_what {
	XB_GONE,    /* is no longer listed (allowed) */
	XB_LISTED,  /* is listed (allowed) now */
	XB_ALTERED, /* it stays: a name of which the lists, and so perhaps the verdict, changed, or
		       an address of which the classes changed */
};

/* The classes of an entry, of class 0 alone: a listed name, or an allowed entry. */
#define XB_CLASSES_ALL (1U << XB_CLASS_ALL)

/* What becomes of an address with these classes, which differ; 0: it is not listed. */
static inline enum xb_what xb_what_of(uint32_t before, uint32_t after)
{
	return !before ? XB_LISTED : after ? XB_ALTERED : XB_GONE;
}

struct xb_change {
	struct xb_entry entry; /* names are in the arena of the changes */
	enum xb_what what;
	uint16_t before, after; /* the classes that it had, and has: a bit for each */
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

/* Appends a change, with a copy of the entry's name. The entry is of class 0, as far as it is
 * listed. */
int xb_changes_add(struct xb_changes *changes, const struct xb_entry *entry, enum xb_what what);
/* Appends a change of an address that had some classes, and has others; 0: it is not listed. */
int xb_changes_move(struct xb_changes *changes, const struct xb_entry *entry, uint32_t before,
		    uint32_t after);
/* Appends a change as it is, with a copy of the entry's name. */
int xb_changes_put(struct xb_changes *changes, const struct xb_change *change);
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
