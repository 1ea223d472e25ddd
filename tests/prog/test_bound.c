/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dearest packets there are, each on the dearest lists: what they cost is counted, and bounded
 * as docs/design.md says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "store/limits.h"
#include "support/cmocka.h"
#include "support/counted.h"
#include "support/entryof.h"
#include "support/hello.h"
#include "support/rig.h"

#include "counted.skel.h"

/* What docs/design.md states. A look-up in the Bloom filter is one of LOOKUP_MOST: it, two buckets,
 * and whether keys have moved. */
#define LENGTHS	    96	/* of IPv6, from /33 on */
#define ALL_LENGTHS 129 /* of a class */
#define SUFFIXES    128 /* of 127 labels, and the name alone */
#define LOOKUP_MOST 4
#define FIXED_MOST  24 /* statistics, policy, allowlist, places of names, short prefixes */
#define LINES_MOST  (LENGTHS * LOOKUP_MOST + SUFFIXES * (LOOKUP_MOST + 1) + FIXED_MOST)
/* Lengths, headers, a request with its host, suffixes, what is allowed. */
#define ROUNDS_MOST (LENGTHS + 1 + 9 + 232 + 32 + 128)
#define BYTES_MOST  (8 * 4 + 24 + 2048 + 254)

/* With lists in all classes: of each the lengths, and tables of ports, lengths and counters. */
#define CLASSES		   (XB_CLASSES - 1)
#define SCOPED_LINES_MOST  (LINES_MOST + CLASSES * ALL_LENGTHS * LOOKUP_MOST + 6)
#define SCOPED_ROUNDS_MOST (ROUNDS_MOST + CLASSES * (ALL_LENGTHS + 1) + 9)
#define SCOPED_BYTES_MOST  (BYTES_MOST + 8 * 4 + 4)

/* With all limits: the table of ports, of each a line; of each the headers once more. */
#define LIMITS		    (XB_LIMITS - 1)
#define LIMITED_LINES_MOST  (LIMITS + 2)
#define LIMITED_ROUNDS_MOST (9 + LIMITS * 9)
#define LIMITED_BYTES_MOST  (8 * 4 + 4 + LIMITS * (8 * 4 + 16))

#define LABELS	    127
#define HOST_ROUNDS 64 /* blanks, its bytes, its labels */

static struct rig rig;
static struct xb_generation *generation;
static struct counted_bpf *counted;
static int program;
static bool scoped;  /* lists with scopes are there */
static bool limited; /* limits are */

static void load_counted(void)
{
	struct xb_anchor anchor;

	counted = counted_bpf__open();
	assert_non_null(counted);
	counted->rodata_params->params = generation->params;
	counted->rodata_name_key->name_key = generation->name_key;
	for (enum xb_map i = 0; i < XB_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(counted->obj, xb_map_name(i));

		if (generation->map[i] >= 0)
			assert_int_equal(bpf_map__reuse_fd(map, generation->map[i]), 0);
		else
			bpf_map__set_autocreate(map, false);
	}
	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(xb_anchor_lend(&anchor, counted->obj), 0);
	xb_anchor_set_flavour(&anchor, counted->progs.xdp_bloom_filter);
	assert_int_equal(counted_bpf__load(counted), 0);
	xb_anchor_close(&anchor);
	program = bpf_program__fd(counted->progs.xdp_bloom_filter);
}

/* The first count labels of the letters of text, over and over. */
static void letters(const char *text, int count, char name[256])
{
	for (int i = 0; i < count; i++)
		snprintf(name + 2 * i, 3, "%c.", text[i % (int)strlen(text)]);
	name[2 * count - 1] = '\0';
}

/* Each suffix of a.a.a..., and each for itself alone; nothing of it is allowed, which is told only
 * after the last label. */
static void list_names(void)
{
	char name[260] = "=", allowed[256];

	for (int labels = 1; labels <= LABELS; labels++) {
		letters("a", labels, name + 1);
		rig_add(&rig, name + 1, "default");
	}
	rig_add(&rig, name, "default");
	letters("a", LABELS, allowed);
	allowed[0] = 'b';
	rig_allow(&rig, allowed);
}

