/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that a list was replaced by is known again until the list changes. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/import.h"
#include "store/expiry.h"
#include "store/flush.h"
#include "store/listclass.h"
#include "store/listverdict.h"
#include "store/membership.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_store.h"

#define NOW 1000

static const char text[] = "9.9.9.9\n9.9.9.10\n9.9.9.9\n2001:db9::/32\n# end\n";

static struct xb_writer writer;
static struct xb_listfile file;
static struct xb_import_refusal refusal;
static char path[sizeof(directory) + 8];

static int begin_closed(void **state)
{
	int error = begin(state);

	xb_store_close(store);
	snprintf(path, sizeof(path), "%s/list", directory);
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

static void open_writer(void)
{
	assert_int_equal(xb_store_open(directory, XB_STORE_WRITE, &store), 0);
	writer = (struct xb_writer){.builder_lock = -1, .writer_lock = -1, .now = NOW};
	assert_int_equal(xb_store_write(store, &writer.txn), 0);
}

static void commit(void)
{
	assert_int_equal(xb_txn_commit(writer.txn), 0);
	xb_store_close(store);
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
	open_writer();
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

static void put(const char *word, const char *list, uint32_t expires, const char *comment)
{
	struct xb_membership member = {
		.expires = expires, .comment = comment, .comment_size = (uint32_t)strlen(comment)};
	struct xb_entry entry = entry_of(word);
	enum xb_put result;

	member.list = list_of(writer.txn, list)->id;
	assert_int_equal(xb_member_put(writer.txn, &entry, &member,
				       XB_RENEW_EXPIRY | XB_RENEW_COMMENT, &result),
			 0);
}

static void take(const char *word, const char *list)
{
	const struct xb_list *of = list ? xb_list_find(writer.txn, list) : NULL;
	struct xb_entry entry = entry_of(word);
	enum xb_removal result;

	assert_int_equal(xb_member_remove(writer.txn, &entry, of ? of->id : XB_ANY_LIST, &result),
			 0);
}

static void one_more(void)
{
	put("9.9.9.11", "feed", 0, "");
}

static void one_less(void)
{
	take("9.9.9.10", "feed");
}

static void one_less_everywhere(void)
{
	take("9.9.9.10", NULL);
}

static void one_less_and_more(void)
{
	take("2001:db9::/32", "feed");
	put("2001:db9::/32", "feed", 0, "");
}

static void a_comment(void)
{
	put("9.9.9.10", "feed", 0, "port scan");
}

static void an_end(void)
{
	put("9.9.9.10", "feed", NOW + 1, "");
}

static void another_verdict(void)
{
	assert_int_equal(xb_domain_verdict_set(writer.txn, xb_list_find(writer.txn, "feed"),
					       XB_DOMAIN_REFUSED),
			 0);
}

/* The list stays for its verdict. */
static void nothing_left(void)
{
	another_verdict();
	assert_int_equal(xb_flush_all(writer.txn), 0);
}

static void flushed(void)
{
	uint64_t count;

	assert_int_equal(xb_flush_list(writer.txn, xb_list_find(writer.txn, "feed")->id, &count),
			 0);
	put("9.9.9.9", "feed", 0, "");
}

static void flushed_but_for_exceptions(void)
{
	assert_int_equal(xb_flush_listed(writer.txn), 0);
	put("9.9.9.9", "feed", 0, "");
}

/* Whether the file is still known after this change. */
static bool known_after(void (*change)(void))
{
	import_text(text);
	assert_int_equal(is_repeated(), 1);
	open_writer();
	change();
	commit();
	return is_repeated();
}

TEST(each_change_of_the_list_counts)
{
	static void (*const changes[])(void) = {
		one_more,	   one_less,  one_less_everywhere,
		one_less_and_more, a_comment, an_end,
		nothing_left,	   flushed,   flushed_but_for_exceptions};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		assert_int_equal(known_after(changes[i]), 0);
}

TEST(an_end_that_has_come)
{
	uint64_t count;

	import_text(text);
	open_writer();
	put("9.9.9.10", "feed", NOW + 1, "");
	commit();
	open_writer();
	assert_int_equal(xb_expiry_sweep(writer.txn, NOW + 2, &count), 0);
	assert_int_equal(count, 1);
	commit();
	assert_int_equal(is_repeated(), 0);
	import_text(text);
	assert_int_equal(is_repeated(), 1);
}

static void other_lists_change(void)
{
	put("9.9.9.10", "other", 0, "");
	put("7.7.7.7", "other", NOW + 1, "port scan");
	take("7.7.7.7", "other");
	put("9.9.9.9", "allow", 0, "");
}

static void the_same_again(void)
{
	put("9.9.9.10", "feed", 0, "");
	take("7.7.7.7", "feed");
}

static void another_scope(void)
{
	struct xb_scope scope;

	assert_int_equal(xb_scope_parse("tcp/25", &scope), 0);
	assert_int_equal(xb_list_scope_set(writer.txn, xb_list_find(writer.txn, "feed"), &scope),
			 0);
}

TEST(what_leaves_the_list_as_it_is)
{
	assert_int_equal(known_after(other_lists_change), 1);
	assert_int_equal(known_after(the_same_again), 1);
	assert_int_equal(known_after(another_verdict), 1);
	assert_int_equal(known_after(another_scope), 1);
}

TEST(other_terms_are_another_file)
{
	struct xb_listfile_terms terms[] = {
		{.name = "list", .format = "plain"},	  {.name = "list", .end = "# end"},
		{.name = "list", .choice.bounded = true}, {.name = "list", .choice.column = "1"},
		{.name = "list", .choice.where = "1=1"},  {.name = "list", .choice.json = "a[]"},
		{.name = "list", .choice.most_wrong = 1}, {.name = "list", .zone = "example"},
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
	open_writer();
	assert_true(xb_scope_equals(xb_list_scope(xb_list_find(writer.txn, "feed")),
				    &import.asked.scope));
	commit();
}

EACH_TEST(begin_closed, end_closed);
