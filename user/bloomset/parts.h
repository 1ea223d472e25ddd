/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was kept, part by part: texts by their hashes, numbers by their upper bits. */
#ifndef XB_BLOOMSET_PARTS_H
#define XB_BLOOMSET_PARTS_H

#include "bloomset/output.h"
#include "bloomset/rule.h"
#include "bloomset/spill.h"
#include "bloomset/values.h"
#include "xdp_bloom/hash.h"

#define PARTS_NUMBERS ((uint64_t)1 << 32)

/* Of a number that is kept: its lower three, and one for the record. The stream says the rest. */
#define PARTS_NUMBER_BYTES 4

/* Of parts of parts: then no bits of the hash are left. */
#define PARTS_LEVELS 3

/* Streams for texts in so many bytes of memory. */
uint32_t parts_streams(uint64_t bytes);

/* The one of a text; level: how often texts were parted before. */
static inline uint32_t parts_stream(const struct spill *spill, uint64_t hash, unsigned int level)
{
	return (uint32_t)(hash >> (56 - 8 * level)) & (spill->count - 1);
}

/* Streams for numbers, so that an eighth of the memory is enough for the bits of one; and the one
 * of a number. */
uint32_t parts_number_streams(const struct rule *rule, uint64_t memory);
static inline uint32_t parts_number_stream(const struct spill *spill, uint32_t number)
{
	return (uint32_t)((uint64_t)number * spill->count >> 32);
}

static inline int parts_put_number(struct spill *spill, uint32_t file, uint32_t number)
{
	const uint8_t bytes[PARTS_NUMBER_BYTES - 1] = {(uint8_t)number, (uint8_t)(number >> 8),
						       (uint8_t)(number >> 16)};

	return spill_put(spill, parts_number_stream(spill, number), file, bytes, sizeof(bytes));
}

/* Gives the numbers for which the rule holds, ascending. */
int parts_give_numbers(struct spill *spill, const struct rule *rule, values_giver *give, void *to);

/* Writes the texts for which the rule holds, in no order; what it writes to disk besides is added
 * to *written. key: of the hashes by which they were parted. */
int parts_give(struct spill *spill, const struct rule *rule, const struct xb_key *key,
	       struct output *output, uint64_t *written);

#endif
