/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hashes of names and of IPv6 prefixes: what they are, and that any two names, or prefixes, hit
 * each other no more often than chance would have it, however they were chosen. */
#include "model/name.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/random.h"

static int begin(void **state)
{
	random_begin();
	return 0;
}

struct form {
	const char *bytes;
	uint8_t used;
};

#define FORM(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

#define PLACES (XB_NAME_WORDS + 1) /* that a name reaches, with its end */

/* Only the first places are drawn: one by one they take long. */
static void draw_name_key(struct xb_name_key *key, size_t places)
{
	for (size_t i = 0; i < places; i++)
		key->place[i] = (struct xb_name_factors){{random_wide(), random_wide()},
							 {random_wide(), random_wide()}};
}

static uint64_t hash_of_name(const struct xb_name_key *key, const struct form *form)
{
	return xb_name_hash(key, (const uint8_t *)form->bytes, form->used);
}

/* The labels as words, little endian; returns how many. *exact: the name stands for itself alone.
 */
static size_t words_of(const struct form *form, uint64_t words[XB_NAME_WORDS], int *exact)
{
	const uint8_t *bytes = (const uint8_t *)form->bytes;
	size_t count = 0, at = 0;

	for (; at < form->used && bytes[at]; at += bytes[at] + 1U)
		for (size_t i = 0; i <= bytes[at]; i++) {
			if (i % 8 == 0)
				words[count++] = 0;
			words[count - 1] |= (uint64_t)bytes[at + i] << 8 * (i % 8);
		}
	*exact = at < form->used;
	return count;
}

/* By the formula as published, with wide numbers; the second numbers carry the first ones on top.
 */
static uint32_t half_of_name(const struct xb_name_key *key, int number, const struct form *form)
{
	const unsigned __int128 all = (unsigned __int128)1 << 64;
	unsigned __int128 sum = 0;
	uint64_t words[XB_NAME_WORDS];
	int exact;
	size_t count = words_of(form, words, &exact);

	for (size_t i = 0; i <= count; i++) {
		const struct xb_name_factors *place = &key->place[i];
		const __u64 *factor = number ? place->second : place->first;

		sum += i == count ? factor[exact]
				  : (factor[0] + (unsigned __int128)(words[i] >> 32)) % all *
					    ((factor[1] + (unsigned __int128)words[i]) % all);
	}
	return (uint32_t)((uint64_t)sum >> 32);
}

static void is_formula_of_name(const struct form *form)
{
	struct xb_name_key key = {0};

	draw_name_key(&key, PLACES);
	assert_int_equal(hash_of_name(&key, form), ((uint64_t)half_of_name(&key, 0, form) << 32 |
						    half_of_name(&key, 1, form)) &
							   XB_NAME_HASH);
}

/* Labels of any bytes but zero and of any lengths, as many as there is room for. */
static struct form draw_form(char bytes[XB_NAME_BYTES])
{
	size_t used = 0, room = random_wide() % 254, most = 1 + random_wide() % 63;

	while (used < room) {
		size_t length = 1 + random_wide() % most;

		if (used + length + 1 > 254)
			break;
		bytes[used++] = (char)length;
		for (size_t i = 0; i < length; i++)
			bytes[used++] = (char)(1 + random_wide() % 255);
	}
	if (used && random_wide() & 1)
		bytes[used++] = 0;
	return (struct form){bytes, (uint8_t)used};
}

TEST(names_by_the_formula)
{
	struct form form = {NULL, 2 * XB_NAME_LABELS + 1};
	char bytes[XB_NAME_BYTES];

	for (int i = 0; i < XB_NAME_LABELS; i++)
		memcpy(bytes + 2 * i, "\1x", 2);
	bytes[2 * XB_NAME_LABELS] = 0;
	form.bytes = bytes;
	is_formula_of_name(&form); /* the longest, alone */
	form.used--;
	is_formula_of_name(&form);
	for (int i = 0; i < 2000; i++) {
		form = draw_form(bytes);
		is_formula_of_name(&form);
	}
}

struct prefix {
	uint64_t hi, lo;
	uint32_t tag;
};

static struct xb_key6 draw_key6(void)
{
	struct xb_key6 key;
	uint64_t words[sizeof(key) / sizeof(uint64_t)] = {0};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = random_wide();
	memcpy(&key, words, sizeof(key));
	return key;
}

static uint64_t hash_of_prefix(const struct xb_key6 *key, const struct prefix *prefix)
{
	return xb_hash_ipv6(key, prefix->hi, prefix->lo, prefix->tag);
}

/* By the formula as published, with wide numbers; the second words carry the first ones on top. */
static uint32_t half_of_prefix(const struct xb_sum6 *sum, const struct prefix *prefix)
{
	const unsigned __int128 words[4] = {prefix->hi >> 32, prefix->hi, prefix->lo >> 32,
					    prefix->lo};
	unsigned __int128 all = sum->first;

	for (int i = 0; i < 4; i += 2)
		all += (sum->factor[i] + words[i]) % ((unsigned __int128)1 << 64) *
		       ((sum->factor[i + 1] + words[i + 1]) % ((unsigned __int128)1 << 64));
	all += (unsigned __int128)sum->tag_factor * prefix->tag;
	return (uint32_t)((uint64_t)all >> 32);
}

