/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page is written before the directory names it, and is that of its /16 as long as the generation
 * lives. */
#include "filter/prefix6map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter/listed.h"
#include "store/walk.h"

#define PAGE_WORDS XB_PREFIX6_PAGE_WORDS
#define BLOCKS	   XB_PREFIX6_BLOCKS

/* For /16s to come. */
#define PAGES_SPARE 64

/* A prefix of /17 and longer covers words of one /16, in each of them the same bits; a shorter one
 * covers whole /16s. */
struct span {
	uint32_t block, blocks; /* /16s */
	uint32_t first, words;	/* of the page */
	uint64_t mask;
};

static uint32_t block_of(const struct xb_entry *prefix)
{
	return (uint32_t)(prefix->hi >> 48);
}

static struct span span_of(const struct xb_entry *prefix)
{
	struct span span = {.block = block_of(prefix), .blocks = 1, .words = 1, .mask = ~0ULL};

	if (prefix->length <= 16) {
		span.blocks = 1U << (16 - prefix->length);
		span.words = PAGE_WORDS;
		return span;
	}
	span.first = (uint32_t)(prefix->hi >> 38) & (PAGE_WORDS - 1);
	if (prefix->length <= 26)
		span.words = 1U << (26 - prefix->length);
	else
		span.mask = (~0ULL >> (64 - (1U << (32 - prefix->length))))
			    << (prefix->hi >> 32 & 63);
	return span;
}

static uint32_t *directory(const struct xb_prefix6map *map)
{
	return (uint32_t *)(void *)map->words->base;
}

/* What the directory has of a /16. */
static uint32_t page_of(const struct xb_prefix6map *map, uint32_t block)
{
	return __atomic_load_n(&directory(map)[xb_prefix6_place(block)], __ATOMIC_RELAXED);
}

static void set_page(const struct xb_prefix6map *map, uint32_t block, uint32_t page)
{
	__atomic_store_n(&directory(map)[xb_prefix6_place(block)], page, __ATOMIC_RELEASE);
}

static uint64_t *words_of(const struct xb_prefix6map *map, uint32_t page)
{
	return (uint64_t *)(void *)map->words->base + xb_prefix6_word(page, 0);
}

static bool is_own(uint32_t page)
{
	return page > XB_PREFIX6_WHOLE;
}

uint32_t xb_prefix6map_pages(const struct xb_entry *prefixes, size_t count)
{
	uint32_t pages = 0, last = BLOCKS;

	for (size_t i = 0; i < count; i++) {
		if (prefixes[i].length <= 16 || block_of(&prefixes[i]) == last)
			continue;
		last = block_of(&prefixes[i]);
		pages++;
	}
	pages += pages / 4 + PAGES_SPARE;
	return pages < BLOCKS ? pages : BLOCKS;
}

static int map_words(const struct xb_prefix6map *map, uint32_t page, uint32_t first, uint32_t words)
{
	return xb_mapping_map(map->words, (size_t)xb_prefix6_word(page, first) * sizeof(uint64_t),
			      (size_t)words * sizeof(uint64_t));
}

int xb_prefix6map_prepare(const struct xb_prefix6map *map, const struct xb_entry *prefix,
			  uint32_t more)
{
	struct span span = span_of(prefix);
	uint32_t place = xb_prefix6_place(span.block) / 2 * 2;
	int error = xb_mapping_map(map->words, place * sizeof(uint32_t),
				   (size_t)(span.blocks + 1) / 2 * sizeof(uint64_t));

	for (uint32_t i = 0; !error && i < span.blocks; i++) {
		uint32_t page = page_of(map, span.block + i);

		if (is_own(page))
			error = map_words(map, page, span.first, span.words);
	}
	for (uint32_t i = 0; !error && i < more && *map->taken + i < map->pages; i++)
		error = map_words(map, XB_PREFIX6_FIRST + *map->taken + i, 0, PAGE_WORDS);
	return error;
}

/* Whether all of the next page is mapped; what a removal lays bare may take more than were. */
static bool has_next(const struct xb_prefix6map *map)
{
	size_t at = (size_t)xb_prefix6_word(XB_PREFIX6_FIRST + *map->taken, 0) * sizeof(uint64_t);

	return *map->taken < map->pages &&
	       xb_mapping_has(map->words, at, PAGE_WORDS * sizeof(uint64_t));
}

/* 0: there is none. */
static uint32_t take_page(const struct xb_prefix6map *map)
{
	return has_next(map) ? XB_PREFIX6_FIRST + (*map->taken)++ : XB_PREFIX6_NONE;
}

static void add_to_page(const struct xb_prefix6map *map, uint32_t page, const struct span *span)
{
	uint64_t *words = words_of(map, page) + span->first;

	for (uint32_t i = 0; i < span->words; i++)
		__atomic_fetch_or(&words[i], span->mask, __ATOMIC_RELEASE);
}

static void add_wide(const struct xb_prefix6map *map, const struct span *span)
{
	for (uint32_t i = 0; i < span->blocks; i++) {
		uint32_t page = page_of(map, span->block + i);

		if (is_own(page))
			add_to_page(map, page, span);
		else if (page == XB_PREFIX6_NONE)
			set_page(map, span->block + i, XB_PREFIX6_WHOLE);
	}
}

