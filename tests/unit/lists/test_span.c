/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges as prefixes, and exceptions taken out of what is listed: compared with every address of a
 * small range, judged one by one. */
#include "lists/addresstext.h"
#include "lists/line.h"
#include "support/listlines.h"

#define BASE   0x0a000000U
#define BITS   10 /* of the range that is looked at */
#define RULES  12
#define ROUNDS 3000

TEST(ranges_become_prefixes)
{
	static const struct {
		const char *text, *prefixes;
	} cases[] = {
		{"192.0.2.0-192.0.2.255", "plain: 192.0.2.0/24"},
		{"192.0.2.1-192.0.2.6", "plain: 192.0.2.1, 192.0.2.2/31, 192.0.2.4/31, 192.0.2.6"},
		{"192.0.2.7-192.0.2.7", "plain: 192.0.2.7"},
		{"0.0.0.0-255.255.255.255", "plain: 0.0.0.0/0"},
		{"255.255.255.254-255.255.255.255", "plain: 255.255.255.254/31"},
		{"::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "plain: ::/0"},
		{"2001:db8::-2001:db8::2", "plain: 2001:db8::/127, 2001:db8::2"},
		{"192.0.2.0/24", "plain: 192.0.2.0/24"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xb_item item = {0};
		struct xb_span span;

		begin_reading(NULL);
		assert_int_equal(xb_addresses_span(&file, cases[i].text, &span), 0);
		assert_int_equal(xb_span_keep(&file, &span, &item, ""), 0);
		assert_int_equal(xb_listformat_choose(&reading, "plain"), 0);
		assert_file(cases[i].prefixes);
		end_reading(NULL);
	}
}

TEST(ranges_that_are_none)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"192.0.2.9-192.0.2.1", "the range ends before it begins"},
		{"192.0.2.1-2001:db8::1", "a range from IPv4 to IPv6, or the other way round"},
		{"192.0.2.0/24-192.0.3.0/24", "'192.0.2.0/24' is not a single address"},
		{"192.0.2.1-192.0.2.2/31", "'192.0.2.2/31' is not a single address"},
	};
	struct xb_span span;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_input_error(xb_addresses_span(&file, cases[i].text, &span),
				   cases[i].message);
	assert_input_error(xb_addresses_span(&file, "192.0.2.1-", &span),
			   "'' is not an address or prefix");
}

/* A line of the simple judge. */
struct judged {
	uint32_t first;
	uint8_t length;
	uint32_t line;
	bool excepted;
};

static uint32_t octets(uint8_t length)
{
	return length <= 8 ? 1 : (length + 7U) / 8;
}

static bool is_better(const struct judged *one, const struct judged *best,
		      enum xb_precedence precedence)
{
	switch (precedence) {
	case XB_EARLIEST:
		return one->line < best->line;
	case XB_LONGEST_FIRST:
		return one->length != best->length ? one->length > best->length
						   : one->line < best->line;
	case XB_LONGEST:
		return one->length != best->length ? one->length > best->length : one->excepted;
	case XB_LONGEST_OCTET:
		break;
	}
	return octets(one->length) != octets(best->length)
		       ? octets(one->length) > octets(best->length)
		       : one->excepted;
}

static bool is_listed(const struct judged *lines, size_t count, uint32_t address,
		      enum xb_precedence precedence)
{
	const struct judged *best = NULL;

	for (size_t i = 0; i < count; i++) {
		uint32_t mask = lines[i].length ? ~0U << (32 - lines[i].length) : 0;

		if ((address & mask) == lines[i].first &&
		    (!best || is_better(&lines[i], best, precedence)))
			best = &lines[i];
	}
	return best && !best->excepted;
}

static void make_lines(struct judged *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t length = (uint8_t)(32 - BITS + rand() % (BITS + 1));
		uint32_t address = BASE | (uint32_t)(rand() & ((1 << BITS) - 1));
		struct xb_item item = {
			.entry = {.kind = length > 24 ? XB_HOST4 : XB_PREFIX4, .length = length}};

		lines[i] = (struct judged){.first = address & (~0U << (32 - length)),
					   .length = length,
					   .line = (uint32_t)i + 1,
					   .excepted = rand() % 2};
		item.entry.hi = (uint64_t)lines[i].first << 32;
		if (lines[i].excepted)
			item.entry = xb_entry_allow(&item.entry);
		file.lines = i + 1;
		assert_int_equal(xb_line_keep(&file, &item), 0);
	}
}

static bool file_lists(uint32_t address)
{
	struct xb_entry entry = {.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};

	for (size_t i = 0; i < file.count; i++)
		if (xb_entry_inside(&file.items[i].entry, &entry))
			return true;
	return false;
}

TEST(exceptions_are_taken_out)
{
	srand(1);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		enum xb_precedence precedence = round % 4;
		size_t count = 1 + (size_t)rand() % RULES;
		struct judged lines[RULES];

		begin_reading(NULL);
		make_lines(lines, count);
		assert_int_equal(xb_entry_sort(&file.items, file.count, sizeof(*file.items)), 0);
		assert_int_equal(xb_span_except(&file, precedence), 0);
		for (size_t i = 0; i < file.count; i++) {
			assert_false(xb_entry_is_allow(&file.items[i].entry));
			assert_true(!i || xb_entry_compare(&file.items[i - 1].entry,
							   &file.items[i].entry) <= 0);
		}
		for (uint32_t at = BASE; at < BASE + (1 << BITS); at++)
			if (file_lists(at) != is_listed(lines, count, at, precedence))
				fail_msg("round %u: %x", round, at);
		end_reading(NULL);
	}
}

/* What no exception touches stays as it was written, with what its line says. */
TEST(the_rest_stays)
{
	assert_int_equal(xb_listformat_choose(&reading, "ip4trie"), 0);
	assert_taken("192.0.2.0/24 one");
	assert_taken("192.0.2.1 two");
	assert_taken("198.51.100.0/30 three");
	assert_taken("!198.51.100.1");
	assert_taken("!203.0.113.1");
	assert_int_equal(xb_listformat_finish(&reading), 0);
	assert_file("ip4trie: 192.0.2.0/24 (one), 192.0.2.1 (two), 198.51.100.0 (three), "
		    "198.51.100.2/31 (three)");
}

EACH_TEST(begin_reading, end_reading);
