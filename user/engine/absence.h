/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Explains why a del finds no entry, and which entry still covers one that a del removed. */
#ifndef XB_ENGINE_ABSENCE_H
#define XB_ENGINE_ABSENCE_H

#include "store/listnames.h"

/* The narrowest of the entries that are wider than a given one and cover it. All zero: there is
 * none. */
struct xb_cover {
	bool found;
	struct xb_entry entry; /* the cover owns its name */
	struct xb_list_names lists;
};

/* Finds the cover of the entry, on the same side: listed or allowed. Returns 0, also if there is
 * none, or an error with its message. The caller frees the cover in either case. */
int xb_cover_find(struct xb_txn *txn, const struct xb_entry *entry, struct xb_cover *cover);
void xb_cover_free(struct xb_cover *cover);

enum xb_absence_kind {
	XB_ABSENCE_ALL,	      /* no entry, and none that covers it */
	XB_ABSENCE_ELSEWHERE, /* other lists have the entry: lists */
	XB_ABSENCE_TWIN,      /* no entry for the domain, but one for its name alone: twin */
	XB_ABSENCE_COVERED,   /* a wider entry covers it: cover */
};

/* Must not be copied, because twin.name points into it. */
struct xb_absence {
	enum xb_absence_kind kind;
	struct xb_list_names lists;
	struct xb_cover cover;
	struct xb_entry twin;
	uint8_t form[XB_NAME_BYTES]; /* the twin's name */
};

/* Explains why the entry is absent: from one list (in_list), or from all lists of its side. Returns
 * 0, or an error with its message. The caller frees the absence in either case. */
int xb_absence_find(struct xb_txn *txn, const struct xb_entry *entry, bool in_list,
		    struct xb_absence *absence);
void xb_absence_free(struct xb_absence *absence);

#endif
