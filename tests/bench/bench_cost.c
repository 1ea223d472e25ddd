/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_cost [--rates] HOSTS PREFIXES ROUNDS REPEATS: what the shipped filter costs a packet, and
 * its memory, beside parsing alone, one random line read and BPF_MAP_TYPE_HASH; with --rates, at
 * many rates of the Bloom stage. Prints one JSON object: nanoseconds per run, one number for each
 * round, and bytes. Pins go below XB_TEST_BPFFS, counters below XB_TEST_DIR.
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

#include "bench/lists.h"
#include "bench/measure.h"
#include "core/build.h"
#include "core/error.h"
#include "measure.skel.h"

#define LOOPBACK 1

enum kind { PARSE_ONLY, LINE_READ, BPF_HASH, FILTER };

struct subject {
	const char *name;
	enum kind kind;
	double rate; /* of the Bloom stage */
	bool confirm, prefixes;
	size_t allow; /* entries */
	bool near;    /* also timed with traffic from next to the allowed */
};

/* Confirm costs a clean packet what confirm-1e-4 is above bare-1e-4; bare-again tells how much two
 * filters that are alike differ. */
static const struct subject peers[] = {
	{.name = "parse_only", .kind = PARSE_ONLY, .near = true},
	{.name = "line_read", .kind = LINE_READ},
	{.name = "bpf_hash", .kind = BPF_HASH, .near = true},
	{.name = "bare-1e-4", .kind = FILTER, .rate = 1e-4},
	{.name = "bare-again", .kind = FILTER, .rate = 1e-4},
	{.name = "confirm-1e-4", .kind = FILTER, .rate = 1e-4, .confirm = true},
	{.name = "confirm-1e-3", .kind = FILTER, .rate = 1e-3, .confirm = true},
	{.name = "confirm-1e-2", .kind = FILTER, .rate = 1e-2, .confirm = true},
	{.name = "allow-none", .kind = FILTER, .rate = XB_CONFIRMED_RATE, .confirm = true},
	{.name = "hosts",
	 .kind = FILTER,
	 .rate = XB_CONFIRMED_RATE,
	 .confirm = true,
	 .allow = ALLOW_FEW},
	{.name = "allow-many",
	 .kind = FILTER,
	 .rate = XB_CONFIRMED_RATE,
	 .confirm = true,
	 .allow = ALLOW_MANY,
	 .near = true},
	{.name = "hosts_and_prefixes",
	 .kind = FILTER,
	 .rate = XB_CONFIRMED_RATE,
	 .confirm = true,
	 .prefixes = true,
	 .allow = ALLOW_FEW},
};

