/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets, and the programs that are timed with them in turns: each run gets a fresh packet and is
 * handed on to the program; the counters of a link tell what became of the runs. */
#ifndef XB_BENCH_TIMING_H
#define XB_BENCH_TIMING_H

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "attach/anchor.h"
#include "base/paths.h"
#include "bench/lists.h"
#include "bench/question.h"
#include "bench/sources.h"
#include "filter/build.h"
#include "model/reason.h"
#include "store/store.h"
#include "support/mapbytes.h"

#include "measure.skel.h" /* behind the structures it names */

#define LOOPBACK    1
#define CELLS_MAX   256
#define FILTERS_MAX 64
#define ALL_REASONS ((1ULL << XB_REASON_COUNT) - 1)
#define AS(reason)  (1ULL << (reason))

/* The random prefixes and loopback allow one listed source in 200; of clean traffic some is listed.
 */
#define ALLOWED_SHARE 0.01
#define DROPPED_SHARE 0.01

struct packet {
	struct bpf_program *sender;
	uint32_t size;
	uint32_t table; /* where its sources begin, in tables */
	struct ask ask;
	uint8_t data[512];
};

/* One figure a round. */
struct cell {
	const char *traffic, *subject;
	int program;
	struct packet packet;
	uint64_t as;	/* the reasons of which runs may end */
	double but;	/* share that may end of others */
	uint32_t fewer; /* slow: only one in so many runs */
	uint32_t lines; /* that it reads one of; 0: none */
	bool watched;
	json_t *samples, *alone;
};

static struct {
	char pins[256];
	struct xb_paths paths;
	struct xb_anchor anchor;
	struct measure_bpf *measure;
	struct xb_contents keys[LISTS], fewer[2];
	struct xb_scope scope;
	struct xb_generation *generations[FILTERS_MAX];
	struct cell cells[CELLS_MAX];
	size_t filters, cell_count;
	uint32_t repeats, count, others;
	json_t *report, *told; /* of the filters */
	uint64_t read_bytes[3];
} bench = {.anchor = {.identity = -1,
		      .slot = -1,
		      .ifaces = -1,
		      .stats = -1,
		      .watch = -1,
		      .drops = -1,
		      .entry = -1}};

static void end(void)
{
	for (size_t i = 0; i < bench.filters; i++)
		xb_generation_discard(&bench.paths, bench.generations[i]);
	measure_bpf__destroy(bench.measure);
	xb_anchor_close(&bench.anchor);
	xb_anchor_destroy(bench.pins);
	rmdir(bench.pins);
}

static void begin(void)
{
	uint32_t mute;
	const char *bpffs = getenv("XB_TEST_BPFFS"), *directory = getenv("XB_TEST_DIR");

	must(bpffs && directory ? 0 : -ENOENT, "XB_TEST_BPFFS, XB_TEST_DIR");
	libbpf_set_print(NULL);
	snprintf(bench.pins, sizeof(bench.pins), "%s/bench-%d", bpffs, (int)getpid());
	bench.paths = (struct xb_paths){directory, bench.pins, directory};
	atexit(end);
	must(xb_anchor_create(bench.pins, XB_FLAVOUR_LINK, &bench.anchor), "link");
	must(xb_anchor_enrol(&bench.anchor, LOOPBACK, "lo"), "enrol");
	must(xb_anchor_mute(&bench.anchor, LOOPBACK, XB_MUTE_NONE, &mute), "mute");
	bench.measure = measure_bpf__open();
	must(bench.measure ? 0 : -errno, "open");
	bench.report = json_object();
	bench.told = json_object();
}
/* --- filters --- */

static struct xb_generation *build(struct xb_contents contents, double rate, bool confirm,
				   enum xb_policy policy)
{
	const struct xb_build wanted = {.paths = &bench.paths,
					.anchor = &bench.anchor,
					.store = 1,
					.rate = rate,
					.confirm = confirm,
					.policy = policy,
					.ports.dns[0] = contents.names_count ? XB_DNS_PORT : 0};

