/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/feeds/feedsjson.h"

#include "base/text.h"
#include "engine/tallies.h"

struct gathering {
	json_t *feeds;	 /* objects by name */
	const char *key; /* of each, for the family that is read */
};

static json_t *feed_of(struct gathering *gathering, const struct xb_tally_cell *cell)
{
	char name[XB_TALLY_LABEL];
	json_t *feed;

	xb_utf8_show(cell->label[0], XB_TALLY_LABEL, name, sizeof(name));
	feed = json_object_get(gathering->feeds, name);
	if (feed)
		return feed;
	feed = json_pack("{s:s,s:{},s:{}}", "name", name, "fetches", "refusals");
	json_object_set_new(gathering->feeds, name, feed);
	return feed;
}

static void take_gauge(const struct xb_tally_cell *cell, void *context)
{
	struct gathering *gathering = context;

	json_object_set_new(feed_of(gathering, cell), gathering->key,
			    json_integer((json_int_t)cell->value));
}

static void take_counter(const struct xb_tally_cell *cell, void *context)
{
	struct gathering *gathering = context;
	char label[XB_TALLY_LABEL];

	xb_utf8_show(cell->label[1], XB_TALLY_LABEL, label, sizeof(label));
	json_object_set_new(json_object_get(feed_of(gathering, cell), gathering->key), label,
			    json_integer((json_int_t)cell->value));
}

json_t *feeds_json(const struct xb_paths *paths)
{
	static const struct {
		enum xb_tally family;
		const char *key;
		void (*take)(const struct xb_tally_cell *, void *);
	} parts[] = {
		{XB_TALLY_FEED_FETCHES, "fetches", take_counter},
		{XB_TALLY_FEED_REFUSALS, "refusals", take_counter},
		{XB_TALLY_FEED_SUCCESS, "last_success", take_gauge},
		{XB_TALLY_FEED_CONTENT, "content", take_gauge},
		{XB_TALLY_FEED_ENTRIES, "entries", take_gauge},
		{XB_TALLY_FEED_PERIOD, "period", take_gauge},
	};
	struct gathering gathering = {.feeds = json_object()};
	json_t *all = json_array(), *feed;
	const char *name;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		gathering.key = parts[i].key;
		xb_tally_each(paths, parts[i].family, parts[i].take, &gathering);
	}
	json_object_foreach(gathering.feeds, name, feed) json_array_append(all, feed);
	json_decref(gathering.feeds);
	return all;
}
