/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries: their kinds, wider ones; their keys, whole, cut and damaged; their order, and how they
 * are sorted. As text: test_texts. */
#include "base/error.h"
#include "model/entry.h"
#include "model/nearmiss.h"
#include "support/cmocka.h"
#include "support/random.h"

/* Room for the forms of some names at once. */
static struct xb_entry parse(const char *text)
{
	static uint8_t forms[8][XB_NAME_BYTES];
	static unsigned int next;
	struct xb_entry entry;

	memset(&entry, 0xa5, sizeof(entry));
	if (xb_entry_parse(text, strlen(text), forms[next++ % 8], &entry, NULL))
		fail_msg("%s: %s", text, xb_error_message());
	return entry;
}

TEST(the_mapped_form_is_known)
{
	struct xb_entry entry = {.lo = UINT64_C(0xffffc0000201), .kind = XB_NET6, .length = 128};
	struct xb_entry allow = {.lo = UINT64_C(0xffffc0000200), .kind = XB_ALLOW6, .length = 121};
	struct xb_entry wide = {.lo = UINT64_C(0xfffe00000000), .kind = XB_NET6, .length = 95};
	struct xb_entry name = parse("example.com"), ipv4 = parse("192.0.2.1");

	assert_true(xb_entry_is_mapped(&entry));
	assert_true(xb_entry_is_mapped(&allow));
	assert_false(xb_entry_is_mapped(&wide));
	assert_false(xb_entry_is_mapped(&name));
	assert_false(xb_entry_is_mapped(&ipv4));
}

static struct xb_entry allowed(const char *text)
{
	struct xb_entry entry = parse(text);

	return xb_entry_allow(&entry);
}

TEST(kinds)
{
	struct xb_entry entry = allowed("192.0.2.0/24");

	assert_int_equal(entry.kind, XB_ALLOW4);
	assert_true(xb_entry_is_allow(&entry) && xb_entry_is_ipv4(&entry));
	assert_int_equal(xb_entry_full_length(&entry), 32);
	assert_int_equal(xb_entry_ipv4(&entry), 0xc0000200);
	assert_int_equal(xb_entry_keys(&entry), 0);
	entry = allowed("2001:db8::/32");
	assert_int_equal(entry.kind, XB_ALLOW6);
	assert_true(xb_entry_is_ipv6(&entry));
	assert_int_equal(xb_entry_full_length(&entry), 128);
	assert_int_equal(xb_entry_keys(&entry), 0);
	entry = allowed("example.com");
	assert_int_equal(entry.kind, XB_ALLOW_NAME);
	assert_true(xb_entry_is_name(&entry));
	assert_false(xb_entry_is_ipv4(&entry));
	assert_int_equal(xb_entry_keys(&entry), 0);
	entry = xb_entry_allow(&entry);
	assert_int_equal(entry.kind, XB_ALLOW_NAME);
	entry = parse("192.0.2.0/25");
	assert_int_equal(xb_entry_keys(&entry), 128);
	entry = parse("192.0.2.0/32");
	assert_int_equal(xb_entry_keys(&entry), 1);
	entry = parse("192.0.2.0/24");
	assert_int_equal(xb_entry_keys(&entry), 0);
	entry = parse("::/0");
	assert_int_equal(xb_entry_keys(&entry), 1);
	entry = parse("com");
	assert_int_equal(xb_entry_keys(&entry), 1);
}

TEST(exceptions)
{
	static const struct {
		const char *text;
		bool is;
	} words[] = {{"!example.com", true},   {"!=example.com", true},	  {"example.com", true},
		     {"!192.0.2.1", false},    {"!2001:db8::/32", false}, {"!", false},
		     {"!!example.com", false}, {"=!example.com", false},  {"! example.com", false}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *text = words[i].text;
		uint8_t form[XB_NAME_BYTES];
		char again[XB_ENTRY_TEXT];
		struct xb_entry entry;
		int error = xb_entry_parse_listed(text, strlen(text), form, &entry, NULL);

		xb_error_clear();
		if (!error != words[i].is)
			fail_msg("%s", text);
		if (error)
			continue;
		assert_string_equal(xb_entry_format(&entry, again), text);
		assert_int_equal(entry.kind, *text == '!' ? XB_EXCEPT_NAME : XB_NAME);
		assert_true(xb_entry_is_name(&entry) && xb_entry_is_rule(&entry));
		assert_false(xb_entry_is_allow(&entry) || xb_entry_is_source(&entry));
		if (*text == '!')
			assert_int_not_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL),
					     0);
		xb_error_clear();
	}
}

