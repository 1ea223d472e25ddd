/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What policies, ports and lists make of DNS queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/domain_world.h"

static const struct row monitor_table[] = {
	{"drop", ASK("example.com"), XB_MONITORED},
	{"refused", ASK("refused.test"), XB_MONITORED},
	{"nxdomain", ASK("nxdomain.test"), XB_MONITORED},
	{"truncate", ASK("truncate.test"), XB_MONITORED},
	{"count", ASK("count.test"), XB_NAME_COUNTED},
	{"allowed", ASK("allowed.example.com"), XB_NAME_ALLOWED},
	{"not listed", ASK("example.org"), XB_NAME_CLEAN},
	{"cannot be answered", ASK("refused.test") "00", XB_MONITORED},
	{"response", "1234 8180 " COUNTS "'example.com' 00 0001 0001", XB_DNS_RESPONSE},
};

/* From a listed source nothing is looked for: it would have been dropped. */
static const struct row monitored_source_table[] = {
	{"not listed", ASK("example.org"), XB_MONITORED, .only = 4},
	{"drop", ASK("example.com"), XB_MONITORED, .only = 4},
	{"count", ASK("count.test"), XB_MONITORED, .only = 4},
};

static const struct row listed_source_table[] = {
	{"not listed", ASK("example.org"), XB_LISTED_IPV4_HOST, .only = 4},
	{"refused", ASK("refused.test"), XB_LISTED_IPV4_HOST, .only = 4},
};

/* Who is on the allowlist may still not ask for everything. */
static const struct row allowed_source_table[] = {
	{"drop", ASK("example.com"), XB_NAME_DROPPED, .only = 4},
	{"refused", ASK("refused.test"), XB_NAME_REFUSED, .only = 4},
	{"another port", ASK("refused.test"), XB_ALLOWED, {.port = 54}, .only = 4},
};

static void policies(void **state)
{
	(void)state;
	rig_policy(&rig, XB_POLICY_MONITOR);
	CHECK(monitor_table);
	rig_add(&rig, "198.51.100.8", "default");
	CHECK(monitored_source_table);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	CHECK(listed_source_table);
	rig_allow(&rig, "198.51.100.8");
	CHECK(allowed_source_table);
	assert_true(rig_disallow(&rig, "198.51.100.8"));
	assert_true(rig_del(&rig, "198.51.100.8", NULL));
	CHECK(names_table);
}

static const struct row ports_table[] = {
	{"53 is none any more", ASK("example.com"), XB_CLEAN},
	{"5353", ASK("example.com"), XB_NAME_DROPPED, {.port = 5353}},
	{"5354", ASK("refused.test"), XB_NAME_REFUSED, {.port = 5354}},
	{"65535", ASK("example.com"), XB_NAME_DROPPED, {.port = 65535}},
	{"1", ASK("example.com"), XB_NAME_DROPPED, {.port = 1}},
	{"TCP", ASK("example.com"), XB_DNS_TCP, {.port = 1, .protocol = 6}},
	{"TCP 53", ASK("example.com"), XB_CLEAN, {.protocol = 6}},
	{"behind headers",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.port = 65535, .extensions = "00 " TO_UDP},
	 .only = 6},
	{"53 behind headers",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "00 " TO_UDP},
	 .only = 6},
};

static void to_port_0(struct dns_frame *frame)
{
	frame->byte[frame->udp + 2] = frame->byte[frame->udp + 3] = 0;
}

/* 0 stands for none: nobody is looked for there. */
static const struct row no_ports_table[] = {
	{"53", ASK("example.com"), XB_CLEAN},
	{"0", ASK("example.com"), XB_CLEAN, .alter = to_port_0},
	{"0, behind headers",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "00 " TO_UDP},
	 to_port_0,
	 .only = 6},
};

