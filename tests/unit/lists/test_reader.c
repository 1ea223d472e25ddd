/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading list files of every length and origin, noise, and the real lists if they are at hand.
 * What stands in a list: test_rows. */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "lists/table.h"
#include "support/listfile.h"

TEST(binary)
{
	static const char in_line[] = "192.0.2.1\n192.0.2.2\0\n",
			  in_comment[] = "192.0.2.1\n\n# \0\n";
	static const char wide[] = "\xff\xfe"
				   "1\0.\0\n\0",
			  middle[] = "192.0.2.1\n192.\0000.2.2\n";
	static const char behind_blank[] = "192.0.2.1\n192.0.2.2 \0 \n";
	static const char domains[] = "a.example\nb.exa\0mple\n";

	write_list(in_line, sizeof(in_line) - 1);
	check_refused(NULL, ":2: binary data, not a list");
	write_list(in_comment, sizeof(in_comment) - 1);
	check_refused(NULL, ":3: binary data, not a list");
	write_list(wide, sizeof(wide) - 1);
	check_refused(NULL, ":1: '1.' is not an address or prefix");
	write_list(middle, sizeof(middle) - 1);
	check_refused(NULL, ":2: binary data, not a list");
	write_list(behind_blank, sizeof(behind_blank) - 1);
	check_refused("plain", ":2: binary data, not a list");
	write_list(domains, sizeof(domains) - 1);
	check_refused(NULL, ":2: binary data, not a list");
}

/* A list whose second line is an address and blanks up to `size` bytes, then `end`. */
static void write_long(size_t size, const char *end)
{
	FILE *list = open_list();

	fprintf(list, "192.0.2.1\n%-*s%s192.0.2.3\n", (int)size, "192.0.2.2", end);
	assert_int_equal(fclose(list), 0);
}

TEST(long_lines)
{
	static const char *const ends[] = {"\n", "\r\n"};
	char comment[11 + 4096] = "192.0.2.1\n#";
	struct xb_listfile file;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		write_long(4096, ends[i]);
		assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
		assert_int_equal(file.count, 3);
		assert_int_equal(file.lines, 3);
		xb_listfile_free(&file);
		write_long(4097, ends[i]);
		check_refused(NULL, ":2: line longer than 4096 bytes");
		write_long(8193, ends[i]);
		check_refused(NULL, ":2: line longer than 4096 bytes");
		write_long(10000000, ends[i]);
		check_refused(NULL, ":2: line longer than 4096 bytes");
	}
	memset(comment + 11, 'c', 4096);
	write_list(comment, sizeof(comment));
	check_refused(NULL, ":2: line longer than 4096 bytes");
	write_long(10000000, "");
	check_refused("ipset", ":1: '192.0.2.1' is neither 'create' nor 'add'; `ipset save NAME` "
			       "writes a set as it is");
}

/* A line of `size` bytes among others: too long is left out as a whole, whatever is at its end. */
TEST(long_lines_of_domains)
{
	static const size_t sizes[] = {4097, 8191, 8192, 8193, 16384, 1 << 20, 10000000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		FILE *list = open_list();
		struct xb_listfile file;

		fprintf(list, "a.example\n%-*s\nb.example\n", (int)sizes[i], "x.example");
		fprintf(list, "%0*d\r\nc.example\n%*s", (int)sizes[i], 1, (int)sizes[i],
			"y.example");
		assert_int_equal(fclose(list), 0);
		assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
		assert_described(&file,
				 "domains: a.example, b.example, c.example; 3 unknown (2: line "
				 "longer than 4096 bytes, 4: line longer than 4096 bytes, 6: line "
				 "longer than 4096 bytes)");
		assert_int_equal(file.lines, 6);
		xb_listfile_free(&file);
	}
}

