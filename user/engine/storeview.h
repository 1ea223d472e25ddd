/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view of the store, read in one transaction: its settings, lists, limits, wanted interfaces,
 * trial and lifelines; of the entries, only their numbers. */
#ifndef XB_ENGINE_STOREVIEW_H
#define XB_ENGINE_STOREVIEW_H

#include "model/comment.h"
#include "model/entry.h"
#include "model/interface.h"
#include "store/home.h"
#include "store/knownwish.h"
#include "store/limits.h"
#include "store/readers.h"
#include "store/store.h"
#include "store/trialrecord.h"

/* A lifeline on the allowlist. */
struct xb_automatic {
	char entry[XB_ENTRY_TEXT];
	char kind[32];		      /* the name of its kind of lifeline */
	char why[XB_COMMENT_MAX + 1]; /* where it was found */
};

struct xb_storeview {
	struct xb_meta meta;
	uint64_t expired; /* memberships that have expired, but are still enforced */
	uint32_t due;	  /* when the first membership expires, which may be past; 0: none does */
	struct xb_list *lists;
	size_t list_count;
	struct xb_arena scopes; /* of the lists */
	struct xb_wanted *wanted;
	size_t wanted_count;
	struct xb_home home;
	struct xb_known_wish known;
	struct xb_limits_wanted *limits; /* NULL: there is no store */
	uint32_t followed;		 /* bits of limits whose list only follows a fleet */
	struct xb_automatic *automatic;
	size_t automatic_count;
	uint64_t manual;	 /* entries of the allowlist that somebody added */
	struct xb_reader reader; /* that holds the oldest state; see store/readers.h */
	bool tried;		 /* there is a record of a trial, which may be over */
	struct xb_trial trial;
};

/* Reads the store in the directory `state`. now: seconds since 1970; memberships that end by then
 * count as expired. Without a store, the view is that of an empty one. Returns 0 or an error with
 * its message; the caller frees the view in either case. */
int xb_storeview_read(const char *state, uint32_t now, struct xb_storeview *view);

/* Does the same without anything that takes longer with more entries: without `expired`,
 * `automatic` and `manual`, and what has expired is still counted. */
int xb_storeview_glance(const char *state, struct xb_storeview *view);
void xb_storeview_free(struct xb_storeview *view);

#endif
