/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of answers to DNS queries: those whose sum is zero, how many there are in a second, and none in
 * frames of several buffers. What is answered, and how, is in the rows of test_verdicts. */
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "support/cmocka.h"
#include "support/counted_reason.h"
#include "support/dns.h"
#include "support/rig.h"
#include "support/seconds.h"

static struct rig rig;
static int program;

static void check_answer(bool ipv6, const uint8_t *query, uint32_t bytes,
			 const struct dns_frame *expected)
{
	const struct dns_shape shape = {.ipv6 = ipv6};
	struct dns_frame frame;
	uint8_t out[DNS_FRAME_MAX];
	uint32_t size = sizeof(out);

	dns_wrap(&shape, query, bytes, &frame);
	assert_int_equal(rig_run_out(program, frame.byte, frame.size, out, &size), XDP_TX);
	assert_int_equal(size, expected->size);
	assert_memory_equal(out, expected->byte, size);
}

/* A sum of zero is sent as ones. */
TEST(every_sum)
{
	uint8_t query[512];
	uint32_t bytes = dns_bytes("1234 0100 0001 0000 0000 0000 'a.refused.test' 00 0001 0001",
				   query),
		 ones = 0;

	for (uint32_t id = 0; id < 65536; id++) {
		const struct dns_shape shape = {.reply = true, .ipv6 = id & 1};
		struct dns_frame expected;
		uint8_t answer[512];

		query[0] = (uint8_t)(id >> 8);
		query[1] = (uint8_t)id;
		dns_wrap(&shape, answer, dns_answer(query, false, 5, answer), &expected);
		if (expected.byte[expected.udp + 6] != 0xff)
			continue;
		check_answer(id & 1, query, bytes, &expected);
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

/* It was counted for this reason alone, and is dropped, or passes. */
static void check_query(const char *message, const struct dns_shape *shape, enum xb_reason reason)
{
	struct xb_counts before, after;
	uint8_t query[512];
	struct dns_frame frame;
	uint32_t verdict;

	dns_wrap(shape, query, dns_bytes(message, query), &frame);
	rig_counts(&rig, &before);
	verdict = rig_run(program, frame.byte, frame.size);
	rig_counts(&rig, &after);
	assert_int_equal(counted_reason(&before, &after), reason);
	assert_int_equal(verdict, xb_reason_drops(reason) ? XDP_DROP : XDP_PASS);
}

#define ASK(name) "1234 0100 0001 0000 0000 0000 '" name "' 00 0001 0001"

/* What is behind the packet is in other buffers, of which rows cannot say how they are counted. */
TEST(several_buffers)
{
	const struct dns_shape shape = {.fill = 3800};

	check_query(ASK("refused.test"), &shape, XB_NAME_UNANSWERED);
	check_query(ASK("example.org"), &shape, XB_NAME_CLEAN);
}

/* What is not answered has no part in the limit. */
static void check_unlimited(void)
{
	const struct dns_shape plain = {0};

	for (int i = 0; i < 10; i++) {
		check_query(ASK("refused.test") "00", &plain, XB_NAME_UNANSWERED);
		check_query(ASK("example.com"), &plain, XB_NAME_DROPPED);
		check_query(ASK("good.test"), &plain, XB_NAME_CLEAN);
	}
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
TEST(limits)
{
	struct xb_counts before, after;
	cpu_set_t all, one;

	CPU_ZERO(&one);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	check_pace(50);
	check_pace(2000);
	rig_answer_limit(&rig, 1);
	check_unlimited();
	rig_counts(&rig, &before);
	assert_in_range(ask_many(10), 1, 9);
	rig_counts(&rig, &after);
	assert_in_range(after.reason[XB_NAME_LIMITED].packets -
				before.reason[XB_NAME_LIMITED].packets,
			1, 9);
	check_unlimited();
	rig_policy(&rig, XB_POLICY_MONITOR);
	check_query(ASK("refused.test"), &(struct dns_shape){0}, XB_MONITORED);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	rig_answer_limit(&rig, 0);
	assert_int_equal(ask_many(5000), 5000);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static int begin(void **state)
{
	rig_begin(&rig, "answers");
	program = rig_entry(&rig);
	rig_verdict(&rig, "refused", XB_DOMAIN_REFUSED);
	rig_add(&rig, "refused.test", "refused");
	rig_add(&rig, "example.com", "default");
	return 0;
}

static int end(void **state)
{
	close(program);
	rig_end(&rig);
	return 0;
}

ALL_TESTS(begin, end);
