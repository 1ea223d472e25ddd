/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which phase a change belongs to, and which phases have sources in common. */
#include "filter/phase.h"

#include <stdlib.h>
#include <string.h>

#include "filter/namesteps.h"

/* The verdict of a name is one word: it may become stricter early, and less strict late. */
static bool has_name(enum xb_phase phase, const struct xb_change *change)
{
	bool before = xb_namestep_is_final(change->before),
	     after = xb_namestep_is_final(change->after);

	if (before != after)
		return phase == (after ? XB_PHASE_EXCEPT : XB_PHASE_UNEXCEPT);
	return (phase == XB_PHASE_LIST && change->what != XB_GONE) ||
	       (phase == XB_PHASE_UNLIST && change->what != XB_LISTED);
}

bool xb_phase_has(enum xb_phase phase, const struct xb_change *change)
{
	uint32_t came = change->after & ~change->before, left = change->before & ~change->after;

	if (xb_entry_is_allow(&change->entry))
		return phase == (change->what == XB_LISTED ? XB_PHASE_ALLOW : XB_PHASE_DISALLOW);
	if (change->entry.kind == XB_NAME)
		return has_name(phase, change);
	return (phase == XB_PHASE_LIST && came) || (phase == XB_PHASE_UNLIST && left);
}

/* Whether it has its place in a phase before this one. */
static bool is_earlier(enum xb_phase phase, const struct xb_change *change)
{
	for (enum xb_phase one = 0; one < phase; one++)
		if (xb_phase_has(one, change))
			return true;
	return false;
}

/* An address that changes its class stands in two places; the verdict of a name is one word. */
static bool moves(const struct xb_change *change)
{
	return change->what == XB_ALTERED && change->entry.kind != XB_NAME;
}

/* Sorting more takes longer than to wait for the packets. */
#define SORTED_MAX 16384

/* A change, and on which of the two sides it is. */
struct place {
	const struct xb_entry *entry;
	bool now, earlier;
};

static int family_of(const struct xb_entry *entry)
{
	return xb_entry_is_name(entry) ? 2 : xb_entry_is_ipv4(entry);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_names(const struct xb_entry *a, const struct xb_entry *b)
{
	return memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
}

/* What covers others comes before them, and nothing that it does not cover in between. */
static int compare_places(const void *a, const void *b)
{
	const struct xb_entry *one = ((const struct place *)a)->entry;
	const struct xb_entry *other = ((const struct place *)b)->entry;
	int order = family_of(one) - family_of(other);

	if (!order && xb_entry_is_name(one))
		order = compare_names(one, other);
	else if (!order)
		order = compare_numbers(one->hi, other->hi) ?: compare_numbers(one->lo, other->lo);
	return order ?: one->length - other->length;
}

static bool meet(const struct place *a, const struct place *b)
{
	return (a->now && b->earlier) || (a->earlier && b->now);
}

/* In their order: the front of the array becomes the stack of those that cover the present one. The
 * nearest says it all: it would have met one above it that is on the other side. */
static bool sides_touch(struct place *places, size_t count)
{
	size_t depth = 0;

	qsort(places, count, sizeof(*places), compare_places);
	for (size_t i = 0; i < count; i++) {
		while (depth && !xb_entry_inside(places[depth - 1].entry, places[i].entry))
			depth--;
		if (depth && meet(&places[depth - 1], &places[i]))
			return true;
		places[depth++] = places[i];
	}
	return false;
}

/* Those of both sides; *moved: one of them meets itself. */
static size_t gather(const struct xb_changes *changes, enum xb_phase phase, struct place *places,
		     bool *moved)
{
	size_t count = 0;

	for (size_t i = 0; i < changes->count; i++) {
		const struct xb_change *change = &changes->change[i];
		struct place place = {&change->entry, xb_phase_has(phase, change),
				      is_earlier(phase, change)};

		*moved |= place.now && place.earlier && moves(change);
		if (place.now || place.earlier)
			places[count++] = place;
	}
	return count;
}

static bool compare_sides(const struct xb_changes *changes, enum xb_phase phase)
{
	struct place *places = calloc(changes->count, sizeof(*places));
	bool touches = !places;

	if (places) {
		size_t count = gather(changes, phase, places, &touches);

		touches = touches || sides_touch(places, count);
	}
	free(places);
	return touches;
}

bool xb_phase_meets_earlier(const struct xb_changes *changes, enum xb_phase phase)
{
	bool now = false, earlier = false;

	for (size_t i = 0; i < changes->count && !(now && earlier); i++) {
		now |= xb_phase_has(phase, &changes->change[i]);
		earlier |= is_earlier(phase, &changes->change[i]);
	}
	return now && earlier && (changes->count > SORTED_MAX || compare_sides(changes, phase));
}
