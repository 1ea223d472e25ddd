/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_cost6 KEYS PREFIXES ROUNDS REPEATS: what the shipped filter costs an IPv6 packet, beside
 * what it costs one of IPv4, and beside the kernel's maps that could do the same, each with the
 * same list. Listed are KEYS hosts, as many /64, or PREFIXES of six lengths, or of all lengths at
 * once. Prints one JSON object as bench_cost does, and the memory of each. Pins go below
 * XB_TEST_BPFFS, counters below XB_TEST_DIR.
 */
#include "bench/peer_maps.h"
#include "bench/timing.h"
#include "filter/build.h"

/* What is listed, each in a table of its own of addresses to draw from. */
enum content { HOSTS4, HOSTS6, NETS6, SIX_LENGTHS, ALL_LENGTHS, CONTENTS };

static const struct subject {
	const char *name;
	const uint8_t *lengths; /* that take turns */
	size_t length_count;
	bool many; /* as many as there are hosts, each in a /32 of its own */
} subjects[CONTENTS] = {
	[HOSTS4] = {"hosts", NULL, 0, true},
	[HOSTS6] = {"hosts6", (const uint8_t[]){128}, 1, true},
	[NETS6] = {"nets6", (const uint8_t[]){64}, 1, true},
	[SIX_LENGTHS] = {"six_lengths6", (const uint8_t[]){32, 40, 44, 48, 56, 64}, 6, false},
	[ALL_LENGTHS] = {"all_lengths6", NULL, 0, false},
};

/* import takes none that are shorter. */
#define SHORTEST 16
#define LONGEST	 128

/* Of several lengths so many share a /32. */
#define SHARE_HEAD 4

/* Prefixes that are shorter are listed elsewhere than traffic comes from: else so many of these
 * would be that most traffic is listed. */
#define LONG_FROM 40

/* One line is read in a map that has the size of the Bloom stage of hosts, or of their exact table.
 */
enum read { READ4, READ6, READ_TABLE6, READS };

#define TRIE_FEWER 8
#define PEERS	   7

static struct peer {
	const char *name;
	enum content content;
	enum { BLOOM, HASH, HALF, TRIE } form; /* HALF: a hash of the first 64 bits */
	struct bpf_map *map;
	struct bpf_program *program;
} peers[PEERS];

static struct timing timing;
static struct xb_contents keys[CONTENTS];
static struct xb_generation *generations[CONTENTS];
static uint32_t lines[READS];

static void end(void)
{
	for (size_t i = 0; i < CONTENTS; i++)
		xb_generation_discard(&timing.home.paths, generations[i]);
	timing_end(&timing);
	for (size_t i = 0; i < CONTENTS; i++)
		xb_contents_free(&keys[i]);
}

/* A short one by its number among those of its length: no two are the same. */
static uint64_t short_prefix(uint32_t number, uint8_t length)
{
	uint64_t below = (uint64_t)number * 0x9e3779b97f4a7c15U;

	return 3ULL << 60 | (below & ((1ULL << (length - 4)) - 1)) << (64 - length);
}

static struct xb_entry entry_of(enum content content, uint32_t number)
{
	const struct subject *subject = &subjects[content];
	uint32_t all = LONGEST - SHORTEST + 1, share = subject->many ? 1 : SHARE_HEAD;
	uint8_t length = content == ALL_LENGTHS ? (uint8_t)(SHORTEST + number % all)
						: subject->lengths[number % subject->length_count];
	struct xb_entry whole = {.kind = XB_NET6, .length = 128};
	uint64_t address[2], head[2];

	address6_number(number, address);
	address6_number(number / share, head);
	whole.hi = (be64toh(head[0]) & ~0xffffffffULL) | (be64toh(address[0]) & 0xffffffff);
	whole.lo = be64toh(address[1]);
	if (length < LONG_FROM)
		whole.hi = short_prefix(number / all, length);
	return xb_entry_covering(&whole, length);
}

static int by_key(const void *a, const void *b)
{
	return xb_entry_compare(a, b);
}

/* Those of few bits can be there twice. */
static void drop_repeated(struct xb_contents *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->net6_count; i++)
		if (!kept || xb_entry_compare(&list->net6[kept - 1], &list->net6[i]))
			list->net6[kept++] = list->net6[i];
	list->net6_count = kept;
}

static void list(enum content content, size_t count)
{
	struct xb_contents *found = &keys[content];

	found->net6 = calloc(count, sizeof(*found->net6));
	must(found->net6 ? 0 : -ENOMEM, "addresses");
	for (size_t i = 0; i < count; i++)
		found->net6[i] = entry_of(content, (uint32_t)i);
	found->net6_count = count;
	qsort(found->net6, count, sizeof(*found->net6), by_key);
	drop_repeated(found);
}

static uint32_t table_of(enum content content)
{
	return (TABLES + 2 * (content - HOSTS6)) * TABLE_LINES;
}

#define TABLE6_ADDRESSES (TABLE_LINES * TABLE_LINE6)

