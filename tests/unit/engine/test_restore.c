/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a store has all of it, and makes that store again, as a whole or not at all. */
#include <string.h>

#include "base/error.h"
#include "engine/restore.h"
#include "engine/writepath.h"
#include "support/cmocka.h"
#include "support/dumped.h"
#include "support/storechanges.h"
#include "support/waiting.h"
#include "support/writer.h"

#define HEAD_OF(memberships)                                                                       \
	"{\"schema\":1,\"saved\":\"xdp-bloom\",\"fpr\":0.001,\"capacity\":1000,\"confirm\":false," \
	"\"policy\":\"monitor\",\"refused\":[\"ssh\"],\"ports\":{\"dns\":[53,5353],"               \
	"\"tls\":[1,2,65534,65535],\"http\":[]},\"answer_limit\":0,\"memberships\":" #memberships  \
	"}\n"
#define INTERFACE "{\"interface\":\"x0\",\"mode\":\"skb\"}\n"
#define VERDICT	  "{\"list\":\"ads\",\"verdict\":\"nxdomain\"}\n"
#define SCOPE	  "{\"list\":\"mail\",\"verdict\":\"drop\",\"scope\":\"tcp/25,tcp/587\"}\n"
#define ONE	  "{\"entry\":\"192.0.2.1\",\"list\":\"feed\",\"added\":5}\n"
#define ENTRIES                                                                                    \
	ONE "{\"entry\":\"192.0.2.1\",\"list\":\"more\",\"added\":5,\"expires\":4000000000,"       \
	    "\"comment\":\"it scans\"}\n"                                                          \
	    "{\"entry\":\"2001:db8::/32\",\"list\":\"feed\",\"added\":6}\n"                        \
	    "{\"entry\":\"example.com\",\"list\":\"ads\",\"added\":5}\n"                           \
	    "{\"allow\":\"198.51.100.1\",\"list\":\"allow\",\"added\":7}\n"

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
	char *found = dumped(txn);

	assert_non_null(found);
	assert_string_equal(found, text);
	free(found);
}

static void restores(const char *text, struct xb_restore *restore, const char *becomes)
{
	assert_int_equal(restore_text(text, restore), 0);
	must_be(becomes);
}

/* Ports are up to the first 0, and kinds of a later version have no name here. What the machine
 * allowed automatically has no line. */
TEST(a_text_of_all)
{
	txn->meta.ports.dns[2] = 443;
	txn->meta.refused = UINT32_MAX;
	make_changes(txn, "+192.0.2.1 feed; +192.0.2.1 more 9 it \"scans\"; +example.com feed; "
			  "+!198.51.100.1 allow; +!198.51.100.1 auto:gateway; "
			  "+!198.51.100.2 auto:gateway");
	must_be("{\"schema\":1,\"saved\":\"xdp-bloom\",\"fpr\":0.0,\"capacity\":0,\"confirm\":true,"
		"\"policy\":\"enforce\",\"refused\":[\"address\",\"gateway\",\"resolver\","
		"\"loopback\","
		"\"link-local\",\"ssh\",\"time\",\"dhcp\",\"peer\"],\"ports\":{\"dns\":[53],"
		"\"tls\":[],"
		"\"http\":[]},\"answer_limit\":1000,\"memberships\":4}\n"
		"{\"entry\":\"192.0.2.1\",\"list\":\"feed\",\"added\":1}\n"
		"{\"entry\":\"192.0.2.1\",\"list\":\"more\",\"added\":1,\"expires\":9,"
		"\"comment\":\"it \\\"scans\\\"\"}\n"
		"{\"entry\":\"example.com\",\"list\":\"feed\",\"added\":1}\n"
		"{\"allow\":\"198.51.100.1\",\"list\":\"allow\",\"added\":1}\n");
}

TEST(there_and_back)
{
	static const char text[] = HEAD_OF(5) INTERFACE VERDICT SCOPE ENTRIES;
	struct xb_restore restore = {.interfaces = true};

	assert_int_equal(restore_text(text, &restore), 0);
	assert_int_equal(restore.line, 9);
	assert_int_equal(restore.entries, 5);
	assert_int_equal(restore.expired, 0);
	must_be(text);
	restores(text, &restore, text);
}

