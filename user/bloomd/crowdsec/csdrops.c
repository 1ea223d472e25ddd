/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/crowdsec/csdrops.h"

#include <string.h>

#include "engine/figures.h"
#include "store/lists.h"

static void add(struct xb_count *sum, const struct xb_count *count)
{
	sum->packets += count->packets;
	sum->bytes += count->bytes;
}

static const struct xb_list *find_list(const struct xb_storeview *store, const char *name)
{
	for (size_t i = 0; i < store->list_count; i++)
		if (!strcmp(store->lists[i].name, name))
			return &store->lists[i];
	return NULL;
}

/* Whether an entry of another list, if it is one of addresses, could be why a packet was counted
 * as the list's. */
static bool is_alone(const struct xb_storeview *store, const struct xb_list *list)
{
	const struct xb_totals *totals = &store->meta.totals;

	/* All addresses that are listed are in this list; other lists have domains. */
	if (totals->host4 + totals->prefix4 + totals->net6 == list->members)
		return true;
	for (size_t i = 0; i < store->list_count; i++) {
		const struct xb_list *other = &store->lists[i];

		if (other != list && other->members && other->class == list->class &&
		    xb_list_has_verdict(other))
			return false;
	}
	return true;
}

/* Rows by the name of an interface: what `bloomctl test` asks is in the first, which has none. */
static void take_packets(const struct xb_figures *figures, struct csdrops *drops, bool listed)
{
	for (size_t i = 1; i < figures->row_count; i++) {
		const struct xb_count *reason = figures->row[i].counts.reason;

		for (size_t k = 0; k < XB_REASON_SLOTS; k++)
			add(&drops->processed, &reason[k]);
		if (!listed)
			continue;
		add(&drops->ipv4, &reason[XB_LISTED_IPV4_HOST]);
		add(&drops->ipv4, &reason[XB_LISTED_IPV4_PREFIX]);
		add(&drops->ipv6, &reason[XB_LISTED_IPV6]);
	}
}

static void take_class(const struct xb_class_figures *classes, uint32_t class,
		       struct csdrops *drops)
{
	for (size_t i = 0; i < classes->count; i++) {
		const struct xb_class_figure *figure = &classes->item[i];

		if (figure->class != class || figure->counts)
			continue;
		drops->kind = CSDROPS_TOGETHER;
		drops->identity = figure->identity;
		drops->ipv4 = figure->count;
	}
}

static void take(const struct xb_figures *figures, const char *name, struct csdrops *drops)
{
	const struct xb_storeview *store = &figures->health.store;
	const struct xb_list *list = find_list(store, name);
	bool alone = list && is_alone(store, list);

	if (alone && list->class == XB_CLASS_ALL)
		drops->kind = CSDROPS_BY_FAMILY;
	else if (alone)
		take_class(&figures->classes, list->class, drops);
	take_packets(figures, drops, drops->kind == CSDROPS_BY_FAMILY);
}

int csdrops_read(const struct xb_paths *paths, const char *list, struct csdrops *drops)
{
	struct xb_figures figures;
	int error = xb_figures_read(paths, &figures);

	*drops = (struct csdrops){.kind = CSDROPS_UNKNOWN};
	if (!error)
		take(&figures, list, drops);
	xb_figures_free(&figures);
	return error;
}

static struct xb_count since(struct xb_count now, struct xb_count then)
{
	if (now.packets < then.packets || now.bytes < then.bytes)
		return (struct xb_count){0};
	return (struct xb_count){now.packets - then.packets, now.bytes - then.bytes};
}

struct csdrops csdrops_since(const struct csdrops *now, const struct csdrops *then)
{
	struct csdrops between = {.processed = since(now->processed, then->processed)};

	if (now->kind != then->kind || now->identity != then->identity)
		return between;
	between.kind = now->kind;
	between.identity = now->identity;
	between.ipv4 = since(now->ipv4, then->ipv4);
	between.ipv6 = since(now->ipv6, then->ipv6);
	return between;
}
