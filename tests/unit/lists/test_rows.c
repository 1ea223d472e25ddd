/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists as rows of files, with what becomes of each: tests/unit/lists/rows/README.md says how they
 * are written. */
#include "lists/line.h"
#include "support/listlines.h"
#include "support/rows.h"

#define FOLDER "tests/unit/lists/rows/"

/* How a list is to be read, and what becomes of it. */
struct row {
	struct xb_listfile_terms terms;
	const char *settle;
	char text[ROWS_ROOM];
};

static void take_option(struct row *row, const char *name, const char *value)
{
	struct xb_list_choice *choice = &row->terms.choice;

	if (!strcmp(name, "format"))
		row->terms.format = value;
	else if (!strcmp(name, "column"))
		choice->column = value;
	else if (!strcmp(name, "where"))
		choice->where = value;
	else if (!strcmp(name, "json"))
		choice->json = value;
	else if (!strcmp(name, "set"))
		choice->set = value;
	else if (!strcmp(name, "country"))
		choice->country = value;
	else if (!strcmp(name, "not-country"))
		choice->not_country = value;
	else if (!strcmp(name, "continent"))
		choice->continent = value;
	else if (!strcmp(name, "asn"))
		choice->asn = value;
	else if (!strcmp(name, "mmdb"))
		choice->mmdb = value;
	else if (!strcmp(name, "below"))
		choice->below = true;
	else if (!strcmp(name, "settle"))
		row->settle = value;
	else if (strcmp(name, "wrong") != 0)
		fail_msg("%s: no option of a row", name);
	else
		choice->most_wrong = strtoull(value, NULL, 10);
	choice->bounded |= !strcmp(name, "wrong");
}

static void take_row(char *line, struct row *row)
{
	char *equals, *option, *end;

	memset(row, 0, sizeof(*row));
	if (*line == '[') {
		option = line + 1;
		end = strstr(line, "] ") ?: line + strlen(line) - 1;
		line = end + 1 + (end[1] == ' ');
		for (*end = '\0'; option; option = end) {
			end = strstr(option, ", ");
			if (end) {
				*end = '\0';
				end += 2;
			}
			equals = strchr(option, '=');
			assert_non_null(equals);
			*equals++ = '\0';
			rows_bytes(equals, equals, equals + strlen(equals) + 1);
			take_option(row, option, equals);
		}
	}
	rows_bytes(line, row->text, row->text + ROWS_ROOM - 1);
}

/* "example !a.example =b.example", as the domains of a file; '!' makes an exception. */
static void settle(struct row *row, char found[ROWS_ROOM])
{
	char *rest = row->text, *word;

	begin_reading(NULL);
	reading.format = &xb_domains_format;
	while ((word = xb_line_word(&rest))) {
		unsigned int how = *word == '!' ? XB_LINE_ALLOW : 0;

		word += how != 0;
		how |= *word == '=' ? XB_LINE_EXACT : 0;
		file.lines++;
		assert_int_equal(xb_line_keep_domain(&file, word + (*word == '='), how, ""), 0);
	}
	assert_int_equal(xb_entry_sort(&file.items, file.count, sizeof(*file.items)), 0);
	file.room = file.count;
	assert_int_equal((!strcmp(row->settle, "allow") ? xb_line_allow_exceptions
							: xb_line_own_exceptions)(&file),
			 0);
	for (size_t i = 0; i < file.count; i++)
		assert_int_equal(file.items[i].doubtful, 0);
	file.format = xb_listformat_name(&reading);
	describe(&file, found, ROWS_ROOM);
	end_reading(NULL);
}

static uint64_t lines_of(const char *text)
{
	uint64_t lines = *text && text[strlen(text) - 1] != '\n';

	while ((text = strchr(text, '\n'))) {
		lines++;
		text++;
	}
	return lines;
}

/* The message behind its path; what is wrong with the choice is no fault of the file. */
static void tell_refusal(int error, char found[ROWS_ROOM])
{
	const char *message = xb_error_message();
	size_t size = strlen(path);
	bool of_file = !strncmp(message, path, size);

	snprintf(found, ROWS_ROOM, "%s%s", of_file ? "" : "!", message + (of_file ? size : 0));
	if (error != (strcmp(found, ": no entries") ? -EINVAL : -ENODATA))
		append(found, ROWS_ROOM, "; error %d", error);
	if (xb_error_class() != XB_ERROR_INPUT)
		append(found, ROWS_ROOM, "; class %d", xb_error_class());
}

static void tell_file(const char *text, char found[ROWS_ROOM])
{
	describe(&file, found, ROWS_ROOM);
	if (xb_error_class() != XB_ERROR_NONE)
		append(found, ROWS_ROOM, "; an error: %s", xb_error_message());
	if (file.lines != lines_of(text))
		append(found, ROWS_ROOM, "; %llu lines", (unsigned long long)file.lines);
	for (size_t i = 0; i < file.count; i++)
		if (file.items[i].entry.line < 1 || file.items[i].entry.line > file.lines)
			append(found, ROWS_ROOM, "; an entry of line %u", file.items[i].entry.line);
}

static void read_row(const struct row *row, char found[ROWS_ROOM])
{
	int error;

	write_list(row->text, strlen(row->text));
	memset(&file, 0x5a, sizeof(file));
	error = xb_listfile_read_as(-1, path, &row->terms, &file);
	if (error) {
		tell_refusal(error, found);
	} else {
		tell_file(row->text, found);
		xb_listfile_free(&file);
	}
	assert_empty(&file);
}

static void find(char *line, const char *expected, char found[ROWS_ROOM])
{
	static struct row row;

	take_row(line, &row);
	xb_error_clear();
	if (row.settle)
		settle(&row, found);
	else
		read_row(&row, found);
}

static void test_rows(void **state)
{
	char name[128];

	snprintf(name, sizeof(name), FOLDER "%s.rows", (const char *)*state);
	rows_known = 0;
	rows_let((char[]){"KNOWN ; known: " FORMAT_NAMES});
	rows_check(name, find);
}

TEST_OF(addresses, test_rows, "addresses");
TEST_OF(ranges, test_rows, "ranges");
TEST_OF(sets, test_rows, "sets");
TEST_OF(columns, test_rows, "columns");
TEST_OF(json, test_rows, "json");
TEST_OF(crowdsec, test_rows, "crowdsec");
TEST_OF(domains, test_rows, "domains");
TEST_OF(dnsmasq, test_rows, "dnsmasq");
TEST_OF(unbound, test_rows, "unbound");
TEST_OF(rpz, test_rows, "rpz");
TEST_OF(rules, test_rows, "rules");
TEST_OF(rbldnsd, test_rows, "rbldnsd");
TEST_OF(firewalls, test_rows, "firewalls");
TEST_OF(nft, test_rows, "nft");
TEST_OF(places, test_rows, "places");
TEST_OF(exceptions, test_rows, "exceptions");

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);
