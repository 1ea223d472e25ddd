/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/counts.h"

#include <stdlib.h>

#include "base/array.h"

static int add_row(struct xb_count_table *table, const struct xb_anchor *anchor, uint32_t ifindex,
		   uint32_t row)
{
	int error =
		xb_array_grow(&table->rows, &table->room, table->count + 1, sizeof(*table->rows));

	if (error)
		return error;
	table->rows[table->count].ifindex = ifindex;
	return xb_anchor_counts(anchor, row, &table->rows[table->count++].counts);
}

static int add_others(struct xb_count_table *table, const struct xb_anchor *anchor)
{
	struct xb_counts other;
	int error = xb_anchor_counts(anchor, 0, &other);

	for (int i = 0; !error && i < XB_REASON_COUNT; i++)
		if (other.reason[i].packets)
			return add_row(table, anchor, 0, 0);
	return error;
}

int xb_counts_read(const struct xb_anchor *anchor, struct xb_count_table *table)
{
	struct xb_enrolled *all;
	size_t count;
	int error = xb_anchor_enrolled(anchor, &all, &count);

	*table = (struct xb_count_table){0};
	for (size_t i = 0; !error && i < count; i++)
		error = add_row(table, anchor, all[i].ifindex, all[i].row);
	free(all);
	return error ? error : add_others(table, anchor);
}

void xb_counts_free(struct xb_count_table *table)
{
	free(table->rows);
	*table = (struct xb_count_table){0};
}

const struct xb_counts *xb_counts_of(const struct xb_count_table *table, uint32_t ifindex)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].ifindex == ifindex)
			return &table->rows[i].counts;
	return NULL;
}

struct xb_count xb_count_since(const struct xb_counts *now, const struct xb_counts *then,
			       unsigned int reason)
{
	struct xb_count since = now->reason[reason];

	if (then && then->reason[reason].packets <= since.packets &&
	    then->reason[reason].bytes <= since.bytes) {
		since.packets -= then->reason[reason].packets;
		since.bytes -= then->reason[reason].bytes;
	}
	return since;
}
