/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of changes: each commit that changed something has one record, with what came and went;
 * the newest stay. */
#include <unistd.h>

#include "base/program.h"
#include "store/expiry.h"
#include "store/flush.h"
#include "store/journal.h"
#include "store/sealedrecord.h"
#include "support/storechanges.h"
#include "support/waiting.h"

/* "NUMBER WHO WHAT: LIST +CAME -WENT ~RENEWED, ...; ..." */
static int add_record(const struct xb_journal_record *record, void *context)
{
	struct listed_text *said = context;
	char text[128];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)record->number);
	add_text(said, said->used ? "; %s " : "%s ", text);
	add_text(said, "%s ", *record->author.who ? record->author.who : "-");
	add_text(said, "%s:", record->author.what);
	assert_int_equal(record->author.uid, getuid());
	assert_true(record->when > 1700000000);
	for (uint32_t i = 0; i < record->lists; i++) {
		const struct xb_journal_list *list = &record->list[i];

		snprintf(text, sizeof(text), "%s %s +%u -%u ~%u", i ? "," : "",
			 *list->name ? list->name : "others", list->came, list->went,
			 list->renewed);
		add_text(said, "%s", text);
		snprintf(text, sizeof(text), " expired %u", list->expired);
		add_text(said, "%s", list->expired ? text : "");
	}
	return 0;
}

static void assert_log(uint64_t from, const char *expected)
{
	struct listed_text said = {0};

	assert_int_equal(xb_journal_visit(txn, from, add_record, &said), 0);
	assert_string_equal(said.text, expected);
}

static void change(const char *changes)
{
	make_changes(txn, changes);
	commit_and_go_on();
}

static int begin_log(void **state)
{
	xb_program_set("test", NULL);
	unsetenv("SUDO_USER");
	xb_author_set("one");
	return begin_txn(state);
}

TEST_WITH(changes_are_told, begin_log, end_txn)
{
	uint64_t last;

	assert_log(1, "");
	assert_int_equal(xb_journal_last(txn, &last), 0);
	assert_int_equal(last, 0);
	change("+192.0.2.1 a; +192.0.2.2 a; +192.0.2.1 b; +example.com b; +!192.0.2.9 office");
	xb_author_set("feed %s", "drop");
	setenv("SUDO_USER", "ali\033ce", 1);
	change("+192.0.2.1 a 99 why; -192.0.2.2; -192.0.2.1 b");
	unsetenv("SUDO_USER");
	/* Nothing changed, or nothing was committed. */
	change("+192.0.2.1 a 99 why; -192.0.2.77");
	make_changes(txn, "+192.0.2.5 a");
	abort_and_go_on();
	/* A setting alone. */
	xb_author_set("policy monitor");
	txn->edits++;
	xb_journal_note(txn);
	commit_and_go_on();
	assert_log(1, "1 - test one: a +2 -0 ~0, b +2 -0 ~0, office +1 -0 ~0; "
		      "2 ali?ce test feed drop: a +0 -1 ~1, b +0 -1 ~0; 3 - test policy monitor:");
	assert_log(3, "3 - test policy monitor:");
	assert_log(4, "");
	assert_int_equal(xb_journal_last(txn, &last), 0);
	assert_int_equal(last, 3);
}

/* Whoever writes sweeps out what has expired, and has not done that. */
TEST_WITH(what_expires, begin_log, end_txn)
{
	uint64_t count;

	change("+192.0.2.1 a 50; +192.0.2.2 a 60; +192.0.2.2 b 50; +192.0.2.3 a");
	assert_int_equal(xb_expiry_sweep(txn, 50, &count), 0);
	change("+192.0.2.4 b; -192.0.2.3");
	assert_log(2, "2 - test one: a +0 -1 ~0 expired 1, b +1 -0 ~0 expired 1");
}

/* What stays was not away. */
TEST_WITH(what_is_flushed, begin_log, end_txn)
{
	uint64_t count;

	change("+192.0.2.1 a; +192.0.2.2 b; +192.0.2.3 b; +!192.0.2.9 office; +!192.0.2.8 b");
	assert_int_equal(xb_flush_listed(txn), 0);
	commit_and_go_on();
	assert_log(2, "2 - test one: a +0 -1 ~0, b +0 -2 ~0");
	change("+192.0.2.1 a; +192.0.2.2 b");
	assert_int_equal(xb_flush_list(txn, list_of(txn, "b")->id, &count), 0);
	commit_and_go_on();
	assert_log(4, "4 - test one: b +0 -1 ~0");
}

