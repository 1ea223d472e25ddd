/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that a list was replaced by is known again until the list changes, and so is a list by the
 * stamp of who fills it. */
#include <string.h>
#include <unistd.h>

#include "engine/import.h"
#include "engine/stamp.h"
#include "store/expiry.h"
#include "store/flush.h"
#include "store/listclass.h"
#include "support/cmocka.h"
#include "support/storechanges.h"
#include "support/writer.h"

static const char text[] = "9.9.9.9\n9.9.9.10\n9.9.9.9\n2001:db9::/32\n# end\n";

static struct xb_listfile file;
static struct xb_import_refusal refusal;
static char path[sizeof(directory) + 8];
static char stamp[XB_STAMP_TEXT];

static int begin_closed(void **state)
{
	int error = begin(state);

	xb_store_close(store);
	snprintf(path, sizeof(path), "%s/list", directory);
	*stamp = '\0';
	return error;
}

static int end_closed(void **state)
{
	xb_listfile_free(&file);
	store = NULL;
	return end(state);
}

static void put_file(const char *bytes)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_true(fputs(bytes, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static void open_store(void)
{
	assert_int_equal(xb_store_open(directory, XB_STORE_WRITE, &store), 0);
	assert_int_equal(open_txn(), 0);
}

static void commit(void)
{
	assert_int_equal(xb_txn_commit(txn), 0);
	xb_store_close(store);
}

static void change(const char *changes)
{
	open_store();
	make_changes(txn, changes);
	commit();
}

static struct xb_import asked(void)
{
	return (struct xb_import){
		.file = &file, .imprints = true, .asked = {.list = "feed", .replace = true}};
}

static const struct xb_listfile_terms plain = {.name = "list"};

/* Reads what is in the file, with these terms, and gives it to the list. */
static void import_as(const struct xb_listfile_terms *terms, struct xb_import import)
{
	xb_listfile_free(&file);
	assert_int_equal(xb_import_read(-1, path, terms, &import, &refusal), 0);
	open_store();
	assert_int_equal(xb_import_apply(&writer, &import, &refusal), 0);
	commit();
	xb_listfile_free(&file);
}

static void import_text(const char *bytes)
{
	put_file(bytes);
	import_as(&plain, asked());
}

static bool is_repeated(void)
{
	struct xb_import import = asked();

	return xb_import_is_repeated(directory, path, &plain, &import);
}

static void put_stamp(void)
{
	open_store();
	assert_int_equal(xb_stamp_put(txn, "feed", stamp), 0);
	commit();
	assert_true(xb_stamp_holds(directory, "feed", stamp));
}

TEST(the_same_file_is_known)
{
	struct xb_import import = asked();

	put_file(text);
	assert_int_equal(is_repeated(), 0);
	import_text(text);
	assert_int_equal(xb_import_is_repeated(directory, path, &plain, &import), 1);
	assert_int_equal(file.bytes, strlen(text));
	assert_int_equal(file.lines, 5);
	assert_int_equal(file.repeats, 1);
	assert_int_equal(file.allowed, 0);
	assert_string_equal(file.format, "plain");
	assert_false(import.has_names);
	import_text("evil.example\n");
	assert_int_equal(xb_import_is_repeated(directory, path, &plain, &import), 1);
	assert_true(import.has_names);
}

TEST(another_file_is_not)
{
	char changed[sizeof(text)];

	import_text(text);
	memcpy(changed, text, sizeof(text));
	*strchr(changed, '1') = '2';
	put_file(changed);
	assert_int_equal(is_repeated(), 0);
	put_file("9.9.9.9\n");
	assert_int_equal(is_repeated(), 0);
	put_file(text);
	assert_int_equal(is_repeated(), 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(is_repeated(), 0);
}

static int flush_feed(struct xb_txn *of)
{
	uint64_t count;

	return xb_flush_list(of, xb_list_find(of, "feed")->id, &count);
}

static int give_scope(struct xb_txn *of)
{
	struct xb_scope scope;
	int error = xb_scope_parse("tcp/25", &scope);

	return error ? error : xb_list_scope_set(of, xb_list_find(of, "feed"), &scope);
}

/* Whether the list is known by the imprint of its file, and by a stamp, after changes, a function
 * and more changes within one transaction. */
TEST(each_change_of_the_list_counts)
{
	static const struct {
		const char *changes;
		int (*then)(struct xb_txn *);
		const char *more;
		bool known;
	} rows[] = {
		{"+9.9.9.11 feed", NULL, "", false},
		{"-9.9.9.10 feed", NULL, "", false},
		{"-9.9.9.10", NULL, "", false},
		{"-2001:db9::/32 feed; +2001:db9::/32 feed", NULL, "", false},
		{"-9.9.9.10 feed; +9.9.9.11 feed", NULL, "", false}, /* as many as before */
		{"+9.9.9.10 feed 0 port scan", NULL, "", false},
		{"+9.9.9.10 feed 1001", NULL, "", false},
		{"feed refused", xb_flush_all, "", false}, /* the list stays for its verdict */
		{"", flush_feed, "+9.9.9.9 feed", false},
		{"", xb_flush_listed, "+9.9.9.9 feed", false},
		{"+9.9.9.10 other; +7.7.7.7 other 1001 scan; -7.7.7.7 other; +9.9.9.9 allow", NULL,
		 "", true},
		{"+9.9.9.10 feed; -7.7.7.7 feed", NULL, "", true},
		{"feed refused", NULL, "", true},
		{"", give_scope, "", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int stamped = 0; stamped < 2; stamped++) {
			bool known;

			import_text(text);
			assert_int_equal(is_repeated(), 1);
			if (stamped)
				put_stamp();
			open_store();
			make_changes(txn, rows[i].changes);
			if (rows[i].then)
				assert_int_equal(rows[i].then(txn), 0);
			make_changes(txn, rows[i].more);
			commit();
			known = stamped ? xb_stamp_holds(directory, "feed", stamp) : is_repeated();
			if (known != rows[i].known)
				fail_msg("row %zu, stamped %d", i, stamped);
		}
}

TEST(an_end_that_has_come)
{
	uint64_t count;

	import_text("9.9.9.9\n");
	change("+9.9.9.10 feed 1001");
	put_stamp();
	open_store();
	assert_int_equal(xb_expiry_sweep(txn, NOW + 2, &count), 0);
	assert_int_equal(count, 1);
	commit();
	assert_false(xb_stamp_holds(directory, "feed", stamp));
}

TEST(a_stamp_stays_with_its_list)
{
	char before[XB_STAMP_TEXT];

	change("+9.9.9.9 feed; +9.9.9.9 other");
	put_stamp();
	memcpy(before, stamp, sizeof(before));
	put_stamp();
	assert_string_equal(stamp, before);
	assert_false(xb_stamp_holds(directory, "other", stamp));
	/* What came and went again within a transaction has changed it. */
	open_store();
	make_changes(txn, "-9.9.9.9 feed; +9.9.9.9 feed");
	assert_int_equal(xb_stamp_put(txn, "feed", stamp), 0);
	commit();
	assert_string_not_equal(stamp, before);
	assert_true(xb_stamp_holds(directory, "feed", stamp));
	assert_false(xb_stamp_holds(directory, "feed", before));
}

TEST(what_is_no_stamp)
{
	const struct xb_imprint imprint = {.key = {1, 2}, .bytes = 5};

	assert_false(xb_stamp_holds(directory, "feed", ""));
	assert_false(xb_stamp_holds("/nowhere", "feed", ""));
	change("+9.9.9.9 feed");
	assert_false(xb_stamp_holds(directory, "feed", ""));
	assert_false(xb_stamp_holds(directory, "feed", "00000000000000000000000000000000"));
	/* The imprint of a file. */
	open_store();
	xb_list_set_imprint(txn, xb_list_find(txn, "feed"), &imprint);
	commit();
	assert_false(xb_stamp_holds(directory, "feed", "00000000000000010000000000000002"));
}

TEST(other_terms_are_another_file)
{
	struct xb_listfile_terms terms[] = {
		{.name = "list", .format = "plain"},	  {.name = "list", .end = "# end"},
		{.name = "list", .choice.bounded = true}, {.name = "list", .choice.column = "1"},
		{.name = "list", .choice.where = "1=1"},  {.name = "list", .choice.json = "a[]"},
		{.name = "list", .choice.set = "a"},	  {.name = "list", .choice.comment = "a"},
		{.name = "list", .choice.most_wrong = 1}, {.name = "list", .zone = "example"},
		{.name = "list", .choice.below = true},
	};
	struct xb_import import = asked();

	import_text(text);
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		assert_int_equal(xb_import_is_repeated(directory, path, &terms[i], &import), 0);
	import.asked.include_bogons = true;
	assert_int_equal(xb_import_is_repeated(directory, path, &plain, &import), 0);
	assert_int_equal(xb_import_is_repeated(directory, "-", &plain, &import), 0);
	import_as(&terms[0], asked());
	import.asked.include_bogons = false;
	assert_int_equal(xb_import_is_repeated(directory, path, &terms[0], &import), 1);
	assert_int_equal(xb_import_is_repeated(directory, path, &plain, &import), 0);
}

/* There is something to tell each time, or the same bytes mean something else later. */
TEST(some_files_are_read_each_time)
{
	static const char *const files[] = {
		"9.9.9.9\n192.168.0.1\n",			   /* a bogon */
		"9.9.9.9/24\n",					   /* host bits */
		"||evil.example^\nevil.example##.advertisement\n", /* no domain */
		"create a hash:ip timeout 60\nadd a 9.9.9.9 timeout 60\n",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		import_text("9.9.9.9\n");
		assert_int_equal(is_repeated(), 1);
		import_text(files[i]);
		assert_int_equal(is_repeated(), 0);
	}
}

TEST(what_is_added_to_a_list)
{
	struct xb_import import = asked();

	put_file("9.9.9.9\n");
	import.asked.replace = import.imprints = false;
	import_as(&plain, import);
	assert_int_equal(is_repeated(), 0);
	import_text("9.9.9.9\n");
	assert_int_equal(is_repeated(), 1);
	/* It has all of the file, and more. */
	put_file("9.9.9.10\n");
	import_as(&plain, import);
	assert_int_equal(is_repeated(), 0);
}

TEST(it_stands_beside_a_scope)
{
	struct xb_import import = asked();

	import.asked.scopes = true;
	assert_int_equal(xb_scope_parse("tcp/25,udp/53,icmp", &import.asked.scope), 0);
	put_file(text);
	import_as(&plain, import);
	assert_int_equal(is_repeated(), 1);
	open_store();
	assert_true(xb_scope_equals(xb_list_scope(xb_list_find(txn, "feed")), &import.asked.scope));
	commit();
}

EACH_TEST(begin_closed, end_closed);
