/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeds: which lists from the network are refused; of their states, what is written is read again,
 * and what is damaged does no harm. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/feedguard.h"
#include "engine/feedstate.h"
#include "lists/reader.h"
#include "support/cmocka.h"

/* --- what is refused ---------------------------------------------------------------------------
 */

static struct xb_listfile file;

static void read_text(const char *text)
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	xb_listfile_free(&file);
	assert_int_equal(
		xb_listfile_read_as(fd, "list", &(struct xb_listfile_terms){.name = "list"}, &file),
		0);
	close(fd);
}

static int free_file(void **state)
{
	xb_listfile_free(&file);
	return 0;
}

static void assert_share(const char *text, bool ipv6, double addresses)
{
	double share;

	read_text(text);
	share = xb_feed_share(&file, ipv6) * (ipv6 ? ldexp(1, 125) : ldexp(1, 32));
	assert_true(fabs(share - addresses) <= addresses * 1e-9);
}

/* Each address once, whether hosts and prefixes lie in each other or not. */
TEST_WITH(shares_are_counted, NULL, free_file)
{
	assert_share("5.9.0.1\n", false, 1);
	assert_share("5.9.0.0/24\n5.9.0.1\n5.9.0.128/25\n5.9.1.0\n", false, 257);
	assert_share("5.0.0.0/8\n5.9.0.0/16\n5.255.255.255\n6.0.0.0\n", false, (1 << 24) + 1);
	assert_share("4.255.255.255\n5.0.0.0/9\n5.128.0.0/9\n5.64.0.0/10\n", false, (1 << 24) + 1);
	assert_share("255.255.255.255\n0.0.0.0/1\n", false, 2147483649.0);
	assert_share("5.9.0.1\n", true, 0);
	assert_share("2600::/16\n2600:1::/32\n2601::/32\n", true, ldexp(1, 112) + ldexp(1, 96));
	assert_share("example.com\n", false, 0);
}

static bool refuses(const struct xb_feed_guard *guard, const char *text, enum xb_feed_why why)
{
	struct xb_feed_refusal refusal = {0};
	bool good;

	read_text(text);
	good = xb_feed_guard_check(guard, &file, &refusal);
	assert_int_equal(refusal.why, good ? 0 : why);
	return !good;
}

TEST_WITH(too_many_or_too_wide, NULL, free_file)
{
	const struct xb_feed_guard two = {.most_entries = 2}, share = {.share = 0.01}, none = {0};

	assert_false(refuses(&two, "5.9.0.1\n5.9.0.2\n", XB_FEED_MANY_ENTRIES));
	assert_true(refuses(&two, "5.9.0.1\n5.9.0.2\n5.9.0.3\n", XB_FEED_MANY_ENTRIES));
	assert_false(refuses(&share, "16.0.0.0/8\n32.0.0.0/8\n", XB_FEED_SHARE));
	assert_true(refuses(&share, "16.0.0.0/8\n32.0.0.0/8\n64.0.0.0/8\n", XB_FEED_SHARE));
	assert_true(refuses(&share, "2a00::/8\n", XB_FEED_SHARE));
	assert_false(refuses(&none, "0.0.0.0/0\n::/0\n", XB_FEED_SHARE));
}

static bool lists(const char *canary, const char *text)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	struct xb_feed_guard guard = {.canaries = &entry, .canary_count = 1};

	assert_int_equal(xb_entry_parse(canary, strlen(canary), form, &entry, NULL), 0);
	return refuses(&guard, text, XB_FEED_CANARY);
}

TEST_WITH(canaries_must_not_be_listed, NULL, free_file)
{
	assert_true(lists("8.8.8.8", "8.8.8.8\n"));
	assert_true(lists("8.8.8.8", "8.0.0.0/9\n"));
	assert_true(lists("8.8.8.0/24", "8.8.8.8\n"));
	assert_false(lists("8.8.8.8", "8.8.8.9\n8.8.4.0/24\n::808:808\n"));
	assert_true(lists("2001:db8::1", "2001:db8::/32\n"));
	assert_true(lists("github.com", "github.com\n"));
	assert_true(lists("github.com", "example.org\ncom\n"));
	assert_false(lists("github.com", "malware.github.com\nnotgithub.com\n"));
	/* In a hosts file, and in a format in which a name stands for itself alone. */
	assert_true(lists("github.com", "0.0.0.0 github.com\n0.0.0.0 example.org\n"));
	assert_false(lists("github.com", "0.0.0.0 www.github.com\n0.0.0.0 example.org\n"));
	/* What a list exempts it does not list. */
	assert_false(lists("github.com", "||example.org^\n@@||github.com^\n"));
}