	must(bench.filters < FILTERS_MAX ? 0 : -E2BIG, "filters");
	must(xb_build(&wanted, &contents, &bench.generations[bench.filters]), "build");
	return bench.generations[bench.filters++];
}

static struct xb_generation *build_shipped(struct xb_contents contents)
{
	return build(contents, XB_CONFIRMED_RATE, true, XB_POLICY_ENFORCE);
}

static bool hits(struct xb_generation *generation, uint32_t address)
{
	return xb_bloom_contains(&generation->host4, xb_hash_ipv4(&generation->host4.key, address));
}

static json_t *object_in(json_t *object, const char *name)
{
	if (!json_object_get(object, name))
		json_object_set_new(object, name, json_object());
	return json_object_get(object, name);
}

/* What it has for these: of IPv4, of IPv6, of names. */
static void tell(const char *name, const struct xb_generation *generation, enum xb_map bits,
		 enum xb_map buckets)
{
	const struct xb_params *params = &generation->params;
	const int *map = generation->map;
	json_t *told = object_in(bench.told, name);

	put_number(told, "bits_bytes", xb_map_bytes(bits, params));
	put_number(told, "buckets_bytes", xb_map_bytes(buckets, params));
	put_number(told, "lengths_bytes", xb_maps_lengths_bytes(params));
	put_number(told, "prefix4_bytes", xb_map_bytes(XB_MAP_PREFIX4, params));
	put_number(told, "gate_bytes", xb_map_bytes(XB_MAP_GATE, params));
	put_number(told, "tries_memlock",
		   map_bytes(map[XB_MAP_ALLOW4]) + map_bytes(map[XB_MAP_ALLOW6]));
	put_number(told, "counters_bytes", xb_generation_file_bytes(params));
	put_number(told, "memlock", map_bytes(map[bits]) + map_bytes(map[buckets]));
}

/* --- packets --- */

/* Of 26 bytes behind the IP header, which begin with ports; port: that to which a TCP packet goes,
 * 0: it has no protocol. */
static struct packet packet_of(struct bpf_program *sender, uint32_t table, uint16_t port, bool six)
{
	const struct ethhdr ethernet = {.h_proto = htons(six ? ETH_P_IPV6 : ETH_P_IP)};
	const struct iphdr ip4 = {.version = 4,
				  .ihl = 5,
				  .tot_len = htons(46),
				  .ttl = 64,
				  .protocol = port ? IPPROTO_TCP : 0};
	const struct ipv6hdr ip6 = {.version = 6,
				    .payload_len = htons(26),
				    .nexthdr = port ? IPPROTO_TCP : IPPROTO_NONE,
				    .hop_limit = 64};
	const uint16_t ports[2] = {0, htons(port)};
	size_t head = six ? sizeof(ip6) : sizeof(ip4);
	struct packet packet = {
		.sender = sender, .table = table, .size = (uint32_t)(sizeof(ethernet) + head + 26)};

	memcpy(packet.data, &ethernet, sizeof(ethernet));
	memcpy(packet.data + sizeof(ethernet), six ? (const void *)&ip6 : (const void *)&ip4, head);
	memcpy(packet.data + sizeof(ethernet) + head, ports, sizeof(ports));
	return packet;
}

#define ASKER 0xc6336408U /* as dns_query() has it */

/* first, count: letter and number of the names that are drawn. */
static struct packet question(const char *name, uint8_t protocol, uint16_t port, char first,
			      uint32_t count)
{
	struct packet packet = {.sender = bench.measure->progs.ask_anew,
				.ask = {.first = (uint8_t)first, .count = count}};
	struct dns_frame frame = question_frame(name, &packet.ask);
	uint16_t to = htons(port);

	frame.byte[QUESTION_PROTOCOL] = protocol;
	memcpy(frame.byte + QUESTION_PORT, &to, sizeof(to));
	memcpy(packet.ask.head, frame.byte, sizeof(packet.ask.head));
	must(frame.size <= sizeof(packet.data) ? 0 : -E2BIG, name);
	packet.size = frame.size;
	memcpy(packet.data, frame.byte, frame.size);
	return packet;
}