/* Addresses in random order: in an entry, or in the /32 of one that is longer. */
static void fill_table6(uint64_t *words, enum content content, bool below)
{
	const struct xb_contents *found = &keys[content];
	uint64_t *address = words + (size_t)(table_of(content) + below * TABLE_LINES) * 8;

	for (uint64_t i = 0, number = 0; i < TABLE6_ADDRESSES; number++) {
		struct xb_entry entry = found->net6[address_mix(number) % found->net6_count];
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
}

static void fill_tables6(void)
{
	size_t bytes;
	uint64_t *words = map_words(timing.measure->maps.table, &bytes);

	for (enum content content = HOSTS6; content < CONTENTS; content++) {
		fill_table6(words, content, false);
		fill_table6(words, content, true);
	}
	munmap(words, bytes);
}

/* Maps of the kernel, each with the list of one of our subjects. */
static void name_peers(void)
{
	const struct measure_bpf *measure = timing.measure;
	const struct peer all[PEERS] = {
		{"bpf_bloom6", HOSTS6, BLOOM, measure->maps.bloom6, measure->progs.bpf_bloom6},
		{"bpf_hash6", HOSTS6, HASH, measure->maps.exact6, measure->progs.bpf_hash6},
		{"lpm_trie6", HOSTS6, TRIE, measure->maps.trie6, measure->progs.lpm_trie6},
		{"bpf_hash_nets6", NETS6, HALF, measure->maps.exact64, measure->progs.bpf_hash64},
		{"lpm_trie_nets6", NETS6, TRIE, measure->maps.trie_nets6,
		 measure->progs.lpm_trie_nets6},
		{"lpm_trie_six_lengths6", SIX_LENGTHS, TRIE, measure->maps.trie_six6,
		 measure->progs.lpm_trie_six6},
		{"lpm_trie_all_lengths6", ALL_LENGTHS, TRIE, measure->maps.trie_all6,
		 measure->progs.lpm_trie_all6},
	};

	memcpy(peers, all, sizeof(peers));
}

static bool takes_part(const struct peer *peer)
{
	return peer->form != TRIE || keys[peer->content].net6_count <= TRIE_MAX;
}

static void size_peers(void)
{
	for (size_t i = 0; i < PEERS; i++) {
		uint32_t count = (uint32_t)keys[peers[i].content].net6_count;

		must(bpf_map__set_max_entries(peers[i].map, takes_part(&peers[i]) ? count : 1),
		     peers[i].name);
		if (peers[i].form == BLOOM)
			must(bpf_map__set_map_extra(peers[i].map, PEER_HASHES), peers[i].name);
	}
}

static void put(const struct peer *peer, const struct xb_entry *entry)
{
	uint64_t words[2] = {htobe64(entry->hi), htobe64(entry->lo)};
	struct xb_allow6_key prefix = {.length = entry->length};
	struct address6 address = {entry->hi, entry->lo};
	const void *key = peer->form == TRIE   ? (const void *)&prefix
			  : peer->form == HALF ? (const void *)&address.hi
					       : (const void *)&address;
	uint32_t one = 1;

	memcpy(prefix.address, words, sizeof(words));
	/* A Bloom filter has values alone. */
	must(bpf_map_update_elem(bpf_map__fd(peer->map), peer->form == BLOOM ? NULL : key,
				 peer->form == BLOOM ? key : &one, BPF_ANY)
		     ? -errno
		     : 0,
	     peer->name);
}

static void fill_peers(void)
{
	for (size_t i = 0; i < PEERS; i++) {
		const struct xb_contents *found = &keys[peers[i].content];

		for (size_t k = 0; k < found->net6_count && takes_part(&peers[i]); k++)
			put(&peers[i], &found->net6[k]);
	}
}

static void find_sizes(void)
{
	const struct xb_params *hosts4 = &generations[HOSTS4]->params,
			       *hosts6 = &generations[HOSTS6]->params;
	const uint64_t bytes[READS] = {
		[READ4] = xb_map_bytes(XB_MAP_HOST4, hosts4),
		[READ6] = xb_map_bytes(XB_MAP_NET6, hosts6),
		[READ_TABLE6] = xb_map_bytes(XB_MAP_CONFIRM6, hosts6),
	};

	for (enum read i = 0; i < READS; i++)
		lines[i] = (uint32_t)(bytes[i] / sizeof(struct bare_line));
}

static void load_measure(void)
{
	struct measure_bpf *measure = timing.measure;
	uint32_t most = 1;

	for (enum read i = 0; i < READS; i++)
		most = lines[i] > most ? lines[i] : most;
	must(bpf_map__set_max_entries(measure->maps.bare, most), "size");
	must(bpf_map__set_max_entries(measure->maps.table, table_of(CONTENTS)), "size");
	size_peers();
	timing_load(&timing, &keys[HOSTS4]);
	fill_tables6();
	fill_peers();
}

static void build(enum content content)
{
	const struct xb_build wanted = {.paths = &timing.home.paths,
					.anchor = &timing.home.anchor,
					.store = 1,
					.rate = XB_CONFIRMED_RATE,
					.confirm = true,
					.policy = XB_POLICY_ENFORCE};
	struct xb_contents listed = keys[content];

	/* What a machine allows by itself. */
	listed.allow = keys[HOSTS4].allow;
	listed.allow_count = ALLOW_FEW;
	must(xb_build(&wanted, &listed, &generations[content]), "build");
}

static void add_limits(void)
{
	const struct measure_bpf *measure = timing.measure;
	const struct timed limits[] = {
		{.name = "parse_only", .program = bpf_program__fd(measure->progs.parse_only)},
		{.name = "line_read",
		 .program = bpf_program__fd(measure->progs.line_read),
		 .lines = lines[READ4]},
		{.name = "parse_only6",
		 .program = bpf_program__fd(measure->progs.parse_only6),
		 .table6 = table_of(HOSTS6)},
		{.name = "line_read6",
		 .program = bpf_program__fd(measure->progs.line_read6),
		 .lines = lines[READ6],
		 .table6 = table_of(HOSTS6)},
		{.name = "table_read6",
		 .program = bpf_program__fd(measure->progs.line_read6),
		 .lines = lines[READ_TABLE6],
		 .table6 = table_of(HOSTS6)},
	};

	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		struct timed limit = limits[i];

		limit.blind = true;
		timing_add(&timing, limit);
	}
}