TEST(wider_ones)
{
	struct xb_entry entry = parse("255.255.255.255"), covering;
	char out[XB_ENTRY_TEXT];
	int steps = 0;

	covering = xb_entry_covering(&entry, 32);
	assert_int_equal(xb_entry_compare(&entry, &covering), 0);
	covering = xb_entry_covering(&entry, 25);
	assert_int_equal(covering.kind, XB_HOST4);
	covering = xb_entry_covering(&entry, 24);
	assert_int_equal(covering.kind, XB_PREFIX4);
	assert_string_equal(xb_entry_format(&covering, out), "255.255.255.0/24");
	for (; xb_entry_widen(&entry); steps++)
		assert_int_equal(entry.kind, entry.length > 24 ? XB_HOST4 : XB_PREFIX4);
	assert_int_equal(steps, 32);
	assert_string_equal(xb_entry_format(&entry, out), "0.0.0.0/0");
	entry = allowed("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	covering = xb_entry_covering(&entry, 64);
	assert_string_equal(xb_entry_format(&covering, out), "ffff:ffff:ffff:ffff::/64");
	for (steps = 0; xb_entry_widen(&entry); steps++)
		assert_int_equal(entry.kind, XB_ALLOW6);
	assert_int_equal(steps, 128);
	assert_true(entry.hi == 0 && entry.lo == 0);
	entry = parse("=a.example");
	for (steps = 0; xb_entry_widen(&entry); steps++)
		;
	assert_int_equal(steps, 2);
}

/* The text need not end with a zero byte. */
TEST(no_byte_behind_it_is_read)
{
	static const char text[] = {'h', 't', 't', 'p', ':', '/', '/', 'a'};

	xb_input_error("before");
	xb_near_miss_explain(text, sizeof(text) - 1, true);
	assert_string_equal(xb_error_message(), "before");
	xb_near_miss_explain(text, sizeof(text), true);
	assert_string_equal(xb_error_message(), "'http://a' is a URL; to list its host: a");
	xb_input_error("before");
	xb_near_miss_explain(text, 0, true);
	assert_string_equal(xb_error_message(), "before");
}

static const char *const in_order[] = {
	"0.0.0.0/0",   "0.0.0.0/24", "1.0.0.0/24",	"255.0.0.0/8", "0.0.0.0/25", "0.0.0.0",
	"0.0.0.1",     "128.0.0.0",  "255.255.255.255", "::/0",	       "::",	     "::1",
	"::1:0:0:0:0", "8000::/1",   "ffff::",		"com",	       "=com",	     "a.com",
	"=a.com",      "b.a.com",    "b.com",		"ab.com",      "z.org",	     "example",
};

#define COUNT (sizeof(in_order) / sizeof(in_order[0]))

static size_t encoded(const struct xb_entry *entry, uint8_t key[XB_ENTRY_KEY_BYTES])
{
	size_t size;

	memset(key, 0xa5, XB_ENTRY_KEY_BYTES);
	size = xb_entry_encode(entry, key);
	assert_in_range(size, 2, XB_ENTRY_KEY_BYTES);
	if (!xb_entry_is_name(entry))
		assert_in_range(size, 2, XB_ADDRESS_KEY_BYTES);
	return size;
}

static int sign(int number)
{
	return (number > 0) - (number < 0);
}

TEST(keys_compare_as_entries_do)
{
	for (size_t i = 0; i < COUNT; i++) {
		for (size_t j = 0; j < COUNT; j++) {
			uint8_t one_key[XB_ENTRY_KEY_BYTES], other_key[XB_ENTRY_KEY_BYTES];
			struct xb_entry one = parse(in_order[i]), other = parse(in_order[j]);
			size_t first = encoded(&one, one_key), second = encoded(&other, other_key);
			int order = memcmp(one_key, other_key, first < second ? first : second);

			if (!order)
				order = (first > second) - (first < second);
			if (sign(xb_entry_compare(&one, &other)) != (i > j) - (i < j))
				fail_msg("%s and %s", in_order[i], in_order[j]);
			if (sign(order) != (i > j) - (i < j))
				fail_msg("keys of %s and %s", in_order[i], in_order[j]);
		}
	}
}

TEST(keys_both_ways)
{
	for (size_t i = 0; i < COUNT; i++) {
		uint8_t key[XB_ENTRY_KEY_BYTES];
		struct xb_entry entry = parse(in_order[i]), back;

		for (int allow = 0; allow < 2; allow++) {
			size_t size = encoded(&entry, key);

			assert_int_equal(xb_entry_decode(key, size, &back), size);
			assert_int_equal(xb_entry_compare(&entry, &back), 0);
			assert_int_equal(back.line, 0);
			entry = xb_entry_allow(&entry);
		}
	}
}

/* In memory of its own: the sanitizer sees any byte that is read behind the end. */
static size_t decode(const uint8_t *key, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct xb_entry entry;
	size_t taken;

	assert_non_null(copy);
	memcpy(copy, key, size);
	taken = xb_entry_decode(copy, size, &entry);
	free(copy);
	return taken;
}

TEST(keys_that_are_cut)
{
	for (size_t i = 0; i < COUNT; i++) {
		struct xb_entry entry = parse(in_order[i]);
		uint8_t key[XB_ENTRY_KEY_BYTES];
		size_t size = encoded(&entry, key);

		/* A name that is cut at a label is another name. */
		for (size_t less = 0; less < size; less++)
			if (!xb_entry_is_name(&entry) || less < 2)
				assert_int_equal(decode(key, less), 0);
			else
				assert_in_range(decode(key, less), 0, less);
	}
}

TEST(kinds_that_are_none)
{
	uint8_t key[XB_ENTRY_KEY_BYTES] = {0};

	for (int kind = 0; kind < 256; kind++) {
		key[0] = (uint8_t)kind;
		if (kind < XB_PREFIX4 || kind > XB_ALLOW_NAME)
			assert_int_equal(decode(key, sizeof(key)), 0);
	}
}

/* One that is too long would be shifted beyond its address. */
TEST(lengths_that_are_none)
{
	static const struct {
		uint8_t kind, first, last;
	} rows[] = {
		{XB_PREFIX4, 0, 24}, {XB_HOST4, 25, 32},  {XB_NET6, 0, 128},
		{XB_ALLOW4, 0, 32},  {XB_ALLOW6, 0, 128},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool ipv6 = rows[i].kind == XB_NET6 || rows[i].kind == XB_ALLOW6;
		size_t size = ipv6 ? 18 : 6;

		for (int length = 0; length < 256; length++) {
			uint8_t key[XB_ADDRESS_KEY_BYTES] = {rows[i].kind};
			bool right = length >= rows[i].first && length <= rows[i].last;

			key[size - 1] = (uint8_t)length;
			if (decode(key, size) != (right ? size : 0))
				fail_msg("kind %d, length %d", rows[i].kind, length);
		}
	}
}

TEST(names_that_are_none)
{
	static const struct {
		const char *key;
		size_t size, taken;
	} rows[] = {{"\6", 1, 0},
		    {"\6\0", 2, 0},
		    {"\6\1a", 3, 3},
		    {"\6\1a\0", 4, 4},
		    {"\6\1a\0\0", 5, 0},
		    {"\6\0\1a", 4, 0},
		    {"\6\1a\0\1b", 6, 0},
		    {"\6\2a", 3, 0},
		    {"\6\1a\1", 4, 0},
		    {"\7\3com\7example", 13, 13},
		    {"\7\3com\7exampl", 12, 0},
		    {"\6\xff", 2, 0}};
	uint8_t key[300];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(decode((const uint8_t *)rows[i].key, rows[i].size), rows[i].taken);
	memset(key, 1, sizeof(key));
	key[0] = XB_NAME;
	assert_int_equal(decode(key, 255), 255);
	assert_int_equal(decode(key, 257), 0);
	assert_int_equal(decode(key, 300), 0);
}

struct record {
	struct xb_entry entry;
	uint64_t number;
};

/* A sort that nobody doubts. */
static void insertion_sort(struct record *records, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct record one = records[i];
		size_t at = i;

		for (; at > 0 && xb_entry_compare(&records[at - 1].entry, &one.entry) > 0; at--)
			records[at] = records[at - 1];
		records[at] = one;
	}
}

