/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_cost HOSTS PREFIXES ROUNDS REPEATS: what the shipped filter costs a packet, beside parsing
 * alone and beside one random line read. Prints one JSON object of nanoseconds per run, one number
 * for each round. Pins go below XB_TEST_BPFFS, counters below XB_TEST_DIR.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <jansson.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/addresses.h"
#include "bench/measure.h"
#include "core/build.h"
#include "core/error.h"
#include "measure.skel.h"

#define LOOPBACK 1

enum subject { PARSE_ONLY, LINE_READ, HOSTS, HOSTS_AND_PREFIXES, SUBJECTS };
enum traffic { CLEAN, HIT, TRAFFICS };

static const char *const subject_names[] = {"parse_only", "line_read", "hosts",
					    "hosts_and_prefixes"};
static const char *const traffic_names[] = {"clean", "hit"};

struct bench {
	char pins[256];
	struct xb_paths paths;
	struct xb_link link;
	struct xb_keys keys;
	struct xb_generation *hosts, *both;
	struct measure_bpf *measure;
	uint32_t repeats;
	json_t *samples[SUBJECTS][TRAFFICS];
};

static void end(struct bench *bench)
{
	xb_generation_discard(&bench->paths, bench->hosts);
	xb_generation_discard(&bench->paths, bench->both);
	measure_bpf__destroy(bench->measure);
	xb_link_close(&bench->link);
	xb_link_destroy(bench->pins);
	rmdir(bench->pins);
	xb_keys_free(&bench->keys);
}

static struct bench *running;

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "bench_cost: %s: %s\n", what,
		xb_error_class() ? xb_error_message() : strerror(-error));
	end(running);
	exit(1);
}