/* Behind it nothing more can be sized. */
static void load(uint32_t tables, uint32_t lines)
{
	struct measure_bpf *measure = bench.measure;
	struct bpf_program *program;

	must(bpf_map__set_max_entries(measure->maps.table, tables * TABLE_LINES), "size");
	must(bpf_map__set_max_entries(measure->maps.bare, lines ? lines : 1), "size");
	must(bpf_map__reuse_fd(measure->maps.ifaces, bench.anchor.ifaces), "reuse");
	must(bpf_map__reuse_fd(measure->maps.stats, bench.anchor.stats), "reuse");
	/* Programs share a program array, so they must agree on multi-buffer support. */
	bpf_object__for_each_program (program, measure->obj)
		bpf_program__set_flags(program, BPF_F_XDP_HAS_FRAGS);
	must(measure_bpf__load(measure), "load");
}

/* The words of an array map that can be mapped. */
static void *map_words(const struct bpf_map *map, size_t *bytes)
{
	void *words;

	*bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	words = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	must(words == MAP_FAILED ? -errno : 0, "map");
	return words;
}

/* addresses: NULL: the first ones. */
static void fill_table4(uint32_t table, const uint32_t *addresses, size_t count)
{
	size_t bytes;
	uint32_t *words = map_words(bench.measure->maps.table, &bytes);

	for (uint32_t i = 0; i < TABLE_ADDRESSES; i++)
		words[table * TABLE_ADDRESSES + i] =
			addresses ? addresses[i % count] : address_number(i % (uint32_t)count);
	munmap(words, bytes);
}

/* In random order: in an entry, or in the /32 of one that is longer. */
static void fill_table6(uint32_t table, const struct xb_contents *keys, bool below)
{
	size_t bytes;
	uint64_t *words = map_words(bench.measure->maps.table, &bytes),
		 *address = words + table * TABLE_ADDRESSES6 * 2;

	for (uint64_t i = 0, number = 0; i < TABLE_ADDRESSES6; number++) {
		struct xb_entry entry = keys->net6[address_mix(number) % keys->net6_count];
		struct xb_entry rest = {.kind = XB_NET6,
					.hi = address_mix(~number),
					.lo = address_mix(number ^ 1ULL << 60),
					.length = 128};
		struct xb_entry covering = xb_entry_covering(&rest, entry.length);

		if (below && entry.length < LONG_FROM)
			continue;
		address[2 * i] = htobe64(entry.hi | (rest.hi ^ covering.hi));
		address[2 * i + 1] = htobe64(entry.lo | (rest.lo ^ covering.lo));
		i++;
	}
	munmap(words, bytes);
}

/* Not listed, in random order, from where lists of countries have something: below a /32 in which a
 * longer prefix is, or anywhere in a /16 that has any. */
static void fill_unlisted6(uint32_t table, const struct xb_contents *keys, bool below)
{
	size_t bytes, found = 0;
	uint64_t *words = map_words(bench.measure->maps.table, &bytes),
		 *address = words + (size_t)table * TABLE_ADDRESSES6 * 2;
	struct oracle oracle = {0};

	for (size_t i = 0; i < keys->net6_count; i++)
		oracle_add(&oracle, &keys->net6[i]);
	oracle_sort(&oracle);
	for (uint64_t number = 0; found < TABLE_ADDRESSES6; number++) {
		struct xb_entry entry = keys->net6[address_mix(number) % keys->net6_count];
		uint64_t rest = address_mix(~number);

		if (entry.length == SHORTEST || (below && entry.length <= XB_PREFIX6_LENGTH) ||
		    !unlisted_beside(&oracle, &entry, below ? 32 : 16, rest))
			continue;
		address[2 * found] = htobe64(entry.hi);
		address[2 * found + 1] = htobe64(entry.lo);
		found++;
	}
	oracle_free(&oracle);
	munmap(words, bytes);
}

