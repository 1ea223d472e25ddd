/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is listed and allowed while the filter is timed. */
#ifndef XB_BENCH_LISTS_H
#define XB_BENCH_LISTS_H

#include "bench/addresses.h"
#include "bench/must.h"
#include "bench/shared.h"
#include "filter/contents.h"
#include "filter/prefix6map.h"
#include "xdp_bloom/layout.h"

#define ALLOW_FEW  8
#define ALLOW_MANY 10000

/* The upper half of all IPv6 addresses that are listed for some ports only. */
#define NET6 0x20010db800000000ULL

/* import takes none that are shorter. Of several lengths SHARE_HEAD share a /32; those that are
 * shorter than LONG_FROM are listed elsewhere than traffic comes from: else most traffic would be
 * listed. */
#define SHORTEST   16
#define LONGEST	   128
#define SHARE_HEAD 4
#define LONG_FROM  40

/* From COUNTRY32 on: for countries alone. */
enum list { HOSTS4, HOSTS6, NETS6, SIX_LENGTHS, ALL_LENGTHS, COUNTRY32, COUNTRY, LISTS };

static const struct {
	const char *name;
	const uint8_t *lengths; /* that take turns; NULL: all */
	size_t length_count;
	bool many; /* as many as there are hosts, each in a /32 of its own */
} list_forms[LISTS] = {
	[HOSTS4] = {.name = "hosts"},
	[HOSTS6] = {"hosts6", (const uint8_t[]){128}, 1, true},
	[NETS6] = {"nets6", (const uint8_t[]){64}, 1, true},
	[SIX_LENGTHS] = {"six_lengths6", (const uint8_t[]){32, 40, 44, 48, 56, 64}, 6, false},
	[ALL_LENGTHS] = {.name = "all_lengths6"},
	[COUNTRY32] = {.name = "country32"},
	[COUNTRY] = {.name = "country"},
};

/*
 * Prefixes of countries: how many of each length, and in which /16s. Of one country as its public
 * list has them, of all as these lists together (September 2025).
 */
#define COUNTRY_LENGTHS 36
#define ALL_COUNTRIES	50000 /* prefixes: from here on, a list has the shape of all countries */

static const struct country {
	uint32_t blocks; /* /16s in use */
	struct {
		uint8_t length;
		uint32_t share;
	} of[COUNTRY_LENGTHS];
} one_country = {15, {{32, 4300}, {48, 2500}, {40, 900}, {36, 800}, {44, 600}, {29, 320}, {46, 200},
		      {47, 130},  {33, 90},   {28, 43},	 {24, 8},   {20, 4},   {22, 5},	  {23, 3},
		      {26, 4},	  {27, 3},    {19, 2},	 {30, 20},  {31, 10},  {34, 12},  {35, 10},
		      {38, 15},	  {42, 20},   {45, 12},	 {16, 1}}},
  all_countries = {68, {{32, 33000}, {29, 19000}, {48, 11000}, {40, 2800}, {36, 2700}, {44, 1900},
			{30, 700},   {28, 600},	  {31, 400},   {46, 400},  {47, 300},  {33, 250},
			{34, 200},   {35, 150},	  {27, 120},   {26, 90},   {24, 80},   {25, 60},
			{38, 60},    {37, 40},	  {39, 40},    {42, 40},   {45, 40},   {41, 30},
			{43, 30},    {23, 30},	  {22, 30},    {21, 20},   {20, 30},   {19, 6},
			{56, 20},    {64, 20},	  {52, 5},     {50, 4},	   {18, 2},    {16, 1}}};

/* Longer ones share a /32 with so many others, of the same length in 92 of 100. */
#define COUNTRY_SHARE 5
#define COUNTRY_ALIKE 92

/* What a machine allows by itself: loopback and link-local, its own addresses, gateway, resolvers
 * and ssh peer. */
static const struct xb_entry allow_few[ALLOW_FEW] = {
	{.hi = 0x7f00000000000000, .kind = XB_ALLOW4, .length = 8},
	{.hi = 0xa9fe000000000000, .kind = XB_ALLOW4, .length = 16},
	{.hi = 0xc000020100000000, .kind = XB_ALLOW4, .length = 32},
	{.hi = 0xc000020200000000, .kind = XB_ALLOW4, .length = 32},
	{.hi = 0xc633640100000000, .kind = XB_ALLOW4, .length = 32},
	{.hi = 0xcb00710100000000, .kind = XB_ALLOW4, .length = 32},
	{.hi = 0xfe80000000000000, .kind = XB_ALLOW6, .length = 10},
	{.lo = 1, .kind = XB_ALLOW6, .length = 128},
};

static inline void *room_for(size_t count, size_t size)
{
	void *room = calloc(count, size);

	must(room ? 0 : -ENOMEM, "lists");
	return room;
}

