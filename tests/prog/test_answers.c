/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers to DNS queries, byte by byte, and what cannot be answered. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/anchor.h"
#include "support/amount.h"
#include "support/domain_world.h"
#include "support/seconds.h"

static void no_source_port(struct dns_frame *frame)
{
	frame->byte[frame->udp] = frame->byte[frame->udp + 1] = 0;
}

static void group_source(struct dns_frame *frame)
{
	frame->byte[6] |= 1;
}

static void group_destination(struct dns_frame *frame)
{
	frame->byte[0] |= 1;
}

static void broadcast(struct dns_frame *frame)
{
	memset(frame->byte, 0xff, 6);
}

static void set_source(struct dns_frame *frame, const char *address)
{
	bool ipv6 = frame->byte[frame->network] >> 4 == 6;

	dns_bytes(address, frame->byte + frame->network + (ipv6 ? 8 : 12));
}

static void set_destination(struct dns_frame *frame, const char *address)
{
	bool ipv6 = frame->byte[frame->network] >> 4 == 6;

	dns_bytes(address, frame->byte + frame->network + (ipv6 ? 24 : 16));
}

#define ALTER(name, what, address)                                                                 \
	static void name(struct dns_frame *frame)                                                  \
	{                                                                                          \
		what(frame, address);                                                              \
	}

ALTER(from_nobody, set_source, "00000000")
ALTER(from_this_net, set_source, "00010203")
ALTER(from_loopback, set_source, "7f000001")
ALTER(from_group, set_source, "e00000fb")
ALTER(from_reserved, set_source, "f0000001")
ALTER(from_everybody, set_source, "ffffffff")
ALTER(to_group, set_destination, "e00000fb")
ALTER(to_everybody, set_destination, "ffffffff")
ALTER(from_nobody6, set_source, "00000000000000000000000000000000")
ALTER(from_loopback6, set_source, "00000000000000000000000000000001")
ALTER(from_group6, set_source, "ff0200000000000000000000000000fb")
ALTER(to_group6, set_destination, "ff0200000000000000000000000000fb")
ALTER(to_loopback6, set_destination, "00000000000000000000000000000001")

#define RECORD "c00c 0001 0001 00000e10 0004 c0000205 "
#define TSIG   "00 00fa 00ff 00000000 0000 "