#define LIMIT_OF(name, to, more) "{\"limit\":\"" name "\",\"to\":\"" to "\"" more "}\n"
#define DNS                                                                                        \
	LIMIT_OF("dns", "udp/53",                                                                  \
		 ",\"rate\":\"100/m\",\"burst\":7,\"of\":\"queries\",\"per4\":24,\"per6\":48,"     \
		 "\"over\":\"count\",\"capacity\":1000,\"known\":\"exempt\",\"list\":\"slow\","    \
		 "\"timeout\":60,\"longest\":3600,\"forgeable\":true")
#define WEB(rate)                                                                                  \
	LIMIT_OF("web", "tcp/80,tcp/443",                                                          \
		 ",\"rate\":\"" rate "\",\"burst\":40,\"of\":\"packets\",\"per4\":32,\"per6\":64," \
		 "\"over\":\"drop\",\"capacity\":16384,\"known\":\"10x\"")

static uint32_t limit_number(const char *name)
{
	struct xb_limits_wanted wanted;

	assert_int_equal(xb_limits_get(txn, &wanted), 0);
	return xb_limits_find(&wanted, name);
}

/* The limits of the text take the place of those that there were; one that stays keeps its number,
 * and what the text does not say of one is as it is by itself. */
TEST(limits)
{
	struct xb_restore restore = {0};

	restores(HEAD_OF(1) DNS WEB("20/s") ONE, &restore, HEAD_OF(1) DNS WEB("20/s") ONE);
	assert_int_equal(limit_number("dns"), 1);
	assert_int_equal(limit_number("web"), 2);
	assert_int_equal(restore_text(HEAD_OF(1) LIMIT_OF("new", "icmp", ",\"rate\":\"5/h\"")
					      ONE WEB("21/s"),
				      &restore),
			 0);
	must_be(HEAD_OF(1) LIMIT_OF("new", "icmp",
				    ",\"rate\":\"5/h\",\"burst\":5,\"of\":\"packets\","
				    "\"per4\":32,\"per6\":64,\"over\":\"drop\","
				    "\"capacity\":16384,\"known\":\"1x\"") WEB("21/s") ONE);
	assert_int_equal(limit_number("web"), 2);
	assert_int_equal(limit_number("dns"), 0);
	restores(HEAD_OF(1) ONE, &restore, HEAD_OF(1) ONE);
}

/* Each of fifteen gives way to another one. */
TEST(all_limits_change)
{
	struct xb_restore restore = {0};
	char text[4096];

	for (int round = 0; round < 2; round++) {
		size_t used = (size_t)snprintf(text, sizeof(text), "%s", HEAD_OF(0));

		for (int i = 1; i < XB_LIMITS; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "{\"limit\":\"l%d\",\"to\":\"tcp/%d\","
						 "\"rate\":\"1/s\"}\n",
						 100 * round + i, i);
		assert_int_equal(restore_text(text, &restore), 0);
	}
	assert_int_equal(limit_number("l115"), 15);
	strcat(text, LIMIT_OF("more", "icmp", ",\"rate\":\"1/s\""));
	assert_int_equal(restore_text(text, &restore), -EINVAL);
	assert_string_equal(xb_error_message(), "text:17: there can be 15 limits, and no more");
}

#define ORIGINS_OF(list, names)                                                                    \
	"{\"list\":\"" list "\",\"verdict\":\"drop\",\"origins\":" names "}\n"

