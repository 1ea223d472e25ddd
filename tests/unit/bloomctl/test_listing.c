/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lists of an entry mean for packets: for which services they hold, what is said of those
 * that hold for others, and which of them a drop is told of, or which limit. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "bloomctl/blame.h"
#include "bloomctl/holding.h"
#include "model/verdict.h"
#include "store/limits.h"
#include "store/listclass.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"
#include "support/texts.h"

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

/* --- for which services --- */

/* Adds what the address is listed for to what there is. service "all": all packets. */
static void add_for(struct holding *holding, const char *service)
{
	bool all = !strcmp(service, "all");
	struct xb_entry entry = entry_of(ADDRESS);
	struct xb_members members;
	struct xb_service to;

	if (!all)
		assert_int_equal(xb_service_parse(service, &to), 0);
	assert_int_equal(xb_members_of(txn, &entry, &members), 0);
	holding_add(holding, txn, members, all ? NULL : &to);
}

/* "[drops][ counts][ else SERVICES]": what it does, and what others there are; "elses": several. */
static const char *words_of(const struct holding *holding)
{
	static char out[XB_SCOPE_TEXT + 32];
	char text[XB_SCOPE_TEXT];

	assert_int_equal(holding_is(holding), holding->drops || holding->counts);
	snprintf(out, sizeof(out), "%s%s%s", holding->drops ? " drops" : "",
		 holding->counts ? " counts" : "",
		 holding->others  ? " elses "
		 : holding->other ? " else "
				  : "");
	if (holding->other) {
		assert_ptr_equal(holding_others(holding, text), text);
		strcat(out, text);
	}
	return *out ? out + 1 : out;
}

/* rows: "SERVICE -> words". */
static void check_services(const char *rows)
{
	struct texts texts = texts_of(rows);
	char *service, *expected;

	while ((service = next_pair(&texts, &expected))) {
		struct holding holding = {0};

		add_for(&holding, service);
		assert_row(service, words_of(&holding), expected);
	}
}

TEST(no_list_holds_for_nothing)
{
	struct holding holding = {0};

	holding_add(&holding, txn, (struct xb_members){0}, NULL);
	assert_string_equal(words_of(&holding), "");
}

TEST(a_list_without_services_holds_for_each)
{
	list_for(ADDRESS, "web", "all", XB_DOMAIN_DROP);
	check_services("all -> drops; tcp/25 -> drops; udp/65535 -> drops; icmp -> drops");
}

TEST(a_list_holds_for_its_services)
{
	list_for(ADDRESS, "mail", "tcp/25,tcp/465-587,icmp", XB_DOMAIN_DROP);
	check_services("tcp/25 -> drops; tcp/465 -> drops; tcp/587 -> drops; icmp -> drops; "
		       "tcp/24 -> else tcp/25,tcp/465-587,icmp; "
		       "tcp/26 -> else tcp/25,tcp/465-587,icmp; "
		       "tcp/588 -> else tcp/25,tcp/465-587,icmp; "
		       "udp/25 -> else tcp/25,tcp/465-587,icmp; "
		       "all -> else tcp/25,tcp/465-587,icmp");
}

/* Any verdict but that one drops an address. */
TEST(a_list_may_only_count)
{
	list_for(ADDRESS, "seen", "all", XB_DOMAIN_COUNT);
	check_services("all -> counts");
	list_for(ADDRESS, "names", "tcp/53", XB_DOMAIN_NXDOMAIN);
	check_services("tcp/53 -> drops counts; tcp/54 -> counts else tcp/53");
}

TEST(others_are_told_if_they_agree)
{
	list_for(ADDRESS, "mail", "tcp/25", XB_DOMAIN_DROP);
	list_for(ADDRESS, "post", "tcp/25", XB_DOMAIN_COUNT);
	check_services("all -> else tcp/25");
	list_for(ADDRESS, "web", "tcp/80", XB_DOMAIN_DROP);
	check_services("all -> elses some services; tcp/80 -> drops else tcp/25");
	/* The last one agrees with the first again. */
	list_for(ADDRESS, "late", "tcp/25", XB_DOMAIN_DROP);
	check_services("all -> elses some services");
}

/* Of an address and of what covers it, one after the other. */
TEST(several_are_added)
{
	struct holding holding = {0};

	list_for(ADDRESS, "mail", "tcp/25", XB_DOMAIN_DROP);
	add_for(&holding, "tcp/25");
	add_for(&holding, "tcp/26");
	assert_string_equal(words_of(&holding), "drops else tcp/25");
	list_for(ADDRESS, "web", "tcp/80", XB_DOMAIN_DROP);
	add_for(&holding, "tcp/26");
	assert_string_equal(words_of(&holding), "drops elses some services");
}

/* --- of which a drop is told --- */

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

static const char *limit_of(uint8_t number)
{
	static char name[XB_LIMIT_NAME];

	assert_int_equal(blame_limit(txn, number, name), 0);
	return name;
}

TEST(a_limit_has_its_name)
{
	struct xb_limit limit = {.bits4 = 32,
				 .bits6 = 64,
				 .period = 1,
				 .rate = 10,
				 .burst = 5,
				 .capacity = 1,
				 .known = 1};
	bool found;

	assert_string_equal(limit_of(1), "");
	strcpy(limit.name, "web");
	assert_int_equal(xb_limits_put(txn, &limit), 0);
	strcpy(limit.name, "mail");
	assert_int_equal(xb_limits_put(txn, &limit), 0);
	assert_int_equal(xb_limits_remove(txn, "web", &found), 0);
	assert_string_equal(limit_of(0), "");
	assert_string_equal(limit_of(1), "");
	assert_string_equal(limit_of(2), "mail");
	assert_string_equal(limit_of(XB_LIMITS), "");
	assert_string_equal(limit_of(UINT8_MAX), "");
}

EACH_TEST(begin_txn, end_txn);
