/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lists have an address or a domain, whatever the policy says. */
#ifndef XB_BLOOMD_LISTED_H
#define XB_BLOOMD_LISTED_H

#include "bloomd/postfix/action.h"
#include "store/store.h"

struct listed_question {
	const struct xb_entry *entry;
	const char *list;	     /* this list, whatever its scope; NULL: all */
	const struct xb_service *to; /* of all, those that hold for it; of domains all do */
};

/* The higher wins. */
enum listed_how {
	LISTED_NOT,	/* or it is allowed */
	LISTED_COUNTED, /* by lists of the verdict count alone */
	LISTED_DROPPED, /* by another list */
};

struct listed {
	enum listed_how how;
	char lists[ACTION_LISTS]; /* names with commas between them; "..." behind those that fit */
};

/* txn: NULL if there is no store yet. Returns 0, or an error with its message. */
int listed_find(struct xb_txn *txn, const struct listed_question *question, struct listed *listed);

#endif
