/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files an import refuses, and by which numbers. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/import.h"
#include "store/origins.h"
#include "support/cmocka.h"
#include "support/waiting.h"
#include "support/writer.h"

static struct xb_listfile file;
static struct xb_import_refusal refusal;

static int end_writer(void **state)
{
	xb_listfile_free(&file);
	return end_txn(state);
}

/* Reads this text for an import into list feed. */
static int read_text(const char *text, struct xb_import *import)
{
	int fd = memfd_create("list", MFD_CLOEXEC), error;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	xb_listfile_free(&file);
	file = (struct xb_listfile){0};
	import->file = &file;
	import->asked.list = "feed";
	error = xb_import_read(fd, "list", &(struct xb_listfile_terms){.name = "list"}, import,
			       &refusal);
	close(fd);
	return error;
}

static int import_text(const char *text, struct xb_import *import)
{
	int error = read_text(text, import);

	return error ? error : xb_import_apply(&writer, import, &refusal);
}

/* So many addresses. */
static int import_addresses(int count, struct xb_import *import)
{
	char text[1 << 17] = "", *at = text;

	for (int i = 0; i < count; i++)
		at += sprintf(at, "5.9.%d.%d\n", i >> 8, i & 255);
	return import_text(text, import);
}

TEST(bogons_are_left_out)
{
	struct xb_import import = {0}, with_them = {.asked.include_bogons = true};
	char text[XB_ENTRY_TEXT];

	assert_int_equal(read_text("9.9.9.9\n192.168.0.1\n10.0.0.0/8\n", &import), 0);
	assert_int_equal(import.bogons, 2);
	assert_int_equal(file.count, 1);
	assert_string_equal(xb_entry_format(&import.first_bogon.entry, text), "192.168.0.1");
	assert_int_equal(import.first_bogon.entry.line, 2);
	assert_int_equal(read_text("9.9.9.9\n192.168.0.1\n", &with_them), 0);
	assert_int_equal(with_them.bogons, 0);
	assert_int_equal(file.count, 2);
}

/* What is left out does not count. */
TEST(a_file_too_small)
{
	struct xb_import bytes = {.asked.least_bytes = 9}, entries = {.asked.least_entries = 2};

	assert_int_equal(read_text("9.9.9.9\n", &bytes), XB_IMPORT_REFUSED);
	assert_int_equal(refusal.why, XB_IMPORT_FEW_BYTES);
	assert_int_equal(refusal.has, 8);
	assert_int_equal(refusal.least, 9);
	assert_int_equal(read_text("9.9.9.9\n\n", &bytes), 0);
	assert_int_equal(read_text("9.9.9.9\n10.0.0.1\n", &entries), XB_IMPORT_REFUSED);
	assert_int_equal(refusal.why, XB_IMPORT_FEW_ENTRIES);
	assert_int_equal(refusal.has, 1);
	assert_int_equal(read_text("9.9.9.9\n9.9.9.10\n", &entries), 0);
}

TEST(a_file_without_entries)
{
	struct xb_import import = {0}, replacing = {.asked.replace = true},
			 forced = {.asked.replace = true, .asked.force = true};

	assert_int_equal(read_text("# nothing\n", &import), -ENODATA);
	assert_int_equal(read_text("# nothing\n", &replacing), XB_IMPORT_REFUSED);
	assert_int_equal(refusal.why, XB_IMPORT_EMPTIES);
	assert_int_equal(read_text("# nothing\n", &forced), 0);
	assert_string_equal(file.format, "empty");
}

static void refused_from_to(struct xb_import import, int count, uint64_t before)
{
	assert_int_equal(import_addresses(count, &import), XB_IMPORT_REFUSED);
	assert_int_equal(refusal.why, XB_IMPORT_LISTED);
	assert_int_equal(refusal.before, before);
	assert_int_equal(refusal.after, count);
}

TEST(a_replacement_of_another_size)
{
	const struct xb_import replace = {.asked.replace = true};
	struct xb_import import = replace;

	/* A new list may have any size. */
	assert_int_equal(import_addresses(2001, &import), 0);
	assert_int_equal(import.merge.added, 2001);
	refused_from_to(replace, 1000, 2001);
	assert_true(refusal.factor == XB_IMPORT_FACTOR);
	refused_from_to(replace, 4003, 2001);
	refused_from_to((struct xb_import){.asked.replace = true, .asked.factor = 1.5}, 1333, 2001);
	assert_true(refusal.factor == 1.5);

	import = (struct xb_import){.asked.replace = true, .asked.factor = 2.5};
	assert_int_equal(import_addresses(1000, &import), 0);
	assert_int_equal(import.merge.removed, 1001);
	import = (struct xb_import){.asked.replace = true, .asked.force = true};
	assert_int_equal(import_addresses(1, &import), 0);
}

/* Few entries may come and go, unless a factor was given; but not all. */
TEST(a_small_list)
{
	struct xb_import import = {.asked.replace = true};

	assert_int_equal(import_addresses(10, &import), 0);
	refused_from_to((struct xb_import){.asked.replace = true, .asked.factor = 1.1}, 12, 10);
	assert_int_equal(import_addresses(900, &import), 0);
	assert_int_equal(import_addresses(1, &import), 0);
	assert_int_equal(import_text("192.168.0.1\n", &import), XB_IMPORT_REFUSED);
	assert_int_equal(refusal.before, 1);
	assert_int_equal(refusal.after, 0);
}

