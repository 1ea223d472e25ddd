/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists that hold for services: by which list a packet is judged, and how classes are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attach/classcounts.h"
#include "support/oracle.h"
#include "support/scoped_world.h"

#define CROWD 20000

static void only_these_ports(void **state)
{
	static const char *const listed[] = {"198.51.100.7",   "203.0.113.255",	    "203.0.112.159",
					     "10.127.255.255", "2001:db8:bad:1::1", "2001:db8::7"};
	static const char *const clean[] = {"198.51.100.8", "203.0.114.0",     "203.0.112.160",
					    "10.128.0.0",   "2001:db8:bae::1", "2001:db8::8"};

	(void)state;
	for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
		expect(listed[i], "tcp/25", XB_SCOPED_DROPPED);
		expect(listed[i], "tcp/465", XB_SCOPED_DROPPED);
		expect(listed[i], "tcp/587", XB_SCOPED_DROPPED);
		expect(listed[i], "tcp/24", XB_CLEAN);
		expect(listed[i], "tcp/26", XB_CLEAN);
		expect(listed[i], "tcp/443", XB_CLEAN);
		expect(listed[i], "udp/25", XB_CLEAN);
		expect(listed[i], "icmp", XB_CLEAN);
		expect(clean[i], "tcp/25", XB_CLEAN);
		expect(clean[i], "tcp/80", XB_CLEAN);
	}
	expect("198.51.100.9", "tcp/25", XB_LISTED_IPV4_HOST);
	expect("198.51.100.9", "tcp/80", XB_LISTED_IPV4_HOST);
	assert_true(rig_matches_rebuild(&rig));
}

static void udp_and_icmp(void **state)
{
	(void)state;
	rig_add(&rig, "192.0.2.53", "resolvers");
	rig_add(&rig, "2001:db8::53", "resolvers");
	rig_scope(&rig, "resolvers", "udp/53,icmp,tcp/1000-2000");
	expect("192.0.2.53", "udp/53", XB_SCOPED_DROPPED);
	expect("192.0.2.53", "udp/54", XB_CLEAN);
	expect("192.0.2.53", "tcp/53", XB_CLEAN);
	expect("192.0.2.53", "tcp/1000", XB_SCOPED_DROPPED);
	expect("192.0.2.53", "tcp/2000", XB_SCOPED_DROPPED);
	expect("192.0.2.53", "tcp/999", XB_CLEAN);
	expect("192.0.2.53", "tcp/2001", XB_CLEAN);
	expect("192.0.2.53", "tcp/25", XB_CLEAN);
	expect("192.0.2.53", "icmp", XB_SCOPED_DROPPED);
	expect("2001:db8::53", "icmp", XB_SCOPED_DROPPED);
	expect("2001:db8::53", "udp/53", XB_SCOPED_DROPPED);
	/* ICMP has no port that only the first fragment would have. */
	expect_form("192.0.2.53", "icmp", FRAME_LATER, XB_SCOPED_DROPPED);
	expect_form("2001:db8::53", "icmp", FRAME_LATER, XB_SCOPED_DROPPED);
	expect("198.51.100.7", "udp/53", XB_CLEAN);
	expect("198.51.100.7", "icmp", XB_CLEAN);
	rig_scope(&rig, "resolvers", "tcp,udp");
	expect("192.0.2.53", "udp/1", XB_SCOPED_DROPPED);
	expect("192.0.2.53", "tcp/65535", XB_SCOPED_DROPPED);
	expect("192.0.2.53", "icmp", XB_CLEAN);
	rig_scope(&rig, "resolvers", "all");
	expect("192.0.2.53", "icmp", XB_LISTED_IPV4_HOST);
	rig_del(&rig, "192.0.2.53", NULL);
	rig_del(&rig, "2001:db8::53", NULL);
}