static const struct subject rates[] = {
	{.name = "parse_only", .kind = PARSE_ONLY},
	{.name = "line_read", .kind = LINE_READ},
	{.name = "bpf_hash", .kind = BPF_HASH},
	{.name = "confirm-3e-2", .kind = FILTER, .rate = 3e-2, .confirm = true},
	{.name = "confirm-1e-2", .kind = FILTER, .rate = 1e-2, .confirm = true},
	{.name = "confirm-3e-3", .kind = FILTER, .rate = 3e-3, .confirm = true},
	{.name = "confirm-1e-3", .kind = FILTER, .rate = 1e-3, .confirm = true},
	{.name = "confirm-3e-4", .kind = FILTER, .rate = 3e-4, .confirm = true},
	{.name = "confirm-1e-4", .kind = FILTER, .rate = 1e-4, .confirm = true},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define SUBJECTS_MAX	16

/* NEAR: listed sources for which the gate in front of the allowlist opens in vain. */
enum traffic { CLEAN, HIT, NEAR, TRAFFICS };

static const char *const traffic_names[] = {"clean", "hit", "near"};

/* One figure a round. */
struct cell {
	size_t subject;
	enum traffic traffic;
	json_t *samples;
};

struct bench {
	char pins[256];
	struct xb_paths paths;
	struct xb_link link;
	struct xb_keys keys;
	const struct subject *subjects;
	size_t subject_count;
	struct xb_generation *generations[SUBJECTS_MAX]; /* of the filters, else NULL */
	struct measure_bpf *measure;
	size_t near_count;
	uint32_t repeats;
	struct cell cells[SUBJECTS_MAX * TRAFFICS];
	size_t cell_count;
};

static void end(struct bench *bench)
{
	for (size_t i = 0; i < bench->subject_count; i++)
		xb_generation_discard(&bench->paths, bench->generations[i]);
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

static void build_generations(struct bench *bench)
{
	for (size_t i = 0; i < bench->subject_count; i++) {
		const struct subject *subject = &bench->subjects[i];
		struct xb_keys keys = bench->keys;
		struct xb_build build = {.paths = &bench->paths,
					 .link = &bench->link,
					 .store = 1,
					 .rate = subject->rate,
					 .confirm = subject->confirm,
					 .policy = XB_POLICY_ENFORCE};

		keys.prefix4_count = subject->prefixes ? keys.prefix4_count : 0;
		keys.allow_count = subject->allow;
		if (subject->kind == FILTER)
			must(xb_build(&build, &keys, &bench->generations[i]), "build");
	}
}

/* As many as the filter has that ships. */
static uint32_t lines_to_read(const struct bench *bench)
{
	for (size_t i = 0; i < bench->subject_count; i++) {
		double rate = bench->subjects[i].rate;

		if (!(rate < XB_CONFIRMED_RATE) && !(rate > XB_CONFIRMED_RATE))
			return bench->generations[i]->params.host4.blocks;
	}
	return 1;
}

static void load_measure(struct bench *bench)
{
	uint32_t lines = lines_to_read(bench);
	struct measure_bpf *measure = measure_bpf__open();
	struct bpf_program *program;

	bench->measure = measure;
	must(measure ? 0 : -errno, "open");
	measure->rodata->bare_lines = lines;
	must(bpf_map__set_max_entries(measure->maps.bare, lines), "size");
	must(bpf_map__set_max_entries(measure->maps.exact, (uint32_t)bench->keys.host4_count),
	     "size");
	must(bpf_map__reuse_fd(measure->maps.ifaces, bench->link.ifaces), "reuse");
	must(bpf_map__reuse_fd(measure->maps.stats, bench->link.stats), "reuse");
	bpf_object__for_each_program (program, measure->obj)
		bpf_program__set_flags(program, BPF_F_XDP_HAS_FRAGS);
	must(measure_bpf__load(measure), "load");
}

static void fill_table(const struct bench *bench, uint32_t first_line, const uint32_t *addresses,
		       size_t count)
{
	int map = bpf_map__fd(bench->measure->maps.table);

	for (uint32_t i = 0; i < TABLE_LINES; i++) {
		uint32_t index = first_line + i;
		struct table_line line;

		for (uint32_t k = 0; k < TABLE_LINE; k++) {
			uint32_t number = i * TABLE_LINE + k;

			line.address[k] = addresses ? addresses[number % count]
						    : address_number(number % (uint32_t)count);
		}
		must(bpf_map_update_elem(map, &index, &line, BPF_ANY) ? -errno : 0, "table");
	}
}

static void fill_tables(struct bench *bench)
{
	uint32_t *near = calloc(TABLE_ADDRESSES, sizeof(*near));

	must(near ? 0 : -ENOMEM, "addresses");
	bench->near_count = near_allowed(&bench->keys, near, TABLE_ADDRESSES);
	fill_table(bench, 0, NULL, bench->keys.host4_count);
	if (bench->near_count)
		fill_table(bench, TABLE_LINES, near, bench->near_count);
	free(near);
}

static void fill_hash(const struct bench *bench, int map)
{
	uint32_t value = 1;

	for (size_t i = 0; i < bench->keys.host4_count; i++)
		must(bpf_map_update_elem(map, &bench->keys.host4[i], &value, BPF_ANY) ? -errno : 0,
		     "hash");
}

/* Bytes of kernel memory, as the kernel accounts for them. */
static json_int_t memlock(int map)
{
	unsigned long long bytes = 0;
	char path[64], line[128];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map);
	file = fopen(path, "re");
	must(file ? 0 : -errno, "fdinfo");
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "memlock: %llu", &bytes) == 1;
	fclose(file);
	must(found ? 0 : -ENOENT, "memlock");
	return (json_int_t)bytes;
}

/* The same set in a hash that takes its elements one by one, as ipset does. */
static json_int_t memlock_of_grown_hash(const struct bench *bench)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "grown", sizeof(uint32_t), sizeof(uint32_t),
				 (uint32_t)bench->keys.host4_count, &options);
	json_int_t bytes;

	must(map < 0 ? map : 0, "hash");
	fill_hash(bench, map);
	bytes = memlock(map);
	close(map);
	return bytes;
}

static int program_of(const struct bench *bench, size_t subject)
{
	switch (bench->subjects[subject].kind) {
	case PARSE_ONLY:
		return bpf_program__fd(bench->measure->progs.parse_only);
	case LINE_READ:
		return bpf_program__fd(bench->measure->progs.line_read);
	case BPF_HASH:
		return bpf_program__fd(bench->measure->progs.bpf_hash);
	case FILTER:
		break;
	}
	return bench->generations[subject]->program;
}