/* The prefix of this length that differs from the client's in its last bit. */
static struct xb_entry beside(struct xb_entry client, int length)
{
	if (length <= 64)
		client.hi ^= 1ULL << (64 - length);
	else
		client.lo ^= 1ULL << (128 - length);
	return xb_entry_covering(&client, (uint8_t)length);
}

/* The clients of dns.h. */
static const struct xb_entry client6 = {
	.hi = 0x20010db800010002, .lo = 0xff03fffe00000001, .kind = XB_NET6, .length = 128};
static const struct xb_entry client4 = {.hi = 0xc633640800000000, .kind = XB_HOST4, .length = 32};

/* Beside the client a prefix of each length, so that all are asked for it: a build would give close
 * ones a common level, so they come one by one. */
static void list_lengths(void)
{
	for (int length = 127; length; length--) {
		struct xb_entry entry = beside(client6, length);

		if (length != 32)
			rig_change_all(&rig, &entry, 1, true);
	}
}

/* The same in all classes, of both families; each has UDP port 9. */
static void list_scoped(void)
{
	struct xb_entry entries[128 + 32];
	char name[16], scope[32];

	for (int length = 1; length <= 128; length++)
		entries[length - 1] = beside(client6, length);
	for (int length = 1; length <= 32; length++)
		entries[127 + length] = beside(client4, length);
	for (int class = 1; class < XB_CLASSES; class ++) {
		snprintf(name, sizeof(name), "scope%d", class);
		snprintf(scope, sizeof(scope), "udp/9,tcp/%d", class);
		rig_scope(&rig, name, scope);
		rig_add_all_to(&rig, entries, 128 + 32, name);
	}
}

static int begin(void **state)
{
	const struct xb_name_ports ports = {.dns = {53}, .tls = {TLS_PORT}, .http = {HTTP_PORT}};
	const struct xb_entry first[] = {beside(client6, 32), beside(client6, 128)};

	rig_begin(&rig, "bound");
	rig_add(&rig, "198.51.100.8", "default"); /* the client of dns.h */
	rig_add(&rig, "203.0.113.0/24", "default");
	rig_allow(&rig, "198.51.100.8");
	rig_add_all(&rig, first, 2);
	list_names();
	rig_ports(&rig, &ports);
	generation = rig_generation(&rig);
	load_counted();
	return 0;
}

static int end(void **state)
{
	counted_bpf__destroy(counted);
	xb_generation_close(generation);
	rig_end(&rig);
	return 0;
}

/* Short IPv4 prefixes that cover the client were listed and are no more: their lengths are still
 * looked for. */
static void leave_lengths(void)
{
	struct rig_move moves[CLASSES * 16];
	static char names[CLASSES][16];
	size_t count = 0;

	for (int class = 0; class < CLASSES; class ++) {
		snprintf(names[class], sizeof(names[class]), "scope%d", class + 1);
		for (uint8_t length = 0; length < 16; length++)
			moves[count++] = (struct rig_move){
				.entry = xb_entry_covering(&client4, length), .to = names[class]};
	}
	rig_move_all(&rig, moves, count);
	for (size_t i = 0; i < count; i++) {
		moves[i].from = moves[i].to;
		moves[i].to = NULL;
	}
	rig_move_all(&rig, moves, count);
}

static uint64_t most(uint64_t bare, uint64_t with_scopes, uint64_t by_limits)
{
	return (scoped ? with_scopes : bare) + (limited ? by_limits : 0);
}

/* What one frame costs, within what is stated. */
static struct work work_of(const char *what, const struct dns_frame *frame)
{
	uint8_t copy[DNS_FRAME_MAX];
	uint32_t verdict, shipped;
	struct work work;

