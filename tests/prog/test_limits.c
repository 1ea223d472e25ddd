/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits in the program as it ships, beyond the rows of tests/prog/verdicts: bursts of all sizes,
 * real time, several processors, sources of several limits. */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <endian.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/anchor.h"
#include "attach/offenders.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/entryof.h"
#include "support/rig.h"
#include "support/service_frame.h"

static struct rig rig;
static int program;
static struct xb_anchor anchor;

static int begin(void **state)
{
	rig_begin(&rig, "limits");
	program = rig_entry(&rig);
	rig_must(xb_anchor_open(rig.pins, &anchor), "link");
	return 0;
}

static int end(void **state)
{
	xb_anchor_close(&anchor);
	close(program);
	rig_end(&rig);
	return 0;
}

static struct service_frame frame_from(const char *source, uint16_t port)
{
	struct xb_entry entry = entry_of(source);

	return frame_to(&entry, XB_SERVICE_TCP, port, FRAME_PLAIN);
}

/* So many frames in a row. */
static void send_frames(const struct service_frame *frame, uint32_t count)
{
	struct service_frame copy = *frame;
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = copy.byte, .data_size_in = copy.size,
		    .repeat = (int)count);

	if (count)
		assert_int_equal(bpf_prog_test_run_opts(program, &options), 0);
}

static uint64_t counted(enum xb_reason reason)
{
	struct xb_counts counts;

	rig_must(xb_anchor_counts(&anchor, 0, &counts), "counts");
	return counts.reason[reason].packets;
}

/* How many of so many pass. */
static uint64_t passing(const struct service_frame *frame, uint32_t count)
{
	uint64_t clean = counted(XB_CLEAN), limited = counted(XB_LIMITED);

	send_frames(frame, count);
	clean = counted(XB_CLEAN) - clean;
	limited = counted(XB_LIMITED) - limited;
	assert_int_equal(clean + limited, count);
	return clean;
}