/* A list that is empty has none. */
TEST(origins)
{
	static const char with[] = HEAD_OF(1) ORIGINS_OF("feed", "[\"import\",\"fleet\"]") ONE,
			  without[] = HEAD_OF(1) ONE,
			  empty[] = HEAD_OF(1) ORIGINS_OF("more", "[\"feed\"]") ONE;
	struct xb_restore restore = {0};

	restores(with, &restore, with);
	restores(without, &restore, without);
	assert_int_equal(restore_text(with, &restore), 0);
	restores(empty, &restore, without);
	assert_int_equal(restore_text(HEAD_OF(1) "{\"list\":\"feed\",\"origins\":[\"feed\"]}\n" ONE,
				      &restore),
			 0);
	must_be(HEAD_OF(1) ORIGINS_OF("feed", "[\"feed\"]") ONE);
}

/* All else that was there goes; interfaces only if that is asked for. */
TEST(takes_the_place)
{
	struct xb_restore restore = {0};

	assert_int_equal(restore_text(HEAD_OF(5) INTERFACE VERDICT SCOPE ENTRIES, &restore), 0);
	restores(HEAD_OF(1) ONE, &restore, HEAD_OF(1) INTERFACE ONE);
	restore.interfaces = true;
	restores(HEAD_OF(1) ONE, &restore, HEAD_OF(1) ONE);
}

static uint32_t class_of(const char *name)
{
	const struct xb_list *list = xb_list_find(txn, name);

	return list ? list->class : XB_CLASS_ALL;
}

#define LINE(list, more) "{\"list\":\"" list "\"," more "}\n"
#define COUNTS		 "\"verdict\":\"count\""
#define SCOPE_OF(scope)	 "\"scope\":\"" scope "\""

/* A list that is as it was has the class that it had, whoever comes before it now. */
TEST(classes_are_kept)
{
	struct xb_restore restore = {0};
	uint32_t mail, web;

	assert_int_equal(restore_text(HEAD_OF(0) LINE("mail", SCOPE_OF("tcp/25"))
					      LINE("web", SCOPE_OF("tcp/443"))
						      LINE("more", SCOPE_OF("tcp/443")),
				      &restore),
			 0);
	mail = class_of("mail");
	web = class_of("web");
	assert_true(mail && web && mail != web);
	assert_int_equal(class_of("more"), web);
	assert_int_equal(restore_text(HEAD_OF(0) LINE("another", SCOPE_OF("udp"))
					      LINE("web", SCOPE_OF("tcp/443"))
						      LINE("more", COUNTS "," SCOPE_OF("tcp/443"))
							      LINE("mail", SCOPE_OF("tcp/25")) LINE(
								      "like", SCOPE_OF("tcp/25")),
				      &restore),
			 0);
	assert_int_equal(class_of("mail"), mail);
	assert_int_equal(class_of("like"), mail);
	assert_int_equal(class_of("web"), web);
	assert_int_not_equal(class_of("another"), XB_CLASS_ALL);
	assert_int_not_equal(class_of("more"), XB_CLASS_ALL);
	assert_int_not_equal(class_of("more"), class_of("another"));
	assert_int_not_equal(class_of("more"), web);
	/* What has no scope any more is in no class. */
	assert_int_equal(restore_text(HEAD_OF(0) LINE("web", COUNTS) LINE("mail", SCOPE_OF("all")),
				      &restore),
			 0);
	assert_int_equal(class_of("mail"), XB_CLASS_ALL);
	assert_int_not_equal(class_of("web"), XB_CLASS_ALL);
	must_be(HEAD_OF(0) LINE("web", COUNTS));
}

/* All fifteen are in use before and afterwards, and are others. */
TEST(all_classes_change)
{
	struct xb_restore restore = {0};
	char text[2][4096];

	for (int round = 0; round < 2; round++) {
		size_t used = (size_t)snprintf(text[round], sizeof(text[round]), "%s", HEAD_OF(0));

		for (int i = 1; i < XB_CLASSES; i++)
			used += (size_t)snprintf(text[round] + used, sizeof(text[round]) - used,
						 "{\"list\":\"l%02d\",\"verdict\":\"drop\","
						 "\"scope\":\"tcp/%d\"}\n",
						 i, 100 * (round + 1) + i);
	}
	restores(text[0], &restore, text[0]);
	restores(text[1], &restore, text[1]);
	strcat(text[1], LINE("one-more", SCOPE_OF("icmp")));
	assert_int_equal(restore_text(text[1], &restore), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "text: all 15 classes are in use"));
}