static const char *exceptions(int count, int listed)
{
	static char text[1 << 17];
	char *at = text;

	at += sprintf(at, "||evil.example^\n");
	for (int i = 0; i < count; i++)
		at += sprintf(at, "%sn%d.example^\n", i < listed ? "||" : "@@||", i);
	return text;
}

/* Many exceptions do not make up for what is no longer listed. */
static void count_by_itself(bool allows, enum xb_import_why why)
{
	struct xb_import import = {.asked = {.replace = true, .allows = allows}};

	assert_int_equal(read_text(exceptions(3000, 1500), &import), 0);
	assert_int_equal(file.allowed, allows ? 1500 : 0);
	assert_int_equal(file.exceptions, allows ? 0 : 1500);
	assert_int_equal(xb_import_apply(&writer, &import, &refusal), 0);
	assert_int_equal(import_text(exceptions(3000, 3000), &import), XB_IMPORT_REFUSED);
	assert_int_equal(refusal.why, why);
	assert_int_equal(refusal.before, 1500);
	assert_int_equal(refusal.after, 0);
	assert_int_equal(import_text(exceptions(3000, 400), &import), XB_IMPORT_REFUSED);
	assert_int_equal(refusal.why, XB_IMPORT_LISTED);
	assert_int_equal(refusal.before, 1501);
	assert_int_equal(refusal.after, 401);
}

TEST(exceptions_count_by_themselves)
{
	count_by_itself(false, XB_IMPORT_EXCEPTED);
}

TEST(the_allowlist_counts_by_itself)
{
	count_by_itself(true, XB_IMPORT_ALLOWED);
}

/* Which it keeps. */
TEST(a_list_gets_its_terms)
{
	struct xb_import import = {.asked = {.judges = true,
					     .verdict = XB_DOMAIN_REFUSED,
					     .scopes = true,
					     .scope = {1, {{XB_SERVICE_TCP, 25, 25}}}}},
			 next = {0};

	assert_int_equal(import_text("9.9.9.9\n", &import), 0);
	assert_true(xb_scope_equals(&import.scope, &import.asked.scope));
	assert_int_equal(import_text("9.9.9.10\n", &next), 0);
	assert_int_equal(next.verdict, XB_DOMAIN_REFUSED);
	assert_true(xb_scope_equals(&next.scope, &import.asked.scope));
	next.asked.scopes = true;
	assert_int_equal(import_text("9.9.9.11\n", &next), 0);
	assert_true(xb_scope_is_all(&next.scope));
}

/* The origins that the list has after an import of the text. */
static uint32_t origins_of(const char *text, struct xb_import import)
{
	assert_int_equal(import_text(text, &import), 0);
	return xb_list_origins(xb_list_by_name(txn, "feed"));
}

TEST(a_list_has_its_origin)
{
	const struct xb_import imported = {0}, fed = {.origin = XB_ORIGIN_FEED};

	/* It is asked of addresses only, and only of those that are listed. */
	assert_int_equal(origins_of("example.com\nexample.net\n", imported), 0);
	assert_int_equal(origins_of("||example.com^\n@@||example.net^\n", imported), 0);
	assert_int_equal(origins_of("9.9.9.9\n", fed), 1U << XB_ORIGIN_FEED);
	/* Though nothing is added. */
	assert_int_equal(origins_of("9.9.9.9\n", imported),
			 1U << XB_ORIGIN_FEED | 1U << XB_ORIGIN_IMPORT);
}

TEST(a_rehearsal_changes_nothing)
{
	const struct xb_paths none = {.state = "/nonexistent/xdp-bloom"};
	const struct xb_paths paths = {.state = directory};
	struct xb_import import = {.asked = {.judges = true,
					     .verdict = XB_DOMAIN_COUNT,
					     .scopes = true,
					     .scope = {1, {{XB_SERVICE_TCP, 25, 25}}}}};

	assert_int_equal(read_text("9.9.9.9\n9.9.9.10\n", &import), 0);
	assert_int_equal(xb_import_rehearse(&none, &import, &refusal), 0);
	assert_int_equal(import.merge.added, 2);
	assert_int_equal(import.verdict, XB_DOMAIN_COUNT);
	assert_true(xb_scope_equals(&import.scope, &import.asked.scope));
	assert_int_equal(xb_import_apply(&writer, &import, &refusal), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
	xb_store_close(store);
	assert_int_equal(read_text("9.9.9.10\n9.9.9.11\n", &import), 0);
	assert_int_equal(xb_import_rehearse(&paths, &import, &refusal), 0);
	assert_int_equal(import.merge.added, 1);
	assert_int_equal(import.merge.unchanged, 1);
	assert_int_equal(xb_store_open(directory, XB_STORE_WRITE, &store), 0);
	assert_int_equal(open_txn(), 0);
	assert_int_equal(xb_list_find(txn, "feed")->members, 2);
}

TEST(a_list_that_follows_a_fleet)
{
	struct xb_import import = {.asked.replace = true};

	share("feed", XB_SHARE_FOLLOW);
	assert_int_equal(import_text("9.9.9.9\n", &import), -EINVAL);
	assert_string_equal(xb_error_message(),
			    "list feed follows fleet f: change it on a host that publishes it");
	assert_store(txn, "");
}

EACH_TEST(begin_writer, end_writer);
