/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash with 128 bits: what OpenSSL computes (openssl mac -macopt size:16 SIPHASH), in parts of
 * any size. */
#include <endian.h>

#include "base/siphash.h"
#include "support/cmocka.h"
#include "support/random.h"

#define LONGEST 4096

static const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

/* Of the first bytes of 0, 1, 2, ...; each half as the bytes of the output are written. */
static const struct {
	size_t size;
	uint64_t half[2];
} known[] = {
	{0, {0xa3817f04ba25a8e6, 0x6df67214c7550293}},
	{1, {0xda87c1d86b99af44, 0x347659119b22fc45}},
	{7, {0xa1f1ebbed8dbc153, 0xc0b84aa61ff08239}},
	{8, {0x3b62a9ba6258f561, 0x0f83e264f31497b4}},
	{15, {0x5493e99933b0a811, 0x7e08ec0f97cfc3d9}},
	{63, {0x5150d1772f50834a, 0x503e069a973fbd7c}},
};

static void hash_of(const uint8_t *bytes, size_t size, uint64_t half[2])
{
	struct xb_siphash hash;

	xb_siphash_begin(&hash, key);
	xb_siphash_add(&hash, bytes, size);
	xb_siphash_end(&hash, half);
}

TEST(what_others_compute)
{
	uint8_t bytes[64];
	uint64_t half[2];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		hash_of(bytes, known[i].size, half);
		assert_true(htole64(half[0]) == htobe64(known[i].half[0]));
		assert_true(htole64(half[1]) == htobe64(known[i].half[1]));
	}
}

TEST(parts_are_the_whole)
{
	static uint8_t bytes[LONGEST];
	uint64_t whole[2], half[2];

	random_begin();
	for (size_t i = 0; i < LONGEST; i++)
		bytes[i] = (uint8_t)random_word();
	for (int round = 0; round < 2000; round++) {
		size_t size = random_word() % LONGEST, most = 1 + random_word() % 40, done = 0;
		struct xb_siphash hash;

		xb_siphash_begin(&hash, key);
		while (done < size) {
			size_t part = random_word() % (most + 1);

			part = part < size - done ? part : size - done;
			xb_siphash_add(&hash, bytes + done, part);
			done += part;
		}
		xb_siphash_end(&hash, half);
		hash_of(bytes, size, whole);
		assert_memory_equal(half, whole, sizeof(whole));
	}
}
