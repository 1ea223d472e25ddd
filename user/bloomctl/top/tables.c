/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/top/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "bloomctl/display.h"
#include "engine/limitjson.h"
#include "model/reason.h"
#include "model/verdict.h"

#define NUMBER 10 /* columns of a rate */

static const struct table empty[TABLES] = {
	[TABLE_INTERFACES] = {.columns = {{.title = "interface", .width = 0},
					  {.title = "packets/s", .width = NUMBER},
					  {.title = "bits/s", .width = NUMBER},
					  {.title = "dropped/s", .width = NUMBER},
					  {.title = "bits/s", .width = NUMBER}}},
	[TABLE_REASONS] = {.columns = {{.title = "reason", .width = 0},
				       {.title = "packets/s", .width = NUMBER},
				       {.title = "bits/s", .width = NUMBER},
				       {.title = "verdict", .width = NUMBER}}},
	[TABLE_LIMITS] = {.columns = {{.title = "over limit", .width = 0},
				      {.title = "packets/s", .width = NUMBER},
				      {.title = "bits/s", .width = NUMBER},
				      {.title = "verdict", .width = NUMBER},
				      {.title = "limit", .width = 0}}},
	[TABLE_SOURCES] = {.columns = {{.title = "source dropped", .width = 0},
				       {.title = "packets/s", .width = NUMBER},
				       {.title = "share", .width = NUMBER},
				       {.title = "interface", .width = -15, .least = 90},
				       {.title = "entry, list, comment", .width = 0}}},
	[TABLE_NAMES] = {.columns = {{.title = "listed name", .width = 0},
				     {.title = "packets/s", .width = NUMBER}}},
	[TABLE_LISTS] = {.columns = {{.title = "list", .width = 0},
				     {.title = "entries", .width = NUMBER},
				     {.title = "verdict", .width = NUMBER},
				     {.title = "scope", .width = 0}}},
	[TABLE_FEEDS] = {.columns = {{.title = "feed", .width = 0},
				     {.title = "entries", .width = NUMBER},
				     {.title = "next in", .width = NUMBER},
				     {.title = "outcome", .width = -10},
				     {.title = "why", .width = 0}}},
};

const char *table_order_name(enum table_order order)
{
	static const char *const names[TABLE_ORDERS] = {
		[TABLE_BY_PACKETS] = "packets",
		[TABLE_BY_BITS] = "bits",
		[TABLE_BY_NAME] = "name",
	};

	return names[order];
}

