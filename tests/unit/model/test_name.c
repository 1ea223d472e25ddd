/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names: their form, how far they go, and that both sides hash alike. As text: test_texts. */
#include "base/error.h"
#include "model/name.h"
#include "support/cmocka.h"

struct parsed {
	uint8_t form[XB_NAME_BYTES], used;
};

static struct parsed parse(const char *text)
{
	struct parsed name;

	memset(&name, 0xa5, sizeof(name));
	if (xb_name_parse(text, strlen(text), name.form, &name.used))
		fail_msg("%s: %s", text, xb_error_message());
	return name;
}

static void is_form(const char *text, const char *form, size_t bytes)
{
	struct parsed name = parse(text);

	assert_int_equal(name.used, bytes);
	assert_memory_equal(name.form, form, bytes);
}

#define IS_FORM(text, form) is_form(text, form, sizeof(form) - 1)

TEST(the_last_label_comes_first)
{
	IS_FORM("example.com", "\3com\7example");
	IS_FORM("com", "\3com");
	IS_FORM("a.b.c.d", "\1d\1c\1b\1a");
	IS_FORM("=www.example.com", "\3com\7example\3www\0");
	IS_FORM("_dmarc.0-9.example", "\7example\0030-9\6_dmarc");
}

TEST(many_labels)
{
	char text[300] = "", out[XB_NAME_TEXT];
	struct parsed name;

	for (int i = 0; i < 126; i++)
		strcat(text, "a.");
	strcat(text, "b");
	name = parse(text);
	assert_int_equal(name.used, 254);
	assert_int_equal(xb_name_labels(name.form, name.used), XB_NAME_LABELS);
	assert_string_equal(xb_name_format(name.form, name.used, out), text);
}

TEST(exact_is_told)
{
	struct parsed plain = parse("www.example.com"), exact = parse("=www.example.com");

	assert_false(xb_name_is_exact(plain.form, plain.used));
	assert_true(xb_name_is_exact(exact.form, exact.used));
	assert_false(xb_name_is_exact(plain.form, 0));
	assert_int_equal(xb_name_labels(plain.form, plain.used), 3);
	assert_int_equal(xb_name_labels(exact.form, exact.used), 3);
}

TEST(wider_goes_label_by_label)
{
	static const char *const steps[] = {"www.example.com", "example.com", "com"};
	struct parsed name = parse("=www.example.com");
	char out[XB_NAME_TEXT];

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		name.used = xb_name_wider(name.form, name.used);
		assert_string_equal(xb_name_format(name.form, name.used, out), steps[i]);
	}
	assert_int_equal(xb_name_wider(name.form, name.used), 0);
}

static bool from_wire(const char *wire, size_t size, char out[XB_NAME_TEXT])
{
	struct parsed name;

	if (!xb_name_from_wire((const uint8_t *)wire, size, name.form, &name.used))
		return false;
	assert_int_equal(name.used, size);
	xb_name_format(name.form, name.used, out);
	return true;
}

TEST(the_wire_is_shown)
{
	char out[XB_NAME_TEXT], wire[256];

	assert_true(from_wire("\3wWw\7Example\3com", 16, out));
	assert_string_equal(out, "wWw.Example.com");
	assert_true(from_wire("\3com", 4, out));
	assert_string_equal(out, "com");
	assert_true(from_wire("\6a.b\0\x1b\xff\3com", 11, out));
	assert_string_equal(out, "a?b???.com");
	assert_true(from_wire("", 0, out));
	assert_string_equal(out, "");
	for (int i = 0; i < 127; i++)
		memcpy(wire + 2 * i, "\1x", 2);
	assert_true(from_wire(wire, 254, out));
	assert_int_equal(strlen(out), 253);
}

TEST(what_is_no_wire_is_refused)
{
	char out[XB_NAME_TEXT], wire[512];

	memset(wire, 64, sizeof(wire));
	assert_false(from_wire(wire, 65, out));
	wire[0] = 63;
	assert_true(from_wire(wire, 64, out));
	assert_false(from_wire(wire, 63, out));
	assert_false(from_wire("\3com\0", 5, out));
	assert_false(from_wire("\3com\3ne", 7, out));
	assert_false(from_wire("\xc0\x0c", 2, out));
	for (int i = 0; i < 256; i++)
		memcpy(wire + 2 * i, "\1x", 2);
	assert_false(from_wire(wire, 256, out));
}

/* The same for the same seed. */
static struct xb_name_key draw_key(uint64_t seed)
{
	struct xb_name_key key;
	uint64_t words[sizeof(key) / sizeof(uint64_t)] = {0};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = xb_mix64(seed += 0x9e3779b97f4a7c15ULL);
	memcpy(&key, words, sizeof(key));
	return key;
}

/* As the program does it: from a message, eight bytes at a time, whatever stands behind a label. */
static void take_label(struct xb_name_sums *sums, const struct xb_name_factors **place,
		       const uint8_t *label)
{
	uint32_t words = xb_label_words(*label);

	for (uint32_t i = 0; i < words; i++) {
		uint64_t word;

		memcpy(&word, label + 8 * i, 8);
		word = xb_lower8(word);
		xb_name_take(sums, (*place)++,
			     i + 1 == words ? word & xb_label_mask(*label) : word);
	}
}

static size_t wire_of(const char *text, uint8_t *wire, uint8_t starts[XB_NAME_LABELS])
{
	size_t count = 0, at = 0;

	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '.');
		starts[count++] = (uint8_t)at;
		wire[at] = (uint8_t)(end - text);
		memcpy(wire + at + 1, text, wire[at]);
		at += wire[at] + 1U;
	}
	return count;
}

static void hashes_alike(const char *text)
{
	struct xb_name_key key = draw_key(1);
	const struct xb_name_factors *place = key.place;
	struct xb_name_sums sums = {0};
	uint8_t wire[512], starts[XB_NAME_LABELS];
	size_t count;

	memset(wire, 0x5a, sizeof(wire));
	count = wire_of(text, wire, starts);
	for (size_t left = count; left > 0; left--) {
		struct parsed suffix = parse(text + starts[left - 1]);

		take_label(&sums, &place, wire + starts[left - 1]);
		assert_int_equal(xb_name_hash(&key, suffix.form, suffix.used),
				 xb_hash_name(&sums, place, 0));
	}
	memmove(wire + 1, text, strlen(text) + 1);
	wire[0] = '=';
	{
		struct parsed exact = parse((const char *)wire);

		assert_int_equal(xb_name_hash(&key, exact.form, exact.used),
				 xb_hash_name(&sums, place, 1));
	}
}

TEST(both_sides_hash_alike)
{
	char text[300];

	hashes_alike("com");
	hashes_alike("www.example.com");
	hashes_alike("WwW.eXaMpLe.CoM");
	hashes_alike("_a.1-2.xn--bcher-kva.example");
	for (size_t length = 1; length <= 63; length++) {
		memset(text, 'A' + (int)(length % 26), length);
		strcpy(text + length, ".Z.aZ");
		hashes_alike(text);
	}
	memset(text, 'x', 253);
	text[63] = text[127] = text[191] = '.';
	text[253] = '\0';
	hashes_alike(text);
	for (int i = 0; i < XB_NAME_LABELS; i++)
		memcpy(text + 2 * i, "x.", 2);
	text[2 * XB_NAME_LABELS - 1] = '\0';
	hashes_alike(text);
}