static const struct row unanswered_table[] = {
	{"EDNS version 1", ASK_EDNS("refused.test") OPT("1000 00 01 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"an answer", "1234 0100 0001 0001 0000 0000 'refused.test' 00 0001 0001 " RECORD,
	 XB_NAME_UNANSWERED},
	{"256 answers", "1234 0100 0001 0100 0000 0000 'refused.test' 00 0001 0001 ",
	 XB_NAME_UNANSWERED},
	{"an answer said, not there", "1234 0100 0001 0001 0000 0000 'refused.test' 00 0001 0001 ",
	 XB_NAME_UNANSWERED},
	{"an authority", "1234 0100 0001 0000 0001 0000 'refused.test' 00 0001 0001 " RECORD,
	 XB_NAME_UNANSWERED},
	{"256 authorities", "1234 0100 0001 0000 0100 0000 'refused.test' 00 0001 0001 ",
	 XB_NAME_UNANSWERED},
	{"an authority and OPT",
	 "1234 0100 0001 0000 0001 0001 'refused.test' 00 0001 0001 " RECORD OPT(
		 "1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"OPT twice",
	 "1234 0100 0001 0000 0000 0002 'refused.test' 00 0001 0001 " OPT("1000 00 00 0000 0000")
		 OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"OPT and TSIG",
	 "1234 0100 0001 0000 0000 0002 'refused.test' 00 0001 0001 " OPT("1000 00 00 0000 0000")
		 TSIG,
	 XB_NAME_UNANSWERED},
	{"256 additional records",
	 "1234 0100 0001 0000 0000 0100 'refused.test' 00 0001 0001 " OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"257 additional records",
	 "1234 0100 0001 0000 0000 0101 'refused.test' 00 0001 0001 " OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"TSIG", ASK_EDNS("refused.test") TSIG, XB_NAME_UNANSWERED},
	{"an address", ASK_EDNS("refused.test") RECORD, XB_NAME_UNANSWERED},
	{"OPT not at the root", ASK_EDNS("refused.test") "0161" OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"type 0x2900", ASK_EDNS("refused.test") "00 2900 1000 00 00 0000 0000",
	 XB_NAME_UNANSWERED},
	{"type 0x0129", ASK_EDNS("refused.test") "00 0129 1000 00 00 0000 0000",
	 XB_NAME_UNANSWERED},
	{"OPT said, not there", ASK_EDNS("refused.test"), XB_NAME_UNANSWERED},
	{"OPT cut", ASK_EDNS("refused.test") "00 0029 1000 00 00 0000 00", XB_NAME_UNANSWERED},
	{"OPT longer than it says", ASK_EDNS("refused.test") OPT("1000 00 00 0000 0003") "00010000",
	 XB_NAME_UNANSWERED},
	{"OPT shorter than it says",
	 ASK_EDNS("refused.test") OPT("1000 00 00 0000 0005") "00010000", XB_NAME_UNANSWERED},
	{"OPT much shorter than it says", ASK_EDNS("refused.test") OPT("1000 00 00 0000 ffff"),
	 XB_NAME_UNANSWERED},
	{"OPT there, not said", ASK("refused.test") OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"a byte behind", ASK("refused.test") "00", XB_NAME_UNANSWERED},
	{"a byte behind OPT", ASK_EDNS("refused.test") OPT("1000 00 00 0000 0000") "00",
	 XB_NAME_UNANSWERED},
	{"source port 0", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = no_source_port},
	{"from a group of stations", ASK("nxdomain.test"), XB_NAME_UNANSWERED,
	 .alter = group_source},
	{"to a group of stations", ASK("nxdomain.test"), XB_NAME_UNANSWERED,
	 .alter = group_destination},
	{"to all stations", ASK("truncate.test"), XB_NAME_UNANSWERED, .alter = broadcast},
	{"from 0.0.0.0", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_nobody, .only = 4},
	{"from 0/8", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_this_net, .only = 4},
	{"from 127/8", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_loopback, .only = 4},
	{"from a group", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_group, .only = 4},
	{"from 240/4", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_reserved, .only = 4},
	{"from everybody", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_everybody,
	 .only = 4},
	{"to a group", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = to_group, .only = 4},
	{"to everybody", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = to_everybody, .only = 4},
	{"from ::", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_nobody6, .only = 6},
	{"from ::1", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_loopback6, .only = 6},
	{"from a group", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_group6, .only = 6},
	{"to a group", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = to_group6, .only = 6},
	{"to ::1", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = to_loopback6, .only = 6},
	{"behind IP options",
	 ASK("refused.test"),
	 XB_NAME_UNANSWERED,
	 {.options = "94040000"},
	 .only = 4},
	{"behind all IP options",
	 ASK("truncate.test"),
	 XB_NAME_UNANSWERED,
	 {.options = "01010101010101010101010101010101010101010101010101010101010101010101010101010"
		     "101"},
	 .only = 4},
	{"behind hop-by-hop",
	 ASK("nxdomain.test"),
	 XB_NAME_UNANSWERED,
	 {.extensions = "00 " TO_UDP},
	 .only = 6},
	{"behind an atomic fragment",
	 ASK("truncate.test"),
	 XB_NAME_UNANSWERED,
	 {.extensions = "2c 11 00 0000 00000001"},
	 .only = 6},
	{"behind 8 headers",
	 ASK("truncate.test"),
	 XB_NAME_UNANSWERED,
	 {.extensions = "3c " THREE("3c" PADS "3c" PADS) "3c" PADS TO_UDP},
	 .only = 6},
};

static void what_cannot_be_answered(void **state)
{
	(void)state;
	CHECK(unanswered_table);
}

/* A frame in several buffers, most of it behind the packet, or in it behind the datagram. */
static void check_huge_frame(int ip_more)
{
	const struct dns_shape shape = {.fill = 3800, .ip_more = ip_more};
	uint8_t query[512];
	uint32_t bytes = dns_bytes(ASK("refused.test"), query);
	struct dns_frame frame;

	dns_wrap(&shape, query, bytes, &frame);
	assert_int_equal(rig_run(program, frame.byte, frame.size), XDP_DROP);
	bytes = dns_bytes(ASK("example.org"), query);
	dns_wrap(&shape, query, bytes, &frame);
	assert_int_equal(rig_run(program, frame.byte, frame.size), XDP_PASS);
}

static void a_huge_frame(void **state)
{
	(void)state;
	check_huge_frame(0);
	check_huge_frame(3800);
}

/* Sixteen times the same. */
#define SIXTEEN(x) x x x x x x x x x x x x x x x x

/* Queries as they may come; the name is put in. */
static const char *const questions[] = {
	"1234 0100 0001 0000 0000 0000 '%s' 00 0001 0001",
	"0000 0000 0001 0000 0000 0000 '%s' 00 001c 0001",
	"ffff 0110 0001 0000 0000 0000 '%s' 00 00ff 0003",
	"abcd 07ff 0001 0000 0000 0000 '%s' 00 ffff ffff",
	"abcd 0120 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 04d0 00 00 0000 0000",
	"abcd 0120 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 1000 00 00 8000 0000",
	"abcd 0130 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 0000 ff 00 ffff 000c "
	"000a 0008 0102030405060708",
	"abcd 0130 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 0200 00 00 7fff 0001 ff",
	"abcd 0100 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 0200 00 00 8000 0204 "
	"000c 0200" SIXTEEN("1122334455667788a1b2c3d4e5f60718")
		SIXTEEN("ffffffffffffffffffffffffffffffff"),
};

static const struct {
	const char *list;
	uint8_t code;
	bool truncated;
	enum xb_reason reason;
} answering[] = {
	{"refused", 5, false, XB_NAME_REFUSED},
	{"nxdomain", 3, false, XB_NAME_NXDOMAIN},
	{"truncate", 0, true, XB_NAME_TRUNCATED},
};

static void check_answer(const struct dns_shape *shape, const uint8_t *query, uint32_t bytes,
			 size_t verdict)
{
	struct dns_shape back = *shape;
	struct dns_frame frame, expected;
	uint8_t answer[1024], out[DNS_FRAME_MAX];
	uint32_t size = sizeof(out);

	back.reply = true;
	back.fill = 0;
	dns_wrap(shape, query, bytes, &frame);
	dns_wrap(&back, answer,
		 dns_answer(query, answering[verdict].truncated, answering[verdict].code, answer),
		 &expected);
	assert_int_equal(rig_run_out(program, frame.byte, frame.size, out, &size), XDP_TX);
	for (uint32_t i = 0; i < expected.size; i++)
		if (out[i] != expected.byte[i])
			fail_msg("%s, IPv%d, link %u: byte %u is %02x, expected %02x",
				 answering[verdict].list, shape->ipv6 ? 6 : 4, shape->link, i,
				 out[i], expected.byte[i]);
	assert_int_equal(size, expected.size);
	check_reason(answering[verdict].list, &frame, answering[verdict].reason);
}

/* Every question in every shape that is a multiple of pace after first, for a name that is the
 * list's. */
static void check_answers(const char *name, size_t verdict, uint32_t first, uint32_t pace)
{
	static const uint32_t fills[] = {0, 1, 2, 3, 300};

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		char text[2048];
		uint8_t query[1024];
		uint32_t bytes;

		snprintf(text, sizeof(text), questions[i], name);
		bytes = dns_bytes(text, query);
		for (uint32_t kind = first % pace; kind < 10 * DNS_LINKS; kind += pace) {
			const struct dns_shape shape = {.ipv6 = kind & 1,
							.link = kind / 2 % DNS_LINKS,
							.fill = fills[kind / 2 / DNS_LINKS],
							.field = kind % 5 ? 0 : 0x4000};

			check_answer(&shape, query, bytes, verdict);
		}
	}
}

static void answers(void **state)
{
	static const char *const below[] = {"", "A.", "ab.", "aBC.", "ABcd.", "x.Y.z.", "-_.0."};

	(void)state;
	for (size_t verdict = 0; verdict < 3; verdict++) {
		for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
			char name[300];

			snprintf(name, sizeof(name), "%s%s.TeSt", below[i],
				 answering[verdict].list);
			check_answers(name, verdict, 0, 1);
		}
	}
}

