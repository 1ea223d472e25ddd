/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A binary search for each length there is. */
#include "oracle.h"

#include <stdlib.h>

#include "rig.h"

/* Of networks of one family and length. */
static int compare(const void *a, const void *b)
{
	const struct xb_entry *one = a, *other = b;

	if (one->hi != other->hi)
		return one->hi < other->hi ? -1 : 1;
	return (one->lo > other->lo) - (one->lo < other->lo);
}

/* bsearch() calls a function for each comparison, and there are tens of millions. */
static bool is_among(const struct xb_entry *networks, size_t count, const struct xb_entry *network)
{
	while (count) {
		const struct xb_entry *middle = networks + count / 2;
		int order = compare(network, middle);

		if (!order)
			return true;
		if (order > 0) {
			networks = middle + 1;
			count--;
		}
		count /= 2;
	}
	return false;
}

void oracle_add(struct oracle *oracle, const struct xb_entry *entry)
{
	int family = !xb_entry_is_ipv4(entry);
	size_t *count = &oracle->count[family][entry->length];
	struct xb_entry **list = &oracle->of[family][entry->length];

	/* There is room up to the next power of two. */
	if (!(*count & (*count - 1)))
		*list = realloc(*list, (*count ? 2 * *count : 1) * sizeof(**list));
	(*list)[(*count)++] = *entry;
}

void oracle_sort(struct oracle *oracle)
{
	for (int family = 0; family < 2; family++)
		for (int length = 0; length <= 128; length++)
			if (oracle->count[family][length])
				qsort(oracle->of[family][length], oracle->count[family][length],
				      sizeof(struct xb_entry), compare);
}

void oracle_free(struct oracle *oracle)
{
	for (int family = 0; family < 2; family++)
		for (int length = 0; length <= 128; length++)
			free(oracle->of[family][length]);
	*oracle = (struct oracle){0};
}

bool oracle_covers(const struct oracle *oracle, const struct xb_entry *address)
{
	int family = !xb_entry_is_ipv4(address);

	for (int length = 0; length <= (family ? 128 : 32); length++) {
		size_t count = oracle->count[family][length];
		struct xb_entry network;

		if (!count)
			continue;
		network = xb_entry_covering(address, (uint8_t)length);
		if (is_among(oracle->of[family][length], count, &network))
			return true;
	}
	return false;
}

struct xb_entry oracle_random(uint64_t *seed, bool ipv4, uint8_t length)
{
	struct xb_entry whole = {
		.hi = rig_random(seed), .lo = rig_random(seed), .kind = XB_NET6, .length = 128};

	if (ipv4)
		whole = (struct xb_entry){
			.hi = whole.hi & 0xffffffff00000000ULL, .kind = XB_HOST4, .length = 32};
	return xb_entry_covering(&whole, length);
}

struct xb_entry oracle_address_in(uint64_t *seed, const struct xb_entry *entry)
{
	struct xb_entry any =
		oracle_random(seed, xb_entry_is_ipv4(entry), xb_entry_full_length(entry));
	uint64_t high = entry->length >= 64 ? ~0ULL
			: entry->length	    ? ~0ULL << (64 - entry->length)
					    : 0;
	uint64_t low = entry->length <= 64 ? 0 : ~0ULL << (128 - entry->length);

	any.hi = entry->hi | (any.hi & ~high);
	any.lo = entry->lo | (any.lo & ~low);
	return xb_entry_is_allow(entry) ? xb_entry_allow(&any) : any;
}