static uint32_t row_of_loopback(const struct bench *bench)
{
	struct xb_iface_cell cell = {0};
	uint32_t index = LOOPBACK;

	must(bpf_map_lookup_elem(bench->link.ifaces, &index, &cell) ? -errno : 0, "row");
	must(cell.ifindex == LOOPBACK ? 0 : -ENOENT, "row");
	return cell.row;
}

struct verdicts {
	uint64_t dropped, allowed, passed; /* allowed: those that passed by the allowlist */
};

/* Runs since the last call, by the statistics of the link. */
static struct verdicts verdicts_since(const struct bench *bench)
{
	static struct xb_counts last;
	struct verdicts since = {0};
	struct xb_counts now;

	must(xb_link_counts(&bench->link, row_of_loopback(bench), &now), "statistics");
	for (uint32_t i = 0; i < XB_REASON_COUNT; i++) {
		uint64_t more = now.reason[i].packets - last.reason[i].packets;

		if (xb_drop_reasons >> i & 1)
			since.dropped += more;
		else if (i == XB_ALLOWED)
			since.allowed += more;
		else
			since.passed += more;
	}
	last = now;
	return since;
}

/* The random prefixes and loopback allow one listed source in 200. */
#define ALLOWED_SHARE 0.01
#define DROPPED_SHARE 0.01 /* of clean traffic: some of it is listed */

static bool as_named(const struct bench *bench, const struct cell *cell, struct verdicts found)
{
	const struct subject *subject = &bench->subjects[cell->subject];
	double all = bench->repeats;

	if (found.dropped + found.allowed + found.passed != bench->repeats)
		return false;
	if ((double)found.allowed > (subject->allow ? ALLOWED_SHARE * all : 0))
		return false;
	if (cell->traffic == CLEAN || subject->kind < BPF_HASH)
		return (double)found.dropped < DROPPED_SHARE * all;
	return !found.passed;
}

/* A figure is worth something only if every run went the way it is named for. */
static void check(const struct bench *bench, const struct cell *cell)
{
	struct verdicts found = verdicts_since(bench);

	if (as_named(bench, cell, found))
		return;
	fprintf(stderr, "bench_cost: %s, %s: of %u runs %llu dropped, %llu allowed, %llu passed\n",
		bench->subjects[cell->subject].name, traffic_names[cell->traffic], bench->repeats,
		(unsigned long long)found.dropped, (unsigned long long)found.allowed,
		(unsigned long long)found.passed);
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

static double run(const struct bench *bench, enum traffic traffic)
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
		    .ctx_in = &context, .ctx_size_in = sizeof(context),
		    .repeat = (int)bench->repeats);
	int program = bpf_program__fd(traffic == CLEAN ? bench->measure->progs.from_anywhere
						       : bench->measure->progs.from_table);
	double start;

	bench->measure->bss->table_first = traffic == NEAR ? TABLE_LINES : 0;
	start = now_ns();
	must(bpf_prog_test_run_opts(program, &options) ? -errno : 0, "run");
	return (now_ns() - start) / bench->repeats;
}

static void measure(struct bench *bench, const struct cell *cell, bool keep)
{
	int slot = bpf_map__fd(bench->measure->maps.measured);
	int program = program_of(bench, cell->subject);
	uint32_t zero = 0;
	double ns;

	must(bpf_map_update_elem(slot, &zero, &program, BPF_ANY) ? -errno : 0, "slot");
	run(bench, cell->traffic); /* the last subject's lines leave the cache */
	verdicts_since(bench);
	ns = run(bench, cell->traffic);
	check(bench, cell);
	if (keep)
		json_array_append_new(cell->samples, json_real(ns));
}

static void list_cells(struct bench *bench)
{
	for (enum traffic traffic = CLEAN; traffic < TRAFFICS; traffic++)
		for (size_t i = 0; i < bench->subject_count; i++)
			if (traffic != NEAR || (bench->subjects[i].near && bench->near_count))
				bench->cells[bench->cell_count++] =
					(struct cell){i, traffic, json_array()};
}

static void measure_rounds(struct bench *bench, uint32_t rounds)
{
	list_cells(bench);
	/* Round 0 is not kept. Where a round begins moves on, so that no subject is always first.
	 */
	for (uint32_t round = 0; round <= rounds; round++)
		for (size_t i = 0; i < bench->cell_count; i++)
			measure(bench, &bench->cells[(i + round) % bench->cell_count], round);
}

static json_t *ns_json(const struct bench *bench)
{
	json_t *ns = json_object();

	for (enum traffic traffic = CLEAN; traffic < TRAFFICS; traffic++)
		json_object_set_new(ns, traffic_names[traffic], json_object());
	for (size_t i = 0; i < bench->cell_count; i++) {
		const struct cell *cell = &bench->cells[i];

		json_object_set_new(json_object_get(ns, traffic_names[cell->traffic]),
				    bench->subjects[cell->subject].name, cell->samples);
	}
	return ns;
}