/* --- timing --- */

static struct cell *add(struct cell cell)
{
	must(bench.cell_count < CELLS_MAX ? 0 : -E2BIG, "cells");
	cell.samples = json_array();
	cell.alone = json_array();
	cell.fewer = cell.fewer ? cell.fewer : 1;
	bench.cells[bench.cell_count] = cell;
	return &bench.cells[bench.cell_count++];
}

/* Tables of each list of IPv6: listed sources, those below, clean ones. */
#define TABLES_EACH 3

/* A program, and the sources it is timed with. */
struct subject {
	const char *name;
	struct bpf_program *program; /* or: */
	const struct xb_generation *generation;
	bool blind;  /* passes every source */
	bool any;    /* drops some */
	bool allows; /* has an allowlist */
	double rate; /* of clean sources dropped by mistake */
	uint32_t fewer, lines;
	uint16_t port;	 /* of TCP, to which its packets go; 0: they have no protocol */
	uint32_t table6; /* IPv6: those listed begin here, one behind it those whose /32 counts for
			    "below" */
	bool enclosed;	 /* IPv6: clean ones are from there */
	bool whole;	 /* IPv6: those "below" stand there as whole addresses, two behind it clean
			    ones */
	bool near;	 /* IPv4: timed also with listed ones next to an allowed prefix */
};

static void add_traffic(const struct subject *subject, const char *traffic, struct packet packet)
{
	bool clean = !strcmp(traffic, "clean") || !strcmp(traffic, "below");
	uint64_t allowed = subject->allows ? AS(XB_ALLOWED) : 0;
	struct cell cell = {.traffic = traffic,
			    .subject = subject->name,
			    .program = subject->generation ? subject->generation->program
							   : bpf_program__fd(subject->program),
			    .packet = packet,
			    .as = xb_drop_reasons | allowed,
			    .fewer = subject->fewer,
			    .lines = subject->lines};

	if (subject->blind || clean)
		cell.as = ALL_REASONS & ~xb_drop_reasons & ~(AS(XB_ALLOWED) & ~allowed);
	if (subject->any)
		cell.as = ALL_REASONS;
	if (clean && !subject->blind)
		cell.but = DROPPED_SHARE + 2 * subject->rate;
	add(cell);
}

static void add_subject(struct subject subject)
{
	const struct measure_bpf *measure = bench.measure;
	struct bpf_program *anywhere = measure->progs.from_anywhere,
			   *table = measure->progs.from_table;
	uint32_t first = subject.table6;
	uint16_t port = subject.port;

	if (first) {
		anywhere = subject.enclosed ? measure->progs.from_below6
					    : measure->progs.from_anywhere6;
		table = measure->progs.from_table6;
	}
	if (subject.whole)
		anywhere = table;
	add_traffic(&subject, "clean",
		    packet_of(anywhere, subject.whole ? first + 2 : first, port, first));
	add_traffic(&subject, "hit", packet_of(table, first, port, first));
	if (subject.near && !first)
		add_traffic(&subject, "near", packet_of(table, 1, port, false));
	if (first && !subject.enclosed)
		add_traffic(&subject, "below",
			    packet_of(subject.whole ? table : measure->progs.from_below6, first + 1,
				      port, true));
}

static void put_in_force(const struct cell *cell)
{
	int slot = bpf_map__fd(bench.measure->maps.measured);
	uint32_t zero = 0;

	must(bpf_map_update_elem(slot, &zero, &cell->program, BPF_ANY) ? -errno : 0, "slot");
	bench.measure->bss->table_first = cell->packet.table * TABLE_LINES;
	bench.measure->bss->ask = cell->packet.ask;
	if (cell->lines)
		bench.measure->bss->bare_lines = cell->lines;
}

