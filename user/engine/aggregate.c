/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/aggregate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "model/policy.h"
#include "store/expiry.h"
#include "store/origins.h"
#include "store/walk.h"

void xb_aggregates_free(struct xb_aggregates *found)
{
	free(found->item);
	*found = (struct xb_aggregates){0};
}

struct search {
	const struct xb_aggregate_terms *terms;
	uint32_t list, into; /* identities; XB_NO_LIST: there is none */
	struct xb_aggregates *found;
	bool twice; /* what lies in one prefix stands in two places of the store */
};

/* The last one goes if nothing more can come to it. */
static void end_run(struct search *search)
{
	struct xb_aggregates *found = search->found;

	if (!search->twice && found->count &&
	    found->item[found->count - 1].entries < search->terms->least)
		found->count--;
}

static int count_one(const struct xb_walk *walk, void *context)
{
	struct search *search = context;
	struct xb_aggregates *found = search->found;
	bool six = xb_entry_is_ipv6(&walk->entry);
	uint8_t length = six ? search->terms->length6 : search->terms->length4;
	struct xb_membership member;
	struct xb_entry prefix;

	if (xb_entry_is_name(&walk->entry))
		return 1;
	if (!length || walk->entry.length <= length ||
	    !xb_members_have(walk->members, search->list, &member))
		return 0;
	prefix = xb_entry_covering(&walk->entry, length);
	if (found->count && !xb_entry_compare(&found->item[found->count - 1].prefix, &prefix)) {
		found->item[found->count - 1].entries++;
		return 0;
	}
	end_run(search);
	if (xb_array_grow(&found->item, &found->room, found->count + 1, sizeof(*found->item)))
		return -ENOMEM;
	found->item[found->count++] = (struct xb_aggregate){prefix, 1};
	return 0;
}

/* Of each prefix one is left, with the entries of all. */
static int join(struct xb_aggregates *found)
{
	size_t kept = 0;
	int error = xb_entry_sort(&found->item, found->count, sizeof(*found->item));

	found->room = found->count;
	for (size_t i = 0; !error && i < found->count; i++) {
		struct xb_aggregate *last = kept ? &found->item[kept - 1] : NULL;

		if (last && !xb_entry_compare(&last->prefix, &found->item[i].prefix))
			last->entries += found->item[i].entries;
		else
			found->item[kept++] = found->item[i];
	}
	found->count = kept;
	return error;
}

/* 1: the list has it, or a wider one, at least up to this time. */
static int is_listed(struct xb_txn *txn, const struct xb_entry *prefix, uint32_t list,
		     uint32_t until)
{
	struct xb_entry entry = *prefix;
	struct xb_membership member;
	struct xb_members members;

	do {
		int error = xb_members_of(txn, &entry, &members);

		if (error && error != -ENOENT)
			return error;
		if (!error && xb_members_have(members, list, &member) &&
		    (!member.expires || member.expires >= until))
			return 1;
	} while (xb_entry_widen(&entry));
	return 0;
}

static int choose(struct xb_txn *txn, const struct search *search, uint32_t until)
{
	struct xb_aggregates *found = search->found;
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct xb_aggregate *one = &found->item[i];
		int listed = one->entries < search->terms->least
				     ? 1
				     : is_listed(txn, &one->prefix, search->into, until);

		if (listed < 0)
			return listed;
		if (!listed)
			found->item[kept++] = *one;
	}
	found->count = kept;
	return 0;
}

static uint32_t list_id(struct xb_txn *txn, const char *name)
{
	const struct xb_list *list = xb_list_find(txn, name);

	return list ? list->id : XB_NO_LIST;
}

int xb_aggregates_find(struct xb_txn *txn, const struct xb_aggregate_terms *terms, uint32_t now,
		       struct xb_aggregates *found)
{
	struct search search = {.terms = terms,
				.list = list_id(txn, terms->list),
				.into = list_id(txn, terms->into),
				.found = found,
				.twice = terms->length4 && terms->length4 < 24};
	uint32_t until = 0;
	int error;

	found->count = 0;
	if (search.list == XB_NO_LIST)
		return -ENOENT;
	error = xb_expiry_after(now, terms->timeout, &until);
	if (!error)
		error = xb_walk_visit(txn, &XB_WALK_LISTED, false, count_one, &search);
	if (error < 0)
		return error;
	end_run(&search);
	error = search.twice && found->count ? join(found) : 0;
	return error ? error : choose(txn, &search, until);
}

/* Who are in the networks came from there: allow-only does not take them for chosen by hand. */
static void inherit_origins(struct xb_txn *txn, const struct xb_aggregate_terms *terms)
{
	struct xb_list *list = xb_list_find(txn, terms->list);
	struct xb_list *into = xb_list_by_name(txn, terms->into);

	for (uint32_t origin = 0; list && into && origin < XB_ORIGINS; origin++)
		if (xb_list_origins(list) >> origin & 1)
			xb_list_come_from(txn, into, origin);
}

int xb_aggregates_add(struct xb_writer *writer, const struct xb_aggregate_terms *terms,
		      const struct xb_aggregates *found, struct xb_edit_result *result,
		      struct xb_edit_refusal *refusal)
{
	struct xb_edit_terms edit = {
		.add = true, .exist = true, .list = terms->into, .timeout = terms->timeout};
	char comment[64];
	int error;

	xb_edit_result_free(result);
	if (writer->txn->meta.policy == XB_POLICY_ALLOW_ONLY)
		return xb_input_error("the policy allow-only admits listed sources, and networks "
				      "are not admitted for those that are in them");
	error = xb_edit_begin(writer, &edit, refusal);
	if (!error)
		inherit_origins(writer->txn, terms);
	edit.comment = comment;
	for (size_t i = 0; !error && i < found->count; i++) {
		snprintf(comment, sizeof(comment), "aggregate of %" PRIu64 " entries",
			 found->item[i].entries);
		error = xb_edit_apply(writer, &edit, &found->item[i].prefix, result, refusal);
		if (!error)
			error = xb_exempt_entry(writer->txn, &found->item[i].prefix,
						&result->exempt);
	}
	return error;
}
