/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/namesteps.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "store/walk.h"

/* The settled changes of one kind of names, in order. */
struct range {
	const struct xb_change *next, *end;
};

struct search {
	struct xb_txn *txn;
	struct xb_changes *steps;
	struct range listed, excepted;
	const struct xb_entry *walked; /* the last name below which exceptions were looked for */
};

static struct range range_of(const struct xb_changes *changes, enum xb_kind kind)
{
	struct range range = {changes->change, changes->change};
	const struct xb_change *end = changes->change + changes->count;

	while (range.next < end && range.next->entry.kind < kind)
		range.next++;
	for (range.end = range.next; range.end < end && range.end->entry.kind == kind;)
		range.end++;
	return range;
}

/* Cuts off the change of this name. NULL: there is none. */
static const struct xb_change *take(struct range *range, const struct xb_entry *name)
{
	struct xb_entry as;

	if (range->next == range->end)
		return NULL;
	as = xb_entry_as(name, range->next->entry.kind);
	return xb_entry_compare(&range->next->entry, &as) ? NULL : range->next++;
}

/* The name that comes first in order. NULL: there is no more. */
static const struct xb_entry *first_of(const struct search *search)
{
	const struct range *listed = &search->listed, *excepted = &search->excepted;
	struct xb_entry as;

	if (listed->next == listed->end)
		return excepted->next < excepted->end ? &excepted->next->entry : NULL;
	if (excepted->next == excepted->end)
		return &listed->next->entry;
	as = xb_entry_as(&excepted->next->entry, XB_NAME);
	return xb_entry_compare(&listed->next->entry, &as) <= 0 ? &listed->next->entry
								: &excepted->next->entry;
}

/* Whether lists have the entry, before and after. */
static int look(struct search *search, const struct xb_entry *name, enum xb_kind kind,
		const struct xb_change *change, bool *before, bool *after)
{
	const struct xb_entry entry = xb_entry_as(name, kind);
	struct xb_members members;
	int error;

	if (change) {
		*before = change->what != XB_LISTED;
		*after = change->what != XB_GONE;
		return 0;
	}
	error = xb_members_of(search->txn, &entry, &members);
	*before = *after = !error && xb_members_any(members);
	return error == -ENOENT ? 0 : error;
}

static uint16_t state_of(bool listed, bool excepted)
{
	return (uint16_t)((listed || excepted ? XB_NAMESTEP_THERE : 0) |
			  (excepted ? XB_NAMESTEP_FINAL : 0));
}

static int put(struct search *search, const struct xb_entry *name, uint16_t before, uint16_t after)
{
	const struct xb_change step = {.entry = xb_entry_as(name, XB_NAME),
				       .what = xb_what_of(before, after),
				       .before = before,
				       .after = after};

	return before || after ? xb_changes_put(search->steps, &step) : 0;
}

/* Excepted names below this one, whose verdicts may follow from it. */
static int put_below(struct search *search, const struct xb_entry *name)
{
	const struct xb_entry domain = xb_entry_as(name, XB_EXCEPT_NAME);
	struct xb_walk walk;
	int more = 0, error;

	if (search->walked && xb_entry_inside(search->walked, name))
		return 0;
	search->walked = name;
	error = xb_walk_begin(&walk, search->txn, &domain);
	while (!error && !search->steps->bulk && (more = xb_walk_next(&walk)) > 0 &&
	       walk.entry.kind == XB_EXCEPT_NAME && xb_entry_inside(&domain, &walk.entry))
		error = put(search, &walk.entry, XB_NAMESTEP_THERE | XB_NAMESTEP_FINAL,
			    XB_NAMESTEP_THERE | XB_NAMESTEP_FINAL);
	xb_walk_end(&walk);
	return error ? error : more < 0 ? more : 0;
}