/* Not the wall's: what other processes take of this CPU is not the program's cost. */
static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds a run. The kernel runs a copy of the packet. */
static double run(const struct packet *packet, uint32_t runs)
{
	struct xdp_md context = {.data_end = packet->size, .ingress_ifindex = LOOPBACK};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet->data,
		    .data_size_in = packet->size, .ctx_in = &context,
		    .ctx_size_in = sizeof(context), .repeat = (int)runs);
	double start = now_ns();

	must(bpf_prog_test_run_opts(bpf_program__fd(packet->sender), &options) ? -errno : 0, "run");
	return (now_ns() - start) / runs;
}

static struct xb_counts counts(void)
{
	struct xb_iface_cell cell = {0};
	uint32_t index = LOOPBACK;
	struct xb_counts counts;

	must(bpf_map_lookup_elem(bench.anchor.ifaces, &index, &cell) ? -errno : 0, "row");
	must(cell.ifindex == LOOPBACK ? 0 : -ENOENT, "row");
	must(xb_anchor_counts(&bench.anchor, cell.row, &counts), "statistics");
	return counts;
}

static uint64_t ended_as(uint64_t reasons, const struct xb_counts *before,
			 const struct xb_counts *after)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < XB_REASON_COUNT; i++)
		if (reasons >> i & 1)
			found += after->reason[i].packets - before->reason[i].packets;
	return found;
}

/* A figure is worth something only if every run went the way it is named for. */
static void check(const struct cell *cell, const struct xb_counts *before, uint64_t runs)
{
	struct xb_counts after = counts();
	uint64_t as = ended_as(cell->as, before, &after),
		 allowed = ended_as(AS(XB_ALLOWED), before, &after);

	if (ended_as(ALL_REASONS, before, &after) != runs ||
	    (double)as < (1 - cell->but) * (double)runs ||
	    (double)allowed > ALLOWED_SHARE * (double)runs) {
		fprintf(stderr, "bench_packets: %s, %s: of %llu runs ended as", cell->subject,
			cell->traffic, (unsigned long long)runs);
		for (uint32_t i = 0; i < XB_REASON_COUNT; i++)
			if (ended_as(AS(i), before, &after))
				fprintf(stderr, " %s %llu", xb_reason_name(i),
					(unsigned long long)ended_as(AS(i), before, &after));
		fputc('\n', stderr);
		exit(1);
	}
}

static void measure(struct cell *cell, bool keep)
{
	uint32_t runs = bench.repeats / cell->fewer;
	struct xb_counts before;
	double ns;

	put_in_force(cell);
	run(&cell->packet, runs); /* the last subject's lines leave the cache */
	before = counts();
	ns = run(&cell->packet, runs);
	check(cell, &before, runs);
	if (keep)
		json_array_append_new(cell->samples, json_real(ns));
}

/* Everything takes its turn in each round. Round 0 is not kept. Where a round begins moves on, so
 * that no subject is always first. */
static void measure_rounds(uint32_t rounds)
{
	for (uint32_t round = 0; round <= rounds; round++)
		for (size_t i = 0; i < bench.cell_count; i++)
			measure(&bench.cells[(i + round) % bench.cell_count], round);
}

/* Samples of cells of one name behind each other. */
static void report_cells(void)
{
	json_t *ns = object_in(bench.report, "ns");

	for (struct cell *cell = bench.cells; cell < bench.cells + bench.cell_count; cell++) {
		json_t *of_traffic = object_in(ns, cell->traffic),
		       *of_name = json_object_get(of_traffic, cell->subject);

		if (of_name)
			json_array_extend(of_name, cell->samples);
		else
			json_object_set(of_traffic, cell->subject, cell->samples);
	}
}

#endif
