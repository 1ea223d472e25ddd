/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tail has 64 MiB at most, so all of it fits into memory. */
#include "bloomd/fleet/uncovered.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "bloomd/fleet/logentry.h"
#include "store/logtail.h"
#include "store/membership.h"

struct search {
	struct xb_txn *txn;
	const struct xb_fleet *fleet;
	const struct manifest *manifest;
	struct uncovered *uncovered;
	bool behind; /* the manifest has a lower mark than this host */
};

void uncovered_free(struct uncovered *uncovered)
{
	for (size_t i = 0; i < uncovered->list_count; i++)
		free(uncovered->list[i].item);
	uncovered->list_count = 0;
	xb_arena_free(&uncovered->names);
}

const struct uncovered_list *uncovered_of(const struct uncovered *uncovered, const char *list)
{
	for (size_t i = 0; i < uncovered->list_count; i++)
		if (!strcmp(uncovered->list[i].name, list))
			return &uncovered->list[i];
	return NULL;
}

/* NULL: the list is not shared here. */
static struct uncovered_list *need_list(struct search *search, const char *list)
{
	struct uncovered *uncovered = search->uncovered;
	struct uncovered_list *new;

	for (size_t i = uncovered->list_count; i > 0; i--)
		if (!strcmp(uncovered->list[i - 1].name, list))
			return &uncovered->list[i - 1];
	if (!xb_share_of(search->txn, list))
		return NULL;
	new = &uncovered->list[uncovered->list_count++];
	*new = (struct uncovered_list){0};
	memcpy(new->name, list, strlen(list) + 1);
	return new;
}

static int keep(struct search *search, const struct xb_shared_change *change, bool own)
{
	struct uncovered_list *list = need_list(search, change->list);
	struct uncovered_change kept;
	int error =
		list ? xb_array_grow(&list->item, &list->room, list->count + 1, sizeof(kept)) : 0;

	/* The sort compares all bytes behind the entry, those between the members as well. */
	memset(&kept, 0, sizeof(kept));
	kept.entry = change->entry;
	kept.own = own;
	kept.put = change->put;
	kept.expires = change->expires;
	if (error || !list)
		return error;
	if (xb_entry_is_name(&kept.entry)) {
		kept.entry.name = xb_arena_copy(&search->uncovered->names, kept.entry.name,
						kept.entry.length);
		if (!kept.entry.name)
			return -EIO;
	}
	list->item[list->count++] = kept;
	return 0;
}

static int keep_all(struct search *search, const struct logentry *entry)
{
	bool own = !memcmp(entry->publisher, search->fleet->host, XB_FLEET_ID);
	int error = 0;

	for (size_t i = 0; !error && i < entry->changes.count; i++)
		error = keep(search, &entry->changes.item[i], own);
	return error;
}

/* An epoch of this host's state, and what is uncovered of it by its positions. */
struct stretch {
	const uint8_t *epoch;
	uint64_t term, covered, last;
	/* Set by looking: */
	bool begins; /* the tail has the first entry of the epoch */
	bool mixed;  /* it has entries of another epoch with the same term */
};

/* Positions do not say it: the maker may have gone back since, and have the change all the same. */
static bool is_uncovered(const struct search *search, const struct logentry *entry)
{
	return entry->last > manifest_mark(search->manifest, entry->publisher);
}

static int look_at(struct search *search, struct stretch *stretch, uint64_t position)
{
	struct logentry entry = {0};
	const void *bytes;
	size_t size;
	int found = xb_logtail_get(search->txn, stretch->term, position, &bytes, &size);
	int error = found < 0 ? found : 0;

	if (found > 0)
		error = logentry_read(bytes, size, &entry);
	if (found > 0 && !error) {
		bool other = memcmp(entry.epoch, stretch->epoch, XB_FLEET_ID) != 0;

		if (entry.time > search->uncovered->newest)
			search->uncovered->newest = entry.time;
		stretch->mixed |= other;
		stretch->begins |= entry.kind == LOGENTRY_BEGIN && !other;
		if (is_uncovered(search, &entry))
			error = keep_all(search, &entry);
	}
	logentry_free(&entry);
	return error;
}

/* How far the manifest covers the epoch. */
static uint64_t covered_of(const struct manifest *manifest, const uint8_t epoch[XB_FLEET_ID])
{
	if (!memcmp(manifest->epoch, epoch, XB_FLEET_ID))
		return manifest->position;
	for (size_t i = 0; i < manifest->ancestors; i++)
		if (!memcmp(manifest->lineage[i].epoch, epoch, XB_FLEET_ID))
			return manifest->lineage[i].position;
	return 0;
}

static int search_epoch(struct search *search, struct stretch *stretch)
{
	uint64_t first, last;
	int error = xb_logtail_span(search->txn, stretch->term, &first, &last);

	if (error)
		return error;
	stretch->covered = covered_of(search->manifest, stretch->epoch);
	for (uint64_t left = first ? last - first + 1 : 0; !error && left; left--)
		error = look_at(search, stretch, last - left + 1);
	if (stretch->covered < stretch->last &&
	    (!first || last < stretch->last || stretch->mixed ||
	     (first > stretch->covered + 1 && !stretch->begins)))
		search->uncovered->partial = true;
	return error;
}

