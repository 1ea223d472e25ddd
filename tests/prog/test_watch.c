/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drops that the kernel tells a watcher: how many, to whom and how long; and the record of
 * each, frame by frame, with the name in it. Test runs come in through the loopback as if it were
 * attached. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "attach/drops.h"
#include "base/error.h"
#include "support/cmocka.h"
#include "support/hello.h"
#include "store/limits.h"
#include "support/rig.h"
#include "teller.skel.h"

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

	do
		assert_int_equal(xb_drops_poll(&watcher), 0);
	while (now() < end);
}

static int begin(void **state)
{
	rig_begin(&rig, "watch");
	rig_add(&rig, "198.51.100.7", "default");
	rig_add(&rig, "2001:db8::bad", "default");
	program = rig_entry(&rig);
	return 0;
}

static int end(void **state)
{
	pretend_attached(false);
	close(program);
	rig_end(&rig);
	return 0;
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
TEST(the_rate)
{
	struct seen seen;
	uint64_t untold;
	unsigned int told = 0;

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

#define REFILLS 30

static void poll_until_refill(void)
{
	unsigned int tick = watcher.tick;

	while (watcher.tick == tick)
		assert_int_equal(xb_drops_poll(&watcher), 0);
}

/* Whether it was a flood all the while, in which each refill finds the budget used up. */
static bool watch_a_flood(struct seen *seen)
{
	unsigned int told[REFILLS], second = 0, before;
	bool ended = false, dry[REFILLS], is_flood = true;
	pthread_t thread;

	start(40, seen);
	assert_int_equal(pthread_create(&thread, NULL, flood, &ended), 0);
	for (int i = 0; i < REFILLS; i++) {
		before = seen->count;
		poll_until_refill();
		told[i] = seen->count - before;
		dry[i] = watcher.dry;
		is_flood &= dry[i];
	}
	__atomic_store_n(&ended, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	stop();
	for (int i = 0; i < REFILLS; i++) {
		second += told[i] - (i >= 9 ? told[i - 9] : 0);
		if (second > 40)
			fail_msg("%u told in less than a second", second);
		if (i >= 1 && dry[i - 1] && dry[i] && told[i] > 8)
			fail_msg("%u told at once", told[i]);
	}
	return is_flood;
}

/* A flood that does not end: every second the rate, and after the first one spread over it. */
TEST(the_rate_in_a_flood)
{
	struct seen seen;
	int busy = 0;

	/* Once, but on a busy machine, where nothing may be sent for a while. */
	while (!watch_a_flood(&seen))
		assert_true(++busy < 20);
	assert_in_range(seen.count, 100, 124);
}

/* Nothing was left out: nothing is said to be, however much was told. */
TEST(nothing_untold)
{
	struct seen seen;
	uint64_t untold;

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

TEST(only_attached_interfaces)
{
	struct seen seen;

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
TEST(leftovers)
{
	struct seen seen;

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
TEST(full_ring)
{
	struct seen seen;
	uint64_t untold;

	start(XB_DROPS_RATE_MAX, &seen);
	drop_many(9000);
	poll_for(50);
	assert_in_range(seen.count, 4000, 4100);
	drop_many(100);
	poll_for(150);
	assert_in_range(seen.count, 4100, 4200);
	drop_many(100000);
	poll_for(150);
	assert_int_equal(xb_drops_untold(&watcher, &untold), 0);
	assert_int_equal(untold + seen.count, 109100);
	stop();
}

TEST(see_ends_the_poll)
{
	struct seen seen;

	start(100, &seen);
	seen.end = 2;
	drop_many(5);
	assert_int_equal(xb_drops_poll(&watcher), -ECANCELED);
	assert_int_equal(seen.count, 2);
	stop();
}

TEST(one_watcher)
{
	struct xb_drops second;
	struct xb_anchor anchor;
	struct seen seen;
	uint32_t zero = 0;
	int64_t budget;

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

TEST(no_link)
{
	struct seen seen;

	xb_error_clear();
	assert_int_equal(xb_drops_open(&watcher, rig.state, 100, see, &seen), -ENOENT);
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
}

/* ---- Records ---- */

#define ETHERNET "020000000001 020000000002 "
#define IPV4	 "0800 "
#define IPV6	 "86dd "
#define QTAG	 "8100 0064 "

/* version/ihl, tos, length, id, fragment, ttl, protocol, checksum, source, destination */
#define HEADER4(ihl, length, fragment, protocol)                                                   \
	"4" ihl " 00 " length " 0001 " fragment " 40 " protocol " 0000 " LISTED4 " " TARGET4 " "
#define HEADER6(length, next) "60000000 " length " " next " 40 " LISTED6 " " TARGET6 " "
#define LISTED4		      "c6336407" /* 198.51.100.7 */
#define LISTED6		      "20010db8000000000000000000000bad"
#define TARGET4		      "c0000201" /* 192.0.2.1 */
#define TARGET6		      "20010db80001000203040506ffeeddcc"
#define PORTS		      "0fa1 01bb " /* 4001 to 443 */
#define REST		      "00000000 00000000 00000000 00000000"

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

static bool is_address(const uint8_t address[16], const char *hex)
{
	uint8_t expected[16] = {0};

	rig_bytes(hex, expected);
	return !memcmp(address, expected, sizeof(expected));
}

static void check_row(const struct row *row, struct seen *seen)
{
	uint8_t frame[512];
	uint32_t size = rig_bytes(row->frame, frame);
	const struct xb_drop *drop = &seen->last;
	uint64_t before = now();

	seen->count = 0;
	assert_int_equal(rig_run(program, frame, size), XDP_DROP);
	for (int i = 0; !seen->count && i < 20; i++)
		assert_int_equal(xb_drops_poll(&watcher), 0);
	if (seen->count != 1)
		fail_msg("%s: told %u times", row->name, seen->count);
	if (drop->family != row->family ||
	    !is_address(drop->source, row->family == 4 ? LISTED4 : LISTED6))
		fail_msg("%s: wrong source", row->name);
	if (!is_address(drop->destination, row->family == 4 ? TARGET4 : TARGET6))
		fail_msg("%s: wrong destination", row->name);
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

TEST(the_table)
{
	struct seen seen;

	start(1000, &seen);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		check_row(&table[i], &seen);
	printf("%zu frames\n", sizeof(table) / sizeof(table[0]));
	stop();
}

/* Lends the ring in force to a program that tells whatever it is given. */
static struct teller_bpf *open_teller(void)
{
	struct teller_bpf *teller = teller_bpf__open();
	struct xb_anchor anchor;

	assert_non_null(teller);
	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(bpf_map__reuse_fd(teller->maps.drops, anchor.drops), 0);
	assert_int_equal(teller_bpf__load(teller), 0);
	xb_anchor_close(&anchor);
	return teller;
}

static unsigned int count_told(struct teller_bpf *teller, struct seen *seen, uint32_t bytes,
			       uint16_t name_bytes)
{
	const struct xb_drop drop = {.ifindex = if_nametoindex("lo"),
				     .family = 4,
				     .reason = XB_LISTED_IPV4_HOST,
				     .name_bytes = name_bytes};
	uint8_t frame[64] = {0};

	memset(teller->bss->record, 0, sizeof(teller->bss->record));
	memcpy(teller->bss->record, &drop, sizeof(drop));
	teller->bss->record_bytes = bytes;
	seen->count = 0;
	rig_run(bpf_program__fd(teller->progs.tell), frame, sizeof(frame));
	assert_int_equal(xb_drops_poll(&watcher), 0);
	return seen->count;
}

/* What has the size of no record is not shown, were it longer or shorter. */
TEST(other_records)
{
	const uint32_t whole = sizeof(struct xb_drop), named = sizeof(struct xb_name_drop);
	struct teller_bpf *teller;
	struct seen seen;

	start(1000, &seen);
	teller = open_teller();
	for (uint32_t bytes = 8; bytes <= sizeof(teller->bss->record); bytes++) {
		unsigned int told = count_told(teller, &seen, bytes, bytes == named ? 12 : 0);

		if (told != (bytes == whole || bytes == named))
			fail_msg("%u bytes: told %u times", bytes, told);
	}
	assert_int_equal(count_told(teller, &seen, whole, 12), 0);
	assert_int_equal(count_told(teller, &seen, named, XB_NAME_BYTES - 1), 1);
	assert_int_equal(count_told(teller, &seen, named, XB_NAME_BYTES), 0);
	teller_bpf__destroy(teller);
	stop();
}

/* Every name that is told, of TLS and of HTTP. */
struct told {
	struct xb_name_drop last;
	uint32_t count;
};

static int hear(const struct xb_drop *drop, void *context)
{
	struct told *told = context;

	told->count++;
	memset(&told->last, 0, sizeof(told->last));
	memcpy(&told->last, drop, drop->name_bytes ? sizeof(told->last) : sizeof(*drop));
	return 0;
}

static void check_told(struct told *told, const char *name, const struct dns_frame *frame,
		       bool ipv6, uint16_t port, uint8_t reason)
{
	const struct xb_drop *drop = &told->last.drop;
	uint8_t labels[512];
	uint32_t size = dns_labels(name, labels);

	told->count = 0;
	rig_run(program, frame->byte, frame->size);
	for (int i = 0; !told->count && i < 20; i++)
		assert_int_equal(xb_drops_poll(&watcher), 0);
	if (told->count != 1 || drop->reason != reason || drop->name_bytes != size ||
	    memcmp(told->last.name, labels, size))
		fail_msg("%s: told %u times, or another name", name, told->count);
	assert_true(
		is_address(drop->destination, ipv6 ? "20010db8000000000000000000000002" : TARGET4));
	assert_int_equal(drop->family, ipv6 ? 6 : 4);
	assert_int_equal(drop->protocol, 6);
	assert_int_equal(ntohs(drop->sport), 54321);
	assert_int_equal(ntohs(drop->dport), port);
}

TEST(names)
{
	static const char *const listed[] = {
		"example.com",	    "WWW.example.com",	  "count.test", "a.b.c.d.e.f.g.example.com",
		L63 ".example.com", LONG "a.example.com", A125 "d.d"};
	const struct xb_name_ports ports = {.dns = {53}, .tls = {TLS_PORT}, .http = {HTTP_PORT}};
	static struct hello hello;
	struct dns_frame frame;
	struct told told = {0};
	char text[512];

	rig_add(&rig, "example.com", "default");
	rig_add(&rig, "d.d", "default");
	rig_add(&rig, "count.test", "count");
	rig_verdict(&rig, "count", XB_DOMAIN_COUNT);
	rig_ports(&rig, &ports);
	pretend_attached(true);
	assert_int_equal(xb_drops_open(&watcher, rig.pins, 1000, hear, &told), 0);
	watching = true;
	for (uint32_t i = 0; i < 2 * sizeof(listed) / sizeof(listed[0]); i++) {
		const struct wrap wrap = {.shape = {.ipv6 = i & 1}, .words = 5 + 3 * (i & 1)};
		const char *name = listed[i / 2], *dot = i & 1 ? "." : "";
		bool counted = !strcmp(name, "count.test");

		snprintf(text, sizeof(text), "%s%s", name, dot);
		make_named(&(struct hello_shape){.before = 1}, text, &hello);
		wrap_tcp(&wrap, TLS_PORT, hello.byte, hello.size, &frame);
		check_told(&told, name, &frame, i & 1, TLS_PORT,
			   counted ? XB_NAME_COUNTED : XB_TLS_DROPPED);
		snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %s%s\r\n\r\n", name, dot);
		wrap_tcp(&wrap, HTTP_PORT, (uint8_t *)text, (uint32_t)strlen(text), &frame);
		check_told(&told, name, &frame, i & 1, HTTP_PORT,
			   counted ? XB_NAME_COUNTED : XB_HTTP_DROPPED);
	}
	told.count = 0;
	make_named(&(struct hello_shape){0}, "example.org", &hello);
	wrap_tcp(&(struct wrap){0}, TLS_PORT, hello.byte, hello.size, &frame);
	rig_run(program, frame.byte, frame.size);
	assert_int_equal(xb_drops_poll(&watcher), 0);
	assert_int_equal(told.count, 0);
	stop();
}

static void add_limit(const char *name, bool counts)
{
	struct xb_limit limit = rig_limit_of(name, "all", 2);

	limit.counts = counts;
	rig_limit(&rig, &limit);
}

/* So many of a source that is not listed; a watcher is told of the third and later ones. */
static void assert_over(struct seen *seen, uint32_t source, unsigned int told, bool monitored)
{
	seen->count = 0;
	for (unsigned int i = 0; i < told + 2; i++)
		assert_int_equal(rig_run_ipv4(program, source),
				 i < 2 || monitored ? XDP_PASS : XDP_DROP);
	poll_for(200);
	assert_int_equal(seen->count, told);
	assert_int_equal(seen->last.reason, XB_LIMITED);
	assert_int_equal(seen->last.limit, 2);
	assert_int_equal(seen->last.name_bytes, 0);
	assert_int_equal(seen->last.monitored, monitored);
}

/* Of the limits that a source is over, one that drops is told. */
TEST(limits)
{
	struct seen seen;

	add_limit("counts", true);
	add_limit("drops", false);
	start(1000, &seen);
	assert_over(&seen, 0xc0000201, 3, false);
	drop_one();
	poll_for(200);
	assert_int_equal(seen.count, 4);
	assert_int_equal(seen.last.reason, XB_LISTED_IPV4_HOST);
	assert_int_equal(seen.last.limit, 0);
	stop();
	rig_policy(&rig, XB_POLICY_MONITOR);
	start(1000, &seen);
	assert_over(&seen, 0xc0000202, 3, true);
	stop();
	rig_policy(&rig, XB_POLICY_ENFORCE);
}

EACH_TEST(NULL, clear);
ALL_TESTS(begin, end);
