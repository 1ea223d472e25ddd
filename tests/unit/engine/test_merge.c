/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files put into a list of the store: what is counted, what stays of other lists, and an outcome
 * that is compared with the file. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "engine/merge.h"
#include "support/cmocka.h"
#include "support/storechanges.h"
#include "support/scratch_txn.h"

#define NOW  1000
#define MOST 64

static struct xb_listfile file;
static struct xb_item items[MOST];
static char comments[MOST * 32];
static uint8_t forms[MOST][XB_NAME_BYTES];

static void read_line(struct xb_item *item, uint8_t form[XB_NAME_BYTES], char *line)
{
	char *entry = strsep(&line, " "), *timeout = strsep(&line, " ");
	bool allow = *entry == '!';

	entry += allow;
	assert_int_equal(xb_entry_parse(entry, strlen(entry), form, &item->entry, NULL), 0);
	if (allow)
		item->entry = xb_entry_allow(&item->entry);
	item->timeout = timeout ? (uint32_t)atoll(timeout) : 0;
}

/* The file of these lines, in any order: "ENTRY[ TIMEOUT[ COMMENT]]; ...". */
static void read_lines(const char *lines)
{
	struct xb_item *sorted = calloc(MOST, sizeof(*sorted));
	char copy[1024], *rest = copy, *line;
	size_t count = 0, used = 1;

	assert_non_null(sorted);
	strcpy(copy, lines);
	while (*lines && (line = strsep(&rest, ";"))) {
		char *comment;

		line += strspn(line, " ");
		comment = strchr(line, ' ');
		comment = comment ? strchr(comment + 1, ' ') : NULL;
		if (comment) {
			sorted[count].comment = (uint32_t)used & 0x3fffffff;
			strcpy(comments + used, comment + 1);
			used += strlen(comment);
		}
		read_line(&sorted[count], forms[count], line);
		count++;
	}
	assert_int_equal(xb_entry_sort(&sorted, count, sizeof(*sorted)), 0);
	memcpy(items, sorted, count * sizeof(*items));
	free(sorted);
	file = (struct xb_listfile){.items = items, .count = count, .comments = comments};
}

static struct xb_merge merge(void)
{
	return (struct xb_merge){.file = &file, .list = list_of(txn, "ours")->id, .now = NOW};
}

static void counts(const struct xb_merge *one, uint64_t added, uint64_t renewed, uint64_t unchanged,
		   uint64_t removed)
{
	if (one->added != added || one->renewed != renewed || one->unchanged != unchanged ||
	    one->removed != removed)
		fail_msg("added %d, renewed %d, unchanged %d, removed %d", (int)one->added,
			 (int)one->renewed, (int)one->unchanged, (int)one->removed);
}

static void is_added(const char *text, uint32_t added)
{
	struct xb_entry entry = entry_of(text);
	struct xb_membership member;
	struct xb_members members;

	assert_int_equal(xb_members_of(txn, &entry, &members), 0);
	assert_true(xb_members_have(members, list_of(txn, "ours")->id, &member));
	assert_int_equal(member.added, added);
}

/* With a comment and without, that ends and does not, of each kind, and of another list as well. */
static void fill(void)
{
	make_changes(txn, "+192.0.2.1 ours 0 kept; +192.0.2.1 others 0 theirs; "
			  "+192.0.2.2 ours 2000 soon; +192.0.2.3 ours; +198.51.100.0/24 others; "
			  "+2001:db8::/32 ours; +example.com ours; +!203.0.113.1 ours; "
			  "+!=www.example.com ours; +!203.0.113.2 others");
}

/* What a line does not say stays. */
TEST(added_to_a_list)
{
	struct xb_merge one;

	fill();
	read_lines("192.0.2.1; 192.0.2.2 3000 later; 192.0.2.3 60; 192.0.2.4 0 new; "
		   "198.51.100.0/24; example.com; !203.0.113.1; !203.0.113.3");
	one = merge();
	assert_int_equal(xb_merge_check(&one), 0);
	assert_int_equal(xb_merge_add(txn, &one), 0);
	counts(&one, 3, 2, 3, 0);
	assert_store(txn, "198.51.100.0/24 others ours; 192.0.2.1 ours (kept) others (theirs); "
			  "192.0.2.2 ours until 4000 (later); 192.0.2.3 ours until 1060; "
			  "192.0.2.4 ours (new); 2001:db8::/32 ours; example.com ours; "
			  "!203.0.113.1 ours; !203.0.113.2 others; !203.0.113.3 ours; "
			  "!=www.example.com ours");
	is_added("192.0.2.1", 1);
	is_added("192.0.2.2", 1);
	is_added("192.0.2.4", NOW);
	is_added("198.51.100.0/24", NOW);
	is_added("!203.0.113.3", NOW);
}