static int compare_marks(struct search *search)
{
	struct xb_fleet_mark *marks = NULL;
	size_t count = 0;
	int error = xb_fleet_marks(search->txn, &marks, &count);

	for (size_t i = 0; !error && i < count; i++)
		search->behind |=
			marks[i].last > manifest_mark(search->manifest, marks[i].publisher);
	free(marks);
	return error;
}

/* Oldest first, as the changes were made. */
static int search_epochs(struct search *search)
{
	struct xb_ancestor lineage[XB_LINEAGE_MAX];
	struct stretch present = {.epoch = search->fleet->epoch,
				  .term = search->fleet->term,
				  .last = search->fleet->position};
	int count = xb_fleet_lineage_get(search->txn, lineage), error = 0;

	if (count < 0)
		return count;
	for (int i = count; !error && i > 0; i--) {
		struct stretch stretch = {.epoch = lineage[i - 1].epoch,
					  .term = lineage[i - 1].term,
					  .last = lineage[i - 1].position};

		error = search_epoch(search, &stretch);
	}
	return error || !search->fleet->term ? error : search_epoch(search, &present);
}

/* In store order, of each entry the last change: the sort is stable. */
static int settle(struct uncovered_list *list)
{
	size_t kept = 0;
	int error = list->count ? xb_entry_sort(&list->item, list->count, sizeof(*list->item)) : 0;

	for (size_t i = 0; !error && i < list->count; i++)
		if (i + 1 == list->count ||
		    xb_entry_compare(&list->item[i].entry, &list->item[i + 1].entry) != 0)
			list->item[kept++] = list->item[i];
	list->room = list->count;
	if (!error)
		list->count = kept;
	return error;
}

int uncovered_find(struct xb_txn *txn, const struct xb_fleet *fleet,
		   const struct manifest *manifest, struct uncovered *uncovered)
{
	struct search search = {txn, fleet, manifest, uncovered, false};
	int error;

	uncovered->partial = false;
	uncovered->newest = 0;
	uncovered->list_count = 0;
	uncovered->names = (struct xb_arena){0};
	error = compare_marks(&search);
	if (!error && search.behind)
		error = search_epochs(&search);
	for (size_t i = 0; !error && i < uncovered->list_count; i++)
		error = settle(&uncovered->list[i]);
	return error;
}

/* --- what is published again --- */

struct again {
	struct xb_txn *txn;
	const struct uncovered *uncovered;
	uint32_t now;
	uint64_t count;
};

/* Whether the store still says what the change did; member: as it is now. */
static int is_in_force(struct again *again, const struct xb_list *list,
		       const struct uncovered_change *change, struct xb_membership *member)
{
	struct xb_members members;
	int error = list ? xb_members_of(again->txn, &change->entry, &members) : -ENOENT;
	bool has;

	if (error && error != -ENOENT)
		return error;
	has = !error && xb_members_have(members, list->id, member) &&
	      (!member->expires || member->expires > again->now);
	return has == change->put;
}

static int publish(struct again *again, const char *list, const struct uncovered_change *lost)
{
	struct xb_membership member = {0};
	struct xb_shared_change change = {.entry = lost->entry, .list = list, .put = lost->put};
	int found = is_in_force(again, xb_list_find(again->txn, list), lost, &member);

	if (found <= 0)
		return found;
	if (lost->put) {
		change.added = member.added;
		change.expires = member.expires;
		change.comment = member.comment;
		change.comment_size = member.comment_size;
	}
	found = xb_outbox_put_again(again->txn, &change,
				    lost->own ? XB_AGAIN_OWN : XB_AGAIN_ANOTHERS);
	again->count += found > 0;
	return found < 0 ? found : 0;
}

/* Puts of others, too: their publishers may not come back. Of a delete nobody knows whether the
 * snapshot has a put that came after it, so another's waits for its publisher. */
static int publish_all(struct again *again, bool puts)
{
	int error = 0;

	for (size_t i = 0; i < again->uncovered->list_count; i++) {
		const struct uncovered_list *list = &again->uncovered->list[i];
		const struct xb_share *share = xb_share_of(again->txn, list->name);

		if (!(share->flags & XB_SHARE_PUBLISH))
			continue;
		for (size_t j = 0; !error && j < list->count; j++)
			if (list->item[j].put == puts && (puts || list->item[j].own))
				error = publish(again, list->name, &list->item[j]);
	}
	return error;
}

int uncovered_publish(struct xb_txn *txn, const struct uncovered *uncovered, uint32_t now,
		      uint64_t *count)
{
	struct again again = {txn, uncovered, now, 0};
	int error = publish_all(&again, true);

	if (!error)
		error = publish_all(&again, false);
	*count = again.count;
	return error;
}