TEST(expired_meanwhile)
{
	struct xb_restore restore = {0};

	writer.now = 4000000000;
	assert_int_equal(restore_text(HEAD_OF(5) ENTRIES, &restore), 0);
	assert_int_equal(restore.entries, 4);
	assert_int_equal(restore.expired, 1);
}

/* What a fleet has in its lists stays, and is told to nobody once more. */
TEST(shared_lists_are_passed_by)
{
	struct xb_restore restore = {0};

	share("theirs", XB_SHARE_FOLLOW);
	share("ours", XB_SHARE_FOLLOW | XB_SHARE_PUBLISH);
	make_changes(txn, "+192.0.2.1 theirs; +192.0.2.2 ours");
	commit_and_go_on();
	make_changes(txn, "+192.0.2.5 mine; +!192.0.2.6 ours");
	writer.txn = txn;
	assert_int_equal(restore_text("{\"schema\":1,\"saved\":\"xdp-bloom\",\"memberships\":4}\n"
				      "{\"entry\":\"192.0.2.7\",\"list\":\"theirs\",\"added\":1}\n"
				      "{\"entry\":\"192.0.2.8\",\"list\":\"ours\",\"added\":1}\n"
				      "{\"entry\":\"192.0.2.9\",\"list\":\"mine\",\"added\":1}\n"
				      "{\"allow\":\"192.0.2.3\",\"list\":\"ours\",\"added\":1}\n",
				      &restore),
			 0);
	assert_int_equal(restore.shared, 2);
	assert_int_equal(restore.entries, 2);
	assert_store(txn, "192.0.2.1 theirs; 192.0.2.2 ours; 192.0.2.9 mine; !192.0.2.3 ours");
	commit_and_go_on();
	assert_waiting("1+192.0.2.2 ours");
}

/* Without the keys that later versions added. */
TEST(an_earlier_version)
{
	struct xb_restore restore = {0};

	restores(
		"{\"schema\":1,\"saved\":\"xdp-bloom\"}\n" ONE, &restore,
		"{\"schema\":1,\"saved\":\"xdp-bloom\",\"fpr\":0.0,\"capacity\":0,\"confirm\":true,"
		"\"policy\":\"enforce\",\"refused\":[],\"ports\":{\"dns\":[53],\"tls\":[],"
		"\"http\":[]},\"answer_limit\":1000,\"memberships\":1}\n" ONE);
}