static bool is_html(const char *text)
{
	return xb_feed_is_html(text, strlen(text));
}

TEST(pages_are_known)
{
	assert_true(is_html("<!DOCTYPE html>"));
	assert_true(is_html("\xef\xbb\xbf\r\n\t <HTML lang=en>"));
	assert_true(is_html("<!-- a comment --><html>"));
	assert_true(is_html("<?xml version=\"1.0\"?>"));
	assert_false(is_html(""));
	assert_false(is_html("<"));
	assert_false(is_html("# <html>\n5.9.0.1\n"));
	assert_false(is_html("5.9.0.1\n"));
}

/* --- states -------------------------------------------------------------------------------------
 */

static char directory[64];

static int make(void **state)
{
	strcpy(directory, "/tmp/xb-feeds-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int clear(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command);
}

static struct xb_feed_state example(void)
{
	struct xb_feed_state feed = {.status = 200,
				     .last_attempt = 1000,
				     .last_success = 900,
				     .next_fetch = UINT32_MAX,
				     .entries = 12,
				     .flush = 1};

	strcpy(feed.name, "one");
	strcpy(feed.list, "first");
	strcpy(feed.outcome, XB_FEED_UPDATED);
	strcpy(feed.etag, "\"a \\ b\"");
	strcpy(feed.digest, "0123");
	return feed;
}

static void write_text(const char *name, const char *text)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/feeds/%s", directory, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

TEST_WITH(what_is_written_is_read, make, clear)
{
	struct xb_feed_state feed = example(), read;

	assert_int_equal(xb_feed_state_read(directory, "one", &read), -ENOENT);
	assert_string_equal(read.name, "one");
	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	assert_int_equal(xb_feed_state_read(directory, "one", &read), 0);
	assert_memory_equal(&read, &feed, sizeof(feed));
	feed.entries = 13;
	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	assert_int_equal(xb_feed_state_read(directory, "one", &read), 0);
	assert_int_equal(read.entries, 13);
	assert_int_equal(xb_feed_state_remove(directory, "one"), 0);
	assert_int_equal(xb_feed_state_remove(directory, "one"), 0);
	assert_int_equal(xb_feed_state_read(directory, "one", &read), -ENOENT);
}

/* Which lists it filled before, until they are dealt with. */
TEST_WITH(lists_that_are_left, make, clear)
{
	struct xb_feed_state feed = {.name = "one"}, read;
	char list[XB_FEED_LIST], long_name[XB_FEED_LIST];
	const char *at;
	bool fits = true;
	int count = 0;

	assert_true(xb_feed_fills(&feed, "a"));
	assert_string_equal(feed.left, "");
	assert_true(xb_feed_fills(&feed, "b"));
	assert_true(xb_feed_fills(&feed, "b"));
	assert_true(xb_feed_fills(&feed, "c"));
	assert_string_equal(feed.list, "c");
	assert_string_equal(feed.left, "a b");
	/* Filled again, it is not left. */
	assert_true(xb_feed_fills(&feed, "a"));
	assert_string_equal(feed.left, "b c");
	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	assert_int_equal(xb_feed_state_read(directory, "one", &read), 0);
	assert_memory_equal(&read, &feed, sizeof(feed));
	xb_feed_left_take(feed.left, "b");
	xb_feed_left_take(feed.left, "none");
	assert_string_equal(feed.left, "c");
	/* As earlier versions wrote it, and an odd file. */
	write_text("one.json", "{\"list\":\"x\",\"left\":\"y\"}");
	assert_int_equal(xb_feed_state_read(directory, "one", &read), 0);
	at = read.left;
	assert_true(xb_feed_left_next(&at, list));
	assert_string_equal(list, "y");
	assert_false(xb_feed_left_next(&at, list));
	strcpy(feed.left, "  a   b ");
	for (at = feed.left; xb_feed_left_next(&at, list); count++)
		assert_int_equal(strlen(list), 1);
	assert_int_equal(count, 2);
	for (count = 0; fits; count++) {
		memset(long_name, 'a' + count, sizeof(long_name) - 1);
		long_name[sizeof(long_name) - 1] = '\0';
		fits = xb_feed_fills(&feed, long_name);
	}
	assert_true(count > 10 && strlen(feed.left) < sizeof(feed.left));
}

TEST_WITH(damage_is_told_and_survived, make, clear)
{
	static const char *const damaged[] = {"", "{", "[]", "17", "{\"list\":", "\xff\xfe"};
	struct xb_feed_state feed = example(), read;

	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		write_text("one.json", damaged[i]);
		assert_true(xb_feed_state_read(directory, "one", &read) < 0);
		assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
		assert_int_equal(read.last_success, 0);
	}
	write_text("one.json", "{\"list\":17,\"entries\":\"x\",\"status\":-1,\"failures\":1e99,"
			       "\"period\":99999999999999999,\"outcome\":\"a\\u001bb\"}");
	assert_int_equal(xb_feed_state_read(directory, "one", &read), 0);
	assert_string_equal(read.list, "");
	assert_string_equal(read.outcome, "a?b");
	assert_int_equal(read.entries, 0);
	assert_int_equal(read.status, 0);
	assert_int_equal(read.failures, 0);
	assert_int_equal(read.period, 0);
	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	assert_int_equal(xb_feed_state_read(directory, "one", &read), 0);
}

