/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses from one to another, and the prefixes that cover them and nothing else. */
#ifndef XB_MODEL_RANGE_H
#define XB_MODEL_RANGE_H

#include "model/entry.h"

/* An address as a number, left-aligned as in struct xb_entry. */
typedef unsigned __int128 xb_address;

/* The bits behind a prefix of this length. */
static inline xb_address xb_address_behind(uint8_t length)
{
	return length < 128 ? ~(xb_address)0 >> length : 0;
}

/* Both ends belong to it. */
struct xb_span {
	xb_address first, last; /* last: all bits behind an IPv4 address are set */
	bool ipv6;
};

struct xb_span xb_span_of(const struct xb_entry *entry);

/* From one address or prefix to another; an input error if they are of two families, or not in
 * order. */
int xb_span_between(const struct xb_entry *first, const struct xb_entry *last,
		    struct xb_span *span);

/* ADDRESS-ADDRESS, as many bytes. -ENOENT without a message: it is something else. */
int xb_span_parse(const char *text, size_t size, struct xb_span *span);

/* Takes the longest prefix with which the span begins out of it. Returns false if that was all. */
bool xb_span_next(struct xb_span *span, struct xb_entry *prefix);

#endif
