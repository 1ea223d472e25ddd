/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of one list that another program asks for, entry by entry: until when each is listed. */
#ifndef XB_ENGINE_PATCH_H
#define XB_ENGINE_PATCH_H

#include "engine/context.h"
#include "model/origin.h"
#include "model/scope.h"

struct xb_patch_item {
	struct xb_entry entry; /* first, for xb_entry_sort */
	uint32_t until;	       /* seconds since 1970; 0: not at all any more */
	bool exact;	       /* also if the list has it for longer */
};

/* So many entries may go at once whatever the list has. */
#define XB_PATCH_ENTRIES 1000
/* What would end within so many seconds in any case may go, too. */
#define XB_PATCH_SOON 60

struct xb_patch {
	const char *list;
	bool judges, scopes; /* sets its verdict, its scope */
	uint32_t verdict;
	struct xb_scope scope;
	const struct xb_patch_item *items; /* in store order, each entry once */
	size_t count;
	double factor;	       /* by which the list may shrink; 0: 2 */
	enum xb_origin origin; /* of the entries */
	char *stamp;	       /* not NULL: the list gets a mark, see engine/stamp.h */
	/* The outcome, in entries. */
	uint64_t added, renewed, removed, unchanged;
	uint64_t held;	  /* stay as they were, since too many would have gone */
	uint64_t members; /* of the list, afterwards */
};

/*
 * The body of a write. An entry that is to go stays until its time if with the others the list
 * would shrink by more than the factor and by XB_PATCH_ENTRIES; what is added is added in any case.
 * Returns 0 or an error with its message.
 */
int xb_patch_apply(struct xb_writer *writer, struct xb_patch *patch);

#endif