int xb_prefix6map_add(const struct xb_prefix6map *map, const struct xb_entry *prefix)
{
	struct span span = span_of(prefix);
	uint32_t page = page_of(map, span.block);

	if (prefix->length <= 16) {
		add_wide(map, &span);
		return 0;
	}
	if (page == XB_PREFIX6_WHOLE)
		return 0;
	if (is_own(page)) {
		add_to_page(map, page, &span);
		return 0;
	}
	page = take_page(map);
	if (page == XB_PREFIX6_NONE)
		return -EXFULL;
	add_to_page(map, page, &span);
	set_page(map, span.block, page);
	return 0;
}

/* What is left below a prefix that is not listed any more, /16 by /16. */
struct settling {
	const struct xb_prefix6map *map;
	struct span span;
	uint32_t next;	  /* the /16s before it are done */
	uint32_t whole;	  /* those before it lie in something listed */
	uint32_t block;	  /* what is collected is of this one */
	uint64_t *wanted; /* words of a page */
};

/* Not only fewer bits: a replay may meet here what a later change of the log lists. */
static int settle_block(const struct settling *settling, uint32_t block)
{
	static const uint64_t nothing[PAGE_WORDS];
	const struct xb_prefix6map *map = settling->map;
	const struct span *span = &settling->span;
	bool collected = block == settling->block;
	const uint64_t *wanted = collected ? settling->wanted : nothing;
	uint32_t page = page_of(map, block);

	if (page == XB_PREFIX6_WHOLE && span->words < PAGE_WORDS)
		return 0; /* by a wider one, which a later change of the log removes */
	if (!is_own(page) && !collected) {
		set_page(map, block, XB_PREFIX6_NONE);
		return 0;
	}
	if (!is_own(page)) {
		page = take_page(map);
		if (page == XB_PREFIX6_NONE)
			return -EXFULL;
	}
	for (uint32_t i = span->first; i < span->first + span->words; i++) {
		uint64_t *word = &words_of(map, page)[i];

		__atomic_store_n(word, (*word & ~span->mask) | (wanted[i] & span->mask),
				 __ATOMIC_RELEASE);
	}
	set_page(map, block, page);
	return 0;
}

/* Up to this /16. */
static int settle_until(struct settling *settling, uint32_t block)
{
	int error = 0;

	for (; !error && settling->next < block; settling->next++)
		if (settling->next >= settling->whole)
			error = settle_block(settling, settling->next);
	return error;
}

/* One that is listed inside; they come in store order. */
static int collect(struct settling *settling, const struct xb_entry *prefix)
{
	struct span span = span_of(prefix);
	int error = settle_until(settling, span.block);

	if (error)
		return error;
	if (prefix->length <= 16) {
		uint32_t end = span.block + span.blocks;

		settling->whole = end > settling->whole ? end : settling->whole;
		return xb_prefix6map_add(settling->map, prefix);
	}
	if (settling->block != span.block) {
		memset(settling->wanted, 0, PAGE_WORDS * sizeof(*settling->wanted));
		settling->block = span.block;
	}
	for (uint32_t i = 0; i < span.words; i++)
		settling->wanted[span.first + i] |= span.mask;
	return 0;
}

static int settle_inside(struct settling *settling, struct xb_txn *txn,
			 const struct xb_entry *prefix)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, prefix);

	if (error)
		return error;
	while (!error && (more = xb_walk_next(&walk)) > 0) {
		if (walk.entry.kind != XB_NET6 || !xb_entry_inside(prefix, &walk.entry))
			break;
		if (xb_prefix6map_takes(&walk.entry) &&
		    xb_members_classes(txn, walk.members) & XB_CLASSES_ALL)
			error = collect(settling, &walk.entry);
	}
	xb_walk_end(&walk);
	if (!error && more < 0)
		error = more;
	return error ? error : settle_until(settling, settling->span.block + settling->span.blocks);
}

int xb_prefix6map_settle(const struct xb_prefix6map *map, struct xb_txn *txn,
			 const struct xb_entry *prefix)
{
	struct settling settling = {.map = map, .span = span_of(prefix), .block = BLOCKS};
	int error = xb_listed_for_all(txn, prefix);

	if (error > 0)
		return xb_prefix6map_add(map, prefix);
	if (!error)
		error = xb_listed_around(txn, prefix);
	if (error)
		return error < 0 ? error : 0;
	settling.next = settling.span.block;
	settling.wanted = calloc(PAGE_WORDS, sizeof(*settling.wanted));
	if (!settling.wanted)
		return xb_out_of_memory();
	error = settle_inside(&settling, txn, prefix);
	free(settling.wanted);
	return error;
}

uint64_t xb_prefix6map_word(const struct xb_prefix6map *map, uint32_t head)
{
	uint32_t page = page_of(map, head >> 16);

	if (!is_own(page))
		return page == XB_PREFIX6_WHOLE ? ~0ULL : 0;
	return words_of(map, page)[head >> 6 & (PAGE_WORDS - 1)];
}