	memset(&counted->bss->work, 0, sizeof(counted->bss->work));
	memcpy(copy, frame->byte, frame->size);
	verdict = rig_run(program, copy, frame->size);
	work = counted->bss->work;
	shipped = rig_run(generation->program, frame->byte, frame->size);
	printf("%-52s %4llu lines, %4llu rounds, %3llu loads of %4llu bytes\n", what, work.lookups,
	       work.rounds, work.loads, work.bytes);
	assert_int_equal(verdict, shipped);
	assert_true(work.lookups > 0);
	assert_true(work.lookups <= most(LINES_MOST, SCOPED_LINES_MOST, LIMITED_LINES_MOST));
	assert_true(work.rounds <= most(ROUNDS_MOST, SCOPED_ROUNDS_MOST, LIMITED_ROUNDS_MOST));
	assert_true(work.bytes <= most(BYTES_MOST, SCOPED_BYTES_MOST, LIMITED_BYTES_MOST));
	return work;
}

static struct work query(const char *what, const char *name, struct dns_shape shape)
{
	uint8_t message[512] = {0x12, 0x34, 1, 0, 0, 1};
	uint32_t size = 12 + dns_labels(name, message + 12);
	struct dns_frame frame;

	memcpy(message + size, "\0\0\x01\0\x01", 5);
	dns_wrap(&shape, message, size + 5, &frame);
	return work_of(what, &frame);
}

static struct work data(const char *what, uint16_t port, const void *bytes, uint32_t size)
{
	const struct wrap wrap = {0};
	struct dns_frame frame;

	wrap_tcp(&wrap, port, bytes, size, &frame);
	return work_of(what, &frame);
}

static const struct dns_shape plain4 = {0}, plain6 = {.ipv6 = true};

/* Of a packet that is listed and dropped. */
static uint64_t lookups_from(const char *text)
{
	struct xb_entry source = entry_of(text);

	memset(&counted->bss->work, 0, sizeof(counted->bss->work));
	assert_int_equal(rig_run_from(program, &source), XDP_DROP);
	return counted->bss->work.lookups;
}