TEST_WITH(many_lists_are_one_sum, begin_log, end_txn)
{
	char text[64];

	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), "+192.0.2.%d list%d; +192.0.3.%d list%d", i, i, i, i);
		make_changes(txn, text);
	}
	commit_and_go_on();
	assert_log(1, "1 - test one: list0 +2 -0 ~0, list1 +2 -0 ~0, list2 +2 -0 ~0, "
		      "list3 +2 -0 ~0, list4 +2 -0 ~0, list5 +2 -0 ~0, list6 +2 -0 ~0, "
		      "list7 +2 -0 ~0, others +24 -0 ~0");
}

/* As long as texts and names can be. */
TEST_WITH(long_texts_are_cut, begin_log, end_txn)
{
	char command[400], list[65], *words[] = {"add", "a b", command, NULL}, expected[600],
				     entry[80];

	memset(command, 'x', sizeof(command) - 1);
	command[sizeof(command) - 1] = '\0';
	memset(list, 'l', 64);
	list[64] = '\0';
	setenv("SUDO_USER", command, 1);
	xb_author_sign(3, words);
	snprintf(entry, sizeof(entry), "+192.0.2.1 %s", list);
	change(entry);
	unsetenv("SUDO_USER");
	snprintf(expected, sizeof(expected), "1 %.32s test add \"a b\" %.*s: %s +1 -0 ~0", command,
		 XB_AUTHOR_WHAT - (int)strlen("test add \"a b\" "), command, list);
	assert_log(1, expected);
}

struct ends {
	uint64_t first, last, count;
};

static int count_record(const struct xb_journal_record *record, void *context)
{
	struct ends *ends = context;

	ends->first = ends->count ? ends->first : record->number;
	ends->last = record->number;
	ends->count++;
	return record->number == 4300 ? 7 : 0;
}

/* By hand, since thousands of commits take a while; and what comes behind is not touched. */
TEST_WITH(the_newest_stay, begin_log, end_txn)
{
	struct ends ends = {0};
	char key[32];

	change("+192.0.2.1 a");
	for (unsigned int i = 2; i < 4224; i++) {
		const void *found;
		uint8_t copy[512];
		size_t size;

		assert_int_equal(xb_sealed_find(txn, "log0000000000000001", &found, &size), 1);
		memcpy(copy, found, size);
		snprintf(key, sizeof(key), "log%016x", i);
		assert_int_equal(xb_sealed_put(txn, key, copy, size), 0);
	}
	commit_and_go_on();
	assert_int_equal(xb_journal_visit(txn, 1, count_record, &ends), 0);
	assert_int_equal(ends.count, 4223);
	change("+192.0.2.2 a");
	ends = (struct ends){0};
	assert_int_equal(xb_journal_visit(txn, 1, count_record, &ends), 0);
	assert_int_equal(ends.first, 4224 - XB_JOURNAL_MOST + 1);
	assert_int_equal(ends.last, 4224);
	for (int i = 0; i < 80; i++) {
		snprintf(key, sizeof(key), "+192.0.3.%d a", i);
		change(key);
	}
	ends = (struct ends){0};
	/* A callback ends it. */
	assert_int_equal(xb_journal_visit(txn, 4200, count_record, &ends), 7);
	assert_int_equal(ends.first, 4200);
	assert_int_equal(ends.last, 4300);
}

static void assert_unreadable(const char *what)
{
	struct listed_text said = {0};
	int error = xb_journal_visit(txn, 1, add_record, &said);

	if (error >= 0)
		fail_msg("%s: %s", what, said.text);
	xb_error_clear();
}

/* A record of another length, with longer texts than it has, or that is missing. */
TEST_WITH(damage_is_told, begin_log, end_txn)
{
	static const char first[] = "log0000000000000001";
	uint8_t bytes[512], broken[512];
	const void *found;
	size_t size;

	change("+192.0.2.1 a");
	change("+192.0.2.2 a");
	assert_int_equal(xb_sealed_find(txn, first, &found, &size), 1);
	memcpy(bytes, found, size);
	for (size_t at = 8; at < 11; at++) {
		memcpy(broken, bytes, size);
		broken[at] = 255;
		assert_int_equal(xb_sealed_put(txn, first, broken, size), 0);
		assert_unreadable("sizes");
	}
	for (size_t cut = 5; cut < size; cut++) {
		memcpy(broken, bytes, size);
		assert_int_equal(xb_sealed_put(txn, first, broken, cut), 0);
		assert_unreadable("cut");
	}
	assert_int_equal(xb_sealed_put(txn, first, bytes, size), 0);
	assert_log(1, "1 - test one: a +1 -0 ~0; 2 - test one: a +1 -0 ~0");
	change("+192.0.2.3 a");
	assert_int_equal(xb_sealed_remove(txn, "log0000000000000002"), 0);
	assert_unreadable("hole");
}
