/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of shared lists in memory, and which entries a fleet shares at all. */
#ifndef XB_STORE_SHAREDCHANGES_H
#define XB_STORE_SHAREDCHANGES_H

#include "store/types.h"

/* Whether a fleet shares the entry: it is listed, not allowed, and not too wide for an import. */
bool xb_entry_is_shared(const struct xb_entry *entry);

/* A change of a shared list. */
struct xb_shared_change {
	struct xb_entry entry; /* one that is shared; the function says who owns a name */
	const char *list;
	bool put;		 /* false: a delete; the fields below are 0 then */
	uint32_t added, expires; /* seconds since 1970; expires 0: never */
	const char *comment;	 /* UTF-8, not terminated */
	uint32_t comment_size;
};

/* Several, with what they point to. All zero: none. */
struct xb_shared_changes {
	struct xb_shared_change *item;
	uint64_t *number; /* of each in the outbox; NULL unless they were read from there */
	size_t count, room;
	struct xb_arena bytes;
};
void xb_shared_changes_free(struct xb_shared_changes *changes);
/* Appends a copy. Returns 0 or an error with its message. */
int xb_shared_changes_add(struct xb_shared_changes *changes, const struct xb_shared_change *change);

/* Whose change it was that is published again, after the log has lost it. OLDER: a put of a
 * snapshot, older than all that the log has behind that. */
enum xb_again { XB_AGAIN_OWN = 1, XB_AGAIN_ANOTHERS = 2, XB_AGAIN_OLDER = 3 };

#endif
