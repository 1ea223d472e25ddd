/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For which services the lists of an entry hold, and what is said of those that hold for others. */
#include <string.h>

#include "bloomctl/holding.h"
#include "store/listclass.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

#define ADDRESS "192.0.2.1"

static void list_for(const char *name, const char *services, enum xb_domain_verdict verdict)
{
	struct xb_list *list = list_of(txn, name);
	struct xb_scope scope;

	assert_int_equal(xb_scope_parse(services, &scope), 0);
	assert_int_equal(xb_list_scope_set(txn, list, &scope), 0);
	list->verdict = (uint8_t)verdict;
	list_entry(txn, ADDRESS, name);
}

/* Adds what the address is listed for to what there is. service: NULL: all packets. */
static void add_for(struct holding *holding, const char *service)
{
	struct xb_entry entry = entry_of(ADDRESS);
	struct xb_members members;
	struct xb_service to;

	if (service)
		assert_int_equal(xb_service_parse(service, &to), 0);
	assert_int_equal(xb_members_of(txn, &entry, &members), 0);
	holding_add(holding, txn, members, service ? &to : NULL);
}

static struct holding held_for(const char *service)
{
	struct holding holding = {0};

	add_for(&holding, service);
	return holding;
}

static void assert_others(const struct holding *holding, const char *expected)
{
	char text[XB_SCOPE_TEXT];

	assert_non_null(holding->other);
	assert_ptr_equal(holding_others(holding, text), text);
	assert_string_equal(text, expected);
}

TEST(no_list_holds_for_nothing)
{
	struct holding holding = {0};

	holding_add(&holding, txn, (struct xb_members){0}, NULL);
	assert_false(holding_is(&holding) || holding.other || holding.others);
}

TEST(a_list_without_services_holds_for_each)
{
	static const char *const services[] = {NULL, "tcp/25", "udp/65535", "icmp"};

	list_for("web", "all", XB_DOMAIN_DROP);
	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		struct holding holding = held_for(services[i]);

		assert_true(holding.drops && holding_is(&holding));
		assert_false(holding.counts || holding.other);
	}
}

TEST(a_list_holds_for_its_services)
{
	static const struct {
		const char *service;
		bool holds;
	} rows[] = {
		{"tcp/25", true},  {"tcp/24", false}, {"tcp/26", false},
		{"tcp/465", true}, {"tcp/587", true}, {"tcp/588", false},
		{"udp/25", false}, {"icmp", true},    {NULL, false},
	};

	list_for("mail", "tcp/25,tcp/465-587,icmp", XB_DOMAIN_DROP);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct holding holding = held_for(rows[i].service);

		assert_int_equal(holding.drops, rows[i].holds);
		assert_int_equal(holding_is(&holding), rows[i].holds);
		assert_int_equal(holding.other != NULL, !rows[i].holds);
		if (!rows[i].holds)
			assert_others(&holding, "tcp/25,tcp/465-587,icmp");
	}
}

/* Any verdict but that one drops an address. */
TEST(a_list_may_only_count)
{
	struct holding holding;

	list_for("seen", "all", XB_DOMAIN_COUNT);
	holding = held_for(NULL);
	assert_true(holding.counts && holding_is(&holding));
	assert_false(holding.drops);
	list_for("names", "tcp/53", XB_DOMAIN_NXDOMAIN);
	holding = held_for("tcp/53");
	assert_true(holding.counts && holding.drops);
	holding = held_for("tcp/54");
	assert_true(holding.counts && !holding.drops);
	assert_others(&holding, "tcp/53");
}

TEST(others_are_told_if_they_agree)
{
	struct holding holding;

	list_for("mail", "tcp/25", XB_DOMAIN_DROP);
	list_for("post", "tcp/25", XB_DOMAIN_COUNT);
	holding = held_for(NULL);
	assert_false(holding_is(&holding) || holding.others);
	assert_others(&holding, "tcp/25");
	list_for("web", "tcp/80", XB_DOMAIN_DROP);
	holding = held_for(NULL);
	assert_false(holding_is(&holding));
	assert_true(holding.others);
	assert_others(&holding, "some services");
	holding = held_for("tcp/80");
	assert_true(holding.drops && !holding.counts && !holding.others);
	assert_others(&holding, "tcp/25");
	/* The last one agrees with the first again. */
	list_for("late", "tcp/25", XB_DOMAIN_DROP);
	holding = held_for(NULL);
	assert_others(&holding, "some services");
}

/* Of an address and of what covers it, one after the other. */
TEST(several_are_added)
{
	struct holding holding = {0};

	list_for("mail", "tcp/25", XB_DOMAIN_DROP);
	add_for(&holding, "tcp/25");
	add_for(&holding, "tcp/26");
	assert_true(holding.drops && !holding.others);
	assert_others(&holding, "tcp/25");
	list_for("web", "tcp/80", XB_DOMAIN_DROP);
	add_for(&holding, "tcp/26");
	assert_true(holding.drops && holding.others);
}

EACH_TEST(begin_txn, end_txn);
