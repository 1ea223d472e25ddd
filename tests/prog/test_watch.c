/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel tells of a drop, frame by frame, and how many it tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <time.h>

#include "attach/drops.h"
#include "attach/pin.h"
#include "base/error.h"
#include "support/rig.h"

#define ETHERNET "020000000001 020000000002 "
#define IPV4	 "0800 "
#define IPV6	 "86dd "
#define QTAG	 "8100 0064 "

/* version/ihl, tos, length, id, fragment, ttl, protocol, checksum, source, destination */
#define HEADER4(ihl, length, fragment, protocol)                                                   \
	"4" ihl " 00 " length " 0001 " fragment " 40 " protocol " 0000 " LISTED4 " c0000201 "
#define HEADER6(length, next)                                                                      \
	"60000000 " length " " next " 40 " LISTED6 " 20010db8000000000000000000000002 "
#define LISTED4 "c6336407" /* 198.51.100.7 */
#define LISTED6 "20010db8000000000000000000000bad"
#define PORTS	"0fa1 01bb " /* 4001 to 443 */
#define REST	"00000000 00000000 00000000 00000000"

struct row {
	const char *name;
	const char *frame;
	uint8_t family, protocol;
	bool ports;
};

static const struct row table[] = {
	{"TCP", ETHERNET IPV4 HEADER4("5", "0028", "0000", "06") PORTS REST, 4, 6, true},
	{"UDP", ETHERNET IPV4 HEADER4("5", "001c", "0000", "11") PORTS REST, 4, 17, true},
	{"SCTP", ETHERNET IPV4 HEADER4("5", "0028", "0000", "84") PORTS REST, 4, 132, true},
	{"UDP-Lite", ETHERNET IPV4 HEADER4("5", "0028", "0000", "88") PORTS REST, 4, 136, true},
	{"ICMP", ETHERNET IPV4 HEADER4("5", "001c", "0000", "01") PORTS REST, 4, 1, false},
	{"GRE", ETHERNET IPV4 HEADER4("5", "001c", "0000", "2f") PORTS REST, 4, 47, false},
	{"unknown protocol", ETHERNET IPV4 HEADER4("5", "001c", "0000", "fd") PORTS REST, 4, 253,
	 false},
	{"one option", ETHERNET IPV4 HEADER4("6", "0020", "0000", "06") "94040000 " PORTS REST, 4,
	 6, true},
	{"longest options",
	 ETHERNET IPV4 HEADER4("f", "0050", "0000", "11") REST REST "00000000 00000000 " PORTS REST,
	 4, 17, true},
	{"do not fragment", ETHERNET IPV4 HEADER4("5", "001c", "4000", "11") PORTS REST, 4, 17,
	 true},
	{"first fragment", ETHERNET IPV4 HEADER4("5", "001c", "2000", "11") PORTS REST, 4, 17,
	 true},
	{"middle fragment", ETHERNET IPV4 HEADER4("5", "001c", "20b9", "11") PORTS REST, 4, 17,
	 false},
	{"last fragment", ETHERNET IPV4 HEADER4("5", "001c", "0172", "11") PORTS REST, 4, 17,
	 false},
	{"ports cut off", ETHERNET IPV4 HEADER4("5", "0028", "0000", "06") "0fa101", 4, 6, false},
	{"ports and no more", ETHERNET IPV4 HEADER4("5", "0018", "0000", "06") PORTS, 4, 6, true},
	{"header only", ETHERNET IPV4 HEADER4("5", "0014", "0000", "06"), 4, 6, false},
	{"padding", ETHERNET IPV4 HEADER4("5", "0014", "0000", "06") PORTS REST, 4, 6, false},
	{"padding from the third byte on",
	 ETHERNET IPV4 HEADER4("5", "0017", "0000", "06") PORTS REST, 4, 6, false},
	{"length below the header", ETHERNET IPV4 HEADER4("6", "0014", "0000", "06") PORTS REST, 4,
	 6, false},
	{"options cut off", ETHERNET IPV4 HEADER4("f", "0050", "0000", "06") PORTS, 4, 6, false},
	{"length 0", ETHERNET IPV4 HEADER4("5", "0000", "0000", "06") PORTS REST, 4, 6, true},
	{"VLAN", ETHERNET QTAG IPV4 HEADER4("5", "001c", "0000", "11") PORTS REST, 4, 17, true},
	{"two VLAN tags", ETHERNET QTAG QTAG IPV4 HEADER4("6", "0020", "0000", "06") REST PORTS, 4,
	 6, false},
	{"PPPoE", ETHERNET "8864 11000001 001e 0021 " HEADER4("5", "001c", "0000", "11") PORTS REST,
	 4, 17, true},
	{"IPv6 TCP", ETHERNET IPV6 HEADER6("0014", "06") PORTS REST, 6, 6, true},
	{"IPv6 UDP", ETHERNET IPV6 HEADER6("0008", "11") PORTS REST, 6, 17, true},
	{"ICMPv6", ETHERNET IPV6 HEADER6("0008", "3a") PORTS REST, 6, 58, false},
	{"IPv6 hop-by-hop", ETHERNET IPV6 HEADER6("0014", "00") "06 00 0502 0000 0100 " PORTS REST,
	 6, 0, false},
	{"IPv6 fragment header", ETHERNET IPV6 HEADER6("0014", "2c") "11 00 0001 00000001 " PORTS,
	 6, 44, false},
	{"IPv6 no next header", ETHERNET IPV6 HEADER6("0000", "3b") PORTS, 6, 59, false},
	{"IPv6 header only", ETHERNET IPV6 HEADER6("0000", "06"), 6, 6, false},
	{"IPv6 padding", ETHERNET IPV6 HEADER6("0003", "06") PORTS REST, 6, 6, false},
	{"IPv6 ports cut off", ETHERNET IPV6 HEADER6("0014", "06") "0fa101", 6, 6, false},
	{"IPv6 in two VLAN tags", ETHERNET QTAG QTAG IPV6 HEADER6("0014", "06") PORTS REST, 6, 6,
	 true},
};