/* Only where something allowed touches the /24 of a source, or its /48, is the allowlist asked. */
TEST(next_to_what_is_allowed)
{
	static const struct {
		const char *source, *allowed;
		bool asked;
	} rows[] = {
		{"203.0.112.9", "203.0.127.1", false},
		{"203.0.112.10", "203.0.111.0/24", false},
		{"203.0.112.11", "203.0.114.0/23", false},
		{"203.0.112.12", "203.0.112.1", true},
		{"203.0.112.13", "203.0.96.0/20", false},
		{"2001:db9:1::9", "2001:db9:2::/48", false},
		{"2001:db9:1::a", "2001:db9:3::1", false},
		{"2001:db9:1::b", "2001:db9:1:2::/64", true},
		{"2001:db9:1::c", "2001:db9:8000::/33", true},
		{"2001:db9:1::d", "2001:dba::/32", false},
		{"2001:db9:1::e", "2000::/16", false},
		{"2001:db9:1::f", "2001:8000::/17", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t before;

		rig_add(&rig, rows[i].source, "default");
		before = lookups_from(rows[i].source);
		rig_allow(&rig, rows[i].allowed);
		assert_int_equal(lookups_from(rows[i].source) > before, rows[i].asked);
		assert_true(rig_disallow(&rig, rows[i].allowed));
		assert_int_equal(lookups_from(rows[i].source), before);
		rig_del(&rig, rows[i].source, NULL);
	}
}

/* A packet of no name, with all lengths listed from here on: IPv4 in the cell of an allowed
 * address, IPv6 with all lengths. */
TEST(sources)
{
	const struct dns_shape other4 = {.port = 9}, other6 = {.ipv6 = true, .port = 9};
	struct work work;

	list_lengths();
	work = query("IPv4, listed, allowed", "x", other4);

	/* bits, two buckets, gate, trie, policy, statistics and more */
	assert_true(work.lookups <= 3 + LOOKUP_MOST + FIXED_MOST);
	work = query("IPv6, all lengths", "x", other6);
	assert_true(work.lookups >= LENGTHS);
	assert_true(work.lookups <= LENGTHS * LOOKUP_MOST + FIXED_MOST);
	assert_true(work.rounds <= LENGTHS + 1);
}

TEST(names)
{
	char name[256], longest[256];
	struct work work;

	work = query("query, 3 labels, clean", "x.y.z", plain4);
	assert_true(work.lookups <= 4 * LOOKUP_MOST + FIXED_MOST);
	letters("c", LABELS, name);
	work = query("query, 127 labels, clean", name, plain4);
	assert_true(work.lookups >= LABELS);
	assert_true(work.lookups <= SUFFIXES * LOOKUP_MOST + FIXED_MOST);
	letters("a", LABELS, name);
	work = query("query, 127 labels, each suffix listed", name, plain4);
	assert_true(work.lookups >= 3 * LABELS);
	assert_true(work.lookups <= SUFFIXES * (LOOKUP_MOST + 1) + FIXED_MOST);
	memset(longest, 'x', sizeof(longest));
	for (int i = 63; i < 253; i += 64)
		longest[i] = '.';
	longest[253] = '\0';
	query("query, longest labels", longest, plain4);
}

#define EXTENSIONS                                                                                 \
	"3c 3c 00 0104 00000000 3c 00 0104 00000000 3c 00 0104 00000000 3c 00 0104 00000000 "      \
	"3c 00 0104 00000000 3c 00 0104 00000000 3c 00 0104 00000000 11 00 0104 00000000"

TEST(everything_at_once)
{
	const struct dns_shape worst = {.ipv6 = true, .link = 2, .extensions = EXTENSIONS};
	struct work work;
	char name[256];

	letters("a", LABELS, name);
	work = query("IPv6, all lengths, 8 headers, 2 tags, 127 suffixes", name, worst);
	assert_true(work.lookups >= LENGTHS + 3 * LABELS);
	query("IPv6, all lengths, 127 suffixes", name, plain6);
}

TEST(hellos)
{
	struct hello_shape many = {.before = 300};
	struct hello hello;
	struct work work;

	make_named(&(struct hello_shape){0}, "x.y.z", &hello);
	data("hello, one extension", TLS_PORT, hello.byte, hello.size);
	make_named(&many, "x.y.z", &hello);
	work = data("hello, 301 extensions, the name last", TLS_PORT, hello.byte, hello.size);
	/* it looks at 64 of them */
	assert_true(work.loads >= 64 && work.loads <= 64 + 8);
}

TEST(requests)
{
	static const char usual[] = "GET / HTTP/1.1\r\nHost: x.y.z\r\nAccept: */*\r\n\r\n";
	char text[3000] = "GET / HTTP/1.1\n";
	struct work work;

	data("request, as usual", HTTP_PORT, usual, sizeof(usual) - 1);
	memset(text + 15, 'x', sizeof(text) - 15);
	work = data("request, one line", HTTP_PORT, text, sizeof(text));
	assert_true(work.rounds >= 2048 / 32);
	assert_true(work.rounds <= 2048 / 32 + HOST_ROUNDS);
	for (uint32_t i = 15; i + 2 <= sizeof(text); i += 2)
		memcpy(text + i, "x\n", 2);
	work = data("request, lines of one letter", HTTP_PORT, text, sizeof(text));
	assert_true(work.rounds <= 2048 / 32 + HOST_ROUNDS);
	for (uint32_t i = 15; i + 5 < sizeof(text); i += 5)
		memcpy(text + i, "host\n", 5);
	work = data("request, nearly a host in each line", HTTP_PORT, text, sizeof(text));
	assert_true(work.rounds <= 2048 / 32 + HOST_ROUNDS);
	memcpy(text + 1702, "\nHost:        ", 14);
	letters("a", LABELS, text + 1716);
	memcpy(text + 1716 + 2 * LABELS - 1, "\r\n", 2);
	work = data("request, the host far away, 127 suffixes", HTTP_PORT, text, sizeof(text));
	assert_true(work.lookups >= 3 * LABELS);
}

static void load_anew(void)
{
	counted_bpf__destroy(counted);
	xb_generation_close(generation);
	generation = rig_generation(&rig);
	load_counted();
}

/* As many as there can be, all like this one. */
static int add_limits(struct xb_writer *writer, void *context)
{
	struct xb_limit *limit = context;
	int error = 0;

	for (int i = 0; !error && i < LIMITS; i++) {
		snprintf(limit->name, sizeof(limit->name), "limit%d", i);
		error = xb_limits_put(writer->txn, limit);
	}
	return error;
}

static int remove_limits(struct xb_writer *writer, void *context)
{
	int error = 0;

	for (int i = 0; !error && i < LIMITS; i++) {
		char name[16];
		bool found;

		snprintf(name, sizeof(name), "limit%d", i);
		error = xb_limits_remove(writer->txn, name, &found);
	}
	return error;
}

/* In 15 limits at once, of which each looks for the header behind all others. */
TEST(limits)
{
	const struct dns_shape other4 = {.port = 9};
	const struct dns_shape far6 = {
		.ipv6 = true, .port = 9, .link = 2, .extensions = EXTENSIONS};
	struct xb_limit limit = rig_limit_of("limit", "udp/9", 2);
	struct work without4, without6, work;

	rig_del(&rig, "198.51.100.8", NULL);
	/* Limits build a new filter, which has nothing of what was deleted. */
	rig_rotate(&rig);
	load_anew();
	without4 = query("IPv4 to another port, no limits", "x", other4);
	without6 = query("IPv6, 8 headers, 2 tags, no limits", "x", far6);
	limit.of = XB_LIMIT_QUERIES;
	rig_must(xb_write(&rig.paths, XB_WRITE_HEAVY, add_limits, &limit, &rig.written), "limits");
	limited = true;
	load_anew();
	for (int i = 0; i < 3; i++) {
		work = query("IPv4, in 15 limits", "x", other4);
		assert_true(work.lookups >= without4.lookups + LIMITS + 1);
		assert_true(work.lookups <= without4.lookups + LIMITED_LINES_MOST + FIXED_MOST);
		work = query("IPv6, 8 headers, 2 tags, in 15 limits", "x", far6);
		assert_true(work.lookups >= without6.lookups + LIMITS + 1);
		assert_true(work.rounds >= LIMITS * 8);
		assert_true(work.rounds <= without6.rounds + LIMITED_ROUNDS_MOST);
	}
	rig_must(xb_write(&rig.paths, XB_WRITE_HEAVY, remove_limits, NULL, &rig.written), "limits");
	limited = false;
	load_anew();
}

/* The last test: nothing is taken out again. */
TEST(scopes)
{
	const struct dns_shape other4 = {.port = 9}, other6 = {.ipv6 = true, .port = 9};
	const struct dns_shape far6 = {
		.ipv6 = true, .port = 9, .link = 2, .extensions = EXTENSIONS};
	const struct dns_shape elsewhere = {.port = 7};
	uint64_t without;
	struct work work;

	without = query("IPv4 to another port, no scopes", "x", elsewhere).lookups;
	list_scoped();
	leave_lengths();
	load_anew();
	scoped = true;
	work = query("IPv4 to another port", "x", elsewhere);
	assert_true(work.lookups <= without + 1); /* its classes */
	work = query("IPv4, 15 classes, all lengths", "x", other4);
	assert_true(work.lookups >= CLASSES * 32);
	assert_true(work.lookups <= CLASSES * 33 * LOOKUP_MOST + FIXED_MOST + 6);
	assert_true(work.rounds <= CLASSES * 34);
	work = query("IPv6, 15 classes, all lengths", "x", other6);
	/* The build gave most lengths for all services a common level. */
	assert_true(work.lookups >= CLASSES * (ALL_LENGTHS - 2));
	assert_true(work.rounds <= LENGTHS + CLASSES * ALL_LENGTHS + CLASSES + 1);
	query("IPv6, 15 classes, all lengths, 8 headers, 2 tags", "x", far6);
}

ALL_TESTS(begin, end);
