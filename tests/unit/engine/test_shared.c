/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists that are shared with a fleet: what may not be changed here, and what a restore leaves. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/edit.h"
#include "engine/import.h"
#include "engine/patch.h"
#include "engine/restore.h"
#include "support/cmocka.h"
#include "support/waiting.h"

#define NOW 1000

static struct xb_writer writer_of(void)
{
	return (struct xb_writer){.txn = txn, .now = NOW};
}

/* `theirs` follows, `ours` is published as well, and both have an entry. */
static void fill(void)
{
	share("theirs", XB_SHARE_FOLLOW);
	share("ours", XB_SHARE_FOLLOW | XB_SHARE_PUBLISH);
	list_entry(txn, "192.0.2.1", "theirs");
	list_entry(txn, "192.0.2.2", "ours");
	commit_and_go_on();
}

static int edit(const char *text, bool add, const char *list)
{
	struct xb_writer writer = writer_of();
	const struct xb_entry entry = entry_of(text);
	struct xb_edit edit = {
		.terms = {.add = add, .list = list, .allow = xb_entry_is_allow(&entry)}};
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;
	struct xb_entry plain = entry_of(*text == '!' ? text + 1 : text);
	int error = xb_edit_take(&edit, &plain, &refusal);

	if (!error)
		error = xb_edit_all(&writer, &edit, &result, &refusal);
	xb_edit_result_free(&result);
	xb_edit_free(&edit);
	return error;
}

static void assert_refused(int error)
{
	assert_int_equal(error, -EINVAL);
	assert_string_equal(xb_error_message(),
			    "list theirs follows fleet f: change it on a host that publishes it");
	xb_error_clear();
}

TEST(add_and_del)
{
	fill();
	assert_refused(edit("192.0.2.9", true, "theirs"));
	assert_refused(edit("192.0.2.1", false, "theirs"));
	assert_refused(edit("192.0.2.1", false, NULL));
	assert_store(txn, "192.0.2.1 theirs; 192.0.2.2 ours");
	assert_int_equal(edit("!192.0.2.1", true, "theirs"), 0);
	assert_int_equal(edit("192.0.2.9", true, "ours"), 0);
	assert_int_equal(edit("192.0.2.2", false, NULL), 0);
	assert_store(txn, "192.0.2.1 theirs; 192.0.2.9 ours; !192.0.2.1 theirs");
	commit_and_go_on();
	assert_waiting("1+192.0.2.2 ours; 2+192.0.2.9 ours; 3-192.0.2.2 ours");
}

TEST(import_and_patch)
{
	struct xb_listfile file = {0};
	struct xb_import import = {.file = &file, .asked = {.list = "theirs", .replace = true}};
	struct xb_import_refusal refusal;
	struct xb_patch patch = {.list = "theirs"};
	struct xb_writer writer;

	fill();
	writer = writer_of();
	assert_refused(xb_import_apply(&writer, &import, &refusal));
	assert_refused(xb_patch_apply(&writer, &patch));
	assert_store(txn, "192.0.2.1 theirs; 192.0.2.2 ours");
}

TEST(a_restore_passes_by)
{
	static char text[] = "{\"schema\":1,\"saved\":\"xdp-bloom\",\"memberships\":4}\n"
			     "{\"entry\":\"192.0.2.7\",\"list\":\"theirs\",\"added\":1}\n"
			     "{\"entry\":\"192.0.2.8\",\"list\":\"ours\",\"added\":1}\n"
			     "{\"entry\":\"192.0.2.9\",\"list\":\"mine\",\"added\":1}\n"
			     "{\"allow\":\"192.0.2.3\",\"list\":\"ours\",\"added\":1}\n";
	struct xb_restore restore = {.name = "text", .maker = "save"};
	struct xb_writer writer;

	fill();
	list_entry(txn, "192.0.2.5", "mine");
	list_entry(txn, "!192.0.2.6", "ours");
	writer = writer_of();
	restore.file = fmemopen(text, strlen(text), "r");
	assert_non_null(restore.file);
	assert_int_equal(xb_restore(&writer, &restore), 0);
	fclose(restore.file);
	assert_int_equal(restore.shared, 2);
	assert_int_equal(restore.entries, 2);
	assert_store(txn, "192.0.2.1 theirs; 192.0.2.2 ours; 192.0.2.9 mine; !192.0.2.3 ours");
	commit_and_go_on();
	assert_waiting("1+192.0.2.2 ours");
}

EACH_TEST(begin_txn, end_txn);
