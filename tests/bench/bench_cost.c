/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_cost [--rates] HOSTS PREFIXES ROUNDS REPEATS: what the shipped filter costs a packet, and
 * its memory, beside parsing alone, one random line read of as much as its Bloom stage or its exact
 * table has, the kernel's maps that could do the same and a Bloom filter without blocks; with
 * --rates, at many rates of the Bloom stage. Prints one JSON object: nanoseconds per run, one
 * number for each round, and bytes. Pins go below XB_TEST_BPFFS, counters below XB_TEST_DIR.
 */
#include "bench/peer_maps.h"
#include "bench/timing.h"
#include "filter/build.h"

enum kind {
	PARSE_ONLY,
	LINE_READ,
	TABLE_READ,
	BPF_BLOOM,
	CLASSIC_BLOOM,
	BPF_HASH,
	LPM_TRIE,
	FILTER
};

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
	{.name = "table_read", .kind = TABLE_READ},
	{.name = "bpf_bloom", .kind = BPF_BLOOM, .rate = XB_CONFIRMED_RATE},
	{.name = "classic_bloom", .kind = CLASSIC_BLOOM, .rate = XB_CONFIRMED_RATE},
	{.name = "bpf_hash", .kind = BPF_HASH, .near = true},
	{.name = "lpm_trie", .kind = LPM_TRIE},
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

#define TRIE_FEWER 8

struct bench {
	struct timing timing;
	struct xb_contents keys;
	const struct subject *subjects;
	size_t subject_count;
	uint32_t lines, table_lines;
	struct xb_generation *generations[TIMED_MAX]; /* of the filters, else NULL */
};

static struct bench bench;

static void end(void)
{
	for (size_t i = 0; i < bench.subject_count; i++)
		xb_generation_discard(&bench.timing.home.paths, bench.generations[i]);
	timing_end(&bench.timing);
	xb_contents_free(&bench.keys);
}

static void build_generations(void)
{
	for (size_t i = 0; i < bench.subject_count; i++) {
		const struct subject *subject = &bench.subjects[i];
		struct xb_contents keys = bench.keys;
		struct xb_build build = {.paths = &bench.timing.home.paths,
					 .anchor = &bench.timing.home.anchor,
					 .store = 1,
					 .rate = subject->rate,
					 .confirm = subject->confirm,
					 .policy = XB_POLICY_ENFORCE};

		keys.prefix4_count = subject->prefixes ? keys.prefix4_count : 0;
		keys.allow_count = subject->allow;
		if (subject->kind == FILTER)
			must(xb_build(&build, &keys, &bench.generations[i]), "build");
	}
}

/* Lines of the filter that ships, and of its exact table: each is read in a map of that size. */
static void find_sizes(void)
{
	for (size_t i = 0; i < bench.subject_count; i++) {
		double rate = bench.subjects[i].rate;

		if (!bench.generations[i] || rate < XB_CONFIRMED_RATE || rate > XB_CONFIRMED_RATE)
			continue;
		bench.lines = bench.generations[i]->params.host4.blocks;
		bench.table_lines =
			(uint32_t)(xb_map_bytes(XB_MAP_CONFIRM4, &bench.generations[i]->params) /
				   sizeof(struct bare_line));
		return;
	}
}

static void load_measure(void)
{
	struct measure_bpf *measure = bench.timing.measure;
	uint32_t most = bench.lines > bench.table_lines ? bench.lines : bench.table_lines;

	must(bpf_map__set_max_entries(measure->maps.bare, most), "size");
	peers_size(measure, &bench.keys);
	timing_load(&bench.timing, &bench.keys);
	peers_fill(measure, &bench.keys);
}

static int program_of(size_t subject)
{
	const struct measure_bpf *measure = bench.timing.measure;

	switch (bench.subjects[subject].kind) {
	case PARSE_ONLY:
		return bpf_program__fd(measure->progs.parse_only);
	case LINE_READ:
	case TABLE_READ:
		return bpf_program__fd(measure->progs.line_read);
	case BPF_BLOOM:
		return bpf_program__fd(measure->progs.bpf_bloom);
	case CLASSIC_BLOOM:
		return bpf_program__fd(measure->progs.classic_bloom);
	case BPF_HASH:
		return bpf_program__fd(measure->progs.bpf_hash);
	case LPM_TRIE:
		return bpf_program__fd(measure->progs.lpm_trie);
	case FILTER:
		break;
	}
	return bench.generations[subject]->program;
}

static void add_subjects(void)
{
	for (size_t i = 0; i < bench.subject_count; i++) {
		const struct subject *subject = &bench.subjects[i];

		if (subject->kind == LPM_TRIE && !has_trie(&bench.keys))
			continue;
		timing_add(&bench.timing,
			   (struct timed){.name = subject->name,
					  .program = program_of(i),
					  .blind = subject->kind < BPF_BLOOM,
					  .allows = subject->allow,
					  .near = subject->near,
					  .lines = subject->kind == TABLE_READ ? bench.table_lines
									       : bench.lines,
					  .rate = subject->confirm ? 0 : subject->rate,
					  .fewer = subject->kind == LPM_TRIE ? TRIE_FEWER : 1});
	}
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

static void print(void)
{
	const struct measure_bpf *measure = bench.timing.measure;
	json_t *filters = json_object(), *all;

	for (size_t i = 0; i < bench.subject_count; i++)
		if (bench.generations[i])
			json_object_set_new(filters, bench.subjects[i].name,
					    filter_json(&bench.subjects[i], bench.generations[i]));
	all = json_pack("{s:I,s:I,s:I,s:I,s:{s:I,s:I},s:f,s:I,s:o,s:o}", "hosts",
			(json_int_t)bench.keys.host4_count, "prefixes",
			(json_int_t)bench.keys.prefix4_count, "near",
			(json_int_t)bench.timing.near_count, "repeats",
			(json_int_t)bench.timing.repeats, "read_bytes", "line_read",
			(json_int_t)(bench.lines * sizeof(struct bare_line)), "table_read",
			(json_int_t)(bench.table_lines * sizeof(struct bare_line)),
			"confirmed_rate", XB_CONFIRMED_RATE, "lpm_trie_max", (json_int_t)TRIE_MAX,
			"peers", peers_report(measure, &bench.keys), "filters", filters);
	must(all ? 0 : -ENOMEM, "report");
	timing_report(&bench.timing, all);
	print_report(all);
}

int main(int argc, char **argv)
{
	bool by_rate = argc > 1 && !strcmp(argv[1], "--rates");
	char **number = argv + by_rate;

	if (argc != 5 + by_rate) {
		fprintf(stderr, "usage: XB_TEST_BPFFS= XB_TEST_DIR= bench_cost [--rates] HOSTS "
				"PREFIXES ROUNDS REPEATS; scripts/bench does it\n");
		return 2;
	}
	bench.subjects = by_rate ? rates : peers;
	bench.subject_count = by_rate ? COUNT_OF(rates) : COUNT_OF(peers);
	atexit(end);
	timing_open(&bench.timing, (uint32_t)strtoul(number[4], NULL, 10));
	must(list_hosts(&bench.keys, strtoul(number[1], NULL, 10)), "addresses");
	must(list_prefixes(&bench.keys, strtoul(number[2], NULL, 10)), "prefixes");
	must(list_allowed(&bench.keys), "allowlist");
	build_generations();
	find_sizes();
	load_measure();
	add_subjects();
	timing_rounds(&bench.timing, (uint32_t)strtoul(number[3], NULL, 10));
	print();
	return 0;
}