/* In several lists: what any of them says. */
static void the_union(void **state)
{
	(void)state;
	rig_add(&rig, "192.0.2.1", "mail");
	rig_scope(&rig, "web", "tcp/80,tcp/443");
	rig_add(&rig, "192.0.2.1", "web");
	expect("192.0.2.1", "tcp/25", XB_SCOPED_DROPPED);
	expect("192.0.2.1", "tcp/443", XB_SCOPED_DROPPED);
	expect("192.0.2.1", "tcp/22", XB_CLEAN);
	rig_add(&rig, "192.0.2.1", "everywhere");
	expect("192.0.2.1", "tcp/22", XB_LISTED_IPV4_HOST);
	expect("192.0.2.1", "tcp/25", XB_LISTED_IPV4_HOST);
	rig_del(&rig, "192.0.2.1", "mail");
	rig_del(&rig, "192.0.2.1", "everywhere");
	expect("192.0.2.1", "tcp/25", XB_CLEAN);
	expect("192.0.2.1", "tcp/443", XB_SCOPED_DROPPED);
	/* A prefix that holds for one service, and one in it that holds for another. */
	rig_add(&rig, "192.0.2.0/24", "mail");
	expect("192.0.2.1", "tcp/25", XB_SCOPED_DROPPED);
	expect("192.0.2.1", "tcp/443", XB_SCOPED_DROPPED);
	expect("192.0.2.2", "tcp/25", XB_SCOPED_DROPPED);
	expect("192.0.2.2", "tcp/443", XB_CLEAN);
	/* One that is listed for all, below it and above it. */
	rig_add(&rig, "192.0.2.0/25", "everywhere");
	rig_add(&rig, "192.0.0.0/16", "everywhere");
	rig_del(&rig, "192.0.0.0/16", NULL);
	expect("192.0.2.2", "tcp/443", XB_LISTED_IPV4_HOST);
	rig_del(&rig, "192.0.2.0/25", NULL);
	expect("192.0.2.2", "tcp/443", XB_CLEAN);
	expect("192.0.2.2", "tcp/25", XB_SCOPED_DROPPED);
	rig_del(&rig, "192.0.2.0/24", NULL);
	rig_del(&rig, "192.0.2.1", NULL);
	expect("192.0.2.2", "tcp/25", XB_CLEAN);
	rig_scope(&rig, "web", "all");
	assert_true(rig_matches_rebuild(&rig));
}

/* What a prefix of a scoped list covers stays as it is for all services. */
static void prefixes_beside_each_other(void **state)
{
	(void)state;
	rig_add(&rig, "198.18.0.0/16", "everywhere");
	rig_add(&rig, "198.18.0.0/15", "mail");
	rig_add(&rig, "198.18.7.0/24", "mail");
	expect("198.18.7.7", "tcp/80", XB_LISTED_IPV4_PREFIX);
	rig_del(&rig, "198.18.0.0/16", NULL);
	expect("198.18.7.7", "tcp/80", XB_CLEAN);
	expect("198.18.7.7", "tcp/25", XB_SCOPED_DROPPED);
	expect("198.19.7.7", "tcp/25", XB_SCOPED_DROPPED);
	rig_del(&rig, "198.18.0.0/15", NULL);
	expect("198.19.7.7", "tcp/25", XB_CLEAN);
	expect("198.18.7.7", "tcp/25", XB_SCOPED_DROPPED);
	rig_del(&rig, "198.18.7.0/24", NULL);
	expect("198.18.7.7", "tcp/25", XB_CLEAN);
	assert_true(rig_matches_rebuild(&rig));
}

static struct xb_count count_of(const char *name)
{
	struct xb_generation *generation = rig_generation(&rig);
	struct xb_anchor anchor;
	struct xb_store *store;
	struct xb_count sum;
	struct xb_txn *txn;
	uint32_t class;

	rig_must(xb_store_open(rig.state, XB_STORE_READ, &store), "store");
	rig_must(xb_store_read(store, &txn), "store");
	class = xb_list_find(txn, name)->class;
	xb_txn_abort(txn);
	xb_store_close(store);
	rig_must(xb_anchor_open(rig.pins, &anchor), "link");
	rig_must(xb_class_counts_read(&anchor, class, generation->params.scopes.identity[class],
				      &sum),
		 "counts");
	xb_anchor_close(&anchor);
	xb_generation_close(generation);
	return sum;
}

