/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/firstmatch.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

int xb_first_match_add(struct xb_first_match *rules, const struct xb_asked *asked)
{
	int error =
		xb_array_grow(&rules->asked, &rules->room, rules->count + 1, sizeof(*rules->asked));

	if (!error)
		rules->asked[rules->count++] = *asked;
	return error;
}

void xb_outcome_free(struct xb_outcome *outcome)
{
	xb_sources_free(&outcome->passes);
	xb_sources_free(&outcome->returns);
	xb_sources_free(&outcome->ended);
	xb_sources_free(&outcome->dropped);
	xb_sources_free(&outcome->others);
}

/* --- the sweep: from one address at which something changes to the next --- */

/* Rules that hold where the sweep is, the lowest rank in front; and some that held before. */
struct heap {
	const struct xb_asked **asked;
	size_t count;
};

enum {
	PASSING,
	RETURNING,
	ENDING,
	HEAPS,
};

struct sweep {
	struct heap heaps[HEAPS];
	struct xb_outcome *outcome;
	bool ipv6;
	xb_address at;
};

static void push(struct heap *heap, const struct xb_asked *asked)
{
	size_t at = heap->count++;

	while (at && heap->asked[(at - 1) / 2]->rank > asked->rank) {
		heap->asked[at] = heap->asked[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->asked[at] = asked;
}

static void pop(struct heap *heap)
{
	const struct xb_asked *last = heap->asked[--heap->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    heap->asked[child + 1]->rank < heap->asked[child]->rank)
			child++;
		if (heap->asked[child]->rank >= last->rank)
			break;
		heap->asked[at] = heap->asked[child];
		at = child;
	}
	heap->asked[at] = last;
}

/* The first that holds where the sweep is; NULL: none does. */
static const struct xb_asked *first_of(struct sweep *sweep, int which)
{
	struct heap *heap = &sweep->heaps[which];

	while (heap->count &&
	       (heap->asked[0]->span.ipv6 != sweep->ipv6 || heap->asked[0]->span.last < sweep->at))
		pop(heap);
	return heap->count ? heap->asked[0] : NULL;
}

static int write_piece(struct sweep *sweep, const struct xb_span *piece,
		       const struct xb_asked *const first[HEAPS])
{
	const struct xb_asked *end = first[ENDING];
	struct xb_outcome *outcome = sweep->outcome;
	struct xb_sources *to[HEAPS] = {&outcome->passes, &outcome->returns, &outcome->ended};
	int error = 0;

	for (int i = 0; !error && i < HEAPS; i++)
		if (first[i] && (!end || first[i]->rank <= end->rank))
			error = xb_sources_append(to[i], piece, first[i]->tag);
	if (!error && end && end->effects & XB_DROPS)
		error = xb_sources_append(end->named ? &outcome->dropped : &outcome->others, piece,
					  end->tag);
	return error;
}

/* Up to `end`, an address at which the next one begins, or to the last of all. */
static int sweep_to(struct sweep *sweep, xb_address end, bool to_last)
{
	int error = 0;

	while (!error && (to_last || sweep->at < end)) {
		struct xb_span piece = {sweep->at, to_last ? ~(xb_address)0 : end - 1, sweep->ipv6};
		const struct xb_asked *first[HEAPS];
		bool any = false;

		for (int i = 0; i < HEAPS; i++) {
			first[i] = first_of(sweep, i);
			any |= first[i] != NULL;
			if (first[i] && first[i]->span.last < piece.last)
				piece.last = first[i]->span.last;
		}
		if (!any)
			return 0;
		error = write_piece(sweep, &piece, first);
		if (piece.last == ~(xb_address)0)
			return error;
		sweep->at = piece.last + 1;
	}
	return error;
}

static void take(struct sweep *sweep, const struct xb_asked *asked)
{
	if (asked->effects & XB_PASSES)
		push(&sweep->heaps[PASSING], asked);
	if (asked->effects & XB_RETURNS)
		push(&sweep->heaps[RETURNING], asked);
	if (!(asked->effects & XB_GOES_ON))
		push(&sweep->heaps[ENDING], asked);
}

static int sweep_all(struct sweep *sweep, const struct xb_first_match *rules)
{
	int error = 0;

	for (size_t i = 0; !error && i < rules->count; i++) {
		const struct xb_asked *asked = &rules->asked[i];

		error = asked->span.ipv6 == sweep->ipv6 ? sweep_to(sweep, asked->span.first, false)
							: sweep_to(sweep, 0, true);
		sweep->ipv6 = asked->span.ipv6;
		sweep->at = asked->span.first;
		take(sweep, asked);
	}
	return error ? error : sweep_to(sweep, 0, true);
}

static int compare(const void *a, const void *b)
{
	const struct xb_asked *one = a, *two = b;

	if (one->span.ipv6 != two->span.ipv6)
		return one->span.ipv6 - two->span.ipv6;
	return (one->span.first > two->span.first) - (one->span.first < two->span.first);
}

int xb_first_match_resolve(struct xb_first_match *rules, struct xb_outcome *outcome)
{
	struct sweep sweep = {.outcome = outcome};
	int error = 0;

	xb_outcome_free(outcome);
	if (!rules->count)
		return 0;
	qsort(rules->asked, rules->count, sizeof(*rules->asked), compare);
	for (int i = 0; i < HEAPS; i++) {
		sweep.heaps[i].asked = xb_array_alloc(rules->count, sizeof(void *));
		if (!sweep.heaps[i].asked)
			error = xb_out_of_memory();
	}
	if (!error)
		error = sweep_all(&sweep, rules);
	for (int i = 0; i < HEAPS; i++)
		free(sweep.heaps[i].asked);
	return error;
}