#define RATE ",\"rate\":\"5/s\""

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
	{HEAD_OF(1) ONE LINE("ads", SCOPE_OF("tcp/0")), "text:3: 'tcp/0' is not a service"},
	{HEAD_OF(1) ONE LINE("ads", SCOPE_OF("")), "text:3: '' is not a service"},
	{HEAD_OF(1) ONE LINE("allow", SCOPE_OF("tcp/25")), "text:3: list allow has no scope"},
	{HEAD_OF(1) ONE "{\"scope\":\"tcp/25\"}\n", "text:3: a scope needs a \"list\""},
	{HEAD_OF(1) ONE "{\"list\":\"ads\",\"scope\":25}\n", "text:3: \"scope\" is not a string"},
	{HEAD_OF(1) ONE LINE("ads", SCOPE_OF("tcp") ",\"scop\":1"),
	 "text:3: unknown key \"scop\"; here are known: list verdict scope origins"},
	{HEAD_OF(1) ONE ORIGINS_OF("feed", "\"feed\""), "text:3: \"origins\" is not an array"},
	{HEAD_OF(1) ONE ORIGINS_OF("feed", "[1]"), "text:3: \"origins\" holds names of origins"},
	{HEAD_OF(1) ONE ORIGINS_OF("feed", "[\"me\"]"), "text:3: unknown origin 'me': import, "},
	{HEAD_OF(1) ONE "{\"origins\":[]}\n", "text:3: an origin needs a \"list\""},
	{HEAD_OF(1) ONE "{\"interface\":\"a/b\"}\n", "text:3: "},
	{HEAD_OF(1) ONE "{\"limit\":5}\n", "text:3: \"limit\" is not a string"},
	{HEAD_OF(1) ONE "{\"limit\":\"a\",\"to\":\"all\"}\n",
	 "text:3: a limit needs \"to\" and \"rate\""},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", ",\"rate\":5"), "text:3: \"rate\" is not a string"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", ",\"rate\":\"5\""), "text:3: '5' is no rate"},
	{HEAD_OF(1) ONE LIMIT_OF("a b", "all", RATE), "text:3: 'a b' is no name of a limit"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "tcp/0", RATE), "text:3: 'tcp/0' is not a service"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"of\":\"x\""), "text:3: nothing is counted"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"over\":\"x\""), "text:3: packets over"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"burst\":0"),
	 "text:3: \"burst\" is out of range"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"burst\":\"5\""),
	 "text:3: \"burst\" is out of range"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"burst\":1048577"), "text:3: a burst is 1 to"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"capacity\":-1"),
	 "text:3: \"capacity\" is out of range"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"capacity\":100000001"),
	 "text:3: a capacity is 1 to"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"per4\":25"), "text:3: \"per4\" is 32 or 24"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"per6\":320"), "text:3: \"per6\" is 64 or 48"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"per\":24"),
	 "text:3: \"per\" is not a string"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"known\":10"),
	 "text:3: \"known\" is not a string"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"known\":\"10\""),
	 "text:3: known sources may send 1x to 1000x as much"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"list\":1"),
	 "text:3: \"list\" is not a string"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"list\":\"allow\""),
	 "text:3: \"list\" is no name of a list to fill"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"list\":\"over\""),
	 "text:3: only a single source"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"list\":\"over\",\"forgeable\":1"),
	 "text:3: \"forgeable\" is true or false"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"forgeable\":true"),
	 "text:3: forgeable sources need a list"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"list\":\"bad\",\"timeout\":0"),
	 "text:3: \"timeout\" is out of range"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"longest\":60"),
	 "text:3: \"timeout\" and \"longest\" need \"list\""},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"list\":\"bad\",\"longest\":31536001"),
	 "text:3: \"longest\" is out of range"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"per\":\"24\""),
	 "text:3: \"per\" is \"name\", if it is there"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"per\":\"name\""),
	 "text:3: only queries can be limited for each name"},
	{HEAD_OF(1) ONE LIMIT_OF("a", "all", RATE ",\"per5\":24"),
	 "text:3: unknown key \"per5\"; here are known: limit to rate burst of per per4 per6"},
	{HEAD_OF(1) LIMIT_OF("a", "all", RATE) LIMIT_OF("a", "udp", RATE) ONE,
	 "text:3: a second limit a"},
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

TEST_WITH(refused_as_a_whole, begin, end)
{
	struct xb_paths paths = {.state = directory, .run = directory};
	struct xb_restore restore = {0};
	struct xb_written written = {0};
	char pins[XB_PATH_MAX];

	snprintf(pins, sizeof(pins), "%s/none", getenv("XB_TEST_BPFFS") ?: "/sys/fs/bpf");
	paths.pins = pins;
	/* Whoever writes opens the store. */
	xb_store_close(store);
	store = NULL;
	read_from(HEAD_OF(5) VERDICT SCOPE ENTRIES, &restore);
	assert_int_equal(xb_write(&paths, XB_WRITE_HEAVY, xb_restore, &restore, &written), 0);
	xb_written_free(&written);
	fclose(restore.file);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		must_refuse(&paths, &refusals[i]);
	assert_int_equal(xb_store_open(directory, XB_STORE_READ, &store), 0);
	assert_int_equal(xb_store_read(store, &txn), 0);
	must_be(HEAD_OF(5) VERDICT SCOPE ENTRIES);
	assert_int_not_equal(class_of("mail"), XB_CLASS_ALL);
	xb_txn_abort(txn);
}

EACH_TEST(begin_writer, end_txn);
