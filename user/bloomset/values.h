/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of a range, each by a few bits that say what is known of it. */
#ifndef XB_BLOOMSET_VALUES_H
#define XB_BLOOMSET_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "bloomset/rule.h"

struct values {
	const struct rule *rule;
	uint64_t first, count; /* of the range */
	uint32_t width;	       /* bits of a number: 1, 2, 4 or 8 */
	uint64_t *words;
	uint8_t *touched; /* by page: 1, it may have bits; 2, in this file */
	uint64_t pages;
	uint32_t file;
};

/* How many bits a number takes by this rule; 0: the rule asks for more than 8. */
uint32_t values_width(const struct rule *rule);

/* The bytes for so many numbers. */
uint64_t values_bytes(const struct rule *rule, uint64_t count);

/* many: whether most of the memory will be needed. */
int values_open(struct values *values, const struct rule *rule, uint64_t count, bool many);
void values_close(struct values *values);

/* Forgets all; the range begins at another number. */
void values_clear(struct values *values, uint64_t first);

/* Takes numbers of the range, of a file. Files come one after the other. */
void values_take(struct values *values, uint32_t file, const uint32_t *numbers, size_t count);

/* Gives the numbers for which the rule holds, ascending; returns 0 or what ends it. */
typedef int values_giver(void *to, uint32_t number);
int values_give(struct values *values, values_giver *give, void *to);

#endif