static void is_sorted(const struct record *records, size_t count)
{
	struct record *sorted = calloc(count + 1, sizeof(*sorted)),
		      *expected = calloc(count + 1, sizeof(*expected));

	assert_true(sorted && expected);
	memcpy(sorted, records, count * sizeof(*records));
	memcpy(expected, records, count * sizeof(*records));
	insertion_sort(expected, count);
	assert_int_equal(xb_entry_sort(&sorted, count, sizeof(*sorted)), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(xb_entry_compare(&sorted[i].entry, &expected[i].entry), 0);
		assert_int_equal(sorted[i].entry.line, expected[i].entry.line);
		if (sorted[i].number != expected[i].number)
			fail_msg("record %zu is number %d", i, (int)sorted[i].number);
	}
	free(sorted);
	free(expected);
}

/* Few values, so that there are many of each. */
static struct xb_entry random_entry(unsigned int what)
{
	static const uint8_t names[][6] = {"\1a", "\1a\1b", "\1b", "\2ab", "\1a\0"};
	uint64_t number = random_wide();
	struct xb_entry entry = {.hi = number & 0x8100000300000001,
				 .lo = number >> 7 & 0x8000000000000003};

	if (what == 1 || (what == 2 && number >> 62 == 0)) {
		size_t one = number >> 8 & 3;

		return (struct xb_entry){.name = names[one],
					 .kind = XB_NAME,
					 .length = one == 1   ? 4
						   : one == 3 ? 3
							      : 2};
	}
	entry.kind = (uint8_t)(what == 3 ? XB_HOST4 : XB_PREFIX4 + (number >> 20 & 3));
	entry.length = what == 3 ? 32 : (uint8_t)(number >> 30 & 31);
	if (xb_entry_is_ipv4(&entry)) {
		entry.hi &= UINT64_C(0xffffffff00000000);
		entry.lo = 0;
	}
	return entry;
}

