/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of domains as files: binary ones, long lines, large ones, noise, and the real lists if they
 * are at hand. */
#include "support/listrows.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

TEST(test_binary)
{
	static const char text[] = "a.example\nb.exa\0mple\n";

	write_list(text, sizeof(text) - 1);
	check_refused(NULL, ":2: binary data, not a list");
}

/* A line of `size` bytes among others: too long is left out as a whole, whatever is at its end. */
TEST(test_long_lines)
{
	static const size_t sizes[] = {4097, 8191, 8192, 8193, 16384, 1 << 20, 10000000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		FILE *list = fopen(path, "w");
		char found[2048];
		struct xb_listfile file;

		assert_non_null(list);
		fprintf(list, "a.example\n%-*s\nb.example\n", (int)sizes[i], "x.example");
		fprintf(list, "%0*d\r\nc.example\n%*s", (int)sizes[i], 1, (int)sizes[i],
			"y.example");
		assert_int_equal(fclose(list), 0);
		assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
		describe(&file, found, sizeof(found));
		assert_string_equal(
			found, "domains: a.example, b.example, c.example; 3 unknown (2: line "
			       "longer than 4096 bytes, 4: line longer than 4096 bytes, 6: line "
			       "longer than 4096 bytes)");
		assert_int_equal(file.lines, 6);
		xb_listfile_free(&file);
	}
}

/* Many names, over many chunks of the arena; in no order, each twice. */
TEST(test_large_list)
{
	const unsigned int count = 200000;
	FILE *list = fopen(path, "w");
	struct xb_listfile file;

	assert_non_null(list);
	for (unsigned int i = 0; i < 2 * count; i++)
		fprintf(list, "||n%u.of-a-list.example^\n", i * 7919U % count);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	assert_int_equal(file.count, count);
	assert_int_equal(file.repeats, count);
	for (size_t i = 1; i < file.count; i++)
		assert_true(xb_entry_compare(&file.items[i - 1].entry, &file.items[i].entry) < 0);
	xb_listfile_free(&file);
}

/* As many zones in use, each with its names; the lines come out in their order. */
TEST(test_large_unbound)
{
	const unsigned int count = 100000;
	FILE *list = fopen(path, "w");
	struct xb_listfile file;

	assert_non_null(list);
	fprintf(list, "local-zone: a.example static\n");
	for (unsigned int i = 0; i < count; i++)
		fprintf(list, ZONE("n%u.example static") DATA("\"www.n%u.example A 8.8.8.8\""),
			i * 7919U % count, i);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	assert_int_equal(file.count, 1);
	assert_int_equal(file.unknown, 2 * count);
	for (size_t i = 0; i < file.unknown; i++)
		assert_int_equal(file.first_unknown[i].line, i + 2);
	xb_listfile_free(&file);
}

/* Lines put together from pieces of all formats, cut and damaged: never a crash, always an answer,
 * and every entry one that can be written and read again. tests/fuzz/fuzz_lists.c goes on. */
TEST(test_noise)
{
	static const char *const pieces[] = {"||",
					     "@@",
					     "^",
					     "$important",
					     "example.com",
					     "*.",
					     "=",
					     ".",
					     "..",
					     "0.0.0.0 ",
					     " ",
					     "\t",
					     "::1 ",
					     "address=/",
					     "/",
					     "#",
					     ";",
					     "!",
					     "local-zone: ",
					     "local-data: ",
					     " A 0.0.0.0",
					     "*.x CNAME .",
					     "\n",
					     "\"",
					     " refuse",
					     " CNAME .",
					     "$ORIGIN ",
					     "$TTL 1",
					     "@ SOA a. b. (",
					     ")",
					     " 1 2 3 4 5",
					     "rpz-passthru.",
					     "\xc3\xbc",
					     "\xff",
					     "[Adblock",
					     "server:",
					     "%lo0",
					     "1.2.3.4",
					     "::/0",
					     "rpz-ip",
					     "\r",
					     "-",
					     "_",
					     "\n"};
	static const char *const formats[] = {"domains", "hosts", "adblock", "dnsmasq",
					      "unbound", "rpz",	  NULL};

	srand(1);
	for (int round = 0; round < 2000; round++) {
		char text[512] = "";
		struct xb_listfile file;

		for (int i = rand() % 24; i > 0; i--)
			append(text, sizeof(text), "%s",
			       pieces[(size_t)rand() % ARRAY_SIZE(pieces)]);
		write_list(text, strlen(text));
		if (xb_listfile_read(path, formats[(size_t)round % ARRAY_SIZE(formats)], &file))
			continue;
		for (size_t i = 0; i < file.count; i++) {
			char shown[XB_ENTRY_TEXT];
			uint8_t form[XB_NAME_BYTES];
			struct xb_entry again;

			xb_entry_format(&file.items[i].entry, shown);
			assert_int_equal(xb_entry_parse(shown, strlen(shown), form, &again, NULL),
					 0);
			if (xb_entry_is_allow(&file.items[i].entry))
				again = xb_entry_allow(&again);
			assert_int_equal(xb_entry_compare(&again, &file.items[i].entry), 0);
		}
		xb_listfile_free(&file);
	}
}

TEST(test_real_lists)
{
	static const struct {
		const char *name, *format;
		size_t count, repeats;
	} lists[] = {
		{"disposable-email-domains.txt", "domains", 8335, 0},
		{"adservers.hosts", "hosts", 42358, 173},
		{"hagezi-light-20000.adblock", "adblock", 19990, 0},
		{"hagezi-light-20000.wildcard", "domains", 19990, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct xb_listfile file;

		read_published(lists[i].name, lists[i].format, lists[i].count, &file);
		assert_int_equal(file.repeats, lists[i].repeats);
		assert_int_equal(file.unknown, 0);
		xb_listfile_free(&file);
	}
}

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);