static int put_name(struct search *search, const struct xb_entry *name)
{
	const struct xb_change *listed = take(&search->listed, name);
	const struct xb_change *excepted = take(&search->excepted, name);
	bool lists[2], excepts[2];
	int error = look(search, name, XB_NAME, listed, &lists[0], &lists[1]);

	if (!error)
		error = look(search, name, XB_EXCEPT_NAME, excepted, &excepts[0], &excepts[1]);
	if (!error)
		error = put(search, name, state_of(lists[0], excepts[0]),
			    state_of(lists[1], excepts[1]));
	return error ? error : put_below(search, name);
}

/* An excepted name below a changed one may have changed itself: then that says more. */
static void join(struct xb_changes *steps)
{
	struct xb_change *all = steps->change;
	size_t kept = 0;

	for (size_t i = 0; i < steps->count; i++) {
		if (!kept || xb_entry_compare(&all[kept - 1].entry, &all[i].entry))
			all[kept++] = all[i];
		else if (all[i].before != all[i].after)
			all[kept - 1] = all[i];
	}
	steps->count = kept;
}

static bool flips(const struct xb_change *step)
{
	return xb_namestep_is_final(step->before) != xb_namestep_is_final(step->after);
}

/* What is above it plays no part below it, before and after. */
static bool shields(const struct xb_change *step)
{
	return xb_namestep_is_final(step->before) && xb_namestep_is_final(step->after);
}

/*
 * Whether no order of the two will do. What becomes final goes before what is above it, and what
 * ceases to be final behind that. But below a name that becomes or ceases to be final, a verdict
 * may have to change first or last, depending on what else covers it.
 */
static bool are_tangled(const struct xb_change *above, const struct xb_change *below)
{
	if (!flips(above))
		return false;
	return !xb_namestep_is_final(below->before | below->after) ||
	       (xb_namestep_is_final(above->before) && xb_namestep_is_final(below->before));
}

#define DEPTH_MOST (XB_NAME_LABELS + 1)

/* In order: the stack has the steps that cover the present one. */
static bool any_tangled(const struct xb_changes *steps)
{
	const struct xb_change *stack[DEPTH_MOST];
	size_t depth = 0;

	for (size_t i = 0; i < steps->count; i++) {
		const struct xb_change *step = &steps->change[i];

		if (step->entry.kind != XB_NAME)
			continue;
		while (depth && !xb_entry_inside(&stack[depth - 1]->entry, &step->entry))
			depth--;
		for (size_t at = depth; at && !shields(step); at--) {
			if (are_tangled(stack[at - 1], step))
				return true;
			if (shields(stack[at - 1]))
				break;
		}
		stack[depth++] = step;
	}
	return false;
}

static int find_all(struct xb_txn *txn, const struct xb_changes *changes, struct xb_changes *steps)
{
	struct search search = {.txn = txn,
				.steps = steps,
				.listed = range_of(changes, XB_NAME),
				.excepted = range_of(changes, XB_EXCEPT_NAME)};
	const struct xb_entry *name;
	int error = 0;

	for (size_t i = 0; !error && i < changes->count; i++)
		if (!xb_entry_is_rule(&changes->change[i].entry))
			error = xb_changes_put(steps, &changes->change[i]);
	while (!error && !steps->bulk && (name = first_of(&search)))
		error = put_name(&search, name);
	if (!error && steps->count)
		error = xb_entry_sort(&steps->change, steps->count, sizeof(*steps->change));
	if (error || steps->bulk)
		return error;
	steps->room = steps->count;
	join(steps);
	if (any_tangled(steps))
		xb_changes_set_bulk(steps);
	return 0;
}

static bool has_exceptions(const struct xb_txn *txn, const struct xb_changes *changes)
{
	const struct range excepted = range_of(changes, XB_EXCEPT_NAME);

	return txn->meta.totals.exceptions || excepted.next < excepted.end;
}

int xb_namesteps_find(struct xb_txn *txn, const struct xb_changes *changes,
		      struct xb_namesteps *steps)
{
	*steps = (struct xb_namesteps){.all = changes};
	if (changes->bulk || !has_exceptions(txn, changes))
		return 0;
	steps->all = &steps->own;
	return find_all(txn, changes, &steps->own);
}

void xb_namesteps_free(struct xb_namesteps *steps)
{
	xb_changes_free(&steps->own);
	steps->all = NULL;
}
