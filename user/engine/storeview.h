/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the store says of itself and of what is wanted, read in one transaction; but for what is
 * listed, of which it has the numbers. */
#ifndef XB_ENGINE_STOREVIEW_H
#define XB_ENGINE_STOREVIEW_H

#include "model/comment.h"
#include "model/entry.h"
#include "model/interface.h"
#include "store/home.h"
#include "store/readers.h"
#include "store/store.h"
#include "store/trialrecord.h"

/* What is allowed automatically. */
struct xb_automatic {
	char entry[XB_ENTRY_TEXT];
	char kind[32]; /* the name of its kind of lifeline */
	char why[XB_COMMENT_MAX + 1];
};

struct xb_storeview {
	struct xb_meta meta;
	uint64_t expired; /* memberships that are no longer listed, but enforced */
	struct xb_list *lists;
	size_t list_count;
	struct xb_wanted *wanted;
	size_t wanted_count;
	struct xb_home home;
	struct xb_automatic *automatic;
	size_t automatic_count;
	uint64_t manual;	 /* entries of the allowlist that somebody added */
	struct xb_reader reader; /* who holds up the store; see store/readers.h */
	bool tried;		 /* there is a trial, or one that is over and not cleared away */
	struct xb_trial trial;
};

/* now: seconds since 1970; what has expired by then is counted as expired. If there is no store,
 * the view is that of an empty one. The caller frees it, in case of failure too. */
int xb_storeview_read(const char *state, uint32_t now, struct xb_storeview *view);
void xb_storeview_free(struct xb_storeview *view);

#endif
