/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a store makes that store again, as a whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "engine/restore.h"
#include "engine/writepath.h"
#include "support/dumped.h"
#include "support/scratch_store.h"

#define HEAD_OF(memberships)                                                                       \
	"{\"schema\":1,\"saved\":\"xdp-bloom\",\"fpr\":0.001,\"capacity\":1000,\"confirm\":false," \
	"\"policy\":\"monitor\",\"refused\":[\"ssh\"],\"ports\":{\"dns\":[53,5353],\"tls\":[443]," \
	"\"http\":[]},\"answer_limit\":0,\"memberships\":" #memberships "}\n"
#define INTERFACE "{\"interface\":\"x0\",\"mode\":\"skb\"}\n"
#define VERDICT	  "{\"list\":\"ads\",\"verdict\":\"nxdomain\"}\n"
#define ONE	  "{\"entry\":\"192.0.2.1\",\"list\":\"feed\",\"added\":5}\n"
#define ENTRIES                                                                                    \
	ONE "{\"entry\":\"192.0.2.1\",\"list\":\"more\",\"added\":5,\"expires\":4000000000,"       \
	    "\"comment\":\"it scans\"}\n"                                                          \
	    "{\"entry\":\"2001:db8::/32\",\"list\":\"feed\",\"added\":6}\n"                        \
	    "{\"entry\":\"example.com\",\"list\":\"ads\",\"added\":5}\n"                           \
	    "{\"allow\":\"198.51.100.1\",\"list\":\"allow\",\"added\":7}\n"

static struct xb_writer writer;

static int open_writer(void **state)
{
	int error = begin(state);

	writer = (struct xb_writer){.builder_lock = -1, .writer_lock = -1, .now = 1000};
	return error ? error : xb_store_write(store, &writer.txn);
}

static int close_writer(void **state)
{
	xb_txn_abort(writer.txn);
	return end(state);
}

static void read_from(const char *text, struct xb_restore *restore)
{
	restore->name = "text";
	restore->maker = "`save`";
	restore->file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	assert_non_null(restore->file);
}

/* In the transaction. */
static int restore_text(const char *text, struct xb_restore *restore)
{
	int error;

	read_from(text, restore);
	error = xb_restore(&writer, restore);
	fclose(restore->file);
	return error;
}

static void must_be(const char *text)
{
	char *found = dumped(writer.txn);

	assert_non_null(found);
	assert_string_equal(found, text);
	free(found);
}

static void there_and_back(void **state)
{
	static const char text[] = HEAD_OF(5) INTERFACE VERDICT ENTRIES;
	struct xb_restore restore = {.interfaces = true};

	(void)state;
	assert_int_equal(restore_text(text, &restore), 0);
	assert_int_equal(restore.line, 8);
	assert_int_equal(restore.entries, 5);
	assert_int_equal(restore.expired, 0);
	must_be(text);
	assert_int_equal(restore_text(text, &restore), 0);
	must_be(text);
}

/* All else that was there goes; interfaces only if that is asked for. */
static void takes_the_place(void **state)
{
	struct xb_restore restore = {0};

	(void)state;
	assert_int_equal(restore_text(HEAD_OF(5) INTERFACE VERDICT ENTRIES, &restore), 0);
	assert_int_equal(restore_text(HEAD_OF(1) ONE, &restore), 0);
	must_be(HEAD_OF(1) INTERFACE ONE);
	restore.interfaces = true;
	assert_int_equal(restore_text(HEAD_OF(1) ONE, &restore), 0);
	must_be(HEAD_OF(1) ONE);
}

static void expired_meanwhile(void **state)
{
	struct xb_restore restore = {0};

	(void)state;
	writer.now = 4000000000;
	assert_int_equal(restore_text(HEAD_OF(5) ENTRIES, &restore), 0);
	assert_int_equal(restore.entries, 4);
	assert_int_equal(restore.expired, 1);
}

