/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One bit a /24, 64 to a word; a word is a /18. Behind them a bit for each word, on when the word
 * has any: it follows the word when that fills, and when it empties. */
#include "filter/prefixmap.h"

#include <stdlib.h>

#include "base/error.h"
#include "filter/listed.h"
#include "store/walk.h"
#include "xdp_bloom/layout.h"

/* The words a prefix covers, and the bits of the first word (all bits when it covers whole words).
 */
struct span {
	uint32_t first, count;
	uint64_t mask;
};

static struct span span_of(const struct xb_entry *prefix)
{
	uint32_t address = xb_entry_ipv4(prefix);
	struct span span = {.first = address >> 14, .count = 1, .mask = ~0ULL};

	if (prefix->length < 18)
		span.count = 1U << (18 - prefix->length);
	else if (prefix->length > 18)
		span.mask = (~0ULL >> (64 - (1U << (24 - prefix->length))))
			    << ((address >> 8) & 63);
	return span;
}

static uint64_t *word_at(const struct xb_mapping *words, uint32_t index)
{
	return (uint64_t *)(void *)words->base + index;
}

static uint64_t *top_at(const struct xb_mapping *words, uint32_t index)
{
	return word_at(words, XB_PREFIX4_WORDS + index / 64);
}

static void add_to_word(struct xb_mapping *words, uint32_t index, uint64_t mask)
{
	__atomic_fetch_or(word_at(words, index), mask, __ATOMIC_RELEASE);
	__atomic_fetch_or(top_at(words, index), 1ULL << (index % 64), __ATOMIC_RELEASE);
}

/* Not only fewer bits: a replay may meet here what a later change of the log lists. */
static void set_word(struct xb_mapping *words, uint32_t index, uint64_t now)
{
	uint64_t bit = 1ULL << (index % 64);

	__atomic_store_n(word_at(words, index), now, __ATOMIC_RELEASE);
	if (now)
		__atomic_fetch_or(top_at(words, index), bit, __ATOMIC_RELEASE);
	else
		__atomic_fetch_and(top_at(words, index), ~bit, __ATOMIC_RELEASE);
}

int xb_prefixmap_prepare(struct xb_mapping *words, const struct xb_entry *prefix)
{
	struct span span = span_of(prefix);
	uint32_t top = span.first / 64, last = (span.first + span.count - 1) / 64;
	int error = xb_mapping_map(words, (size_t)span.first * 8, (size_t)span.count * 8);

	return error ? error
		     : xb_mapping_map(words, (size_t)(XB_PREFIX4_WORDS + top) * 8,
				      (size_t)(last - top + 1) * 8);
}

void xb_prefixmap_add(struct xb_mapping *words, const struct xb_entry *prefix)
{
	struct span span = span_of(prefix);

	for (uint32_t i = 0; i < span.count; i++)
		add_to_word(words, span.first + i, span.mask);
}

/* Collects the prefixes listed inside `prefix` into wanted, one word for each of the span. */
static int wanted_inside(struct xb_txn *txn, const struct xb_entry *prefix, const struct span *span,
			 uint64_t *wanted)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, prefix);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0) {
		struct span inner;

		if (walk.entry.kind != XB_PREFIX4 ||
		    xb_entry_ipv4(&walk.entry) >> 14 >= span->first + span->count)
			break;
		if (!xb_entry_inside(prefix, &walk.entry) ||
		    !(xb_members_classes(txn, walk.members) & XB_CLASSES_ALL))
			continue;
		inner = span_of(&walk.entry);
		for (uint32_t i = 0; i < inner.count; i++)
			wanted[inner.first - span->first + i] |= inner.mask;
	}
	xb_walk_end(&walk);
	return more < 0 ? more : 0;
}

int xb_prefixmap_settle(struct xb_mapping *words, struct xb_txn *txn, const struct xb_entry *prefix)
{
	struct span span = span_of(prefix);
	uint64_t *wanted;
	int error = xb_listed_for_all(txn, prefix);

	if (error > 0)
		xb_prefixmap_add(words, prefix);
	else if (!error)
		error = xb_listed_around(txn, prefix);
	if (error)
		return error < 0 ? error : 0;
	wanted = calloc(span.count, sizeof(*wanted));
	if (!wanted)
		return xb_out_of_memory();
	error = wanted_inside(txn, prefix, &span, wanted);
	for (uint32_t i = 0; !error && i < span.count; i++) {
		uint64_t word = *word_at(words, span.first + i),
			 now = (word & ~span.mask) | (wanted[i] & span.mask);

		if (word != now)
			set_word(words, span.first + i, now);
	}
	free(wanted);
	return error;
}

bool xb_prefixmap_contains(const struct xb_mapping *words, uint32_t address)
{
	uint32_t index = address >> 14;

	return *top_at(words, index) >> (index % 64) & 1 &&
	       *word_at(words, index) >> (address >> 8 & 63) & 1;
}