/* what: 0: addresses; 1: names; 2: both; 3: IPv4 addresses of one length. */
TEST(sorted_and_stable)
{
	static struct record records[600];
	static const size_t counts[] = {0, 1, 2, 3, 17, 600};

	for (unsigned int what = 0; what < 4; what++) {
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			for (size_t j = 0; j < counts[i]; j++)
				records[j] = (struct record){random_entry(what), j};
			is_sorted(records, counts[i]);
			insertion_sort(records, counts[i]);
			is_sorted(records, counts[i]);
		}
	}
}

/* One kind and length, and nothing but lines to tell those that are the same from each other; they
 * differ in these bits, and one in another bit or in what stands beside it. */
TEST(plain_addresses)
{
	static const uint64_t bits[] = {
		1,
		UINT64_C(1) << 63,
		UINT64_C(0xffffffff) << 32,
		UINT64_C(0x80000001) << 32,
		UINT64_C(0x80000001) << 31,
		UINT64_C(0x80000001) << 7,
		UINT64_C(0x80000001),
		UINT64_C(0x100000001) << 31,
		UINT64_C(0x8000000000000001),
	};
	static struct record records[600];
	size_t count = sizeof(records) / sizeof(records[0]);

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		for (size_t j = 0; j < count; j++)
			records[j] = (struct record){
				.entry = {.hi = (random_wide() & bits[i]) |
						(UINT64_C(0x0123456789abcdef) & ~bits[i]),
					  .lo = 5,
					  .kind = XB_NET6,
					  .length = 128,
					  .line = (uint32_t)(count - j)}};
		is_sorted(records, count);
		records[7].number = 1;
		is_sorted(records, count);
		records[7].number = 0;
		records[9].entry.lo = 4;
		is_sorted(records, count);
		records[9].entry =
			(struct xb_entry){.hi = UINT64_C(7) << 32, .kind = XB_HOST4, .length = 32};
		is_sorted(records, count);
		is_sorted(records, 9);
	}
}

/* As records of which nothing but the address and the line is left. */
TEST(words_of_ipv4)
{
	static const uint32_t bits[] = {1, 3, 0x80000001, 0x7f, 0xfff, 0x400800, UINT32_MAX};
	static struct record records[600];
	size_t count = sizeof(records) / sizeof(records[0]);

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		for (size_t some = 0; some <= count; some = some * 3 + 1) {
			uint64_t *words = calloc(some + 1, sizeof(*words));

			assert_non_null(words);
			for (size_t j = 0; j < some; j++) {
				uint64_t ipv4 = random_wide() & bits[i];

				records[j] = (struct record){.entry = {.hi = ipv4 << 32,
								       .kind = XB_HOST4,
								       .length = 32,
								       .line = (uint32_t)j + 1}};
				words[j] = ipv4 << 32 | (j + 1);
			}
			insertion_sort(records, some);
			for (int again = 0; again < 2; again++) {
				assert_int_equal(xb_ipv4_sort(&words, some), 0);
				for (size_t j = 0; j < some; j++)
					assert_true(words[j] ==
						    (records[j].entry.hi | records[j].entry.line));
			}
			free(words);
		}
	}
}

TEST(too_many_to_sort)
{
	uint64_t word = 7, *words = &word;
	struct record record = {.number = 7}, *records = &record;

	xb_error_clear();
	assert_int_equal(xb_entry_sort(&records, (size_t)UINT32_MAX + 1, sizeof(record)), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_ptr_equal(records, &record);
	assert_int_equal(record.number, 7);
	xb_error_clear();
	assert_int_equal(xb_ipv4_sort(&words, (size_t)UINT32_MAX + 1), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_true(words == &word && word == 7);
}
