/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of source addresses, of IPv4 and IPv6, as spans in order. */
#ifndef XB_LISTS_SOURCES_H
#define XB_LISTS_SOURCES_H

#include "lists/span.h"

/* Addresses from one to another, with a number that whoever made the set gave them. */
struct xb_stretch {
	struct xb_span span;
	uint32_t tag;
};

/* IPv4 first, then by address; no two stretches have an address in common. All zero is the empty
 * set. */
struct xb_sources {
	struct xb_stretch *stretches;
	size_t count, room;
};

enum xb_family {
	XB_FAMILY4 = 1,
	XB_FAMILY6 = 2,
	XB_FAMILIES = 3,
};

enum xb_sources_how {
	XB_IN_EITHER,
	XB_IN_BOTH,
	XB_IN_FIRST_ALONE,
};

/* Puts a span behind the others, in whatever order; xb_sources_settle() makes a set of them. */
int xb_sources_add(struct xb_sources *set, const struct xb_span *span, uint32_t tag);

/* Puts a span behind the others of a set, with all of which it has nothing in common. */
int xb_sources_append(struct xb_sources *set, const struct xb_span *span, uint32_t tag);

/* Puts stretches in order and joins those that overlap or touch; where several lie, the tag of the
 * first counts. */
void xb_sources_settle(struct xb_sources *set);

/* All addresses of the families, XB_FAMILY bits. */
int xb_sources_of_families(unsigned int families, struct xb_sources *set);

/* Makes a set of the addresses that two have; out may be one of them, and is freed before. Where
 * both have an address, its tag is that of `a`. */
int xb_sources_combine(enum xb_sources_how how, const struct xb_sources *a,
		       const struct xb_sources *b, struct xb_sources *out);

/* Replaces *set by what it and the other have. */
static inline int xb_sources_change(struct xb_sources *set, enum xb_sources_how how,
				    const struct xb_sources *other)
{
	return xb_sources_combine(how, set, other, set);
}

/* The number of the first stretch that does not lie before the span. */
size_t xb_sources_find(const struct xb_sources *set, const struct xb_span *span);

void xb_sources_free(struct xb_sources *set);

/* Whether `a` lies before `b`, with no address in common. */
static inline bool xb_span_is_before(const struct xb_span *a, const struct xb_span *b)
{
	return a->ipv6 != b->ipv6 ? b->ipv6 : a->last < b->first;
}

#endif
