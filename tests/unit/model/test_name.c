/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names: text to form and back, what is refused, how far they go, and that both sides hash alike.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
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

static void is_text(const char *text, const char *canonical)
{
	char out[XB_NAME_TEXT];
	struct parsed name = parse(text);

	assert_string_equal(xb_name_format(name.form, name.used, out), canonical);
}

TEST(text_is_canonical)
{
	is_text("example.com", "example.com");
	is_text("EXAMPLE.Com", "example.com");
	is_text("example.com.", "example.com");
	is_text("=Example.com.", "=example.com");
	is_text("com", "com");
	is_text("4.example", "4.example");
}

TEST(unicode_becomes_ascii)
{
	is_text("bücher.example", "xn--bcher-kva.example");
	is_text("BÜCHER.Example", "xn--bcher-kva.example");
	is_text("=bu\xcc\x88"
		"cher.example.",
		"=xn--bcher-kva.example");
	is_text("straße.de", "xn--strae-oqa.de");
	is_text("例え.テスト", "xn--r8jz45g.xn--zckzah");
	is_text("www。example。com", "www.example.com");
	is_text("xn--bcher-kva.example", "xn--bcher-kva.example");
}

static void refused(const char *text, size_t size, const char *why)
{
	struct parsed name;
	char shown[1024];

	if (!xb_name_parse(text, size, name.form, &name.used))
		fail_msg("'%s' is taken", text);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	if (!strstr(xb_error_message(), why))
		fail_msg("'%s': \"%s\" lacks \"%s\"", text, xb_error_message(), why);
	xb_utf8_show(xb_error_message(), SIZE_MAX, shown, sizeof(shown));
	if (strcmp(shown, xb_error_message()) != 0)
		fail_msg("'%s': the message is not safe for a terminal", text);
}

TEST(bad_names_are_refused)
{
	static const char *const rows[][2] = {
		{"", "it is empty"},
		{"=", "it is empty"},
		{".", "it is empty"},
		{"=.", "it is empty"},
		{"..", "an empty label"},
		{".com", "an empty label"},
		{"example..com", "an empty label"},
		{"example.com..", "an empty label"},
		{"exa mple.com", "other characters"},
		{"*.example.com", "other characters"},
		{"==example.com", "other characters"},
		{"example.com/24", "other characters"},
		{"example.com\n", "other characters"},
		{"1.2.3.4", "its last label is a number"},
		{"example.123", "its last label is a number"},
		{"--", "its last label has no letter"},
		{"example.1-2_3", "its last label has no letter"},
		{"\xff.example", "is not a valid domain"},
		{"\xc3.example", "is not a valid domain"},
		{"ü..example", "is not a valid domain"},
		{"\xe2\x98\x83\xe2\x80\xae.example", "is not a valid domain"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(rows[i][0], strlen(rows[i][0]), rows[i][1]);
	refused("exam\0ple.com", 12, "a zero byte");
}

/* labels of 63 bytes, then one that makes it so many characters. */
static size_t long_name(char *text, size_t size)
{
	memset(text, 'x', size);
	for (size_t at = 63; at + 1 < size; at += 64)
		text[at] = '.';
	text[size] = '\0';
	return size;
}

TEST(labels_have_63_bytes)
{
	char text[128] = "", label[65];

	memset(label, 'x', 64);
	label[64] = '\0';
	snprintf(text, sizeof(text), "%s.com", label + 1);
	is_text(text, text);
	snprintf(text, sizeof(text), "%s.com", label);
	refused(text, strlen(text), "a label is longer than 63");
	snprintf(text, sizeof(text), "com.%s", label);
	refused(text, strlen(text), "a label is longer than 63");
	snprintf(text, sizeof(text), "%sü.com", label);
	refused(text, strlen(text), "is not a valid domain");
}

TEST(names_have_253_characters)
{
	char text[300];

	long_name(text, 253);
	is_text(text, text);
	assert_int_equal(parse(text).used, 254);
	strcpy(text + 253, ".");
	assert_int_equal(parse(text).used, 254);
	memmove(text + 1, text, 253);
	text[0] = '=';
	text[254] = '\0';
	is_text(text, text);
	assert_int_equal(parse(text).used, 255);
	refused(text, long_name(text, 254), "longer than 253");
	refused(text, long_name(text, 299), "longer than 253");
}

TEST(many_labels)
{
	char text[300] = "";
	struct parsed name;

	for (int i = 0; i < 126; i++)
		strcat(text, "a.");
	strcat(text, "b");
	name = parse(text);
	assert_int_equal(name.used, 254);
	assert_int_equal(xb_name_labels(name.form, name.used), XB_NAME_LABELS);
	is_text(text, text);
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
	long_name(text, 253);
	hashes_alike(text);
	for (int i = 0; i < XB_NAME_LABELS; i++)
		memcpy(text + 2 * i, "x.", 2);
	text[2 * XB_NAME_LABELS - 1] = '\0';
	hashes_alike(text);
}

static uint64_t hash(const char *text)
{
	struct xb_name_key key = draw_key(2);
	struct parsed name = parse(text);

	return xb_name_hash(&key, name.form, name.used);
}

TEST(others_hash_otherwise)
{
	static const char *const names[] = {
		"ab.c",	      "a.bc",	     "a.b.c",	    "abc",	    "c.ab",
		"=abc",	      "=ab.c",	     "aaaaaaa.c",   "aaaaaaaa.c",   "aaaaaaaaa.c",
		"xaaaaaaa.c", "aaaaaaaax.c", "example.com", "=example.com", "example.net",
	};
	const size_t count = sizeof(names) / sizeof(names[0]);

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (hash(names[i]) == hash(names[j]))
				fail_msg("%s and %s hash alike", names[i], names[j]);
	assert_int_equal(hash("example.com") >> 61, 0);
}