/* As the file says, also of expiry and comment; other lists are none of its business. */
TEST(replaced)
{
	struct xb_merge one;

	fill();
	read_lines("192.0.2.1; 192.0.2.2 1000 soon; 192.0.2.4 0 new; 198.51.100.0/24; "
		   "example.net; !203.0.113.3 5; !=www.example.com");
	one = merge();
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	counts(&one, 4, 1, 2, 4);
	assert_store(txn, "198.51.100.0/24 others ours; 192.0.2.1 others (theirs) ours; "
			  "192.0.2.2 ours until 2000 (soon); 192.0.2.4 ours (new); "
			  "example.net ours; !203.0.113.2 others; !203.0.113.3 ours until 1005; "
			  "!=www.example.com ours");
	is_added("192.0.2.1", 1);
	is_added("192.0.2.4", NOW);
	/* Once more: nothing is left to do. */
	one = merge();
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	counts(&one, 0, 0, 7, 0);
}

TEST(an_empty_file)
{
	struct xb_merge one;

	fill();
	read_lines("");
	one = merge();
	assert_int_equal(xb_merge_check(&one), 0);
	assert_int_equal(xb_merge_add(txn, &one), 0);
	counts(&one, 0, 0, 0, 0);
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	counts(&one, 0, 0, 0, 7);
	assert_store(txn, "198.51.100.0/24 others; 192.0.2.1 others (theirs); !203.0.113.2 others");
	/* Of nothing, nothing is taken. */
	one = merge();
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	counts(&one, 0, 0, 0, 0);
}

/* Where the file ends behind, before, and between what the store has. */
TEST(edges_of_the_order)
{
	static const char *const files[][2] = {{"0.0.0.0/0", "0.0.0.0/0 ours"},
					       {"zz", "zz ours"},
					       {"!zz", "!zz ours"},
					       {"0.0.0.0/0", "0.0.0.0/0 ours"}};
	struct xb_merge one;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		read_lines(files[i][0]);
		one = merge();
		assert_int_equal(xb_merge_replace(txn, &one), 0);
		counts(&one, 1, 0, 0, i > 0);
		assert_store(txn, files[i][1]);
	}
}

static void is_too_late(int error)
{
	assert_int_equal(error, -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_int_equal(strncmp(xb_error_message(), "192.0.2.2: ", 11), 0);
	assert_non_null(strstr(xb_error_message(), "2106"));
}

/* An end is a number of 32 bits. */
TEST(expiries_up_to_2106)
{
	struct xb_merge one;

	read_lines("192.0.2.1 4294966295"); /* UINT32_MAX - NOW */
	one = merge();
	assert_int_equal(xb_merge_check(&one), 0);
	assert_int_equal(xb_merge_add(txn, &one), 0);
	assert_store(txn, "192.0.2.1 ours until 4294967295");
	read_lines("192.0.2.1 5; 192.0.2.2 4294966296");
	one = merge();
	is_too_late(xb_merge_check(&one));
	is_too_late(xb_merge_add(txn, &one));
	is_too_late(xb_merge_replace(txn, &one));
	assert_store(txn, "192.0.2.1 ours until 1005");
	/* Also of an entry that is there. */
	make_changes(txn, "+192.0.2.2 ours");
	is_too_late(xb_merge_replace(txn, &one));
	assert_store(txn, "192.0.2.1 ours until 1005; 192.0.2.2 ours");
}

#define MANY  12000
#define APART 100 /* of those that are there before */

/* New ones between those that are there, over many records of the store. */
TEST(new_ones_among_many)
{
	struct xb_item *many = calloc(MANY, sizeof(*many));
	char *texts = calloc(MANY, 16);
	struct xb_merge one;

	assert_true(many && texts);
	for (uint32_t i = 0; i < MANY; i++) {
		char address[32], *text = texts + 16 * (size_t)i;

		snprintf(address, sizeof(address), "10.0.%u.%u", i >> 8, i & 255);
		many[i].entry = entry_of(address);
		many[i].comment = 16 * i & 0x3fffffff;
		snprintf(text, 16, "number %u", i);
		if (i % APART == 1)
			list_with(txn, address, "ours", 0, text);
	}
	file = (struct xb_listfile){.items = many, .count = MANY, .comments = texts};
	one = merge();
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	/* The first has the offset that means none; it is new. */
	counts(&one, MANY - MANY / APART, 0, MANY / APART, 0);
	is_added("10.0.0.1", 1);
	is_added("10.0.0.2", NOW);
	is_added("10.0.46.125", 1);
	is_added("10.0.46.223", NOW);
	/* All of it is as the file says. */
	one = merge();
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	counts(&one, 0, 0, MANY, 0);
	free(many);
	free(texts);
}

EACH_TEST(begin_txn, end_txn);