static int ascending(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static void list_hosts(struct bench *bench, size_t count)
{
	struct xb_keys *keys = &bench->keys;

	keys->host4 = malloc(count * sizeof(*keys->host4));
	must(keys->host4 ? 0 : -ENOMEM, "addresses");
	for (size_t i = 0; i < count; i++)
		keys->host4[i] = address_number((uint32_t)i);
	qsort(keys->host4, count, sizeof(*keys->host4), ascending);
	keys->host4_count = count;
}

/* /24s, so that random traffic stays clean. */
static void list_prefixes(struct bench *bench, size_t count)
{
	struct xb_keys *keys = &bench->keys;
	uint32_t step = (uint32_t)((1U << 24) / count);

	keys->prefix4 = calloc(count, sizeof(*keys->prefix4));
	must(keys->prefix4 ? 0 : -ENOMEM, "prefixes");
	for (size_t i = 0; i < count; i++)
		keys->prefix4[i] = (struct xb_entry){
			.hi = (uint64_t)(i * step) << 40, .kind = XB_PREFIX4, .length = 24};
	keys->prefix4_count = count;
}

static void build_generations(struct bench *bench, size_t hosts, size_t prefixes)
{
	struct xb_build build = {
		.paths = &bench->paths, .link = &bench->link, .store = 1, .rate = XB_DEFAULT_RATE};

	list_hosts(bench, hosts);
	must(xb_build(&build, &bench->keys, &bench->hosts), "build");
	list_prefixes(bench, prefixes);
	must(xb_build(&build, &bench->keys, &bench->both), "build");
}

static void load_measure(struct bench *bench)
{
	uint32_t lines = bench->hosts->params.host4.blocks;
	struct measure_bpf *measure = measure_bpf__open();
	struct bpf_program *program;

	bench->measure = measure;
	must(measure ? 0 : -errno, "open");
	measure->rodata->bare_lines = lines;
	must(bpf_map__set_max_entries(measure->maps.bare, lines), "size");
	must(bpf_map__reuse_fd(measure->maps.ifaces, bench->link.ifaces), "reuse");
	must(bpf_map__reuse_fd(measure->maps.stats, bench->link.stats), "reuse");
	bpf_object__for_each_program (program, measure->obj)
		bpf_program__set_flags(program, BPF_F_XDP_HAS_FRAGS);
	must(measure_bpf__load(measure), "load");
}

static void fill_table(struct bench *bench)
{
	uint32_t hosts = (uint32_t)bench->keys.host4_count;
	int map = bpf_map__fd(bench->measure->maps.table);

	for (uint32_t i = 0; i < TABLE_LINES; i++) {
		struct table_line line;

		for (uint32_t k = 0; k < TABLE_LINE; k++)
			line.address[k] = address_number((i * TABLE_LINE + k) % hosts);
		must(bpf_map_update_elem(map, &i, &line, BPF_ANY) ? -errno : 0, "table");
	}
}

static int program_of(const struct bench *bench, enum subject subject)
{
	switch (subject) {
	case LINE_READ:
		return bpf_program__fd(bench->measure->progs.line_read);
	case HOSTS:
		return bench->hosts->program;
	case HOSTS_AND_PREFIXES:
		return bench->both->program;
	default:
		return bpf_program__fd(bench->measure->progs.parse_only);
	}
}

static uint32_t row_of_loopback(const struct bench *bench)
{
	struct xb_iface_cell cell = {0};
	uint32_t index = LOOPBACK;

	must(bpf_map_lookup_elem(bench->link.ifaces, &index, &cell) ? -errno : 0, "row");
	must(cell.ifindex == LOOPBACK ? 0 : -ENOENT, "row");
	return cell.row;
}

/* Runs dropped and passed since the last call, by the statistics of the link. */
static void count(const struct bench *bench, uint64_t *dropped, uint64_t *passed)
{
	static struct xb_counts last;
	struct xb_counts now;

	must(xb_link_counts(&bench->link, row_of_loopback(bench), &now), "statistics");
	*dropped = *passed = 0;
	for (uint32_t i = 0; i < XB_REASON_COUNT; i++) {
		uint64_t more = now.reason[i].packets - last.reason[i].packets;

		*(xb_drop_reasons >> i & 1 ? dropped : passed) += more;
	}
	last = now;
}

/* A figure is worth something only if every run went the way it is named for. */
static void check(const struct bench *bench, enum subject subject, enum traffic traffic)
{
	bool filters = subject == HOSTS || subject == HOSTS_AND_PREFIXES;
	uint64_t dropped, passed;
	double share;

	count(bench, &dropped, &passed);
	share = (double)dropped / (double)bench->repeats;
	if (dropped + passed == bench->repeats &&
	    (filters && traffic == HIT ? dropped == bench->repeats : share < 0.01))
		return;
	fprintf(stderr, "bench_cost: %s, %s: of %u runs %llu dropped, %llu passed\n",
		subject_names[subject], traffic_names[traffic], bench->repeats,
		(unsigned long long)dropped, (unsigned long long)passed);
	end(running);
	exit(1);
}

static double now_ns(void)
{
	struct timespec time;

	/* Not the wall's: what other processes take of this CPU is not the program's cost. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double run(const struct bench *bench, enum traffic traffic, uint32_t repeats)
{
	struct {
		struct ethhdr ethernet;
		struct iphdr ip;
		uint8_t rest[26];
	} __attribute__((packed)) frame = {
		.ethernet.h_proto = htons(ETH_P_IP),
		.ip = {.version = 4, .ihl = 5, .tot_len = htons(46), .ttl = 64},
	};
	struct xdp_md context = {.data_end = sizeof(frame), .ingress_ifindex = LOOPBACK};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = &frame, .data_size_in = sizeof(frame),
		    .ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = (int)repeats);
	int program = bpf_program__fd(traffic == HIT ? bench->measure->progs.from_table
						     : bench->measure->progs.from_anywhere);
	double start = now_ns();

	must(bpf_prog_test_run_opts(program, &options) ? -errno : 0, "run");
	return (now_ns() - start) / repeats;
}

static void measure(struct bench *bench, enum subject subject, enum traffic traffic, bool keep)
{
	int slot = bpf_map__fd(bench->measure->maps.measured), fd = program_of(bench, subject);
	uint64_t ignored[2];
	uint32_t zero = 0;
	double ns;

	must(bpf_map_update_elem(slot, &zero, &fd, BPF_ANY) ? -errno : 0, "slot");
	run(bench, traffic, bench->repeats); /* the last subject's lines leave the cache */
	count(bench, &ignored[0], &ignored[1]);
	ns = run(bench, traffic, bench->repeats);
	check(bench, subject, traffic);
	if (keep)
		json_array_append_new(bench->samples[subject][traffic], json_real(ns));
}

static void measure_rounds(struct bench *bench, uint32_t rounds)
{
	for (int i = 0; i < SUBJECTS * TRAFFICS; i++)
		bench->samples[i / TRAFFICS][i % TRAFFICS] = json_array();
	/* Round 0 is not kept. Where a round begins moves on, so that no subject is always first.
	 */
	for (uint32_t round = 0; round <= rounds; round++) {
		for (uint32_t i = 0; i < SUBJECTS * TRAFFICS; i++) {
			uint32_t at = (i + round) % (SUBJECTS * TRAFFICS);

			measure(bench, at / TRAFFICS, at % TRAFFICS, round);
		}
	}
}

static void print(const struct bench *bench)
{
	json_t *all = json_object(), *ns = json_object();

	for (int i = 0; i < SUBJECTS * TRAFFICS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s_%s", subject_names[i / TRAFFICS],
			 traffic_names[i % TRAFFICS]);
		json_object_set_new(ns, name, bench->samples[i / TRAFFICS][i % TRAFFICS]);
	}
	json_object_set_new(all, "hosts", json_integer((json_int_t)bench->keys.host4_count));
	json_object_set_new(all, "prefixes", json_integer((json_int_t)bench->keys.prefix4_count));
	json_object_set_new(all, "blocks", json_integer(bench->hosts->params.host4.blocks));
	json_object_set_new(all, "probes", json_integer(bench->hosts->params.host4.probes));
	json_object_set_new(all, "repeats", json_integer(bench->repeats));
	json_object_set_new(all, "ns", ns);
	json_dumpf(all, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(all);
}

int main(int argc, char **argv)
{
	const char *bpffs = getenv("XB_TEST_BPFFS"), *directory = getenv("XB_TEST_DIR");
	struct bench bench = {
		.link = {.identity = -1, .slot = -1, .ifaces = -1, .stats = -1, .entry = -1}};

	if (argc != 5 || !bpffs || !directory) {
		fprintf(stderr, "usage: XB_TEST_BPFFS= XB_TEST_DIR= bench_cost HOSTS PREFIXES "
				"ROUNDS REPEATS; scripts/bench does it\n");
		return 2;
	}
	running = &bench;
	libbpf_set_print(NULL);
	snprintf(bench.pins, sizeof(bench.pins), "%s/bench-%d", bpffs, (int)getpid());
	bench.paths = (struct xb_paths){directory, bench.pins, directory};
	bench.repeats = (uint32_t)strtoul(argv[4], NULL, 10);
	must(xb_link_create(bench.pins, XB_FLAVOUR_LINK, &bench.link), "link");
	must(xb_link_enrol(&bench.link, LOOPBACK, "lo"), "enrol");
	build_generations(&bench, strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
	load_measure(&bench);
	fill_table(&bench);
	measure_rounds(&bench, (uint32_t)strtoul(argv[3], NULL, 10));
	print(&bench);
	end(&bench);
	return 0;
}
