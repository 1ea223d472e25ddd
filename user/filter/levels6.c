/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of lengths join where that adds the fewest keys. */
#include "filter/levels6.h"

#include <stdlib.h>

#include "base/error.h"

/* What all expansions together may add: a quarter of the entries, and so many keys that cost next
 * to nothing. */
#define SHARE_MORE 4
#define KEYS_MORE  4096

/* Lengths of one level. */
struct group {
	uint8_t first, level;
	uint64_t keys;
};

static size_t count_groups(const struct xb_entry *entries, size_t count,
			   struct group groups[XB_LEVELS6])
{
	uint64_t counts[XB_LEVELS6] = {0};
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		counts[entries[i].length - XB_LEVELS6_FIRST]++;
	for (uint32_t i = 0; i < XB_LEVELS6; i++)
		if (counts[i])
			groups[found++] = (struct group){
				.first = (uint8_t)(XB_LEVELS6_FIRST + i),
				.level = (uint8_t)(XB_LEVELS6_FIRST + i),
				.keys = counts[i],
			};
	return found;
}

/* Keys that come when the group goes to the level of the next one; UINT64_MAX: it must not. */
static uint64_t cost_of_joining(const struct group *group)
{
	const struct group *next = group + 1;

	return next->level - group->first > XB_LEVELS6_BITS
		       ? UINT64_MAX
		       : (group->keys << (next->level - group->level)) - group->keys;
}

/* The number of the group that joins the next one most cheaply; count - 1: none for that many keys.
 */
static size_t find_cheapest(const struct group *groups, size_t count, uint64_t most)
{
	size_t best = count - 1;

	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t cost = cost_of_joining(&groups[i]);

		if (cost > most)
			continue;
		most = cost;
		best = i;
	}
	return best;
}

void xb_levels6_choose(const struct xb_entry *entries, size_t count, struct xb_levels6 *levels)
{
	struct group groups[XB_LEVELS6];
	size_t left = count_groups(entries, count, groups), i;
	uint64_t more = count / SHARE_MORE + KEYS_MORE;

	while (left && (i = find_cheapest(groups, left, more)) + 1 < left) {
		uint64_t cost = cost_of_joining(&groups[i]);

		more -= cost;
		groups[i + 1].keys += groups[i].keys + cost;
		groups[i + 1].first = groups[i].first;
		for (left--; i < left; i++)
			groups[i] = groups[i + 1];
	}
	for (i = 0; i < XB_LEVELS6; i++)
		levels->of[i] = (uint8_t)(XB_LEVELS6_FIRST + i);
	for (i = 0; i < left; i++)
		for (uint32_t length = groups[i].first; length <= groups[i].level; length++)
			levels->of[length - XB_LEVELS6_FIRST] = groups[i].level;
}

struct xb_entry xb_levels6_key(const struct xb_levels6 *levels, const struct xb_entry *entry,
			       uint32_t i)
{
	struct xb_entry key = *entry;

	key.length = xb_levels6_of(levels, entry);
	if (key.length <= 64) {
		key.hi |= (uint64_t)i << (64 - key.length);
		return key;
	}
	key.lo |= (uint64_t)i << (128 - key.length);
	if (key.length < 64 + XB_LEVELS6_BITS)
		key.hi |= i >> (key.length - 64);
	return key;
}

int xb_levels6_expand(const struct xb_levels6 *levels, const struct xb_entry *entries, size_t count,
		      struct xb_entry **keys, size_t *key_count)
{
	size_t all = 0, at = 0;

	for (size_t i = 0; i < count; i++)
		all += xb_levels6_keys(levels, &entries[i]);
	*keys = NULL;
	*key_count = all;
	if (all == count)
		return 0;
	*keys = malloc(all * sizeof(**keys));
	if (!*keys)
		return xb_out_of_memory();
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < xb_levels6_keys(levels, &entries[i]); k++)
			(*keys)[at++] = xb_levels6_key(levels, &entries[i], k);
	return 0;
}
