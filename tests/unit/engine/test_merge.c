/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files put into a list of the store: what is counted, what stays of other lists, and an outcome
 * that is compared with the file. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "engine/merge.h"
#include "store/membership.h"
#include "support/cmocka.h"
#include "support/scratch_txn.h"

#define NOW  1000
#define THEN 500 /* when the store was filled */
#define MOST 64

static uint32_t ours, others;

static uint32_t list_of(const char *name)
{
	struct xb_list *list;

	assert_int_equal(xb_list_need(txn, name, &list), 0);
	return list->id;
}

static int open_txn(void **state)
{
	int error = begin(state);

	if (!error)
		error = xb_store_write(store, &txn);
	if (!error) {
		ours = list_of("ours");
		others = list_of("others");
	}
	return error;
}

struct line {
	const char *entry, *comment;
	uint32_t timeout;
	bool allow;
};

static struct xb_listfile file;
static struct xb_item items[MOST];
static char comments[MOST * 32];
static uint8_t forms[MOST][XB_NAME_BYTES];

static struct xb_entry parse(const char *text, uint8_t form[XB_NAME_BYTES], bool allow)
{
	struct xb_entry entry;

	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL), 0);
	return allow ? xb_entry_allow(&entry) : entry;
}

/* The file of these lines, which may be in any order. */
static void read_lines(const struct line *lines, size_t count)
{
	struct xb_item *sorted = calloc(count + 1, sizeof(*sorted));
	size_t used = 1;

	assert_true(sorted && count <= MOST);
	for (size_t i = 0; i < count; i++) {
		const char *comment = lines[i].comment ? lines[i].comment : "";

		sorted[i].entry = parse(lines[i].entry, forms[i], lines[i].allow);
		sorted[i].timeout = lines[i].timeout;
		if (*comment) {
			sorted[i].comment = (uint32_t)used & 0x3fffffff;
			strcpy(comments + used, comment);
			used += strlen(comment) + 1;
		}
	}
	assert_int_equal(xb_entry_sort(&sorted, count, sizeof(*sorted)), 0);
	memcpy(items, sorted, count * sizeof(*items));
	free(sorted);
	file = (struct xb_listfile){.items = items, .count = count, .comments = comments};
}

static struct xb_merge merge(void)
{
	return (struct xb_merge){.file = &file, .list = ours, .now = NOW};
}

static void put(const char *text, uint32_t list, uint32_t expires, const char *comment, bool allow)
{
	struct xb_membership member = {.list = list,
				       .added = THEN,
				       .expires = expires,
				       .comment = comment,
				       .comment_size = (uint32_t)strlen(comment)};
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry = parse(text, form, allow);
	enum xb_put result;

	assert_int_equal(xb_member_put(txn, &entry, &member, 0, &result), 0);
	assert_int_equal(result == XB_PUT_LISTED || result == XB_PUT_JOINED, 1);
}

static bool look(const char *text, bool allow, uint32_t list, struct xb_membership *member)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry = parse(text, form, allow);
	struct xb_members members;

	return !xb_members_of(txn, &entry, &members) && xb_members_have(members, list, member);
}

static void has(const char *text, bool allow, uint32_t list, uint32_t added, uint32_t expires,
		const char *comment)
{
	struct xb_membership member = {0};

	if (!look(text, allow, list, &member))
		fail_msg("%s is missing", text);
	assert_int_equal(member.added, added);
	assert_int_equal(member.expires, expires);
	assert_int_equal(member.comment_size, strlen(comment));
	assert_memory_equal(member.comment, comment, member.comment_size);
}

static void has_not(const char *text, bool allow, uint32_t list)
{
	struct xb_membership member;

	if (look(text, allow, list, &member))
		fail_msg("%s is there", text);
}

static void counts(const struct xb_merge *one, uint64_t added, uint64_t renewed, uint64_t unchanged,
		   uint64_t removed)
{
	if (one->added != added || one->renewed != renewed || one->unchanged != unchanged ||
	    one->removed != removed)
		fail_msg("added %d, renewed %d, unchanged %d, removed %d", (int)one->added,
			 (int)one->renewed, (int)one->unchanged, (int)one->removed);
}