static int ascending(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static inline void list_hosts(struct xb_contents *keys, size_t count)
{
	keys->host4 = room_for(count, sizeof(*keys->host4));
	for (size_t i = 0; i < count; i++)
		keys->host4[i] = address_number((uint32_t)i);
	qsort(keys->host4, count, sizeof(*keys->host4), ascending);
	keys->host4_count = count;
}

/* /24s, so that random traffic stays clean. */
static inline void list_prefixes(struct xb_contents *keys, size_t count)
{
	uint32_t step = (uint32_t)((1U << 24) / count);

	keys->prefix4 = room_for(count, sizeof(*keys->prefix4));
	for (size_t i = 0; i < count; i++)
		keys->prefix4[i] = (struct xb_entry){
			.hi = (uint64_t)(i * step) << 40, .kind = XB_PREFIX4, .length = 24};
	keys->prefix4_count = count;
}

/* The few, then random prefixes of /20 to /32: ALLOW_MANY in all. */
static inline void list_allowed(struct xb_contents *keys)
{
	keys->allow = room_for(ALLOW_MANY, sizeof(*keys->allow));
	for (uint32_t i = 0; i < ALLOW_MANY; i++) {
		uint8_t length = (uint8_t)(20 + i % 13);
		uint32_t address = address_number(0x80000000U + i) & ~0U << (32 - length);

		keys->allow[i] = i < ALLOW_FEW ? allow_few[i]
					       : (struct xb_entry){.hi = (uint64_t)address << 32,
								   .kind = XB_ALLOW4,
								   .length = length};
	}
	keys->allow_count = ALLOW_MANY;
}

/* As many of each kind, which is the first letter: 'n' are answered, 'd' and 'e' dropped. Three
 * labels mostly, as lists have; of the last two kinds two and four, so that three depths are asked.
 */
static inline void list_names(struct xb_contents *keys, const char *kinds, uint32_t count)
{
	static const char *const tails[] = {".example.com", ".example.com", ".example.com", ".com",
					    ".b.example.com"};
	uint32_t all = (uint32_t)strlen(kinds), each = count / all;

	keys->names = room_for(count, sizeof(*keys->names));
	for (uint32_t i = 0; i < all * each; i++) {
		struct xb_named *named = &keys->names[keys->names_count++];
		uint64_t label = ask_label(kinds[i / each], i % each);
		uint8_t form[XB_NAME_BYTES];
		char text[64];

		snprintf(text, sizeof(text), "%.8s%s", (const char *)&label, tails[i / each]);
		must(xb_entry_parse(text, strlen(text), form, &named->entry, NULL), text);
		named->entry.name = xb_arena_copy(&keys->arena, form, named->entry.length);
		must(named->entry.name ? 0 : -ENOMEM, text);
		named->slot = kinds[i / each] == 'n' ? XB_DOMAIN_NXDOMAIN : XB_DOMAIN_DROP;
	}
}

static inline struct xb_entry entry6(enum list list, uint32_t number)
{
	uint32_t all = LONGEST - SHORTEST + 1, share = list_forms[list].many ? 1 : SHARE_HEAD;
	const uint8_t *lengths = list_forms[list].lengths;
	uint8_t length = lengths ? lengths[number % list_forms[list].length_count]
				 : (uint8_t)(SHORTEST + number % all);
	struct xb_entry whole = {.kind = XB_NET6, .length = 128};
	uint64_t address[2], head[2];

	address6_number(number, address);
	address6_number(number / share, head);
	whole.hi = (be64toh(head[0]) & ~0xffffffffULL) | (be64toh(address[0]) & 0xffffffff);
	whole.lo = be64toh(address[1]);
	/* A short one by its number among those of its length: no two are the same. */
	if (length < LONG_FROM)
		whole.hi = 3ULL << 60 |
			   (number / all * 0x9e3779b97f4a7c15U & ((1ULL << (length - 4)) - 1))
				   << (64 - length);
	return xb_entry_covering(&whole, length);
}

/* The length that a draw falls on, of those longer than that. */
static inline uint8_t country_length(const struct country *country, uint8_t above, uint64_t draw)
{
	uint64_t all = 0;

	for (size_t i = 0; i < COUNTRY_LENGTHS; i++)
		all += country->of[i].length > above ? country->of[i].share : 0;
	draw %= all;
	for (size_t i = 0; i < COUNTRY_LENGTHS; i++) {
		if (country->of[i].length <= above)
			continue;
		if (draw < country->of[i].share)
			return country->of[i].length;
		draw -= country->of[i].share;
	}
	return 0;
}

/* The /16s that registries give out of: one of the first so many, in an order of their own. */
static inline uint64_t country_block(uint32_t blocks, uint64_t draw)
{
	static const struct {
		uint16_t first, count;
	} ranges[] = {{0x2600, 8}, {0x2001, 1},	 {0x2a00, 6}, {0x2400, 16}, {0x2608, 8},
		      {0x2800, 8}, {0x2a06, 15}, {0x2c0f, 1}, {0x2003, 1},  {0x2610, 1},
		      {0x2620, 1}, {0x2630, 1},	 {0x2002, 1}};
	uint32_t number = (uint32_t)(draw % blocks);

	for (size_t i = 0; i < COUNT_OF(ranges); i++) {
		if (number < ranges[i].count)
			return (uint64_t)(ranges[i].first + number) << 48;
		number -= ranges[i].count;
	}
	return 0x2000ULL << 48;
}

/* A prefix shorter than /29 lies in the upper half of its /16, where no others are; a /16 has its
 * own. */
static inline struct xb_entry country_entry(const struct country *country, uint32_t number,
					    uint32_t count)
{
	uint64_t draw = address_mix(number), rest = address_mix(draw),
		 site = rest % (count / COUNTRY_SHARE + 1);
	uint8_t length = country_length(country, 0, draw);
	struct xb_entry entry = {.kind = XB_NET6, .length = 128, .lo = address_mix(rest)};

	entry.hi = country_block(country->blocks, rest >> 8) | (rest >> 17 & 0x7fffffffffff);
	if (length == 16)
		entry.hi = 0x2640ULL << 48;
	else if (length < 29)
		entry.hi |= 1ULL << 47;
	else if (length > 32) {
		site = address_mix(~site);
		entry.hi = country_block(country->blocks, site >> 8) | (site >> 20 & 0x7fff) << 32 |
			   (draw >> 32);
		if (site % 100 < COUNTRY_ALIKE)
			length = country_length(country, 32, site >> 7);
	}
	return xb_entry_covering(&entry, length);
}

static int by_key(const void *a, const void *b)
{
	return xb_entry_compare(a, b);
}

/* COUNTRY32: as many /32s, in the same /16s. */
static inline struct xb_entry of_country(enum list list, uint32_t number, uint32_t count)
{
	const struct country *country = count < ALL_COUNTRIES ? &one_country : &all_countries;
	struct xb_entry whole = {.kind = XB_NET6,
				 .length = 128,
				 .hi = country_block(country->blocks, address_mix(number) >> 8) |
				       (address_mix(~(uint64_t)number) & 0x7fffffffffff)};

	return list == COUNTRY ? country_entry(country, number, count)
			       : xb_entry_covering(&whole, 32);
}

/* Those of few bits can be there twice. */
static inline void list_six(struct xb_contents *keys, enum list list, size_t count)
{
	size_t kept = 0;

	keys->net6 = room_for(count, sizeof(*keys->net6));
	for (size_t i = 0; i < count; i++)
		keys->net6[i] = list < COUNTRY32 ? entry6(list, (uint32_t)i)
						 : of_country(list, (uint32_t)i, (uint32_t)count);
	qsort(keys->net6, count, sizeof(*keys->net6), by_key);
	for (size_t i = 0; i < count; i++)
		if (!kept || xb_entry_compare(&keys->net6[kept - 1], &keys->net6[i]))
			keys->net6[kept++] = keys->net6[i];
	keys->net6_count = kept;
}

/* As a build has it: a list here stands in net6 as a whole. What a machine allows by itself is
 * allowed. */
static inline struct xb_contents contents_six(const struct xb_contents *keys)
{
	struct xb_contents parted = {
		.net6 = room_for(keys->net6_count, sizeof(*parted.net6)),
		.prefix6 = room_for(keys->net6_count, sizeof(*parted.prefix6)),
		.allow = (struct xb_entry *)allow_few,
		.allow_count = ALLOW_FEW,
	};

	for (size_t i = 0; i < keys->net6_count; i++)
		if (xb_prefix6map_takes(&keys->net6[i]))
			parted.prefix6[parted.prefix6_count++] = keys->net6[i];
		else
			parted.net6[parted.net6_count++] = keys->net6[i];
	return parted;
}

static inline bool is_allowed(const struct xb_contents *keys, uint32_t address)
{
	for (size_t i = 0; i < keys->allow_count; i++) {
		const struct xb_entry *entry = &keys->allow[i];

		if (entry->kind == XB_ALLOW4 &&
		    !((address ^ xb_entry_ipv4(entry)) >> (32 - entry->length)))
			return true;
	}
	return false;
}

/* Listed addresses for which the gate in front of the allowlist opens in vain: next to one of the
 * random prefixes, in none. At most max of them, in random order; returns how many. */
static inline size_t near_allowed(const struct xb_contents *keys, uint32_t *near, size_t max)
{
	uint8_t *open = room_for(1U << XB_GATE_BITS, 1);
	size_t count = 0;

	for (size_t i = ALLOW_FEW; i < keys->allow_count; i++)
		open[xb_entry_ipv4(&keys->allow[i]) >> (32 - XB_GATE_BITS)] = 1;
	for (size_t i = 0; i < keys->host4_count && count < max; i++) {
		uint32_t address = address_number((uint32_t)i);

		if (open[address >> (32 - XB_GATE_BITS)] && !is_allowed(keys, address))
			near[count++] = address;
	}
	free(open);
	return count;
}

#endif
