/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marking prefix lengths. */
#include "filter/lengthmap.h"

uint32_t xb_lengthmap_cell(const struct xb_key *key, uint32_t cells, const struct xb_entry *entry)
{
	if (entry->length < XB_LENGTH_SPLIT)
		return 0;
	return 1 +
	       xb_scale((uint32_t)(xb_hash_head(key, (uint32_t)(entry->hi >> 32)) >> 32), cells);
}

static uint32_t ones(const struct xb_lengths *lengths)
{
	return (uint32_t)(__builtin_popcountll(lengths->bits[0]) +
			  __builtin_popcountll(lengths->bits[1]));
}

uint32_t xb_lengthmap_mark(struct xb_lengths *table, uint32_t cell, const struct xb_entry *entry)
{
	uint32_t bit = cell ? entry->length - XB_LENGTH_SPLIT : entry->length;

	__atomic_fetch_or(&table[cell].bits[bit / 64], 1ULL << (bit % 64), __ATOMIC_RELEASE);
	return cell ? ones(&table[0]) + ones(&table[cell]) : 0;
}

uint32_t xb_lengthmap_most(const struct xb_lengths *table, uint32_t cells)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i <= cells; i++)
		if (ones(&table[i]) > most)
			most = ones(&table[i]);
	return most + ones(&table[0]);
}
