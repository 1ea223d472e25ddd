/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HMAC-SHA-256 by the vectors of RFC 4231, in one part and in several, and keys of files. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/mac.h"
#include "support/cmocka.h"

struct vector {
	uint8_t key[131];
	size_t key_size;
	const char *text; /* NULL: fifty times `byte` */
	uint8_t byte;
	uint8_t mac[MAC_BYTES]; /* the first bytes of what the RFC says */
};

#define TWENTY(byte)                                                                               \
	byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte,  \
		byte, byte, byte, byte, byte

/* Sections 4.2 to 4.8. */
static const struct vector vectors[] = {
	{{TWENTY(0x0b)},
	 20,
	 "Hi There",
	 0,
	 {0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b, 0xf1,
	  0x2b}},
	{"Jefe",
	 4,
	 "what do ya want for nothing?",
	 0,
	 {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75,
	  0xc7}},
	{{TWENTY(0xaa)},
	 20,
	 NULL,
	 0xdd,
	 {0x77, 0x3e, 0xa9, 0x1e, 0x36, 0x80, 0x0e, 0x46, 0x85, 0x4d, 0xb8, 0xeb, 0xd0, 0x91, 0x81,
	  0xa7}},
	{{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
	  14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25},
	 25,
	 NULL,
	 0xcd,
	 {0x82, 0x55, 0x8a, 0x38, 0x9a, 0x44, 0x3c, 0x0e, 0xa4, 0xcc, 0x81, 0x98, 0x99, 0xf2, 0x08,
	  0x3a}},
	{{TWENTY(0x0c)},
	 20,
	 "Test With Truncation",
	 0,
	 {0xa3, 0xb6, 0x16, 0x74, 0x73, 0x10, 0x0e, 0xe0, 0x6e, 0x0c, 0x79, 0x6c, 0x29, 0x55, 0x55,
	  0x2b}},
	{{TWENTY(0xaa)},
	 131,
	 "Test Using Larger Than Block-Size Key - Hash Key First",
	 0,
	 {0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f, 0x0d, 0x8a, 0x26, 0xaa, 0xcb, 0xf5, 0xb7,
	  0x7f}},
	{{TWENTY(0xaa)},
	 131,
	 "This is a test using a larger than block-size key and a larger than block-size data. The "
	 "key needs to be hashed before being used by the HMAC algorithm.",
	 0,
	 {0x9b, 0x09, 0xff, 0xa7, 0x1b, 0x94, 0x2f, 0xcb, 0x27, 0x63, 0x5f, 0xbc, 0xd5, 0xb0, 0xe9,
	  0x44}},
};

/* As RFC 2104 has it, short keys get zeros behind them, and long ones are hashed first. */
static void key_of(const struct vector *vector, struct mac_key *key)
{
	uint8_t whole[131];

	memset(whole, vector->key[0], sizeof(whole));
	*key = (struct mac_key){0};
	if (vector->key_size > MAC_KEY)
		assert_int_equal(mac_key_of(whole, vector->key_size, key), 0);
	else
		memcpy(key->bytes, vector->key, vector->key_size);
}

TEST(rfc_4231_in_one_part_and_in_two)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		const struct vector *vector = &vectors[i];
		size_t size = vector->text ? strlen(vector->text) : 50;
		uint8_t text[256], mac[MAC_BYTES];
		struct mac_key key;

		key_of(vector, &key);
		memset(text, vector->byte, sizeof(text));
		if (vector->text)
			memcpy(text, vector->text, size);
		for (size_t cut = 0; cut <= size; cut++) {
			struct mac_part parts[] = {{text, cut}, {text + cut, size - cut}};

			assert_int_equal(mac_of(&key, parts, 2, mac), 0);
			assert_true(mac_equal(mac, vector->mac));
		}
	}
}

TEST(macs_differ_by_any_bit)
{
	uint8_t one[MAC_BYTES] = {0}, other[MAC_BYTES] = {0};

	for (int bit = 0; bit < MAC_BYTES * 8; bit++) {
		other[bit / 8] = (uint8_t)(1U << bit % 8);
		assert_false(mac_equal(one, other));
		other[bit / 8] = 0;
	}
	assert_true(mac_equal(one, other));
}

TEST(a_key_ends_before_its_line_ends)
{
	/* FIPS 180-2, appendix B.1. */
	static const uint8_t abc[] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea};
	struct mac_key plain, ended;

	assert_int_equal(mac_key_of("abc", 3, &plain), 0);
	assert_memory_equal(plain.bytes, abc, sizeof(abc));
	assert_int_equal(mac_key_of("abc\r\n\n", 6, &ended), 0);
	assert_memory_equal(plain.bytes, ended.bytes, MAC_KEY);
	assert_int_equal(mac_key_of("abc ", 4, &ended), 0);
	assert_memory_not_equal(plain.bytes, ended.bytes, MAC_KEY);
	assert_int_equal(mac_key_of("\n\n", 2, &ended), -EINVAL);
	assert_string_equal(xb_error_message(), "the key file is empty");
}
