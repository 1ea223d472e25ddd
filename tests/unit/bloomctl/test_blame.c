/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which entry and which lists are told of a drop, by its reason and by what the packet asked for.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "bloomctl/blame.h"
#include "model/verdict.h"
#include "store/listclass.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

#define ADDRESS "192.0.2.1"
#define NETWORK "192.0.2.0/24"

static void list_for(const char *text, const char *name, const char *services,
		     enum xb_domain_verdict verdict)
{
	struct xb_list *list = list_of(txn, name);
	struct xb_scope scope;

	assert_int_equal(xb_scope_parse(services, &scope), 0);
	assert_int_equal(xb_list_scope_set(txn, list, &scope), 0);
	list->verdict = (uint8_t)verdict;
	list_entry(txn, text, name);
}

/* "ENTRY LIST..." that are told of a drop of ADDRESS; "-": none. */
static const char *told(uint8_t reason, uint8_t protocol, uint16_t port)
{
	static char out[256];
	struct blame blame = blame_of(reason, false, protocol, port ? htons(4001) : 0, htons(port));
	struct xb_entry asked = entry_of(ADDRESS);
	struct xb_members members;
	struct xb_covers covers;
	json_t *object, *list;
	size_t i;

	if (!blame_find(txn, &blame, &asked, &covers, &members))
		return "-";
	object = blame_json(txn, &blame, &asked, &covers.entry, members);
	assert_non_null(object);
	snprintf(out, sizeof(out), "%s", json_string_value(json_object_get(object, "entry")));
	json_array_foreach(json_object_get(object, "lists"), i, list)
	{
		size_t used = strlen(out);

		snprintf(out + used, sizeof(out) - used, " %s",
			 json_string_value(json_object_get(list, "name")));
	}
	json_decref(object);
	return out;
}

TEST(the_reason_tells)
{
	list_for(ADDRESS, "all", "all", XB_DOMAIN_DROP);
	list_for(ADDRESS, "mail", "tcp/25", XB_DOMAIN_DROP);
	list_for(ADDRESS, "web", "tcp/80,tcp/443", XB_DOMAIN_DROP);
	list_for(ADDRESS, "more", "tcp/20-30", XB_DOMAIN_DROP);
	list_for(ADDRESS, "seen", "tcp/25", XB_DOMAIN_COUNT);
	assert_string_equal(told(XB_LISTED_IPV4_HOST, IPPROTO_TCP, 25), ADDRESS " all");
	assert_string_equal(told(XB_LISTED_IPV4_HOST, IPPROTO_UDP, 0), ADDRESS " all");
	assert_string_equal(told(XB_SCOPED_DROPPED, IPPROTO_TCP, 25), ADDRESS " mail more");
	assert_string_equal(told(XB_SCOPED_DROPPED, IPPROTO_TCP, 443), ADDRESS " web");
	assert_string_equal(told(XB_SCOPED_DROPPED, IPPROTO_UDP, 443), "-");
	assert_string_equal(told(XB_SCOPED_DROPPED, IPPROTO_ICMP, 0), "-");
	/* Behind extension headers the port is not told. */
	assert_string_equal(told(XB_SCOPED_DROPPED, IPPROTO_HOPOPTS, 0), ADDRESS " mail web more");
	assert_string_equal(told(XB_NOT_ADMITTED, IPPROTO_TCP, 25), "-");
}

TEST(a_wider_entry_may_be_why)
{
	list_for(ADDRESS, "mail", "tcp/25", XB_DOMAIN_DROP);
	list_for(NETWORK, "all", "all", XB_DOMAIN_DROP);
	list_for(NETWORK, "mail", "tcp/25", XB_DOMAIN_DROP);
	assert_string_equal(told(XB_LISTED_IPV4_PREFIX, IPPROTO_TCP, 25), NETWORK " all");
	assert_string_equal(told(XB_SCOPED_DROPPED, IPPROTO_TCP, 25), ADDRESS " mail");
}

EACH_TEST(begin_txn, end_txn);