const char *table_short(double number, char out[16])
{
	static const char units[] = " kMGTPE";
	size_t unit = 0;

	while (number >= 999.5 && unit + 2 < sizeof(units)) {
		number /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(out, 16, number < 9.95 && number > floor(number) ? "%.1f" : "%.0f",
			 number);
	else
		snprintf(out, 16, "%.*f%c",
			 number < 9.995	  ? 2
			 : number < 99.95 ? 1
					  : 0,
			 number, units[unit]);
	return out;
}

static struct table_row *add_row(struct table *table, const char *name)
{
	struct table_row *row;

	if (xb_array_grow(&table->rows, &table->room, table->count + 1, sizeof(*table->rows)))
		return NULL;
	row = &table->rows[table->count++];
	*row = (struct table_row){.style = SCREEN_PLAIN};
	snprintf(row->cell[0], TABLE_CELL, "%s", name);
	return row;
}

static void put_number(char cell[TABLE_CELL], double number)
{
	char text[16];

	snprintf(cell, TABLE_CELL, "%s", table_short(number, text));
}

static void put_rates(struct table_row *row, size_t at, const struct meter_view *view,
		      struct xb_count count)
{
	put_number(row->cell[at], meter_packets(view, count.packets));
	put_number(row->cell[at + 1], meter_bits(view, count.bytes));
}

static void sort_by(struct table_row *row, const struct meter_view *view, struct xb_count count)
{
	row->packets = meter_packets(view, count.packets);
	row->bits = meter_bits(view, count.bytes);
}

static int add_interfaces(const struct meter_view *view, struct table *table)
{
	for (size_t i = 0; i < view->interface_count; i++) {
		const struct meter_interface *one = &view->interfaces[i];
		char name[IF_NAMESIZE];
		struct table_row *row = add_row(table, display_row(one->ifindex, name));

		if (!row)
			return -1;
		put_rates(row, 1, view, one->total);
		put_rates(row, 3, view, one->dropped);
		sort_by(row, view, one->total);
	}
	if (!view->attached)
		snprintf(table->note, sizeof(table->note), "nothing is attached");
	return 0;
}

static enum screen_style style_of(unsigned int reason)
{
	return xb_reason_drops(reason) || xb_reason_answers(reason) ? SCREEN_BAD : SCREEN_GOOD;
}

/* Those that occurred since the interfaces were attached, so that the table stands still. */
static int add_reasons(const struct meter_view *view, struct table *table)
{
	for (unsigned int i = 0; i < XB_REASON_COUNT; i++) {
		struct table_row *row;

		if (!view->ever.reason[i].packets)
			continue;
		row = add_row(table, xb_reason_name(i));
		if (!row)
			return -1;
		put_rates(row, 1, view, view->reasons.reason[i]);
		snprintf(row->cell[3], TABLE_CELL, "%s", xb_reason_verdict(i));
		sort_by(row, view, view->reasons.reason[i]);
		row->style = style_of(i);
	}
	return 0;
}

static int add_limits(const struct meter_view *view, struct table *table)
{
	for (size_t i = 0; i < view->limit_count; i++) {
		const struct meter_limit *one = &view->limits[i];
		struct table_row *row = add_row(table, one->limit.name);
		char text[XB_LIMIT_TEXT];

		if (!row)
			return -1;
		put_rates(row, 1, view, one->over);
		snprintf(row->cell[3], TABLE_CELL, "%s", xb_limit_over(&one->limit));
		snprintf(row->cell[4], TABLE_CELL, "%s", xb_limit_describe(&one->limit, text));
		sort_by(row, view, one->over);
		row->style = one->limit.counts ? SCREEN_GOOD : SCREEN_BAD;
	}
	return 0;
}

/* "192.0.2.0/24 spamhaus, own "why it is there"". */
static void put_lists(char *cell, const json_t *covered, const char *source)
{
	const json_t *lists = json_object_get(covered, "lists"), *list;
	const char *entry = json_string_value(json_object_get(covered, "entry"));
	const char *comment = NULL;
	size_t i, used = 0;

	cell[0] = '\0';
	if (entry && strcmp(entry, source) != 0)
		used += (size_t)snprintf(cell, TABLE_CELL, "%s ", entry);
	json_array_foreach(lists, i, list)
	{
		if (used < TABLE_CELL)
			used += (size_t)snprintf(cell + used, TABLE_CELL - used, "%s%s",
						 i ? ", " : "",
						 json_string_value(json_object_get(list, "name")));
		if (!comment)
			comment = json_string_value(json_object_get(list, "comment"));
	}
	if (comment && used < TABLE_CELL)
		snprintf(cell + used, TABLE_CELL - used, " \"%s\"", comment);
}

static int add_source(const struct meter_view *view, const struct meter_source *source,
		      struct table *table)
{
	uint64_t packets = source->tally.packets;
	double share = view->dropped ? 100 * (double)packets / (double)view->dropped : 0;
	char text[XB_ENTRY_TEXT], name[IF_NAMESIZE];
	struct table_row *row = add_row(table, xb_entry_format(&source->tally.source, text));

	if (!row)
		return -1;
	row->packets = row->bits = meter_packets(view, packets);
	put_number(row->cell[1], row->packets);
	snprintf(row->cell[2], TABLE_CELL, "%.*f %%", share < 9.95, share);
	snprintf(row->cell[3], TABLE_CELL, "%s", display_interface(source->tally.ifindex, name));
	if (source->covered)
		put_lists(row->cell[4], source->covered, text);
	else if (*source->limit)
		snprintf(row->cell[4], TABLE_CELL, "limit %s", source->limit);
	else
		snprintf(row->cell[4], TABLE_CELL, "%s", xb_reason_name(source->tally.reason));
	return 0;
}

static int add_sources(const struct meter_view *view, struct table *table)
{
	for (size_t i = 0; i < view->source_count; i++)
		if (add_source(view, &view->sources[i], table))
			return -1;
	snprintf(table->note, sizeof(table->note), "%s", view->why_no_sources);
	return 0;
}

static int add_names(const struct meter_view *view, struct table *table)
{
	for (size_t i = 0; i < view->name_count; i++) {
		struct table_row *row = add_row(table, view->names[i].name);

		if (!row)
			return -1;
		row->packets = row->bits = meter_packets(view, view->names[i].packets);
		put_number(row->cell[1], row->packets);
	}
	return 0;
}

static int add_lists(const struct meter_view *view, struct table *table)
{
	const struct xb_storeview *store = &view->health.store;

	for (size_t i = 0; i < store->list_count; i++) {
		const struct xb_list *list = &store->lists[i];
		char scope[XB_SCOPE_TEXT];
		struct table_row *row;

		if (xb_list_is_auto(list))
			continue;
		row = add_row(table, list->name);
		if (!row)
			return -1;
		row->packets = row->bits = (double)list->members;
		snprintf(row->cell[1], TABLE_CELL, "%llu", (unsigned long long)list->members);
		if (list->verdict)
			snprintf(row->cell[2], TABLE_CELL, "%s",
				 xb_domain_verdict_name(list->verdict));
		if (list->scope)
			snprintf(row->cell[3], TABLE_CELL, "%s",
				 xb_scope_format(list->scope, scope));
	}
	return 0;
}

/* "4:05:59" */
static void put_wait(char cell[TABLE_CELL], int64_t seconds)
{
	if (seconds < 0)
		seconds = 0;
	snprintf(cell, TABLE_CELL, "%lld:%02d:%02d", (long long)(seconds / 3600),
		 (int)(seconds / 60 % 60), (int)(seconds % 60));
}

static int add_feeds(const struct meter_view *view, struct table *table)
{
	int64_t now = time(NULL);

	for (size_t i = 0; i < view->feed_count; i++) {
		const struct xb_feed_state *feed = &view->feeds[i];
		struct table_row *row = add_row(table, feed->name);

		if (!row)
			return -1;
		row->packets = row->bits = (double)feed->entries;
		snprintf(row->cell[1], TABLE_CELL, "%lld", (long long)feed->entries);
		if (feed->next_fetch)
			put_wait(row->cell[2], feed->next_fetch - now);
		snprintf(row->cell[3], TABLE_CELL, "%s", feed->outcome);
		snprintf(row->cell[4], TABLE_CELL, "%s%s%s", feed->guard,
			 *feed->guard && *feed->message ? ": " : "", feed->message);
		if (*feed->outcome && !xb_feed_is_well(feed))
			row->style = SCREEN_BAD;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct table_row *)a)->cell[0],
		      ((const struct table_row *)b)->cell[0]);
}

