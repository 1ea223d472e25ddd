/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HMAC-SHA-256 by the vectors of RFC 4231, in one part and in several, and keys of files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/mac.h"
#include "support/cmocka.h"

/* Sections 4.2 to 4.8. A key of one byte, or a text, that often; the first bytes of the MAC. */
static const struct vector {
	const char *key;
	size_t key_size;
	const char *text;
	size_t text_size;
	const char *mac;
} vectors[] = {
	{"\x0b", 20, "Hi There", 8, "b0344c61d8db38535ca8afceaf0bf12b"},
	{"Jefe", 4, "what do ya want for nothing?", 28, "5bdcc146bf60754e6a042426089575c7"},
	{"\xaa", 20, "\xdd", 50, "773ea91e36800e46854db8ebd09181a7"},
	{"\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19", 25,
	 "\xcd", 50, "82558a389a443c0ea4cc819899f2083a"},
	{"\x0c", 20, "Test With Truncation", 20, "a3b6167473100ee06e0c796c2955552b"},
	{"\xaa", 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
	 "60e431591ee0b67f0d8a26aacbf5b77f"},
	{"\xaa", 131,
	 "This is a test using a larger than block-size key and a larger than block-size data. The "
	 "key needs to be hashed before being used by the HMAC algorithm.",
	 152, "9b09ffa71b942fcb27635fbcd5b0e944"},
};

/* The text, or its one byte that often. */
static void fill(uint8_t *bytes, const char *text, size_t size)
{
	memset(bytes, (uint8_t)text[0], size);
	if (text[1])
		memcpy(bytes, text, size);
}

/* As RFC 2104 has it, short keys get zeros behind them, and long ones are hashed first. */
TEST(rfc_4231_in_one_part_and_in_two)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		const struct vector *vector = &vectors[i];
		size_t size = vector->text_size;
		uint8_t text[256], whole[131], mac[MAC_BYTES];
		struct mac_key key = {{0}};
		char found[2 * MAC_BYTES + 1];

		fill(whole, vector->key, vector->key_size);
		if (vector->key_size > MAC_KEY)
			assert_int_equal(mac_key_of(whole, vector->key_size, &key), 0);
		else
			memcpy(key.bytes, whole, vector->key_size);
		fill(text, vector->text, size);
		for (size_t cut = 0; cut <= size; cut++) {
			struct mac_part parts[] = {{text, cut}, {text + cut, size - cut}};

			assert_int_equal(mac_of(&key, parts, 2, mac), 0);
			for (size_t at = 0; at < MAC_BYTES; at++)
				sprintf(found + 2 * at, "%02x", mac[at]);
			assert_string_equal(found, vector->mac);
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