static json_t *filter_json(const struct subject *subject, const struct xb_generation *generation)
{
	const struct xb_params *params = &generation->params;
	json_int_t tries =
		memlock(generation->map[XB_MAP_ALLOW4]) + memlock(generation->map[XB_MAP_ALLOW6]);

	return json_pack(
		"{s:f,s:b,s:I,s:I,s:i,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "rate", subject->rate,
		"confirm", subject->confirm, "allow", (json_int_t)subject->allow, "blocks",
		(json_int_t)params->host4.blocks, "probes", params->host4.probes, "bits_bytes",
		(json_int_t)xb_map_bytes(XB_MAP_HOST4, params), "buckets_bytes",
		(json_int_t)xb_map_bytes(XB_MAP_CONFIRM4, params), "prefix4_bytes",
		(json_int_t)xb_map_bytes(XB_MAP_PREFIX4, params), "gate_bytes",
		(json_int_t)xb_map_bytes(XB_MAP_GATE, params), "tries_memlock", tries,
		"counters_bytes", (json_int_t)xb_generation_file_bytes(params), "memlock",
		memlock(generation->map[XB_MAP_HOST4]) +
			(subject->confirm ? memlock(generation->map[XB_MAP_CONFIRM4]) : 0));
}

static void print(const struct bench *bench)
{
	json_t *filters = json_object(), *all;

	for (size_t i = 0; i < bench->subject_count; i++)
		if (bench->generations[i])
			json_object_set_new(
				filters, bench->subjects[i].name,
				filter_json(&bench->subjects[i], bench->generations[i]));
	all = json_pack("{s:I,s:I,s:I,s:I,s:I,s:f,s:I,s:I,s:o,s:o}", "hosts",
			(json_int_t)bench->keys.host4_count, "prefixes",
			(json_int_t)bench->keys.prefix4_count, "near",
			(json_int_t)bench->near_count, "repeats", (json_int_t)bench->repeats,
			"line_read_bytes",
			(json_int_t)bpf_map__max_entries(bench->measure->maps.bare) * 64,
			"confirmed_rate", XB_CONFIRMED_RATE, "bpf_hash_memlock",
			memlock(bpf_map__fd(bench->measure->maps.exact)), "bpf_hash_grown_memlock",
			memlock_of_grown_hash(bench), "filters", filters, "ns", ns_json(bench));
	must(all ? 0 : -ENOMEM, "report");
	json_dumpf(all, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(all);
}

int main(int argc, char **argv)
{
	const char *bpffs = getenv("XB_TEST_BPFFS"), *directory = getenv("XB_TEST_DIR");
	bool by_rate = argc > 1 && !strcmp(argv[1], "--rates");
	char **number = argv + by_rate;
	struct bench bench = {.link = {.identity = -1,
				       .slot = -1,
				       .ifaces = -1,
				       .stats = -1,
				       .watch = -1,
				       .drops = -1,
				       .entry = -1},
			      .subjects = by_rate ? rates : peers,
			      .subject_count = by_rate ? COUNT_OF(rates) : COUNT_OF(peers)};

	if (argc != 5 + by_rate || !bpffs || !directory) {
		fprintf(stderr, "usage: XB_TEST_BPFFS= XB_TEST_DIR= bench_cost [--rates] HOSTS "
				"PREFIXES ROUNDS REPEATS; scripts/bench does it\n");
		return 2;
	}
	running = &bench;
	libbpf_set_print(NULL);
	snprintf(bench.pins, sizeof(bench.pins), "%s/bench-%d", bpffs, (int)getpid());
	bench.paths = (struct xb_paths){directory, bench.pins, directory};
	bench.repeats = (uint32_t)strtoul(number[4], NULL, 10);
	must(xb_link_create(bench.pins, XB_FLAVOUR_LINK, &bench.link), "link");
	must(xb_link_enrol(&bench.link, LOOPBACK, "lo"), "enrol");
	must(list_hosts(&bench.keys, strtoul(number[1], NULL, 10)), "addresses");
	must(list_prefixes(&bench.keys, strtoul(number[2], NULL, 10)), "prefixes");
	must(list_allowed(&bench.keys), "allowlist");
	build_generations(&bench);
	load_measure(&bench);
	fill_tables(&bench);
	fill_hash(&bench, bpf_map__fd(bench.measure->maps.exact));
	measure_rounds(&bench, (uint32_t)strtoul(number[3], NULL, 10));
	print(&bench);
	end(&bench);
	return 0;
}