static int descending(double one, double other)
{
	return (one < other) - (one > other);
}

static int by_packets(const void *a, const void *b)
{
	const struct table_row *one = a, *other = b;

	return descending(one->packets, other->packets) ?: by_name(a, b);
}

static int by_bits(const void *a, const void *b)
{
	const struct table_row *one = a, *other = b;

	return descending(one->bits, other->bits) ?: by_name(a, b);
}

int tables_make(const struct meter_view *view, enum table_order order, struct table tables[TABLES])
{
	static int (*const add[TABLES])(const struct meter_view *, struct table *) = {
		[TABLE_INTERFACES] = add_interfaces, [TABLE_REASONS] = add_reasons,
		[TABLE_LIMITS] = add_limits,	     [TABLE_SOURCES] = add_sources,
		[TABLE_NAMES] = add_names,	     [TABLE_LISTS] = add_lists,
		[TABLE_FEEDS] = add_feeds,
	};
	static int (*const by[TABLE_ORDERS])(const void *, const void *) = {
		[TABLE_BY_PACKETS] = by_packets,
		[TABLE_BY_BITS] = by_bits,
		[TABLE_BY_NAME] = by_name,
	};
	int failed = 0;

	memcpy(tables, empty, sizeof(empty));
	for (enum table_kind kind = 0; kind < TABLES; kind++) {
		struct table *table = &tables[kind];

		failed |= add[kind](view, table);
		if (table->count)
			qsort(table->rows, table->count, sizeof(*table->rows), by[order]);
	}
	return failed ? xb_out_of_memory() : 0;
}

void tables_free(struct table tables[TABLES])
{
	for (enum table_kind kind = 0; kind < TABLES; kind++)
		free(tables[kind].rows);
	memset(tables, 0, TABLES * sizeof(*tables));
}
