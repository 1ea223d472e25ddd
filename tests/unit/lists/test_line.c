/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the list formats share: their names, addresses that lead nowhere, what a list has, and
 * exceptions taken out of it: compared with every address of a small range, judged one by one. */
#include "lists/addresstext.h"
#include "lists/line.h"
#include "support/listlines.h"

#define FORMATS 42
#define BASE	0x0a000000U
#define BITS	10 /* of the range that is looked at */
#define RULES	12
#define ROUNDS	3000

TEST(names_of_formats)
{
	char names[] = FORMAT_NAMES, *rest = names, *name;
	size_t count = 0;

	assert_string_equal(xb_listfile_formats(), FORMAT_NAMES);
	assert_null(xb_listformat_name(&reading));
	while ((name = strsep(&rest, ", "))) {
		if (!*name)
			continue;
		assert_int_equal(xb_listformat_choose(&reading, name), 0);
		assert_string_equal(xb_listformat_name(&reading), name);
		count++;
	}
	assert_int_equal(count, FORMATS);
}

TEST(addresses_lead_nowhere)
{
	static const char *const nowhere[] = {"0.0.0.0", "127.0.0.0",	"127.255.255.255", "::",
					      "::1",	 "fe80::1%lo0", "::ffff:127.0.0.1"};
	static const char *const somewhere[] = {"",	"0.0.0.1",     "126.0.0.1",    "128.0.0.1",
						"::2",	"fe80::1",     "fe80::2%lo",   "0.0.0.0/0",
						"::/0", "127.0.0.0/8", "127.0.0.1%lo", "localhost",
						"%lo0", "1::1",	       "0.0.0.0 "};

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		if (!xb_line_is_nowhere(nowhere[i]))
			fail_msg("%s", nowhere[i]);
	for (size_t i = 0; i < sizeof(somewhere) / sizeof(somewhere[0]); i++)
		if (xb_line_is_nowhere(somewhere[i]))
			fail_msg("%s", somewhere[i]);
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
}

/* Where there is no room for all, the text says so. */
TEST(lines_are_shown)
{
	static const struct xb_unknown_line lines[] = {{1, "one"}, {0, "all"}, {3, "three"}};
	static const struct {
		size_t most, size;
		const char *shown;
	} cases[] = {{3, 40, "1: one, all, 3: three"}, {2, 40, "1: one, all, ..."},
		     {3, 22, "1: one, all, 3: three"}, {3, 21, "1: one, all, 3: t..."},
		     {2, 16, "1: one, all,..."},       {3, 6, "1:..."}};
	char shown[40];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		xb_unknown_lines_show(lines, 3, cases[i].most, shown, cases[i].size);
		assert_string_equal(shown, cases[i].shown);
	}
}

TEST(what_is_listed)
{
	static const struct {
		const char *name;
		bool wider, itself;
	} cases[] = {{"example", false, false},	    {"b.example", false, true},
		     {"a.b.example", true, true},   {"x.a.b.example", true, true},
		     {"c.example", false, false},   {"=b.example", true, true},
		     {"=d.example", false, true},   {"d.example", false, false},
		     {"a.d.example", false, false}, {"e.example", false, false}};
	static const char *const listed[] = {"b.example", "=d.example", "!e.example"};

	for (size_t i = 0; i < 3; i++) {
		unsigned int how = *listed[i] == '!'   ? XB_LINE_ALLOW
				   : *listed[i] == '=' ? XB_LINE_EXACT
						       : 0;

		assert_int_equal(xb_line_keep_domain(&file, listed[i] + (how != 0), how, ""), 0);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t form[XB_NAME_BYTES];
		struct xb_entry entry;

		assert_int_equal(
			xb_entry_parse(cases[i].name, strlen(cases[i].name), form, &entry, NULL),
			0);
		for (int allow = 0; allow < 2; allow++) {
			if (xb_line_is_listed(&file, &entry, false) != cases[i].wider ||
			    xb_line_is_listed(&file, &entry, true) != cases[i].itself)
				fail_msg("%s", cases[i].name);
			entry = xb_entry_allow(&entry);
		}
	}
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
	case XB_LATEST:
		return one->line > best->line;
	case XB_LONGEST_LAST:
		return one->length != best->length ? one->length > best->length
						   : one->line > best->line;
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
		enum xb_precedence precedence = round % 5;
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

EACH_TEST(begin_reading, end_reading);
