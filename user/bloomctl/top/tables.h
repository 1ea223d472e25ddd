/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reading as tables of text: one for interfaces, reasons, limits, sources, names, lists and feeds
 * each. */
#ifndef XB_CLI_TOP_TABLES_H
#define XB_CLI_TOP_TABLES_H

#include "bloomctl/top/meter.h"
#include "bloomctl/top/screen.h"

#define TABLE_CELLS 5
#define TABLE_CELL  320 /* bytes: a domain, a comment and its list */

struct table_row {
	char cell[TABLE_CELLS][TABLE_CELL];
	enum screen_style style;
	double packets, bits; /* to sort by */
};

/* The first column is as wide as it needs to be. */
struct table_column {
	const char *title;
	int width; /* of a number, at the right; negative: of a word, at the left; 0: what is left
		    */
	int least; /* columns for the whole table without which this one is left out */
};

struct table {
	struct table_column columns[TABLE_CELLS + 1]; /* the last has no title */
	struct table_row *rows;
	size_t count, room;
	char note[192]; /* shown instead of rows */
};

enum table_kind {
	TABLE_INTERFACES,
	TABLE_REASONS,
	TABLE_LIMITS,
	TABLE_SOURCES,
	TABLE_NAMES,
	TABLE_LISTS,
	TABLE_FEEDS,
	TABLES,
};

enum table_order { TABLE_BY_PACKETS, TABLE_BY_BITS, TABLE_BY_NAME, TABLE_ORDERS };

const char *table_order_name(enum table_order order);

/* Returns 0 or an error with its message; the caller frees the tables in either case. */
int tables_make(const struct meter_view *view, enum table_order order, struct table tables[TABLES]);
void tables_free(struct table tables[TABLES]);

/* "950", "1.23k", "12.3M": five characters at most, with a decimal only if there is one. Returns
 * out. */
const char *table_short(double number, char out[16]);

#endif
