/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of feeds: what is written is read again, and what is damaged does no harm. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/feedstate.h"
#include "support/cmocka.h"

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
	FILE *file;

	snprintf(path, sizeof(path), "%s/feeds/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
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