/* Names of every length up to the longest, whose sums have every remainder. */
static void long_answers(void **state)
{
	(void)state;
	for (int length = 1; length <= 253 - (int)sizeof("refused.test"); length++) {
		char name[300];

		if (length % 64 == 0)
			continue;
		for (int i = 0; i < length; i++)
			name[i] = (char)(i % 64 == 63 && i < length - 1
						 ? '.'
						 : 'A' + i % 52 + i % 52 / 26 * 6);
		strcpy(name + length, ".refused.test");
		check_answers(name, 0, (uint32_t)length, amount(11, 1));
	}
}

/* The shortest frame with an answer: as short as it came, and never below 60 bytes. */
static void short_answers(void **state)
{
	const uint8_t query[] = "\x12\x34\x01\0\0\1\0\0\0\0\0\0\1q\0\0\1\0\1";

	(void)state;
	rig_add(&rig, "q", "refused");
	for (uint32_t fill = 0; fill < 5; fill++)
		check_answer(&(struct dns_shape){.fill = fill}, query, sizeof(query) - 1, 0);
	assert_true(rig_del(&rig, "q", NULL));
}

/* A sum of zero is sent as ones. */
static void every_sum(void **state)
{
	uint8_t query[512];
	uint32_t bytes = dns_bytes(ASK("a.refused.test"), query), ones = 0;

	(void)state;
	for (uint32_t id = 0; id < 65536; id++) {
		const struct dns_shape shape = {.reply = true, .ipv6 = id & 1};
		struct dns_frame expected;
		uint8_t answer[512];

		query[0] = (uint8_t)(id >> 8);
		query[1] = (uint8_t)id;
		dns_wrap(&shape, answer, dns_answer(query, false, 5, answer), &expected);
		if (expected.byte[expected.udp + 6] != 0xff)
			continue;
		check_answer(&(struct dns_shape){.ipv6 = id & 1}, query, bytes, 0);
		ones += expected.byte[expected.udp + 7] == 0xff;
	}
	assert_true(ones > 0);
}