static void add_peers(void)
{
	for (size_t i = 0; i < PEERS; i++)
		if (takes_part(&peers[i]))
			timing_add(&timing,
				   (struct timed){.name = peers[i].name,
						  .program = bpf_program__fd(peers[i].program),
						  .rate = peers[i].form == BLOOM ? XB_CONFIRMED_RATE
										 : 0,
						  .fewer = peers[i].form == TRIE ? TRIE_FEWER : 1,
						  .table6 = table_of(peers[i].content)});
}

static void add_filters(void)
{
	for (enum content content = HOSTS4; content < CONTENTS; content++)
		timing_add(&timing,
			   (struct timed){.name = subjects[content].name,
					  .program = generations[content]->program,
					  .allows = true,
					  .table6 = content == HOSTS4 ? 0 : table_of(content)});
}

static json_t *filter_json(enum content content)
{
	const struct xb_params *params = &generations[content]->params;
	bool ipv4 = content == HOSTS4;

	return json_pack("{s:I,s:i,s:i,s:I,s:I,s:I}", "keys",
			 (json_int_t)(ipv4 ? keys[content].host4_count : keys[content].net6_count),
			 "probes", ipv4 ? params->host4.probes : params->net6.probes,
			 "length_probes", ipv4 ? 1 : generations[content]->header->length_probes,
			 "bits_bytes",
			 (json_int_t)xb_map_bytes(ipv4 ? XB_MAP_HOST4 : XB_MAP_NET6, params),
			 "buckets_bytes",
			 (json_int_t)xb_map_bytes(ipv4 ? XB_MAP_CONFIRM4 : XB_MAP_CONFIRM6, params),
			 "lengths_bytes", (json_int_t)xb_maps_lengths_bytes(params));
}

static json_int_t read_bytes(enum read read)
{
	return (json_int_t)(lines[read] * sizeof(struct bare_line));
}

static json_t *peers_json(void)
{
	json_t *found = json_object();

	for (size_t i = 0; i < PEERS; i++)
		if (takes_part(&peers[i]))
			json_object_set_new(found, peers[i].name,
					    json_integer(memlock(bpf_map__fd(peers[i].map))));
	return found;
}

static void print(void)
{
	json_t *filters = json_object(), *all;

	for (enum content content = HOSTS4; content < CONTENTS; content++)
		json_object_set_new(filters, subjects[content].name, filter_json(content));
	all = json_pack("{s:I,s:I,s:{s:I,s:I,s:I},s:o,s:o}", "repeats", (json_int_t)timing.repeats,
			"lpm_trie_max", (json_int_t)TRIE_MAX, "read_bytes", "line_read",
			read_bytes(READ4), "line_read6", read_bytes(READ6), "table_read6",
			read_bytes(READ_TABLE6), "peers", peers_json(), "filters", filters);
	must(all ? 0 : -ENOMEM, "report");
	timing_report(&timing, all);
	print_report(all);
}

int main(int argc, char **argv)
{
	size_t many, few;

	if (argc != 5) {
		fprintf(stderr, "usage: XB_TEST_BPFFS= XB_TEST_DIR= bench_cost6 KEYS PREFIXES "
				"ROUNDS REPEATS; scripts/bench does it\n");
		return 2;
	}
	many = strtoul(argv[1], NULL, 10);
	few = strtoul(argv[2], NULL, 10);
	atexit(end);
	timing_open(&timing, (uint32_t)strtoul(argv[4], NULL, 10));
	must(list_hosts(&keys[HOSTS4], many), "addresses");
	must(list_allowed(&keys[HOSTS4]), "allowlist");
	for (enum content content = HOSTS6; content < CONTENTS; content++)
		list(content, subjects[content].many ? many : few);
	for (enum content content = HOSTS4; content < CONTENTS; content++)
		build(content);
	find_sizes();
	name_peers();
	load_measure();
	add_limits();
	add_peers();
	add_filters();
	timing_rounds(&timing, (uint32_t)strtoul(argv[3], NULL, 10));
	print();
	return 0;
}