static void fill(void)
{
	put("192.0.2.1", ours, 0, "kept", false);
	put("192.0.2.1", others, 0, "theirs", false);
	put("192.0.2.2", ours, 2000, "soon", false);
	put("192.0.2.3", ours, 0, "", false);
	put("198.51.100.0/24", others, 0, "", false);
	put("2001:db8::/32", ours, 0, "", false);
	put("example.com", ours, 0, "", false);
	put("203.0.113.1", ours, 0, "", true);
	put("=www.example.com", ours, 0, "", true);
	put("203.0.113.2", others, 0, "", true);
}

/* What a line does not say stays. */
TEST(added_to_a_list)
{
	static const struct line lines[] = {
		{"192.0.2.1", NULL, 0, false},	     {"192.0.2.2", "later", 3000, false},
		{"192.0.2.3", NULL, 60, false},	     {"192.0.2.4", "new", 0, false},
		{"198.51.100.0/24", NULL, 0, false}, {"example.com", NULL, 0, false},
		{"203.0.113.1", NULL, 0, true},	     {"203.0.113.3", NULL, 0, true},
	};
	struct xb_merge one;

	fill();
	read_lines(lines, sizeof(lines) / sizeof(lines[0]));
	one = merge();
	assert_int_equal(xb_merge_check(&one), 0);
	assert_int_equal(xb_merge_add(txn, &one), 0);
	counts(&one, 3, 2, 3, 0);
	has("192.0.2.1", false, ours, THEN, 0, "kept");
	has("192.0.2.1", false, others, THEN, 0, "theirs");
	has("192.0.2.2", false, ours, THEN, 4000, "later");
	has("192.0.2.3", false, ours, THEN, NOW + 60, "");
	has("192.0.2.4", false, ours, NOW, 0, "new");
	has("198.51.100.0/24", false, ours, NOW, 0, "");
	has("198.51.100.0/24", false, others, THEN, 0, "");
	has("2001:db8::/32", false, ours, THEN, 0, "");
	has("203.0.113.3", true, ours, NOW, 0, "");
	has_not("203.0.113.3", false, ours);
	has("=www.example.com", true, ours, THEN, 0, "");
}

/* As the file says, also of expiry and comment; other lists are none of its business. */
TEST(replaced)
{
	static const struct line lines[] = {
		{"192.0.2.1", NULL, 0, false},	     {"192.0.2.2", "soon", 1000, false},
		{"192.0.2.4", "new", 0, false},	     {"198.51.100.0/24", NULL, 0, false},
		{"example.net", NULL, 0, false},     {"203.0.113.3", NULL, 5, true},
		{"=www.example.com", NULL, 0, true},
	};
	struct xb_merge one;

	fill();
	read_lines(lines, sizeof(lines) / sizeof(lines[0]));
	one = merge();
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	counts(&one, 4, 1, 2, 4);
	has("192.0.2.1", false, ours, THEN, 0, "");
	has("192.0.2.1", false, others, THEN, 0, "theirs");
	has("192.0.2.2", false, ours, THEN, 2000, "soon");
	has_not("192.0.2.3", false, ours);
	has("192.0.2.4", false, ours, NOW, 0, "new");
	has("198.51.100.0/24", false, ours, NOW, 0, "");
	has("198.51.100.0/24", false, others, THEN, 0, "");
	has_not("2001:db8::/32", false, ours);
	has_not("example.com", false, ours);
	has("example.net", false, ours, NOW, 0, "");
	has_not("203.0.113.1", true, ours);
	has("203.0.113.2", true, others, THEN, 0, "");
	has_not("203.0.113.2", true, ours);
	has("203.0.113.3", true, ours, NOW, NOW + 5, "");
	has("=www.example.com", true, ours, THEN, 0, "");
	/* Once more: nothing is left to do. */
	one = merge();
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	counts(&one, 0, 0, 7, 0);
}