/* So many queries for a refused name, as fast as they can be asked: how many are answered. */
static uint32_t ask_many(uint32_t queries)
{
	uint32_t answered = 0;
	struct dns_frame frame;

	dns_query("refused.test", false, &frame);
	for (uint32_t i = 0; i < queries; i++) {
		uint8_t out[DNS_FRAME_MAX];
		uint32_t size = sizeof(out), verdict;

		verdict = rig_run_out(program, frame.byte, frame.size, out, &size);
		answered += verdict == XDP_TX;
		if (verdict == XDP_TX)
			continue;
		assert_int_equal(verdict, XDP_DROP);
		assert_int_equal(size, frame.size);
	}
	return answered;
}

/* The program's clock goes on by a tick of at most 10 ms. */
#define TICK 0.01

static void check_pace(uint32_t limit)
{
	uint32_t most, answered;
	double start;

	rig_answer_limit(&rig, limit);
	start = seconds();
	answered = ask_many(2 * limit);
	most = (uint32_t)(limit * (1 + seconds() - start + TICK)) + 1;
	assert_in_range(answered, limit, most);
	usleep(500000);
	answered += ask_many(2 * limit);
	most = (uint32_t)(limit * (1 + seconds() - start + TICK)) + 1;
	assert_in_range(answered, (uint32_t)(limit * (1.5 - TICK)) - 1, most);
}

/* The limit is each CPU's own: the test stays on one. */
static void limits(void **state)
{
	struct xb_counts before, after;
	cpu_set_t all, one;

	(void)state;
	CPU_ZERO(&one);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	check_pace(50);
	check_pace(2000);
	rig_answer_limit(&rig, 1);
	rig_counts(&rig, &before);
	assert_in_range(ask_many(10), 1, 9);
	rig_counts(&rig, &after);
	assert_in_range(after.reason[XB_NAME_LIMITED].packets -
				before.reason[XB_NAME_LIMITED].packets,
			1, 9);
	/* What is not answered has no part in it. */
	check_name("example.com", XB_NAME_DROPPED);
	check_name("count.test", XB_NAME_COUNTED);
	check_name("good.test", XB_NAME_CLEAN);
	check_name("ok.refused.test", XB_NAME_ALLOWED);
	rig_policy(&rig, XB_POLICY_MONITOR);
	check_name("refused.test", XB_MONITORED);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	CHECK(unanswered_table);
	rig_answer_limit(&rig, 0);
	assert_int_equal(ask_many(5000), 5000);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* Test runs have the first row: their frames come from no attached interface. */
static void set_mute(uint32_t mute)
{
	struct xb_iface_note note;
	struct xb_anchor anchor;

	rig_must(xb_anchor_open(rig.paths.pins, &anchor), "open the anchor");
	rig_must(xb_anchor_note_get(&anchor, 0, &note), "read the note");
	note.mute = mute;
	rig_must(xb_anchor_note_put(&anchor, 0, &note), "write the note");
	xb_anchor_close(&anchor);
}

/* What would be answered is dropped as it came; all else is as always. */
static void check_mute(uint32_t mute)
{
	set_mute(mute);
	check_name("refused.test", XB_NAME_UNANSWERED);
	check_name("nxdomain.test", XB_NAME_UNANSWERED);
	check_name("truncate.test", XB_NAME_UNANSWERED);
	check_name("example.com", XB_NAME_DROPPED);
	check_name("count.test", XB_NAME_COUNTED);
	check_name("ok.refused.test", XB_NAME_ALLOWED);
	check_name("good.test", XB_NAME_CLEAN);
	rig_policy(&rig, XB_POLICY_MONITOR);
	check_name("refused.test", XB_MONITORED);
	rig_policy(&rig, XB_POLICY_ENFORCE);
}

static void where_tags_are_lost(void **state)
{
	(void)state;
	check_mute(XB_MUTE_VLANS);
	check_mute(XB_MUTE_UNSEEN);
	CHECK(unanswered_table);
	set_mute(XB_MUTE_NONE);
	check_name("refused.test", XB_NAME_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_answered),
		cmocka_unit_test(a_huge_frame),
		cmocka_unit_test(answers),
		cmocka_unit_test(long_answers),
		cmocka_unit_test(short_answers),
		cmocka_unit_test(every_sum),
		cmocka_unit_test(where_tags_are_lost),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests_name("answers", tests, begin, end);
}
