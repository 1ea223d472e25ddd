/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the text of a store has, line by line. */
#include <string.h>

#include "machine/lifelines.h"
#include "model/policy.h"
#include "model/verdict.h"
#include "store/listclass.h"
#include "store/listverdict.h"
#include "store/membership.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/member.h"
#include "support/dumped.h"
#include "support/scratch_txn.h"

static void must_be(const char *text)
{
	char *found = dumped(txn);

	assert_non_null(found);
	assert_string_equal(found, text);
	free(found);
}

static void put(const char *text, bool allow, struct xb_list *list, const char *comment,
		uint32_t expires)
{
	struct xb_membership member = {
		.list = list->id,
		.added = 5,
		.expires = expires,
		.comment = comment,
		.comment_size = (uint32_t)strlen(comment),
	};

	put_member(txn, text, allow, &member);
}

static struct xb_list *list_of(const char *name)
{
	struct xb_list *list;

	assert_int_equal(xb_list_need(txn, name, &list), 0);
	return list;
}

static struct xb_list *automatic(void)
{
	struct xb_list *list;

	assert_int_equal(xb_list_need_auto(txn, "gateway", &list), 0);
	return list;
}

#define DEFAULTS                                                                                   \
	"{\"schema\":1,\"saved\":\"xdp-bloom\",\"fpr\":0.0,\"capacity\":0,\"confirm\":true,"       \
	"\"policy\":\"enforce\",\"refused\":[],\"ports\":{\"dns\":[53],\"tls\":[],\"http\":[]},"   \
	"\"answer_limit\":1000,\"memberships\":0}\n"

TEST(an_empty_store)
{
	must_be(DEFAULTS);
}

TEST(settings)
{
	struct xb_wanted wanted = {.name = "x0", .mode = XB_MODE_SKB};
	struct xb_scope scope;

	txn->meta.rate = 0.001;
	txn->meta.capacity = 1000;
	txn->meta.unconfirmed = 1;
	txn->meta.policy = XB_POLICY_MONITOR;
	txn->meta.refused = 1U << XB_LIFELINE_SSH;
	txn->meta.ports.tls[0] = 443;
	txn->meta.answer_limit = 0;
	assert_int_equal(xb_wanted_put(txn, &wanted), 0);
	assert_int_equal(xb_domain_verdict_set(txn, list_of("ads"), XB_DOMAIN_NXDOMAIN), 0);
	assert_int_equal(xb_scope_parse("tcp/25,udp", &scope), 0);
	assert_int_equal(xb_list_scope_set(txn, list_of("mail"), &scope), 0);
	must_be("{\"schema\":1,\"saved\":\"xdp-bloom\",\"fpr\":0.001,\"capacity\":1000,"
		"\"confirm\":false,\"policy\":\"monitor\",\"refused\":[\"ssh\"],\"ports\":{\"dns\":"
		"[53],\"tls\":[443],\"http\":[]},\"answer_limit\":0,\"memberships\":0}\n"
		"{\"interface\":\"x0\",\"mode\":\"skb\"}\n"
		"{\"list\":\"ads\",\"verdict\":\"nxdomain\"}\n"
		"{\"list\":\"mail\",\"verdict\":\"drop\",\"scope\":\"tcp/25,udp\"}\n");
}

/* Each membership has a line; what the machine allowed automatically has none. */
TEST(entries)
{
	char text[2048];

	put("192.0.2.1", false, list_of("feed"), "", 0);
	put("192.0.2.1", false, list_of("more"), "it \"scans\"", 9);
	put("example.com", false, list_of("feed"), "", 0);
	put("198.51.100.1", true, list_of(XB_LIST_ALLOW), "", 0);
	put("198.51.100.1", true, automatic(), "", 0);
	put("198.51.100.2", true, automatic(), "", 0);
	strcpy(text, DEFAULTS);

	strcpy(strstr(text, "\"memberships\":0"),
	       "\"memberships\":4}\n"
	       "{\"entry\":\"192.0.2.1\",\"list\":\"feed\",\"added\":5}\n"
	       "{\"entry\":\"192.0.2.1\",\"list\":\"more\",\"added\":5,\"expires\":9,"
	       "\"comment\":\"it \\\"scans\\\"\"}\n"
	       "{\"entry\":\"example.com\",\"list\":\"feed\",\"added\":5}\n"
	       "{\"allow\":\"198.51.100.1\",\"list\":\"allow\",\"added\":5}\n");
	must_be(text);
}

EACH_TEST(begin_txn, end_txn);