TEST_WITH(links_and_pipes_are_refused, make, clear)
{
	struct xb_feed_state feed = example(), read;
	char path[128];

	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	snprintf(path, sizeof(path), "%s/feeds/two.json", directory);
	assert_int_equal(symlink("one.json", path), 0);
	assert_true(xb_feed_state_read(directory, "two", &read) < 0);
	strcpy(feed.name, "two");
	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	assert_int_equal(xb_feed_state_read(directory, "two", &read), 0);
	assert_int_equal(xb_feed_state_read(directory, "one", &read), 0);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(xb_feed_state_read(directory, "two", &read) < 0);
}

TEST_WITH(all_are_found, make, clear)
{
	struct xb_feed_state feed = example(), *feeds;
	size_t count;

	assert_int_equal(xb_feed_states_read(directory, &feeds, &count), 0);
	assert_int_equal(count, 0);
	free(feeds);
	strcpy(feed.name, "two");
	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	strcpy(feed.name, "a.b-c");
	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	write_text("bad.json", "{");
	write_text(".hidden.json", "{}");
	write_text("two.json.new", "{}");
	write_text("no name.json", "{}");
	assert_int_equal(xb_feed_states_read(directory, &feeds, &count), 0);
	assert_int_equal(count, 3);
	assert_string_equal(feeds[0].name, "a.b-c");
	assert_string_equal(feeds[1].name, "bad");
	assert_string_equal(feeds[1].outcome, "unreadable");
	assert_string_equal(feeds[2].name, "two");
	free(feeds);
}

static const char *removed; /* once the directory has been read */

int scandirat(int directory_fd, const char *path, struct dirent ***files,
	      int (*wanted)(const struct dirent *),
	      int (*order)(const struct dirent **, const struct dirent **))
{
	int (*next)(int, const char *, struct dirent ***, int (*)(const struct dirent *),
		    int (*)(const struct dirent **, const struct dirent **)) =
		dlsym(RTLD_NEXT, "scandirat");
	int count = next(directory_fd, path, files, wanted, order);

	if (removed)
		xb_feed_state_remove(directory, removed);
	return count;
}

TEST_WITH(one_that_goes_meanwhile_is_none, make, clear)
{
	struct xb_feed_state feed = example(), *feeds;
	size_t count;

	strcpy(feed.name, "one");
	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	strcpy(feed.name, "two");
	assert_int_equal(xb_feed_state_write(directory, &feed), 0);
	removed = "one";
	assert_int_equal(xb_feed_states_read(directory, &feeds, &count), 0);
	removed = NULL;
	assert_int_equal(count, 1);
	assert_string_equal(feeds[0].name, "two");
	free(feeds);
}

TEST(names_become_file_names)
{
	assert_true(xb_feed_name_ok("spamhaus-drop.v4_x"));
	assert_true(xb_feed_name_ok("0123456789012345678901234567890123456789"));
	assert_false(xb_feed_name_ok("01234567890123456789012345678901234567890"));
	assert_false(xb_feed_name_ok(""));
	assert_false(xb_feed_name_ok(".."));
	assert_false(xb_feed_name_ok("a/b"));
	assert_false(xb_feed_name_ok("-a"));
	assert_false(xb_feed_name_ok("a b"));
}