static void counting(void **state)
{
	struct xb_count mail, suspects;

	(void)state;
	rig_add(&rig, "192.0.2.77", "suspects");
	rig_add(&rig, "198.51.100.7", "suspects");
	rig_add(&rig, "2001:db8:77::/48", "suspects");
	rig_verdict(&rig, "suspects", XB_DOMAIN_COUNT);
	mail = count_of("mail");
	suspects = count_of("suspects");
	expect("192.0.2.77", "tcp/80", XB_SCOPED_COUNTED);
	expect("192.0.2.77", "icmp", XB_SCOPED_COUNTED);
	expect("2001:db8:77::1", "udp/9", XB_SCOPED_COUNTED);
	/* What another list drops is not what this one would add. */
	expect("198.51.100.7", "tcp/25", XB_SCOPED_DROPPED);
	expect("198.51.100.7", "tcp/80", XB_SCOPED_COUNTED);
	assert_int_equal(count_of("mail").packets, mail.packets + 1);
	assert_int_equal(count_of("suspects").packets, suspects.packets + 4);
	assert_true(count_of("suspects").bytes > suspects.bytes + 4 * 54);
	/* Also where no port can be found. */
	expect_form("192.0.2.77", "tcp/25", FRAME_LATER, XB_SCOPED_COUNTED);
	rig_rotate(&rig);
	assert_int_equal(count_of("suspects").packets, suspects.packets + 5);
	rig_scope(&rig, "suspects", "udp/9");
	expect("192.0.2.77", "tcp/80", XB_CLEAN);
	expect("192.0.2.77", "udp/9", XB_SCOPED_COUNTED);
	assert_int_equal(count_of("suspects").packets, 1);
	rig_verdict(&rig, "suspects", XB_DOMAIN_DROP);
	expect("192.0.2.77", "udp/9", XB_SCOPED_DROPPED);
	assert_int_equal(count_of("suspects").packets, 1);
	rig_scope(&rig, "suspects", "all");
	expect("192.0.2.77", "tcp/80", XB_LISTED_IPV4_HOST);
	rig_del(&rig, "192.0.2.77", NULL);
	rig_del(&rig, "198.51.100.7", "suspects");
	rig_del(&rig, "2001:db8:77::/48", NULL);
}

static void the_allowlist_wins(void **state)
{
	(void)state;
	rig_allow(&rig, "203.0.113.7");
	rig_allow(&rig, "2001:db8:bad:7::/64");
	expect("203.0.113.7", "tcp/25", XB_ALLOWED);
	expect("203.0.113.7", "tcp/80", XB_CLEAN);
	expect("2001:db8:bad:7::1", "tcp/25", XB_ALLOWED);
	expect("203.0.113.8", "tcp/25", XB_SCOPED_DROPPED);
	rig_verdict(&rig, "mail", XB_DOMAIN_COUNT);
	expect("203.0.113.7", "tcp/25", XB_ALLOWED);
	expect("203.0.113.8", "tcp/25", XB_SCOPED_COUNTED);
	rig_verdict(&rig, "mail", XB_DOMAIN_DROP);
	rig_disallow(&rig, "203.0.113.7");
	rig_disallow(&rig, "2001:db8:bad:7::/64");
	expect("203.0.113.7", "tcp/25", XB_SCOPED_DROPPED);
}

/* What stands in no list for all services, though the Bloom filter of those has its bits. */
static struct xb_entry unconfirmed_host(uint64_t *seed)
{
	struct xb_entry host;
	struct service_frame frame;

	do {
		host = oracle_random(seed, true, 32);
		frame = frame_to(&host, XB_SERVICE_UDP, 9, FRAME_PLAIN);
	} while (reason_of(frame.byte, frame.size) != XB_UNCONFIRMED);
	return host;
}

static void the_allowlist_wins_behind_a_false_hit(void **state)
{
	struct xb_entry *crowd = calloc(CROWD, sizeof(*crowd)), host;
	char text[XB_ENTRY_TEXT];
	uint64_t seed = 20261123;

	(void)state;
	for (int i = 0; i < CROWD; i++)
		crowd[i] = oracle_random(&seed, true, 32);
	rig_add_all_to(&rig, crowd, CROWD, "everywhere");
	rig_rotate(&rig);
	host = unconfirmed_host(&seed);
	xb_entry_format(&host, text);
	rig_add(&rig, text, "mail");
	rig_allow(&rig, text);
	expect(text, "udp/9", XB_UNCONFIRMED); /* still the same filter */
	expect(text, "tcp/25", XB_ALLOWED);
	rig_disallow(&rig, text);
	expect(text, "tcp/25", XB_SCOPED_DROPPED);
	rig_del(&rig, text, NULL);
	free(crowd);
}

