/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/sources.h"

#include <stdlib.h>

#include "base/array.h"

int xb_sources_append(struct xb_sources *set, const struct xb_span *span, uint32_t tag)
{
	struct xb_stretch *last = set->count ? &set->stretches[set->count - 1] : NULL;

	/* Touching: the address behind the last one of all is 0, which nothing in order begins
	 * with. */
	if (last && last->tag == tag && last->span.ipv6 == span->ipv6 &&
	    last->span.last + 1 == span->first) {
		last->span.last = span->last;
		return 0;
	}
	return xb_sources_add(set, span, tag);
}

int xb_sources_add(struct xb_sources *set, const struct xb_span *span, uint32_t tag)
{
	int error =
		xb_array_grow(&set->stretches, &set->room, set->count + 1, sizeof(*set->stretches));

	if (!error)
		set->stretches[set->count++] = (struct xb_stretch){*span, tag};
	return error;
}

static int compare(const void *a, const void *b)
{
	const struct xb_span *one = &((const struct xb_stretch *)a)->span;
	const struct xb_span *two = &((const struct xb_stretch *)b)->span;

	if (one->ipv6 != two->ipv6)
		return one->ipv6 - two->ipv6;
	return (one->first > two->first) - (one->first < two->first);
}

static bool is_in_order(const struct xb_sources *set)
{
	for (size_t i = 1; i < set->count; i++)
		if (compare(&set->stretches[i - 1], &set->stretches[i]) > 0)
			return false;
	return true;
}

void xb_sources_settle(struct xb_sources *set)
{
	size_t kept = 0;

	if (!is_in_order(set))
		qsort(set->stretches, set->count, sizeof(*set->stretches), compare);
	for (size_t i = 0; i < set->count; i++) {
		struct xb_stretch stretch = set->stretches[i];
		struct xb_span *last = kept ? &set->stretches[kept - 1].span : NULL;

		if (last && last->ipv6 == stretch.span.ipv6 &&
		    (stretch.span.first <= last->last || stretch.span.first == last->last + 1)) {
			if (stretch.span.last > last->last)
				last->last = stretch.span.last;
		} else {
			set->stretches[kept++] = stretch;
		}
	}
	set->count = kept;
}

int xb_sources_of_families(unsigned int families, struct xb_sources *set)
{
	struct xb_span all = {.last = ~(xb_address)0};
	int error = families & XB_FAMILY4 ? xb_sources_add(set, &all, 0) : 0;

	all.ipv6 = true;
	if (!error && families & XB_FAMILY6)
		error = xb_sources_add(set, &all, 0);
	return error;
}

/* Where a walk through a set is: the rest of a stretch. */
struct walk {
	const struct xb_sources *set;
	size_t at;
	struct xb_stretch rest;
};

static bool enter(struct walk *walk)
{
	if (walk->at == walk->set->count)
		return false;
	walk->rest = walk->set->stretches[walk->at];
	return true;
}

/* Goes on behind `last`, an address of the rest. */
static bool pass(struct walk *walk, xb_address last)
{
	if (last < walk->rest.span.last) {
		walk->rest.span.first = last + 1;
		return true;
	}
	walk->at++;
	return enter(walk);
}

static bool is_less(const struct xb_span *a, const struct xb_span *b)
{
	return a->ipv6 != b->ipv6 ? b->ipv6 : a->first < b->first;
}

/* The next span in which nothing changes: of which walks it is. */
static struct xb_span next_span(const struct walk *a, const struct walk *b, bool *in_a, bool *in_b)
{
	const struct xb_span *one = &a->rest.span, *two = &b->rest.span;
	bool either = *in_a != *in_b;
	struct xb_span span = !*in_a || (*in_b && is_less(two, one)) ? *two : *one;

	if (either)
		return span;
	*in_a = !is_less(two, one);
	*in_b = !is_less(one, two);
	if (*in_a && *in_b)
		span.last = one->last < two->last ? one->last : two->last;
	else if (one->ipv6 == two->ipv6 && span.last >= (*in_a ? two : one)->first)
		span.last = (*in_a ? two : one)->first - 1;
	return span;
}

static bool is_wanted(enum xb_sources_how how, bool in_a, bool in_b)
{
	switch (how) {
	case XB_IN_EITHER:
		return true;
	case XB_IN_BOTH:
		return in_a && in_b;
	case XB_IN_FIRST_ALONE:
		break;
	}
	return in_a && !in_b;
}

int xb_sources_combine(enum xb_sources_how how, const struct xb_sources *a,
		       const struct xb_sources *b, struct xb_sources *out)
{
	struct walk one = {.set = a}, two = {.set = b};
	bool more_a = enter(&one), more_b = enter(&two);
	struct xb_sources made = {0};
	int error = 0;

	while (!error && (more_a || (more_b && how == XB_IN_EITHER))) {
		bool in_a = more_a, in_b = more_b;
		struct xb_span span = next_span(&one, &two, &in_a, &in_b);

		if (is_wanted(how, in_a, in_b))
			error = xb_sources_append(&made, &span, (in_a ? &one : &two)->rest.tag);
		if (in_a)
			more_a = pass(&one, span.last);
		if (in_b)
			more_b = pass(&two, span.last);
	}
	xb_sources_free(out);
	*out = made;
	return error;
}

size_t xb_sources_find(const struct xb_sources *set, const struct xb_span *span)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (xb_span_is_before(&set->stretches[middle].span, span))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void xb_sources_free(struct xb_sources *set)
{
	free(set->stretches);
	*set = (struct xb_sources){0};
}
