/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The statistics of all interfaces at one moment, and how far they have come since another. */
#ifndef XB_ATTACH_COUNTS_H
#define XB_ATTACH_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "attach/anchor.h"

struct xb_count_row {
	uint32_t ifindex; /* 0: interfaces that have no row, together */
	struct xb_counts counts;
};

/* All zero: nothing is attached. */
struct xb_count_table {
	struct xb_count_row *rows;
	size_t count, room;
};

/* Reads the rows of all enrolled interfaces, and that of the others if it counted anything. Returns
 * 0 or an error with its message; the caller frees the table in either case. */
int xb_counts_read(const struct xb_anchor *anchor, struct xb_count_table *table);
void xb_counts_free(struct xb_count_table *table);

/* NULL: the table has no row of it. */
const struct xb_counts *xb_counts_of(const struct xb_count_table *table, uint32_t ifindex);

/* What was counted after `then`. A row that was attached anew since began at 0; so did one that
 * was not there (NULL). */
struct xb_count xb_count_since(const struct xb_counts *now, const struct xb_counts *then,
			       unsigned int reason);

#endif