static void ports(void **state)
{
	(void)state;
	rig_dns_ports(&rig, (const uint16_t[XB_NAME_PORTS]){5353, 5354, 65535, 1});
	CHECK(ports_table);
	rig_dns_ports(&rig, (const uint16_t[XB_NAME_PORTS]){0});
	CHECK(no_ports_table);
	rig_dns_ports(&rig, (const uint16_t[XB_NAME_PORTS]){53});
	CHECK(names_table);
}

/* Every bit of the Bloom filter is on: only the exact look-up knows. */
static void guesses(void **state)
{
	struct xb_generation *generation = rig_generation(&rig);

	(void)state;
	assert_int_equal(xb_generation_map_all(generation), 0);
	memset(generation->names.bits.base, 0xff, xb_map_bytes(XB_MAP_NAMES, &generation->params));
	xb_generation_close(generation);
	CHECK(names_table);
	rig_rotate(&rig);
	CHECK(names_table);
}

/* Every order of joining and leaving two lists, in place. */
static void lists_join_and_leave(void **state)
{
	(void)state;
	for (int a = 0; a < XB_DOMAIN_VERDICTS; a++) {
		for (int b = 0; b < XB_DOMAIN_VERDICTS; b++) {
			if (a == b)
				continue;
			rig_add(&rig, "joins.test", lists[a]);
			check_name("x.joins.test", reasons[a]);
			rig_add(&rig, "joins.test", lists[b]);
			check_name("x.joins.test", reasons[a < b ? a : b]);
			assert_true(rig_del(&rig, "joins.test", lists[a]));
			check_name("x.joins.test", reasons[b]);
			assert_true(rig_matches_rebuild(&rig));
			assert_true(rig_del(&rig, "joins.test", lists[b]));
			check_name("x.joins.test", XB_NAME_CLEAN);
		}
	}
	assert_true(rig_matches_rebuild(&rig));
}

static void a_list_changes_its_verdict(void **state)
{
	(void)state;
	rig_add(&rig, "changes.test", "changing");
	rig_add(&rig, "=alone.test", "changing");
	rig_add(&rig, "shared.changes.test", "truncate");
	check_name("changes.test", XB_NAME_DROPPED);
	for (int verdict = XB_DOMAIN_COUNT; verdict >= XB_DOMAIN_DROP; verdict--) {
		enum xb_reason shared =
			reasons[verdict < XB_DOMAIN_TRUNCATE ? verdict : XB_DOMAIN_TRUNCATE];

		rig_verdict(&rig, "changing", (enum xb_domain_verdict)verdict);
		check_name("changes.test", reasons[verdict]);
		check_name("alone.test", reasons[verdict]);
		check_name("shared.changes.test", shared);
		check_name("example.com", XB_NAME_DROPPED);
		assert_true(rig_matches_rebuild(&rig));
	}
	assert_true(rig_del(&rig, "changes.test", NULL));
	assert_true(rig_del(&rig, "=alone.test", NULL));
	assert_true(rig_del(&rig, "shared.changes.test", NULL));
	CHECK(names_table);
}

/* More allowed domains than there was room for when the generation was built. */
static void many_allowed(void **state)
{
	char name[64];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "%sa%d.example.com", i % 2 ? "=" : "", i);
		rig_allow(&rig, name);
	}
	assert_true(rig_matches_rebuild(&rig));
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "a%d.example.com", i);
		check_name(name, XB_NAME_ALLOWED);
		snprintf(name, sizeof(name), "a.a%d.example.com", i);
		check_name(name, i % 2 ? XB_NAME_DROPPED : XB_NAME_ALLOWED);
	}
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "%sa%d.example.com", i % 2 ? "=" : "", i);
		assert_true(rig_disallow(&rig, name));
	}
	check_name("a7.example.com", XB_NAME_DROPPED);
	assert_true(rig_matches_rebuild(&rig));
	CHECK(names_table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies),
		cmocka_unit_test(ports),
		cmocka_unit_test(guesses),
		cmocka_unit_test(lists_join_and_leave),
		cmocka_unit_test(a_list_changes_its_verdict),
		cmocka_unit_test(many_allowed),
	};

	return cmocka_run_group_tests_name("domain lists", tests, begin, end);
}
