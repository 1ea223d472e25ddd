/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a del does not find an entry, and what still covers one that it took out. */
#ifndef XB_ENGINE_ABSENCE_H
#define XB_ENGINE_ABSENCE_H

#include "store/listnames.h"

/* The longest entry that is wider than one. All zero is none. */
struct xb_cover {
	bool found;
	struct xb_entry entry; /* a name of it is the cover's */
	struct xb_list_names lists;
};

/* 0, or an error with its message; the caller frees the cover in either case. */
int xb_cover_find(struct xb_txn *txn, const struct xb_entry *entry, struct xb_cover *cover);
void xb_cover_free(struct xb_cover *cover);

enum xb_absence_kind {
	XB_ABSENCE_ALL,	      /* neither it nor what covers it is there */
	XB_ABSENCE_ELSEWHERE, /* other lists have it: lists */
	XB_ABSENCE_TWIN,      /* the domain has no entry, but its name alone has: twin */
	XB_ABSENCE_COVERED,   /* a wider entry covers it: cover */
};

/* Not to be copied: the twin points into it. */
struct xb_absence {
	enum xb_absence_kind kind;
	struct xb_list_names lists;
	struct xb_cover cover;
	struct xb_entry twin;
	uint8_t form[XB_NAME_BYTES]; /* of the twin */
};

/* Of an entry that is not in the list asked for; in_list false: in none of its side. 0, or an error
 * with its message; the caller frees the absence in either case. */
int xb_absence_find(struct xb_txn *txn, const struct xb_entry *entry, bool in_list,
		    struct xb_absence *absence);
void xb_absence_free(struct xb_absence *absence);

#endif