static void every_policy(void **state)
{
	struct xb_count before = count_of("mail");

	(void)state;
	rig_policy(&rig, XB_POLICY_MONITOR);
	expect("198.51.100.7", "tcp/25", XB_MONITORED);
	expect("198.51.100.7", "tcp/80", XB_CLEAN);
	assert_int_equal(count_of("mail").packets, before.packets + 1);
	rig_policy(&rig, XB_POLICY_ALLOW_ONLY);
	expect("198.51.100.7", "tcp/25", XB_ADMITTED);
	expect("198.51.100.7", "tcp/80", XB_NOT_ADMITTED);
	expect("198.51.100.8", "tcp/25", XB_NOT_ADMITTED);
	expect("198.51.100.9", "tcp/80", XB_ADMITTED);
	rig_verdict(&rig, "mail", XB_DOMAIN_COUNT);
	expect("198.51.100.7", "tcp/25", XB_NOT_ADMITTED);
	rig_verdict(&rig, "mail", XB_DOMAIN_DROP);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	expect("198.51.100.7", "tcp/25", XB_SCOPED_DROPPED);
}

/* Without confirm, only what is listed for all services is a guess. */
static void without_confirm(void **state)
{
	(void)state;
	rig_confirm(&rig, false);
	expect("198.51.100.7", "tcp/25", XB_SCOPED_DROPPED);
	expect("198.51.100.7", "tcp/80", XB_CLEAN);
	rig_add(&rig, "198.51.100.70", "mail");
	expect("198.51.100.70", "tcp/25", XB_SCOPED_DROPPED);
	rig_del(&rig, "198.51.100.70", "mail");
	expect("198.51.100.70", "tcp/25", XB_CLEAN);
	rig_confirm(&rig, true);
	assert_true(rig_matches_rebuild(&rig));
}

static int begin_hosts(void **state)
{
	(void)state;
	rig_begin(&rig, "scoped-hosts");
	program = rig_entry(&rig);
	rig_add(&rig, "198.51.100.7", "mail");
	rig_add(&rig, "10.1.2.3", "mail");
	rig_scope(&rig, "mail", "tcp/25");
	return 0;
}

static uint64_t generation_now(void)
{
	struct xb_generation *generation = rig_generation(&rig);
	uint64_t now = generation->params.generation;

	xb_generation_close(generation);
	return now;
}

static void expect_hosts(void)
{
	expect("198.51.100.7", "tcp/25", XB_SCOPED_DROPPED);
	expect("10.1.2.3", "tcp/25", XB_SCOPED_DROPPED);
	expect("10.1.2.3", "tcp/26", XB_CLEAN);
	expect("10.2.2.2", "tcp/25", XB_CLEAN);
	expect("192.0.2.1", "tcp/25", XB_CLEAN); /* nothing in its /16 */
}

/* As long as there are hosts alone, their length is known without a look at the /16. */
static void the_first_prefix_among_hosts(void **state)
{
	uint64_t generation = generation_now();

	(void)state;
	expect_hosts();
	rig_add(&rig, "10.1.0.0/17", "mail");
	expect_hosts();
	expect("10.1.9.9", "tcp/25", XB_SCOPED_DROPPED);
	expect("10.1.128.1", "tcp/25", XB_CLEAN);
	rig_add(&rig, "10.4.0.0/14", "mail");
	expect("10.7.255.255", "tcp/25", XB_SCOPED_DROPPED);
	expect("10.8.0.0", "tcp/25", XB_CLEAN);
	rig_del(&rig, "10.1.0.0/17", NULL);
	expect_hosts();
	expect("10.1.9.9", "tcp/25", XB_CLEAN);
	expect("10.4.0.0", "tcp/25", XB_SCOPED_DROPPED);
	assert_int_equal(generation_now(), generation);
	assert_true(rig_matches_rebuild(&rig));
	rig_rotate(&rig);
	expect_hosts();
	expect("10.4.0.0", "tcp/25", XB_SCOPED_DROPPED);
}

int main(void)
{
	const struct CMUnitTest of_hosts[] = {cmocka_unit_test(the_first_prefix_among_hosts)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_these_ports),
		cmocka_unit_test(udp_and_icmp),
		cmocka_unit_test(the_union),
		cmocka_unit_test(prefixes_beside_each_other),
		cmocka_unit_test(counting),
		cmocka_unit_test(the_allowlist_wins),
		cmocka_unit_test(the_allowlist_wins_behind_a_false_hit),
		cmocka_unit_test(every_policy),
		cmocka_unit_test(without_confirm),
	};

	return cmocka_run_group_tests(tests, begin, end) +
	       cmocka_run_group_tests(of_hosts, begin_hosts, end);
}