static struct rig rig;
static int program;
static struct xb_drops watcher;
static bool watching;

struct seen {
	struct xb_drop last;
	unsigned int count, end; /* end: the drop at which to stop; 0: none */
};

static int see(const struct xb_drop *drop, void *context)
{
	struct seen *seen = context;

	seen->last = *drop;
	return ++seen->count == seen->end ? -ECANCELED : 0;
}

/* Test runs come in through the loopback: it stands for an attached interface. */
static void pretend_attached(bool attached)
{
	uint32_t loopback = if_nametoindex("lo");
	struct xb_anchor anchor;

	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(attached ? xb_anchor_enrol(&anchor, loopback, "lo")
				  : xb_anchor_dismiss(&anchor, loopback),
			 0);
	xb_anchor_close(&anchor);
}

static void start(uint32_t rate, struct seen *seen)
{
	*seen = (struct seen){0};
	pretend_attached(true);
	if (xb_drops_open(&watcher, rig.pins, rate, see, seen))
		fail_msg("%s", xb_error_message());
	watching = true;
}

static void stop(void)
{
	xb_drops_close(&watcher);
	watching = false;
}

/* Of a test that failed. */
static int clear(void **state)
{
	(void)state;
	if (watching)
		stop();
	return 0;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void poll_for(unsigned int milliseconds)
{
	uint64_t end = now() + milliseconds * 1000000ULL;

	while (now() < end)
		assert_int_equal(xb_drops_poll(&watcher), 0);
}

static void check_row(const struct row *row, struct seen *seen)
{
	uint8_t frame[512], source[16] = {0};
	uint32_t size = rig_bytes(row->frame, frame);
	const struct xb_drop *drop = &seen->last;
	uint64_t before = now();

	seen->count = 0;
	assert_int_equal(rig_run(program, frame, size), XDP_DROP);
	for (int i = 0; !seen->count && i < 20; i++)
		assert_int_equal(xb_drops_poll(&watcher), 0);
	if (seen->count != 1)
		fail_msg("%s: told %u times", row->name, seen->count);
	rig_bytes(row->family == 4 ? LISTED4 : LISTED6, source);
	if (drop->family != row->family || memcmp(drop->source, source, sizeof(source)))
		fail_msg("%s: wrong source", row->name);
	if (drop->protocol != row->protocol)
		fail_msg("%s: protocol %u", row->name, drop->protocol);
	if (ntohs(drop->sport) != (row->ports ? 4001 : 0) ||
	    ntohs(drop->dport) != (row->ports ? 443 : 0))
		fail_msg("%s: ports %u and %u", row->name, ntohs(drop->sport), ntohs(drop->dport));
	assert_int_equal(drop->reason, row->family == 4 ? XB_LISTED_IPV4_HOST : XB_LISTED_IPV6);
	assert_int_equal(drop->monitored, 0);
	assert_int_equal(drop->ifindex, if_nametoindex("lo"));
	assert_true(drop->time >= before && drop->time <= now());
}

static void the_table(void **state)
{
	struct seen seen;

	(void)state;
	start(1000, &seen);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		check_row(&table[i], &seen);
	printf("%zu frames\n", sizeof(table) / sizeof(table[0]));
	stop();
}

static void drop_one(void)
{
	assert_int_equal(rig_run_ipv4(program, 0xc6336407), XDP_DROP);
}

static void drop_many(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		drop_one();
}

/* All of the rate at once, then its tenth at a time, and in no second more than the rate. */
static void the_rate(void **state)
{
	struct seen seen;
	uint64_t untold;
	unsigned int told = 0;

	(void)state;
	start(50, &seen);
	drop_many(300);
	poll_for(50);
	assert_int_equal(seen.count, 50);
	poll_for(600);
	drop_many(100);
	poll_for(50);
	assert_int_equal(seen.count, 50);
	assert_int_equal(xb_drops_untold(&watcher, &untold), 0);
	assert_int_equal(untold, 350);
	for (int i = 0; i < 5; i++) {
		told = seen.count;
		drop_many(20);
		poll_for(101);
		assert_in_range(seen.count - told, 0, 50);
	}
	/* Each wait holds a refill; the first second's budget comes back after eleven. */
	for (int i = 0; i < 2 + XB_DROPS_TICKS; i++)
		poll_for(101);
	told = seen.count;
	drop_many(60);
	poll_for(50);
	assert_int_equal(seen.count - told, 50);
	stop();
}

static void *flood(void *ended)
{
	while (!__atomic_load_n((bool *)ended, __ATOMIC_RELAXED)) {
		drop_one();
		usleep(500);
	}
	return NULL;
}

/* A flood that does not end: every second the rate, and after the first one spread over it. */
static void the_rate_in_a_flood(void **state)
{
	unsigned int told[30], second = 0, before;
	bool ended = false;
	pthread_t thread;
	struct seen seen;

	(void)state;
	start(40, &seen);
	assert_int_equal(pthread_create(&thread, NULL, flood, &ended), 0);
	for (int i = 0; i < 30; i++) {
		before = seen.count;
		poll_for(100);
		told[i] = seen.count - before;
	}
	__atomic_store_n(&ended, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	stop();
	for (int i = 0; i < 30; i++) {
		second += told[i] - (i >= 9 ? told[i - 9] : 0);
		if (second > 40)
			fail_msg("%u told in less than a second", second);
		if (i >= 2 && told[i] > 8)
			fail_msg("%u told at once", told[i]);
	}
	assert_in_range(seen.count, 100, 124);
}

/* Nothing was left out: nothing is said to be, however much was told. */
static void nothing_untold(void **state)
{
	struct seen seen;
	uint64_t untold;

	(void)state;
	start(1000, &seen);
	drop_many(500);
	/* They are on the way. */
	assert_int_equal(xb_drops_untold(&watcher, &untold), 0);
	assert_int_equal(untold, 0);
	poll_for(150);
	assert_int_equal(seen.count, 500);
	assert_int_equal(xb_drops_untold(&watcher, &untold), 0);
	assert_int_equal(untold, 0);
	stop();
}

static void only_attached_interfaces(void **state)
{
	struct seen seen;

	(void)state;
	start(100, &seen);
	pretend_attached(false);
	drop_many(3);
	poll_for(150);
	assert_int_equal(seen.count, 0);
	pretend_attached(true);
	drop_many(3);
	poll_for(150);
	assert_int_equal(seen.count, 3);
	stop();
}

/* What one watcher was told and did not read is not for the next. */
static void leftovers(void **state)
{
	struct seen seen;

	(void)state;
	start(100, &seen);
	drop_many(10);
	stop();
	drop_many(10);
	start(100, &seen);
	poll_for(150);
	assert_int_equal(seen.count, 0);
	drop_one();
	poll_for(50);
	assert_int_equal(seen.count, 1);
	stop();
}

/* A ring as full as one that nobody read for long. */
static void full_ring(void **state)
{
	struct seen seen;
	uint64_t untold;

	(void)state;
	start(XB_DROPS_RATE_MAX, &seen);
	drop_many(9000);
	poll_for(50);
	assert_in_range(seen.count, 5000, 5500);
	drop_many(100);
	poll_for(150);
	assert_in_range(seen.count, 5100, 5600);
	drop_many(100000);
	poll_for(150);
	assert_int_equal(xb_drops_untold(&watcher, &untold), 0);
	assert_int_equal(untold + seen.count, 109100);
	stop();
}

static void see_ends_the_poll(void **state)
{
	struct seen seen;

	(void)state;
	start(100, &seen);
	seen.end = 2;
	drop_many(5);
	assert_int_equal(xb_drops_poll(&watcher), -ECANCELED);
	assert_int_equal(seen.count, 2);
	stop();
}

static void one_watcher(void **state)
{
	struct xb_drops second;
	struct xb_anchor anchor;
	struct seen seen;
	uint32_t zero = 0;
	int64_t budget;

	(void)state;
	start(100, &seen);
	xb_error_clear();
	assert_true(xb_drops_open(&second, rig.pins, 100, see, &seen) < 0);
	assert_non_null(strstr(xb_error_message(), "another"));
	drop_one();
	poll_for(50);
	assert_int_equal(seen.count, 1);
	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(bpf_map_lookup_elem(anchor.watch, &zero, &budget), 0);
	xb_anchor_close(&anchor);
	assert_int_equal(budget, 99);
	stop();
	assert_int_equal(xb_drops_open(&second, rig.pins, 100, see, &seen), 0);
	xb_drops_close(&second);
}

static void no_link(void **state)
{
	struct seen seen;

	(void)state;
	xb_error_clear();
	assert_int_equal(xb_drops_open(&watcher, rig.state, 100, see, &seen), -ENOENT);
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
}

static int begin(void **state)
{
	(void)state;
	rig_begin(&rig, "watch");
	rig_add(&rig, "198.51.100.7", "default");
	rig_add(&rig, "2001:db8::bad", "default");
	program = rig_entry(&rig);
	return 0;
}

static int end(void **state)
{
	(void)state;
	pretend_attached(false);
	close(program);
	rig_end(&rig);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_table, clear),
		cmocka_unit_test_teardown(the_rate, clear),
		cmocka_unit_test_teardown(the_rate_in_a_flood, clear),
		cmocka_unit_test_teardown(nothing_untold, clear),
		cmocka_unit_test_teardown(only_attached_interfaces, clear),
		cmocka_unit_test_teardown(leftovers, clear),
		cmocka_unit_test_teardown(full_ring, clear),
		cmocka_unit_test_teardown(see_ends_the_poll, clear),
		cmocka_unit_test_teardown(one_watcher, clear),
		cmocka_unit_test_teardown(no_link, clear),
	};

	return cmocka_run_group_tests_name("watch", tests, begin, end);
}