TEST(files_that_are_none)
{
	char expected[256], below[sizeof(path) + 8];
	struct xb_listfile file;

	check_refused(NULL, ": No such file or directory");
	write_list("192.0.2.1\n", 10);
	snprintf(below, sizeof(below), "%s/list", path);
	snprintf(expected, sizeof(expected), "%s: Not a directory", below);
	assert_int_equal(xb_listfile_read(below, NULL, &file), -EINVAL);
	assert_string_equal(xb_error_message(), expected);
	snprintf(expected, sizeof(expected), "%s: this is a directory, not a list", directory);
	assert_int_equal(xb_listfile_read(directory, NULL, &file), -EINVAL);
	assert_string_equal(xb_error_message(), expected);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_empty(&file);
}

TEST(no_permission)
{
	bool root = !geteuid();
	char expected[256];
	struct xb_listfile file;
	int error;

	write_list("192.0.2.1\n", 10);
	assert_int_equal(chmod(path, 0), 0);
	if (root && seteuid(65534))
		skip();
	error = xb_listfile_read(path, NULL, &file);
	if (root)
		assert_int_equal(seteuid(0), 0);
	snprintf(expected, sizeof(expected), "%s: Permission denied", path);
	assert_int_equal(error, -EACCES);
	assert_string_equal(xb_error_message(), expected);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_empty(&file);
}

/* Nothing is mapped at address 0, where reading this file starts. */
TEST(read_error)
{
	struct xb_listfile file;

	assert_int_equal(xb_listfile_read("/proc/self/mem", NULL, &file), -EIO);
	assert_string_equal(xb_error_message(), "/proc/self/mem: reading: Input/output error");
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_empty(&file);
}

/* Reads from a pipe that is standard input for the time. */
static int read_from_stdin(const char *text, struct xb_listfile *file)
{
	int ends[2], kept = dup(STDIN_FILENO), error;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	error = xb_listfile_read("-", NULL, file);
	assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	if (kept >= 0) {
		dup2(kept, STDIN_FILENO);
		close(kept);
	}
	return error;
}

TEST(standard_input)
{
	struct xb_listfile file;

	assert_int_equal(read_from_stdin("192.0.2.1\n192.0.2.2", &file), 0);
	assert_int_equal(file.count, 2);
	xb_listfile_free(&file);
	assert_int_equal(read_from_stdin("192.0.2.1\nx\n", &file), -EINVAL);
	assert_string_equal(xb_error_message(), "stdin:2: 'x' is not an address or prefix");
	assert_int_equal(read_from_stdin("", &file), -ENODATA);
	assert_string_equal(xb_error_message(), "stdin: no entries");
}

static unsigned int reports, finished;
static unsigned long long last_done;

static void count_progress(const char *what, unsigned long long done, unsigned long long total)
{
	assert_string_equal(what, "reading");
	assert_true(done >= last_done && done <= total);
	last_done = done;
	reports++;
	finished += done == total;
}

/* Many buffers long, so that lines lie across their ends; descending, so that the sort has work. */
TEST(large_list_with_progress)
{
	const uint32_t count = 1500000;
	struct xb_listfile file;
	FILE *list = open_list();
	struct stat about;

	for (uint32_t i = count; i-- > 0;)
		fprintf(list, "10.%u.%u.%u\n", i >> 16, i >> 8 & 255, i & 255);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(stat(path, &about), 0);
	xb_progress_sink(count_progress);
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	xb_progress_sink(NULL);
	assert_int_equal(file.count, count);
	assert_int_equal(file.lines, count);
	for (uint32_t i = 0; i < count; i++)
		if (xb_entry_ipv4(&file.items[i].entry) != (10U << 24 | i))
			fail_msg("item %u is another one", i);
	assert_true(reports > 1);
	assert_int_equal(finished, 1);
	assert_int_equal(last_done, about.st_size);
	xb_listfile_free(&file);
}