TEST(bursts)
{
	static const uint32_t bursts[] = {1, 2, 24, 255, 256, 1025, 100000, 1 << 20};
	const struct service_frame ipv4 = frame_from("198.51.100.7", 443);
	const struct service_frame ipv6 = frame_from("2001:db8::7", 443);

	for (size_t i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++) {
		struct xb_limit limit = rig_limit_of("burst", "tcp/443", bursts[i]);

		/* A line may have both sources. */
		limit.capacity = 10000;
		rig_limit(&rig, &limit);
		/* Of a large burst, there is time for some more while it is sent. */
		assert_int_equal(passing(&ipv4, bursts[i]), bursts[i]);
		assert_in_range(passing(&ipv4, 5), 0, bursts[i] > 1025 ? 5 : 0);
		assert_int_equal(passing(&ipv6, bursts[i]), bursts[i]);
		assert_in_range(passing(&ipv6, 5), 0, bursts[i] > 1025 ? 5 : 0);
	}
	assert_true(rig_unlimit(&rig, "burst"));
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* With the clock of the kernel, at a rate that a test run exceeds: no more than burst and rate
 * allow in the time that it took, and about as many as in the time for which it had a processor. */
TEST(rate_in_real_time)
{
	const struct service_frame frame = frame_from("198.51.100.7", 443);
	struct xb_limit limit = rig_limit_of("rate", "tcp/443", 400);
	uint64_t wall, busy, passed;

	limit.rate = 20000;
	limit.period = 1;
	rig_limit(&rig, &limit);
	wall = nanoseconds(CLOCK_MONOTONIC);
	busy = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	passed = passing(&frame, amount(500000, 20000000));
	busy = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - busy;
	wall = nanoseconds(CLOCK_MONOTONIC) - wall;
	print_message("%lu passed in %lu us, %lu us of a processor\n", passed, wall / 1000,
		      busy / 1000);
	/* The clock goes on by as much as 10 ms at once. */
	assert_true(passed <= 400 + (wall + 10000000) * 20 / 1000000 + 1);
	/* The counts are read in the same time. */
	assert_true(passed >= busy * 20 / 1000000 / 2);
	assert_true(rig_unlimit(&rig, "rate"));
}

struct sender {
	struct service_frame frame;
	int cpu;
	uint32_t count;
	pthread_t thread;
};

static void *send_burst(void *context)
{
	const struct sender *sender = context;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sender->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return (void *)1;
	/* Often, so that both are at work at the same time. */
	for (uint32_t i = 0; i < sender->count; i += 10000)
		send_frames(&sender->frame, 10000);
	return NULL;
}

/* Packets of one source on two processors: no more than its burst passes. A few may be dropped that
 * the other processor did not let be counted. */
TEST(one_source_on_two_processors)
{
	const uint32_t burst = amount(200000, 1000000);
	struct xb_limit limit = rig_limit_of("both", "tcp/443", burst);
	struct sender sender[2];
	uint64_t clean, may;

	if (rig_processor(1) < 0)
		skip();
	rig_limit(&rig, &limit);
	clean = counted(XB_CLEAN);
	for (int i = 0; i < 2; i++) {
		sender[i] = (struct sender){.frame = frame_from("198.51.100.7", 443),
					    .cpu = rig_processor(i),
					    .count = burst};
		assert_int_equal(pthread_create(&sender[i].thread, NULL, send_burst, &sender[i]),
				 0);
	}
	for (int i = 0; i < 2; i++) {
		void *failed;

		pthread_join(sender[i].thread, &failed);
		assert_null(failed);
	}
	clean = counted(XB_CLEAN) - clean;
	may = burst + limit.rate / 60; /* a minute is more than it takes */
	print_message("%lu of %u passed\n", clean, burst);
	assert_in_range(clean, burst * 9ULL / 10, may);
	assert_true(rig_unlimit(&rig, "both"));
}

/* What sources of one limit send does not free those of another one, although both have few lines:
 * each has its own. */
TEST(sources_of_two_limits)
{
	const struct service_frame busy = frame_from("198.51.100.7", 443);
	struct xb_limit web = rig_limit_of("web", "tcp/443", 5),
			mail = rig_limit_of("mail", "tcp/25", 200000);

	/* Of the other limit no cell is ever ahead. */
	mail.rate = 10000000;
	mail.period = 1;
	rig_limit(&rig, &web);
	rig_limit(&rig, &mail);
	assert_int_equal(passing(&busy, 6), 5);
	for (uint32_t i = 0; i < 2000; i++) {
		struct xb_entry source = entry_of("203.0.113.0");
		struct service_frame other;

		source.hi += (uint64_t)i << 32;
		other = frame_to(&source, XB_SERVICE_TCP, 25, FRAME_PLAIN);
		send_frames(&other, 1);
		if (passing(&busy, 1))
			fail_msg("a packet over its limit passes, after %u of others", i);
	}
	assert_true(rig_unlimit(&rig, "web"));
	assert_true(rig_unlimit(&rig, "mail"));
}

static struct {
	struct xb_offender last[XB_LIMITS]; /* of each limit */
	uint64_t count;
} reports;

static void see(const struct xb_offender *offender, void *context)
{
	(void)context;
	reports.last[offender->drop.limit % XB_LIMITS] = *offender;
	reports.count++;
}

/* Test runs come in through the loopback: it stands for an attached interface. */
static void attach_loopback(bool attached)
{
	uint32_t loopback = if_nametoindex("lo");

	rig_must(attached ? xb_anchor_enrol(&anchor, loopback, "lo")
			  : xb_anchor_dismiss(&anchor, loopback),
		 "loopback");
}

static void add_listing(const char *name, bool lists, bool counts)
{
	struct xb_limit limit = rig_limit_of(name, "tcp/443", 2);

	limit.counts = counts;
	if (lists)
		strcpy(limit.list, "bad");
	limit.forgeable = lists;
	rig_limit(&rig, &limit);
}

/* So many frames of one source, and what was reported of them. */
static uint64_t reported(struct xb_offenders *reader, const char *source, uint32_t count)
{
	const struct service_frame frame = frame_from(source, 443);
	uint64_t before = reports.count;

	send_frames(&frame, count);
	rig_must(xb_offenders_read(reader) < 0, "ring");
	return reports.count - before;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Once in a period for each limit that has a list. */
TEST(offenders_are_reported)
{
	struct xb_offenders reader;
	uint64_t began, most;

	reports.count = 0;
	add_listing("first", true, false);
	add_listing("silent", false, false);
	add_listing("third", true, true);
	attach_loopback(true);
	rig_must(xb_offenders_open(&reader, rig.pins, see, NULL), "ring");
	assert_int_equal(reported(&reader, "198.51.100.1", 9), 0);
	xb_offenders_allow(&reader, 100);
	assert_int_equal(reported(&reader, "198.51.100.2", 2), 0);
	assert_int_equal(reported(&reader, "198.51.100.2", 1), 2);
	assert_int_equal(reports.last[1].drop.limit, 1);
	assert_int_equal(reports.last[3].drop.limit, 3);
	assert_int_equal(reports.last[1].drop.family, 4);
	assert_int_equal(be16toh(reports.last[1].drop.dport), 443);
	assert_memory_equal(reports.last[1].drop.source, "\xc6\x33\x64\x02", 4);
	assert_int_not_equal(reports.last[1].identity, reports.last[3].identity);
	assert_int_equal(reported(&reader, "2001:db8::2", 3), 2);
	assert_int_equal(reports.last[1].drop.family, 6);
	began = clock_ns();
	reports.count = 0;
	while (!reports.count)
		reported(&reader, "198.51.100.2", 1000);
	most = 2 * (1 + ((clock_ns() - began) >> XB_REPORTED_SHIFT));
	assert_in_range(reports.count, 1, most + 2);
	xb_offenders_close(&reader);
	attach_loopback(false);
}

TEST(reports_have_a_budget)
{
	struct xb_offenders reader;

	reports.count = 0;
	rig_unlimit(&rig, "third");
	add_listing("first", true, false);
	attach_loopback(true);
	rig_must(xb_offenders_open(&reader, rig.pins, see, NULL), "ring");
	xb_offenders_allow(&reader, 2);
	reported(&reader, "198.51.100.11", 9);
	reported(&reader, "198.51.100.12", 9);
	reported(&reader, "198.51.100.13", 9);
	assert_int_equal(reports.count, 2);
	/* A frame that no attached interface has seen is one of `bloomctl test`. */
	attach_loopback(false);
	xb_offenders_allow(&reader, 2);
	assert_int_equal(reported(&reader, "198.51.100.14", 9), 0);
	attach_loopback(true);
	assert_int_equal(reported(&reader, "198.51.100.15", 9), 1);
	/* What was not read is not there for the next reader. */
	send_frames(&(struct service_frame[]){frame_from("198.51.100.16", 443)}[0], 9);
	xb_offenders_close(&reader);
	rig_must(xb_offenders_open(&reader, rig.pins, see, NULL), "ring");
	assert_int_equal(reported(&reader, "198.51.100.17", 9), 0);
	assert_int_equal(xb_offenders_look(&reader, rig.pins), 0);
	xb_offenders_close(&reader);
	attach_loopback(false);
}

ALL_TESTS(begin, end);