TEST(an_empty_file)
{
	struct xb_merge one;

	fill();
	read_lines(NULL, 0);
	one = merge();
	assert_int_equal(xb_merge_check(&one), 0);
	assert_int_equal(xb_merge_add(txn, &one), 0);
	counts(&one, 0, 0, 0, 0);
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	counts(&one, 0, 0, 0, 7);
	has_not("192.0.2.1", false, ours);
	has("192.0.2.1", false, others, THEN, 0, "theirs");
	has("203.0.113.2", true, others, THEN, 0, "");
	/* Of nothing, nothing is taken. */
	one = merge();
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	counts(&one, 0, 0, 0, 0);
}

/* Where the file ends behind, before, and between what the store has. */
TEST(edges_of_the_order)
{
	static const struct line first[] = {{"0.0.0.0/0", NULL, 0, false}},
				 last[] = {{"zz", NULL, 0, false}},
				 last_allowed[] = {{"zz", NULL, 0, true}};
	static const struct line *const files[] = {first, last, last_allowed, first};
	struct xb_merge one;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		read_lines(files[i], 1);
		one = merge();
		assert_int_equal(xb_merge_replace(txn, &one), 0);
		counts(&one, 1, 0, 0, i > 0);
		has(files[i]->entry, files[i]->allow, ours, NOW, 0, "");
	}
}

TEST(expiries_up_to_2106)
{
	struct line line = {"192.0.2.1", NULL, UINT32_MAX - NOW, false};
	struct xb_merge one;

	read_lines(&line, 1);
	one = merge();
	assert_int_equal(xb_merge_check(&one), 0);
	assert_int_equal(xb_merge_add(txn, &one), 0);
	has("192.0.2.1", false, ours, NOW, UINT32_MAX, "");
}

static void is_too_late(int error)
{
	assert_int_equal(error, -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_int_equal(strncmp(xb_error_message(), "192.0.2.2: ", 11), 0);
	assert_non_null(strstr(xb_error_message(), "2106"));
}

TEST(expiries_that_are_too_late)
{
	static const struct line lines[] = {{"192.0.2.1", NULL, 5, false},
					    {"192.0.2.2", NULL, UINT32_MAX - NOW + 1, false}};
	struct xb_merge one;

	read_lines(lines, 2);
	one = merge();
	is_too_late(xb_merge_check(&one));
	is_too_late(xb_merge_add(txn, &one));
	has_not("192.0.2.2", false, ours);
	is_too_late(xb_merge_replace(txn, &one));
	has_not("192.0.2.2", false, ours);
	/* Also of an entry that is there. */
	put("192.0.2.2", ours, 0, "", false);
	is_too_late(xb_merge_replace(txn, &one));
	has("192.0.2.2", false, ours, THEN, 0, "");
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
		char address[32];

		snprintf(address, sizeof(address), "10.0.%u.%u", i >> 8, i & 255);
		many[i].entry = parse(address, NULL, false);
		many[i].comment = 16 * i & 0x3fffffff;
		snprintf(texts + 16 * (size_t)i, 16, "number %u", i);
		if (i % APART == 1)
			put(address, ours, 0, texts + 16 * (size_t)i, false);
	}
	file = (struct xb_listfile){.items = many, .count = MANY, .comments = texts};
	one = merge();
	assert_int_equal(xb_merge_replace(txn, &one), 0);
	/* The first has the offset that means none; it is new. */
	counts(&one, MANY - MANY / APART, 0, MANY / APART, 0);
	has("10.0.0.1", false, ours, THEN, 0, "number 1");
	has("10.0.0.2", false, ours, NOW, 0, "number 2");
	has("10.0.46.125", false, ours, THEN, 0, "number 11901");
	has("10.0.46.223", false, ours, NOW, 0, "number 11999");
	free(many);
	free(texts);
}

EACH_TEST(open_txn, end_txn);