/* Many names, over many chunks of the arena; in no order, each twice. */
TEST(many_names)
{
	const unsigned int count = 200000;
	FILE *list = open_list();
	struct xb_listfile file;

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
TEST(many_zones)
{
	const unsigned int count = 100000;
	FILE *list = open_list();
	struct xb_listfile file;

	fprintf(list, "local-zone: a.example static\n");
	for (unsigned int i = 0; i < count; i++)
		fprintf(list,
			"local-zone: n%u.example redirect\n"
			"local-data: \"n%u.example A 8.8.8.8\"\n",
			i * 7919U % count, i);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	assert_int_equal(file.count, 1);
	assert_int_equal(file.unknown, 2 * count);
	for (size_t i = 0; i < file.unknown; i++)
		assert_int_equal(file.first_unknown[i].line, i + 2);
	xb_listfile_free(&file);
}

/* A line longer than any list may have. */
TEST(a_document_of_one_line)
{
	const struct xb_listfile_terms terms = {.choice = {.json = "[].ip"}};
	FILE *list = open_list();
	struct xb_listfile file;

	for (int i = 0; i < 100000; i++)
		fprintf(list, "%s{\"ip\": \"10.%d.%d.%d\"}", i ? ", " : "[", i >> 16, i >> 8 & 255,
			i & 255);
	fputs("]", list);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(xb_listfile_read_as(-1, path, &terms, &file), 0);
	assert_string_equal(file.format, "json");
	assert_int_equal(file.count, 100000);
	assert_int_equal(file.lines, 1);
	xb_listfile_free(&file);
}

/* Its format is told by the first part of its line, which then goes on as it came, blanks and all.
 */
TEST(a_document_that_is_recognized)
{
	for (int blanks = 0; blanks < 3; blanks++) {
		FILE *list = open_list();
		struct xb_listfile file;

		fprintf(list,
			"%*s{\"nftables\": [{\"set\": {\"family\": \"ip\", \"table\": \"t\", "
			"\"name\": \"s\", \"type\": \"ipv4_addr\", \"elem\": [",
			blanks, "");
		for (int i = 0; i < 1000; i++)
			fprintf(list, "%s\"192.0.%d.%d\"  ", i ? "  , " : "", i >> 8, i & 255);
		fputs("]}}]}\r\n", list);
		assert_int_equal(fclose(list), 0);
		assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
		assert_string_equal(file.format, "nft");
		assert_int_equal(file.count, 1000);
		xb_listfile_free(&file);
	}
}

TEST(depth_of_a_document)
{
	char text[200];

	memset(text, '[', sizeof(text));
	write_list(text, sizeof(text));
	check_refused_as(&(struct xb_listfile_terms){.choice = {.json = "[]"}},
			 ":1: JSON of more than 64 levels");
}

/* A text of 36 MB that would be a tree of more than 1 GiB. */
TEST(memory_of_a_document)
{
	FILE *list;

	/* Under the sanitizers it takes a minute. */
	if (!getenv("XB_TEST_ALL")) {
		printf("it takes a minute under the sanitizers: only with --all\n");
		skip();
	}
	list = open_list();
	fputs("[{}", list);
	for (int i = 0; i < 12000000; i++)
		fputs(",{}", list);
	fputs("]", list);
	assert_int_equal(fclose(list), 0);
	check_refused_as(&(struct xb_listfile_terms){.choice = {.json = "[].a"}},
			 ":1: a JSON document that needs more than 1 GiB of memory");
}

TEST(comment_of_the_longest_size)
{
	char text[600];
	struct xb_listfile file;

	snprintf(text, sizeof(text), "192.0.2.1 #%0255d\n192.0.2.2 #%0256d\n", 1, 1);
	write_list(text, strlen(text));
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	assert_int_equal(file.count, 2);
	assert_int_equal(strlen(xb_listfile_comment(&file, &file.items[0])), 255);
	assert_string_equal(xb_listfile_comment(&file, &file.items[1]), "");
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	xb_listfile_free(&file);
}

TEST(host_bits)
{
	static const char text[] =
		"# head\n192.0.2.0/24\n192.0.2.77/25 # x\n2001:db8::1/32\n198.51.100.1\n";
	struct xb_listfile file;

	write_list(text, strlen(text));
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	assert_described(
		&file, "plain: 192.0.2.0/24, 192.0.2.0/25 (x), 198.51.100.1, 2001:db8::/32; 2 cut");
	assert_int_equal(file.first_host_bits_line, 3);
	assert_string_equal(file.first_host_bits, "192.0.2.77/25");
	xb_listfile_free(&file);
}

/* Data that expire at the beginning of 2100. */
TEST(data_that_expire)
{
	static const char *const lists[] = {
		"$TIMESTAMP 2020:01:01 2100:01:01\n192.0.2.1\n!192.0.2.2\n",
		"192.0.2.1\n:$TIMESTAMP 0 21000101\n"};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		time_t left = 4102444800 - time(NULL);
		struct xb_listfile file;

		write_list(lists[i], strlen(lists[i]));
		assert_int_equal(xb_listfile_read(path, "ip4set", &file), 0);
		assert_int_equal(file.count, 1);
		assert_in_range(file.items[0].timeout, left - 60, left);
		xb_listfile_free(&file);
	}
}

