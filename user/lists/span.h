/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges in list files, kept as prefixes; and exceptions among them, taken out of what is listed.
 */
#ifndef XB_LISTS_SPAN_H
#define XB_LISTS_SPAN_H

#include "lists/items.h"
#include "model/range.h"

/* Keeps as few prefixes as can be, each with what else the item says; for the allowlist, if its
 * entry is. */
int xb_span_keep(struct xb_listfile *file, const struct xb_span *span, const struct xb_item *item,
		 const char *comment);

/*
 * The same for a span that a database of networks has: in pieces that are no wider than an import
 * takes without doubt (model/bogon.h), however many neighbours make it up. One of more than a /4 or
 * an IPv6 /12 stays as wide as it is, since no country or company has as much.
 */
int xb_span_keep_narrow(struct xb_listfile *file, const struct xb_span *span,
			const struct xb_item *item);

/* Spans that come in order: neighbours become one. All zero is the beginning. */
struct xb_span_run {
	struct xb_span span;
	bool any;
};

/* next: NULL at the end. Keeps what does not go on with it. */
int xb_span_join(struct xb_listfile *file, struct xb_span_run *run, const struct xb_span *next);

/* Which of several lines decides about an address that lies in all of them. */
enum xb_precedence {
	XB_LONGEST,	  /* the longest prefix; of equal ones the exception */
	XB_LONGEST_FIRST, /* the longest prefix; of equal ones the first line */
	XB_LONGEST_OCTET, /* the same in whole octets, as ip4set of rbldnsd stores them: /17 is as
			     long as /24; of equal ones the exception */
	XB_LONGEST_LAST,  /* the same, the last line */
	XB_LATEST,	  /* the last line */
};

/*
 * For a format whose exceptions hold within the file alone: it keeps them as addresses for the
 * allowlist, and then calls this function, with the items in store
 * order. It takes the exceptions out of what is listed, by writing the rest as prefixes, and none
 * is left. Names stay as they are.
 */
int xb_span_except(struct xb_listfile *file, enum xb_precedence precedence);

#endif