/* Without the keys that later versions added. */
static void an_earlier_version(void **state)
{
	struct xb_restore restore = {0};

	(void)state;
	assert_int_equal(restore_text("{\"schema\":1,\"saved\":\"xdp-bloom\"}\n" ONE, &restore), 0);
	must_be("{\"schema\":1,\"saved\":\"xdp-bloom\",\"fpr\":0.0,\"capacity\":0,\"confirm\":true,"
		"\"policy\":\"enforce\",\"refused\":[],\"ports\":{\"dns\":[53],\"tls\":[],"
		"\"http\":[]},\"answer_limit\":1000,\"memberships\":1}\n" ONE);
}

/* Texts that are refused, and how. */
static const struct refusal {
	const char *text, *message;
} refusals[] = {
	{"", "text: empty"},
	{"192.0.2.1\n", "text:1: not a JSON object: "},
	{ONE, "text:1: this was not written by `save`, or by a later version of it"},
	{HEAD_OF(1) ONE ONE, "text: has 2 entries, but its first line says 1; is it cut off?"},
	{HEAD_OF(2) ONE, "text: has 1 entries, but its first line says 2; is it cut off?"},
	{HEAD_OF(2) ONE "{\"entry\":\"192.0.2.300\",\"list\":\"feed\"}\n", "text:3: "},
	{HEAD_OF(2) ONE "{\"entry\":\"192.0.2.2\",\"lst\":\"feed\"}\n",
	 "text:3: unknown key \"lst\"; here are known: entry allow list added expires comment"},
	{HEAD_OF(2) ONE "{\"entry\":\"192.0.2.2\",\"list\":\"feed\"", "text:3: not a JSON object"},
	{HEAD_OF(1) ONE "{\"list\":\"ads\",\"verdict\":\"maybe\"}\n", "text:3: "},
	{HEAD_OF(1) ONE "{\"interface\":\"a/b\"}\n", "text:3: "},
	{HEAD_OF(2) ONE "{\"list\":\"feed\"}\n",
	 "text:3: a line needs \"entry\" or \"allow\" and \"list\", or \"interface\""},
	{HEAD_OF(2) ONE "{\"entry\":\"192.0.2.2\",\"list\":\"feed\",\"added\":-1}\n",
	 "text:3: \"added\" is out of range"},
};

static void must_refuse(const struct xb_paths *paths, const struct refusal *refusal)
{
	struct xb_restore restore = {.interfaces = true};
	struct xb_written written = {0};

	read_from(refusal->text, &restore);
	assert_int_equal(xb_write(paths, XB_WRITE_HEAVY, xb_restore, &restore, &written), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	if (strncmp(xb_error_message(), refusal->message, strlen(refusal->message)))
		assert_string_equal(xb_error_message(), refusal->message);
	fclose(restore.file);
}

static void refused_as_a_whole(void **state)
{
	struct xb_paths paths = {.state = directory, .run = directory};
	struct xb_restore restore = {0};
	struct xb_written written = {0};
	char pins[XB_PATH_MAX];

	(void)state;
	snprintf(pins, sizeof(pins), "%s/none", getenv("XB_TEST_BPFFS") ?: "/sys/fs/bpf");
	paths.pins = pins;
	/* Whoever writes opens the store. */
	xb_store_close(store);
	store = NULL;
	read_from(HEAD_OF(5) VERDICT ENTRIES, &restore);
	assert_int_equal(xb_write(&paths, XB_WRITE_HEAVY, xb_restore, &restore, &written), 0);
	xb_written_free(&written);
	fclose(restore.file);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		must_refuse(&paths, &refusals[i]);
	assert_int_equal(xb_store_open(directory, XB_STORE_READ, &store), 0);
	assert_int_equal(xb_store_read(store, &writer.txn), 0);
	must_be(HEAD_OF(5) VERDICT ENTRIES);
	xb_txn_abort(writer.txn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(there_and_back, open_writer, close_writer),
		cmocka_unit_test_setup_teardown(takes_the_place, open_writer, close_writer),
		cmocka_unit_test_setup_teardown(expired_meanwhile, open_writer, close_writer),
		cmocka_unit_test_setup_teardown(an_earlier_version, open_writer, close_writer),
		cmocka_unit_test_setup_teardown(refused_as_a_whole, begin, end),
	};

	return cmocka_run_group_tests_name("restore", tests, NULL, NULL);
}