TEST(a_zone_that_is_told)
{
	static const char text[] = "$TTL 60\na.example.rpz.test. CNAME .\nb.example CNAME .\n"
				   "@ SOA a. b. 1 2 3 4 5\nc.example.test. CNAME .\n";
	static const char *const names[] = {"rpz.test", "rpz.test.", "RPZ.test"};
	struct xb_listfile file;

	write_list(text, sizeof(text) - 1);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(xb_listfile_read_as(-1, path,
						     &(struct xb_listfile_terms){.zone = names[i]},
						     &file),
				 0);
		assert_described(
			&file,
			"rpz: =a.example, =b.example; 1 unknown (5: 'c.example.test. CNAME .')");
		xb_listfile_free(&file);
	}
	write_list("192.0.2.1\n", 10);
	xb_error_clear();
	assert_int_equal(xb_listfile_read_as(-1, path,
					     &(struct xb_listfile_terms){.zone = "a", .name = "l"},
					     &file),
			 -EINVAL);
	assert_string_equal(xb_error_message(), "l: only the format rpz has a zone, not plain");
}

/* A whole top-level domain is meant, however many lines say less of it. */
TEST(what_is_meant)
{
	static const char text[] = "zip\n*.zip\nmov\n*.example\n=example\n";
	struct xb_listfile file;

	write_list(text, sizeof(text) - 1);
	assert_int_equal(xb_listfile_read(path, "domains", &file), 0);
	assert_int_equal(file.count, 3);
	for (size_t i = 0; i < file.count; i++) {
		char name[XB_ENTRY_TEXT];

		xb_entry_format(&file.items[i].entry, name);
		assert_int_equal(file.items[i].meant, strcmp(name, "mov") != 0);
	}
	xb_listfile_free(&file);
}

static int read_bare(const char *text, struct xb_listfile *file)
{
	write_list(text, strlen(text));
	return xb_listfile_read_as(-1, path, &(struct xb_listfile_terms){.bare = true}, file);
}

/* Whether the file was held as it could be, and says what it says to who does not ask for that. */
static void says_the_same(const char *text, bool bare)
{
	struct xb_listfile asked, file;

	assert_int_equal(read_bare(text, &asked), 0);
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	if ((asked.bare != NULL) != bare || (asked.items != NULL) == bare)
		fail_msg("%s: %sbare, %sitems", text, asked.bare ? "" : "not ",
			 asked.items ? "" : "no ");
	assert_null(file.bare);
	assert_int_equal(asked.count, file.count);
	assert_int_equal(asked.repeats, file.repeats);
	assert_int_equal(asked.allowed, file.allowed);
	for (unsigned int wide = 0; wide < 2; wide++) {
		for (size_t i = 0; i < file.count; i++) {
			struct xb_item one = xb_listfile_at(&asked, i);

			assert_int_equal(xb_entry_compare(&one.entry, &file.items[i].entry), 0);
			assert_int_equal(one.entry.line, file.items[i].entry.line);
			assert_int_equal(one.timeout, file.items[i].timeout);
			assert_string_equal(xb_listfile_comment(&asked, &one),
					    xb_listfile_comment(&file, &file.items[i]));
		}
		assert_int_equal(xb_listfile_widen(&asked), 0);
		assert_null(asked.bare);
	}
	xb_listfile_free(&asked);
	xb_listfile_free(&file);
}

