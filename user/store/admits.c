/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/admits.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/lists.h"
#include "store/origins.h"
#include "store/walk.h"

bool xb_admits_by(const struct xb_list *list)
{
	return list->members && xb_list_has_verdict(list) && list->verdict != XB_DOMAIN_COUNT;
}

bool xb_admits_none(const struct xb_txn *txn)
{
	const struct xb_totals *totals = &txn->meta.totals;
	bool any = false;

	for (size_t i = 0; !any && i < txn->list_count; i++)
		any = xb_admits_by(&txn->lists[i]);
	return !any || !(totals->host4 + totals->prefix4 + totals->net6);
}

/* Counts the entry for each list that admits it: sources[] has a place for each list. Returns
 * whether any does. */
static bool count_entry(struct xb_txn *txn, struct xb_members members, uint64_t *sources)
{
	struct xb_membership member;
	bool any = false;

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (!list || !xb_admits_by(list))
			continue;
		sources[list - txn->lists]++;
		any = true;
	}
	return any;
}

/* Lists may have domains and what is allowed, too, so their sizes do not say it. */
static int count_sources(struct xb_txn *txn, uint64_t *sources, uint64_t *all)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, &XB_WALK_LISTED);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0 && !xb_entry_is_name(&walk.entry))
		*all += count_entry(txn, walk.members, sources);
	xb_walk_end(&walk);
	return more < 0 ? more : 0;
}

static void take_lists(const struct xb_txn *txn, const uint64_t *sources, struct xb_admits *admits)
{
	for (size_t i = 0; i < txn->list_count; i++) {
		const struct xb_list *list = &txn->lists[i];
		struct xb_admitting *one = &admits->list[admits->count];

		if (!sources[i])
			continue;
		*one = (struct xb_admitting){.sources = sources[i],
					     .origins = xb_list_origins(list)};
		memcpy(one->name, list->name, sizeof(one->name));
		admits->count++;
	}
}

int xb_admits_find(struct xb_txn *txn, struct xb_admits *admits)
{
	uint64_t *sources;
	int error;

	*admits = (struct xb_admits){0};
	if (xb_admits_none(txn))
		return 0;
	sources = calloc(txn->list_count, sizeof(*sources));
	admits->list = calloc(txn->list_count, sizeof(*admits->list));
	error = sources && admits->list ? count_sources(txn, sources, &admits->sources)
					: xb_out_of_memory();
	if (!error)
		take_lists(txn, sources, admits);
	free(sources);
	return error;
}

void xb_admits_free(struct xb_admits *admits)
{
	free(admits->list);
	*admits = (struct xb_admits){0};
}
