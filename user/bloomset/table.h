/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The different texts of a part, in memory, with what is known of each. */
#ifndef XB_BLOOMSET_TABLE_H
#define XB_BLOOMSET_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "bloomset/budget.h"
#include "bloomset/rule.h"

struct table {
	const struct rule *rule;
	uint8_t *texts;	     /* entries, one behind the other */
	uint64_t used, room; /* bytes of them */
	uint64_t *slots;     /* 0: free; the upper half has bits of the hash, the lower a place */
	uint64_t mask;	     /* slots - 1 */
	uint64_t count;
	struct budget *budget;
	uint64_t bytes; /* of it */
};

/* Takes all that the budget has left. */
int table_open(struct table *table, const struct rule *rule, struct budget *budget);
void table_close(struct table *table);

/* Forgets all texts. */
void table_clear(struct table *table);

/* 0, an error, or TABLE_FULL: there is no room for this text, which is not taken. size: at most
 * TABLE_TEXT_MOST. */
#define TABLE_TEXT_MOST ((uint64_t)UINT32_MAX)
#define TABLE_FULL	1
int table_take(struct table *table, uint32_t file, uint64_t hash, const char *text, size_t size);

/* Gives the texts for which the rule holds; returns 0 or what ends it. */
typedef int table_giver(void *to, const char *text, size_t size);
int table_give(const struct table *table, table_giver *give, void *to);

#endif