TEST(bare_addresses)
{
	struct xb_listfile file;

	says_the_same("192.0.2.7\n192.0.2.1\n\n# text\n  192.0.2.3\n192.0.2.1\n10.0.0.1/32\n",
		      true);
	says_the_same("192.0.2.7 # \n192.0.2.1\t\n192.0.2.2/32", true);
	says_the_same("192.0.2.7\t3\n192.0.2.1\t2\n", true);
	says_the_same("192.0.2.7\n192.0.2.1\n192.0.2.3 # why\n192.0.2.2\n", false);
	says_the_same("192.0.2.7\n192.0.2.1\n192.0.2.0/24\n192.0.2.2\n", false);
	says_the_same("192.0.2.7\n192.0.2.1-192.0.2.4\n192.0.2.1\n", false);
	says_the_same("192.0.2.7\n2001:db8::1\n192.0.2.1\n", false);
	says_the_same("create s hash:ip netmask 24\nadd s 192.0.2.7\nadd s 192.0.2.3\n", false);
	assert_int_equal(read_bare("192.0.2.7\n192.0.2.1\nx.example\n", &file), -EINVAL);
	assert_true(!file.bare && !file.items && !file.count);
	assert_int_equal(read_bare("# none\n", &file), -ENODATA);
	assert_null(file.bare);
}

/* More than was reserved for a pipe. */
TEST(bare_addresses_of_a_pipe)
{
	const uint32_t count = 5000;
	struct xb_listfile file;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	for (uint32_t i = count; i-- > 0;)
		dprintf(ends[1], "10.0.%u.%u\n", i >> 8, i & 255);
	close(ends[1]);
	assert_int_equal(xb_listfile_read_as(ends[0], "list",
					     &(struct xb_listfile_terms){.bare = true}, &file),
			 0);
	close(ends[0]);
	assert_non_null(file.bare);
	assert_int_equal(file.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_true(file.bare[i] == ((uint64_t)(10U << 24 | i) << 32 | (count - i)));
	xb_listfile_free(&file);
}

/* Lines put together from pieces of all formats, cut and damaged: never a crash, always an answer,
 * and every entry one that can be written and read again. tests/fuzz/fuzz_lists.c goes on. */
TEST(noise)
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
					     "\x0a",
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
					     "\x0a"};
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
			assert_int_equal(
				xb_entry_parse_listed(shown, strlen(shown), form, &again, NULL), 0);
			if (xb_entry_is_allow(&file.items[i].entry))
				again = xb_entry_allow(&again);
			assert_int_equal(xb_entry_compare(&again, &file.items[i].entry), 0);
		}
		xb_listfile_free(&file);
	}
}

TEST(real_lists)
{
	static const struct {
		const char *name, *format;
		size_t count, repeats;
	} lists[] = {
		{"ipsum.txt", "ipsum", 120430, 0},
		{"spamhaus-drop.txt", "plain", 989, 0},
		{"spamhaus-edrop.txt", "plain", 322, 0},
		{"spamhaus-dropv6.txt", "plain", 51, 0},
		{"firehol-level1.netset", "plain", 2892, 0},
		{"disposable-email-domains.txt", "domains", 8335, 0},
		{"adservers.hosts", "hosts", 42358, 173},
		{"hagezi-light-20000.adblock", "adblock", 19990, 0},
		{"hagezi-light-20000.wildcard", "domains", 19990, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct xb_listfile file;

		read_published(lists[i].name, lists[i].format, lists[i].count, &file);
		assert_int_equal(file.repeats, lists[i].repeats);
		assert_int_equal(file.host_bits, 0);
		assert_int_equal(file.unknown, 0);
		for (size_t j = 1; j < file.count; j++)
			assert_true(xb_entry_compare(&file.items[j - 1].entry,
						     &file.items[j].entry) < 0);
		xb_listfile_free(&file);
	}
}

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);
