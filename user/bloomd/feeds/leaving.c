/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/feeds/leaving.h"

#include "base/author.h"
#include "bloomd/base/owners.h"
#include "engine/merge.h"
#include "engine/rotate.h"
#include "engine/writepath.h"
#include "store/fleet.h"
#include "store/lists.h"

static int empty_list(struct xb_writer *writer, void *context)
{
	struct xb_list *list = xb_list_find(writer->txn, context);
	struct xb_listfile nothing = {0};
	struct xb_merge merge = {.file = &nothing, .now = writer->now};

	if (!list || !xb_share_is_ours(writer->txn, list->name))
		return 0;
	merge.list = list->id;
	return xb_merge_replace(writer->txn, &merge);
}

int leave_list(const struct xb_paths *paths, const struct config *config, const char *list,
	       bool flush, bool *emptied)
{
	struct xb_written written = {0};
	int error;

	*emptied = flush && *list && !owner_of(config, list);
	if (!*emptied)
		return 0;
	xb_author_set("feeds, list %s is no feed's any more", list);
	error = xb_write(paths, XB_WRITE_SURVEY, empty_list, (char *)(uintptr_t)list, &written);
	xb_written_free(&written);
	return error == XB_UNMET ? 0 : error;
}

int leave_lists(const struct xb_paths *paths, const struct config *config,
		const struct xb_feed_state *state, char settled[XB_FEED_LEFT])
{
	char list[XB_FEED_LIST];
	const char *at = state->left;
	bool emptied;
	int error = 0;

	while (!error && xb_feed_left_next(&at, list)) {
		error = leave_list(paths, config, list, state->flush, &emptied);
		if (!error)
			xb_feed_left_add(settled, list);
	}
	return error;
}
