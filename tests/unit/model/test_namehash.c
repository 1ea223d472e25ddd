/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash of names: what it is, and that any two hit each other no more often than chance would
 * have it, however they were chosen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/name.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/random.h"

struct form {
	const char *bytes;
	uint8_t used;
};

#define FORM(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

#define PLACES (XB_NAME_WORDS + 1) /* that a name reaches, with its end */

static int begin(void **state)
{
	random_begin();
	return 0;
}

/* Only the first places are drawn: one by one they take long. */
static void draw_key(struct xb_name_key *key, size_t places)
{
	for (size_t i = 0; i < places; i++)
		key->place[i] = (struct xb_name_factors){{random_wide(), random_wide()},
							 {random_wide(), random_wide()}};
}

static uint64_t hash_of(const struct xb_name_key *key, const struct form *form)
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
static uint32_t half_of(const struct xb_name_key *key, int number, const struct form *form)
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

static void is_formula(const struct form *form)
{
	struct xb_name_key key = {0};

	draw_key(&key, PLACES);
	assert_int_equal(hash_of(&key, form),
			 ((uint64_t)half_of(&key, 0, form) << 32 | half_of(&key, 1, form)) &
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

TEST(is_the_formula)
{
	char bytes[XB_NAME_BYTES];

	for (int i = 0; i < 2000; i++) {
		struct form form = draw_form(bytes);

		is_formula(&form);
	}
}

/* A name of 127 labels of one byte, and the name alone. */
static struct form longest(char bytes[XB_NAME_BYTES])
{
	for (int i = 0; i < XB_NAME_LABELS; i++)
		memcpy(bytes + 2 * i, "\1x", 2);
	bytes[2 * XB_NAME_LABELS] = 0;
	return (struct form){bytes, 2 * XB_NAME_LABELS + 1};
}

TEST(so_is_the_longest)
{
	char bytes[XB_NAME_BYTES];
	struct form form = longest(bytes);

	is_formula(&form);
	form.used--;
	is_formula(&form);
}

/* As one packet asks for them. */
TEST(suffixes_of_one_name_differ)
{
	char bytes[XB_NAME_BYTES];
	struct form form = longest(bytes);

	for (int i = 0; i < 100; i++) {
		struct xb_name_key key = {0};
		uint64_t seen[XB_NAME_LABELS + 1];

		draw_key(&key, PLACES);
		for (uint32_t depth = 1; depth <= XB_NAME_LABELS + 1; depth++) {
			form.used = (uint8_t)(depth <= XB_NAME_LABELS ? 2 * depth : 2 * depth - 1);
			seen[depth - 1] = hash_of(&key, &form);
			for (uint32_t other = 0; other < depth - 1; other++)
				assert_int_not_equal(seen[depth - 1], seen[other]);
		}
	}
}

#define KEYS	    (1U << 20)
#define WINDOWS	    4 /* of 16 bits, which two names share by chance 16 times */
#define PAIR_PLACES 5

/* Pairs for which a hash by sums is at its worst: they differ in the top bit of a half of a word
 * alone, or of two, in the order of labels, in where they are divided, or by nothing but an end. */
static const struct form pairs[][2] = {
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

TEST(no_pair_is_worse_than_chance)
{
	struct xb_name_key key = {0};

	if (is_slowed())
		return;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		uint32_t same[WINDOWS] = {0};

		for (uint32_t k = 0; k < KEYS; k++) {
			uint64_t differ;

			draw_key(&key, PAIR_PLACES);
			differ = hash_of(&key, &pairs[i][0]) ^ hash_of(&key, &pairs[i][1]);
			/* Of 61 bits, the last window has three of the one before. */
			for (int window = 0; window < WINDOWS; window++) {
				int from = window + 1 < WINDOWS ? 16 * window : 45;

				same[window] += !(differ >> from & 0xffff);
			}
		}
		printf("pair %zu: %u, %u, %u, %u\n", i, same[0], same[1], same[2], same[3]);
		for (int window = 0; window < WINDOWS; window++)
			assert_in_range(same[window], 1, 50);
	}
}

ALL_TESTS(begin, NULL);