TEST(prefixes_by_the_formula)
{
	for (int i = 0; i < 1000; i++) {
		struct xb_key6 key = draw_key6();
		struct prefix prefix = {random_wide(), random_wide(),
					(uint32_t)random_wide() % 4096};

		assert_int_equal(hash_of_prefix(&key, &prefix),
				 (uint64_t)half_of_prefix(&key.sum[0], &prefix) << 32 |
					 half_of_prefix(&key.sum[1], &prefix));
	}
}

#define PAIR_PLACES 5

/* Pairs for which a hash by sums is at its worst: they differ in the top bit of a half of a word
 * alone, or of two, in the order of labels, in where they are divided, or by nothing but an end. */
static const struct form names[][2] = {
	{FORM("\3com"), FORM("\3com\0")},
	{FORM("\3com\7example"), FORM("\3com\7example\0")},
	{FORM("\3com"), FORM("\3com\1a")},
	{FORM("\3com"), FORM("\3com\1a\0")},
	{FORM("\3com\0"), FORM("\3com\1a")},
	{FORM("\3com\0"), FORM("\3com\1a\0")},
	{FORM("\3com\1a"), FORM("\3com\1b")},
	{FORM("\3com\7aaaaaaa"), FORM("\3com\7aaaaaa\xe1")},
	{FORM("\3com\7aaaaaaa"), FORM("\3com\7aa\xe1"
				      "aaaa")},
	{FORM("\3com\7aaaaaaa"), FORM("\3com\7aa\xe1"
				      "aaa\xe1")},
	{FORM("\7aaaaaaa\7aaaaaaa"), FORM("\7aaaaaa\xe1\7aaaaaa\xe1")},
	{FORM("\3com\3net"), FORM("\3net\3com")},
	{FORM("\1a\1b\1c"), FORM("\1c\1b\1a")},
	{FORM("\7aaaaaaa\7bbbbbbb"), FORM("\7bbbbbbb\7aaaaaaa")},
	{FORM("\2ab\1c"), FORM("\1a\2bc")},
	{FORM("\3com\10aaaaaaaa"), FORM("\3com\6aaaaaa\1a")},
	{FORM("\3com\14aaaaaaaaaaaa"), FORM("\3com\14aaaaaaaaaaab")},
};

/* Pairs for which a hash by sums is at its worst: they differ in the top bit of a word alone, or of
 * two, in the length alone, or by nothing but a class. */
static const struct prefix prefixes[][2] = {
	{{0x20010db800000000, 0, 32}, {0xa0010db800000000, 0, 32}},
	{{0x20010db800000000, 0, 33}, {0x20010db880000000, 0, 33}},
	{{0x20010db800000000, 0, 65}, {0x20010db800000000, 0x8000000000000000, 65}},
	{{0x20010db800000000, 0, 128}, {0x20010db800000000, 0x80000000, 128}},
	{{0x20010db800000000, 0, 128}, {0x20010db800000000, 1, 128}},
	{{0x20010db800000000, 0, 128}, {0x20010db880000000, 0x80000000, 128}},
	{{0x20010db800000000, 0, 128}, {0xa0010db880000000, 0x8000000080000000, 128}},
	{{0, 1, 128}, {1, 0, 128}},
	{{1ULL << 32, 0, 64}, {1, 0, 64}},
	{{0x20010db800000000, 0, 32}, {0x20010db800000000, 0, 33}},
	{{0x20010db800000000, 0, 64}, {0x20010db800000000, 0, 128}},
	{{0x20010db800000000, 0, 64}, {0x20010db800000000, 0, 1 << 8 | 64}},
	{{0, 0, 0}, {0, 0, 128}},
	{{0, 0, 0}, {~0ULL, ~0ULL, 128}},
};

static uint64_t names_differ(size_t pair)
{
	struct xb_name_key key = {0};

	draw_name_key(&key, PAIR_PLACES);
	return hash_of_name(&key, &names[pair][0]) ^ hash_of_name(&key, &names[pair][1]);
}

static uint64_t prefixes_differ(size_t pair)
{
	struct xb_key6 key = draw_key6();

	return hash_of_prefix(&key, &prefixes[pair][0]) ^ hash_of_prefix(&key, &prefixes[pair][1]);
}

/* Of the bits of a hash, in windows of 16, or with less time of 12, so many keys that two share
 * each by chance 16 times. The last window overlaps the one before. */
static void is_no_worse_than_chance(const char *what, size_t pair, uint64_t (*differ)(size_t pair),
				    uint32_t bits)
{
	const uint32_t window = amount(12, 16), windows = (bits + window - 1) / window;
	uint32_t same[6] = {0};

	for (uint32_t key = 0; key < 16U << window; key++) {
		uint64_t different = differ(pair);

		for (uint32_t i = 0; i < windows; i++) {
			uint32_t from = i + 1 < windows ? window * i : bits - window;

			same[i] += !(different >> from & ((1U << window) - 1));
		}
	}
	for (uint32_t i = 0; i < windows; i++)
		if (same[i] < 1 || same[i] > 50)
			fail_msg("%s %zu share window %u %u times", what, pair, i, same[i]);
}

TEST(no_pair_is_worse_than_chance)
{
	if (is_slowed())
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_no_worse_than_chance("names", i, names_differ,
					(uint32_t)__builtin_popcountll(XB_NAME_HASH));
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		is_no_worse_than_chance("prefixes", i, prefixes_differ, 64);
}

ALL_TESTS(begin, NULL);
