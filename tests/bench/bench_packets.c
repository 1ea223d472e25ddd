/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_packets SECTION COUNT OTHERS ROUNDS REPEATS: what the shipped filter costs a packet with
 * COUNT entries listed, and its memory, beside parsing alone, random line reads, the kernel's maps
 * that could do the same and a Bloom filter without blocks. Each run gets a fresh packet and is
 * handed on to the program that is timed; the counters of a link tell what became of the runs.
 * Prints one JSON object: nanoseconds a run by traffic and subject, one number for each round, and
 * bytes. Pins go below XB_TEST_BPFFS, counters below XB_TEST_DIR.
 */
#include <pthread.h>
#include <sched.h>

#include "attach/drops.h"
#include "bench/peers.h"
#include "bench/timing.h"

#define CPUS_MAX 256

/* --- cost --- */

struct filter_row {
	const char *name;
	double rate; /* of the Bloom stage */
	bool confirm;
	size_t allow; /* entries */
	bool prefixes, near;
};

/* Confirm costs a clean packet what confirm-1e-4 is above bare-1e-4; bare-again tells how much two
 * filters that are alike differ. */
static const struct filter_row shipped[] = {
	{"bare-1e-4", 1e-4, false, 0, false, false},
	{"bare-again", 1e-4, false, 0, false, false},
	{"confirm-1e-4", 1e-4, true, 0, false, false},
	{"confirm-1e-3", 1e-3, true, 0, false, false},
	{"confirm-1e-2", 1e-2, true, 0, false, false},
	{"allow-none", XB_CONFIRMED_RATE, true, 0, false, false},
	{"hosts", XB_CONFIRMED_RATE, true, ALLOW_FEW, false, false},
	{"allow-many", XB_CONFIRMED_RATE, true, ALLOW_MANY, false, true},
	{"hosts_and_prefixes", XB_CONFIRMED_RATE, true, ALLOW_FEW, true, false},
};

/* A read of one line, in a map that has so many bytes. */
static void add_reads(const char *const *names, struct bpf_program *program, size_t count,
		      uint32_t table6)
{
	json_t *told = object_in(bench.report, "read_bytes");

	for (size_t i = 0; i < count; i++) {
		bool six = !strcmp(names[i] + strlen(names[i]) - 1, "6");

		put_number(told, names[i], bench.read_bytes[i]);
		add_subject((struct subject){
			.name = names[i],
			.program = six ? program : bench.measure->progs.line_read,
			.blind = true,
			.lines = (uint32_t)(bench.read_bytes[i] / sizeof(struct bare_line)),
			.table6 = six ? table6 : 0});
	}
}

static uint32_t most_lines(void)
{
	uint64_t most = 0;

	for (size_t i = 0; i < COUNT_OF(bench.read_bytes); i++)
		most = bench.read_bytes[i] > most ? bench.read_bytes[i] : most;
	return (uint32_t)(most / sizeof(struct bare_line));
}

static void add_peers(bool six, bool near)
{
	for (const struct peer *peer = peers; peer < peers + COUNT_OF(peers); peer++)
		if (takes_part(peer, six))
			add_subject((struct subject){
				.name = peer->name,
				.program = bpf_object__find_program_by_name(bench.measure->obj,
									    peer->name),
				.rate = peer->form == BLOOM || peer->form == CLASSIC
						? XB_CONFIRMED_RATE
						: 0,
				.fewer = peer->form == TRIE ? TRIE_FEWER : 1,
				.near = near && peer->form == HASH,
				.table6 = TABLES_EACH * (uint32_t)peer->list,
				.whole = peer->list >= COUNTRY32});
}

static void cost(void)
{
	static const char *const reads[] = {"line_read", "table_read"};
	struct xb_contents *keys = &bench.keys[HOSTS4];
	struct xb_generation *built[COUNT_OF(shipped)];
	uint32_t *near = room_for(TABLE_ADDRESSES, sizeof(*near));
	size_t near_count;

	list_hosts(keys, bench.count);
	list_prefixes(keys, bench.others);
	list_allowed(keys);
	for (size_t i = 0; i < COUNT_OF(shipped); i++) {
		const struct filter_row *row = &shipped[i];
		struct xb_contents some = *keys;

		some.prefix4_count = row->prefixes ? keys->prefix4_count : 0;
		some.allow_count = row->allow;
		built[i] = build(some, row->rate, row->confirm, XB_POLICY_ENFORCE);
		tell(row->name, built[i], XB_MAP_HOST4, XB_MAP_CONFIRM4);
		put_number(json_object_get(bench.told, row->name), "allow", row->allow);
	}
	/* The last one is as it ships: each is read in a map of that size. */
	bench.read_bytes[0] = xb_map_bytes(XB_MAP_HOST4, &built[COUNT_OF(shipped) - 1]->params);
	bench.read_bytes[1] = xb_map_bytes(XB_MAP_CONFIRM4, &built[COUNT_OF(shipped) - 1]->params);
	size_peers(false);
	load(2, most_lines());
	fill_peers(false);
	fill_table4(0, NULL, bench.count);
	near_count = near_allowed(keys, near, TABLE_ADDRESSES);
	if (near_count)
		fill_table4(1, near, near_count);
	add_subject((struct subject){.name = "parse_only",
				     .program = bench.measure->progs.parse_only,
				     .blind = true,
				     .near = near_count});
	add_reads(reads, NULL, COUNT_OF(reads), 0);
	add_peers(false, near_count);
	for (size_t i = 0; i < COUNT_OF(shipped); i++)
		add_subject((struct subject){.name = shipped[i].name,
					     .generation = built[i],
					     .allows = shipped[i].allow,
					     .rate = shipped[i].confirm ? 0 : shipped[i].rate,
					     .near = shipped[i].near && near_count});
	free(near);
}

/* --- cost6: IPv6, beside IPv4 --- */

static void cost6(void)
{
	static const char *const reads[] = {"line_read", "line_read6", "table_read6"};
	const struct measure_bpf *measure = bench.measure;
	struct xb_generation *built[COUNTRY32];

	list_hosts(&bench.keys[HOSTS4], bench.count);
	list_allowed(&bench.keys[HOSTS4]);
	for (enum list list = HOSTS4; list < COUNTRY32; list++) {
		struct xb_contents *keys = &bench.keys[list], contents = *keys;

		contents.allow_count = ALLOW_FEW;
		if (list != HOSTS4) {
			list_six(keys, list, list_forms[list].many ? bench.count : bench.others);
			contents = contents_six(keys);
		}
		built[list] = build_shipped(contents);
		tell(list_forms[list].name, built[list],
		     list == HOSTS4 ? XB_MAP_HOST4 : XB_MAP_NET6,
		     list == HOSTS4 ? XB_MAP_CONFIRM4 : XB_MAP_CONFIRM6);
		put_number(json_object_get(bench.told, list_forms[list].name), "keys",
			   listed(list));
	}
	bench.read_bytes[0] = xb_map_bytes(XB_MAP_HOST4, &built[HOSTS4]->params);
	bench.read_bytes[1] = xb_map_bytes(XB_MAP_NET6, &built[HOSTS6]->params);
	bench.read_bytes[2] = xb_map_bytes(XB_MAP_CONFIRM6, &built[HOSTS6]->params);
	size_peers(true);
	load(TABLES_EACH * COUNTRY32, most_lines());
	fill_table4(0, NULL, bench.count);
	for (enum list list = HOSTS6; list < COUNTRY32; list++) {
		fill_table6(TABLES_EACH * list, &bench.keys[list], false);
		fill_table6(TABLES_EACH * list + 1, &bench.keys[list], true);
	}
	fill_peers(true);
	add_subject((struct subject){
		.name = "parse_only", .program = measure->progs.parse_only, .blind = true});
	add_subject((struct subject){.name = "parse_only6",
				     .program = measure->progs.parse_only6,
				     .blind = true,
				     .table6 = TABLES_EACH * HOSTS6});
	add_reads(reads, measure->progs.line_read6, COUNT_OF(reads), TABLES_EACH * HOSTS6);
	add_peers(true, false);
	for (enum list list = HOSTS4; list < COUNTRY32; list++)
		add_subject((struct subject){.name = list_forms[list].name,
					     .generation = built[list],
					     .allows = true,
					     .table6 = TABLES_EACH * (uint32_t)list});
}

/* --- countries: prefixes of countries' lengths, beside as many /32s in the same /16s --- */

static void countries(void)
{
	struct xb_generation *built[LISTS];

	for (enum list list = COUNTRY32; list < LISTS; list++) {
		list_six(&bench.keys[list], list, bench.count);
		built[list] = build_shipped(contents_six(&bench.keys[list]));
		tell(list_forms[list].name, built[list], XB_MAP_NET6, XB_MAP_CONFIRM6);
		put_number(json_object_get(bench.told, list_forms[list].name), "keys",
			   listed(list));
	}
	size_peers(true);
	load(TABLES_EACH * LISTS, 0);
	fill_peers(true);
	for (enum list list = COUNTRY32; list < LISTS; list++) {
		fill_table6(TABLES_EACH * list, &bench.keys[list], false);
		fill_unlisted6(TABLES_EACH * list + 1, &bench.keys[list], list == COUNTRY);
		fill_unlisted6(TABLES_EACH * list + 2, &bench.keys[list], false);
	}
	add_subject((struct subject){.name = "parse_only6",
				     .program = bench.measure->progs.parse_only6,
				     .blind = true,
				     .table6 = TABLES_EACH * COUNTRY,
				     .whole = true});
	add_peers(true, false);
	for (enum list list = COUNTRY32; list < LISTS; list++)
		add_subject((struct subject){.name = list_forms[list].name,
					     .generation = built[list],
					     .allows = true,
					     .table6 = TABLES_EACH * (uint32_t)list,
					     .whole = true});
}

/* --- scopes: addresses listed for the ports of mail, beside the same listed for everything --- */

#define MAIL  25
#define OTHER 443

/* Each is built so often, because where a filter lies in memory makes a difference of several ns.
 */
#define COPIES 4

/* `again` is as `all`, and tells how much two filters that are alike differ. */
static const struct scoped_row {
	const char *names[2];
	bool all, scoped;
	uint16_t port;
} scoped_rows[] = {
	{{"parse_only", "parse_only6"}, false, false, OTHER},
	{{"all", "all6"}, true, false, OTHER},
	{{"again", "again6"}, true, false, OTHER},
	{{"both_other", "both_other6"}, true, true, OTHER},
	{{"scoped_other", "scoped_other6"}, false, true, OTHER},
	{{"scoped_mail", "scoped_mail6"}, false, true, MAIL},
	{{"both_mail", "both_mail6"}, true, true, MAIL},
};

/* The same of both families, each for everything and for mail. */
static void list_scoped(struct xb_contents *keys, bool six)
{
	const struct xb_contents *hosts = &bench.keys[HOSTS4];

	keys->net6 = six ? room_for(bench.count, sizeof(*keys->net6)) : NULL;
	keys->net6_count = six ? bench.count : 0;
	keys->scoped = room_for(bench.count, sizeof(*keys->scoped));
	keys->scoped_count = bench.count;
	for (size_t i = 0; i < bench.count; i++) {
		struct xb_entry entry = {
			.hi = (uint64_t)hosts->host4[i] << 32, .kind = XB_HOST4, .length = 32};

		if (six)
			entry = keys->net6[i] = (struct xb_entry){
				.hi = NET6, .lo = hosts->host4[i], .kind = XB_NET6, .length = 128};
		keys->scoped[i] = (struct xb_scoped){.entry = entry, .class = 1};
	}
	keys->class[1].scope = &bench.scope;
	keys->classes = 1U << XB_CLASS_ALL | 1U << 1;
}

static void scopes(void)
{
	const size_t all = COUNT_OF(scoped_rows) * COPIES;
	const struct xb_generation *built[2][COUNT_OF(scoped_rows) * COPIES] = {0};

	must(xb_scope_parse("tcp/25,tcp/465,tcp/587", &bench.scope), "scope");
	list_hosts(&bench.keys[HOSTS4], bench.count);
	for (int six = 0; six < 2; six++) {
		struct xb_contents *keys = &bench.keys[six ? HOSTS6 : HOSTS4];

		list_scoped(keys, six);
		for (size_t i = 0; i < all; i++) {
			const struct scoped_row *row = &scoped_rows[i % COUNT_OF(scoped_rows)];
			struct xb_contents some = *keys;

			some.host4_count = row->all ? some.host4_count : 0;
			some.net6_count = row->all ? some.net6_count : 0;
			some.scoped_count = row->scoped ? some.scoped_count : 0;
			if (row->all || row->scoped)
				built[six][i] = build_shipped(some);
		}
	}
	load(3, 0);
	fill_table4(0, NULL, bench.count);
	fill_table6(2, &bench.keys[HOSTS6], false);
	for (int six = 0; six < 2; six++)
		for (size_t i = 0; i < all; i++) {
			const struct scoped_row *row = &scoped_rows[i % COUNT_OF(scoped_rows)];

			add_subject((struct subject){
				.name = row->names[six],
				.program = six ? bench.measure->progs.parse_only6
					       : bench.measure->progs.parse_only,
				.generation = built[six][i],
				.blind = !built[six][i] || (row->port == OTHER && !row->all),
				.port = row->port,
				.table6 = six ? 2 : 0,
				.enclosed = true});
		}
}

/* --- limits: packets to a service that is limited, beside others --- */

/* within: the rate is never reached. Otherwise nearly all sources of the table are over it. */
static const struct limit_row {
	const char *name;
	bool limited, within;
	uint16_t port;
} limit_rows[] = {
	{"none", false, false, OTHER},	     {"none_again", false, false, OTHER},
	{"limit_other", true, false, OTHER}, {"limit_over", true, false, MAIL},
	{"limit_within", true, true, MAIL},
};

static struct xb_contents limited_contents(const struct limit_row *row)
{
	struct xb_contents contents = {0};
	struct xb_limit limit = {.name = "mail",
				 .bits4 = 32,
				 .bits6 = 64,
				 .period = row->within ? 1 : 3600,
				 .rate = row->within ? 100000 : 1,
				 .burst = row->within ? 200000 : 1,
				 .capacity = bench.count,
				 .known = 1,
				 .scope = bench.scope};

	if (row->limited)
		contents.limits.limit[1] = limit;
	return contents;
}

static void limits(void)
{
	struct xb_generation *built[COUNT_OF(limit_rows) * COPIES];

	must(xb_scope_parse("tcp/25,tcp/465,tcp/587", &bench.scope), "scope");
	for (size_t i = 0; i < COUNT_OF(built); i++)
		built[i] = build_shipped(limited_contents(&limit_rows[i % COUNT_OF(limit_rows)]));
	bench.read_bytes[0] = xb_map_bytes(XB_MAP_METER, &built[3]->params);
	bpf_map__set_max_entries(bench.measure->maps.lru, bench.count);
	bench.measure->rodata->lru_interval = bench.measure->rodata->lru_burst = 3600000000000ULL;
	load(1, most_lines());
	fill_table4(0, NULL, bench.count);
	add_subject((struct subject){
		.name = "parse_only", .program = bench.measure->progs.parse_only, .blind = true});
	add_reads((const char *const[]){"line_read"}, NULL, 1, 0);
	add_subject((struct subject){
		.name = "bpf_lru", .program = bench.measure->progs.bpf_lru, .any = true});
	for (size_t i = 0; i < COUNT_OF(built); i++)
		add_subject((struct subject){.name = limit_rows[i % COUNT_OF(limit_rows)].name,
					     .generation = built[i],
					     .any = true,
					     .port = limit_rows[i % COUNT_OF(limit_rows)].port});
}

/* --- names --- */

#define HOSTS_BESIDE_NAMES 100000

/* As many labels as there can be: 127. */
#define TEN_LABELS "a.b.c.d.e.f.g.h.i.j."
#define MANY_LABELS                                                                                \
	TEN_LABELS TEN_LABELS TEN_LABELS TEN_LABELS TEN_LABELS TEN_LABELS TEN_LABELS TEN_LABELS    \
		TEN_LABELS TEN_LABELS TEN_LABELS TEN_LABELS "a.b.c.d.e.f.g"

/* Letters with which names begin: 'd' and 'n' are listed, to be dropped and answered. */
static const struct {
	const char *name;
	uint8_t protocol;
	uint16_t port;
	char first;
	const char *ask; /* the name, its drawn label as ???????? */
	enum xb_reason reason;
} traffics[] = {
	{"tcp", IPPROTO_TCP, 80, 'c', "a", XB_CLEAN},
	{"udp", IPPROTO_UDP, 5000, 'c', "a", XB_CLEAN},
	{"clean-3", IPPROTO_UDP, 53, 'c', "????????.example.com", XB_NAME_CLEAN},
	{"clean-5", IPPROTO_UDP, 53, 'c', "a.b.????????.example.com", XB_NAME_CLEAN},
	{"clean-127", IPPROTO_UDP, 53, 'c', MANY_LABELS, XB_NAME_CLEAN},
	{"dropped", IPPROTO_UDP, 53, 'd', "????????.example.com", XB_NAME_DROPPED},
	{"dropped-below", IPPROTO_UDP, 53, 'd', "www.????????.example.com", XB_NAME_DROPPED},
	{"answered", IPPROTO_UDP, 53, 'n', "????????.example.com", XB_NAME_NXDOMAIN},
};

/* Of a filter in a hundred the source of all packets is a wrong hit. */
static const struct xb_generation *build_for_questions(struct xb_contents keys)
{
	struct xb_generation *built = build_shipped(keys);

	return hits(built, ASKER) ? build_for_questions(keys) : built;
}

/* Beside parsing alone and a filter without names. */
static void names(void)
{
	static const char kinds[] = "dneee";
	static const char *const titles[] = {"parse_only", "without_names", "with_names"};
	struct xb_contents *keys = &bench.keys[HOSTS4], without;
	const struct xb_generation *built[COUNT_OF(titles)] = {0};

	list_hosts(keys, HOSTS_BESIDE_NAMES);
	list_names(keys, kinds, bench.count);
	without = *keys;
	without.names_count = 0;
	built[1] = build_for_questions(without);
	built[2] = build_for_questions(*keys);
	for (size_t i = 1; i < COUNT_OF(titles); i++)
		tell(titles[i], built[i], XB_MAP_NAMES, XB_MAP_CONFIRM_NAMES);
	load(1, 0);
	for (size_t i = 0; i < COUNT_OF(traffics); i++)
		for (size_t k = 0; k < COUNT_OF(titles); k++)
			add((struct cell){
				.traffic = traffics[i].name,
				.subject = titles[k],
				.program = k ? built[k]->program
					     : bpf_program__fd(bench.measure->progs.parse_only),
				.packet = question(traffics[i].ask, traffics[i].protocol,
						   traffics[i].port, traffics[i].first,
						   bench.count / (uint32_t)strlen(kinds)),
				.as = AS(k == 2 ? traffics[i].reason : XB_CLEAN)});
	put_number(bench.report, "names", keys->names_count);
}

/* --- cpus: each CPU alone, and all at once --- */

#define NAMES	   100000
#define WRONG_HITS 65536 /* sources: as many lines of the filter, or more than a cache has */
#define REPORTS	   1000	 /* a second, wanted by who watches */

/* A run is parsing and counting alone, or with one line read as well, or with one of the filters.
 * SOME and FEW: with a tenth and a thousandth of the addresses. */
enum filter { ENFORCES, MONITORS, ANSWERS, SOME, FEW, FILTERS, PARSES, READS };

static const struct {
	const char *name;
	enum filter filter;
	enum { ANY, LISTED, WRONG, QUESTION } source;
	enum xb_reason reason;
	bool watched;
} at_once[] = {
	{"parse_only", PARSES, ANY, XB_CLEAN, false},
	{"line_read", READS, ANY, XB_CLEAN, false},
	{"clean", ENFORCES, ANY, XB_CLEAN, false},
	{"clean_some", SOME, ANY, XB_CLEAN, false},
	{"clean_few", FEW, ANY, XB_CLEAN, false},
	{"wrong_hit", ENFORCES, WRONG, XB_UNCONFIRMED, false},
	{"listed", ENFORCES, LISTED, XB_LISTED_IPV4_HOST, false},
	{"listed_watched", ENFORCES, LISTED, XB_LISTED_IPV4_HOST, true},
	{"listed_monitored", MONITORS, LISTED, XB_MONITORED, false},
	{"answered", ANSWERS, QUESTION, XB_NAME_NXDOMAIN, false},
};

/* A wrong hit looks whether keys have moved since the table was built, and goes on if so. */
static void pretend_a_move(const struct xb_generation *generation)
{
	const struct xb_buckets *buckets = &generation->params.confirm4;
	uint32_t last = xb_buckets_lines(buckets->parts, buckets->size, buckets->small);
	int map = generation->map[XB_MAP_CONFIRM4];
	struct xb_bucket bucket;

	must(bpf_map_lookup_elem(map, &last, &bucket) ? -errno : 0, "end of the table");
	bucket.word[XB_BUCKET_MOVES]++;
	must(bpf_map_update_elem(map, &last, &bucket, BPF_ANY) ? -errno : 0, "end of the table");
}

static void find_wrong_hits(struct xb_generation *generation)
{
	const struct xb_contents *keys = &bench.keys[HOSTS4];
	uint32_t *found = room_for(WRONG_HITS, sizeof(*found)), number = ADDRESSES_CLEAN;

	for (size_t i = 0; i < WRONG_HITS; number++) {
		uint32_t address = address_number(number);

		if (hits(generation, address) && !bsearch(&address, keys->host4, keys->host4_count,
							  sizeof(*keys->host4), ascending))
			found[i++] = address;
	}
	fill_table4(1, found, WRONG_HITS);
	free(found);
}

static void cpus(void)
{
	const struct measure_bpf *measure = bench.measure;
	struct xb_contents *keys = &bench.keys[HOSTS4];
	struct xb_generation *built[FILTERS];
	int programs[READS + 1];

	list_hosts(keys, bench.count);
	list_names(keys, "n", NAMES);
	list_hosts(&bench.fewer[0], bench.count / 10);
	list_hosts(&bench.fewer[1], bench.count / 1000);
	for (enum filter i = 0; i < FILTERS; i++) {
		struct xb_contents some = i == SOME  ? bench.fewer[0]
					  : i == FEW ? bench.fewer[1]
						     : *keys;

		some.names_count = i == ANSWERS ? keys->names_count : 0;
		built[i] = build(some, XB_CONFIRMED_RATE, true,
				 i == MONITORS ? XB_POLICY_MONITOR : XB_POLICY_ENFORCE);
		pretend_a_move(built[i]);
		programs[i] = built[i]->program;
	}
	load(2, built[ENFORCES]->params.host4.blocks);
	programs[PARSES] = bpf_program__fd(measure->progs.parse_only);
	programs[READS] = bpf_program__fd(measure->progs.line_read);
	fill_table4(0, NULL, bench.count);
	find_wrong_hits(built[ENFORCES]);
	for (size_t i = 0; i < COUNT_OF(at_once); i++) {
		struct cell *cell =
			add((struct cell){.traffic = "cpus",
					  .subject = at_once[i].name,
					  .program = programs[at_once[i].filter],
					  .as = AS(at_once[i].reason),
					  .but = at_once[i].reason == XB_CLEAN ? DROPPED_SHARE : 0,
					  .lines = built[ENFORCES]->params.host4.blocks,
					  .watched = at_once[i].watched});

		if (at_once[i].source == QUESTION)
			cell->packet = question("????????.example.com", IPPROTO_UDP, XB_DNS_PORT,
						'n', NAMES);
		else
			cell->packet =
				packet_of(at_once[i].source == ANY ? measure->progs.from_anywhere
								   : measure->progs.from_table,
					  at_once[i].source == WRONG, 0, false);
	}
}

struct worker {
	pthread_t thread;
	const struct packet *packet;
	pthread_barrier_t *start;
	double ns;
};

static void *work(void *argument)
{
	struct worker *worker = argument;

	pthread_barrier_wait(worker->start);
	worker->ns = run(worker->packet, bench.repeats);
	return NULL;
}

/* On `count` CPUs from `first` on at once. */
static void run_at_once(const struct packet *packet, uint32_t first, uint32_t count, double *ns)
{
	struct worker workers[CPUS_MAX];
	pthread_barrier_t start;

	must(-pthread_barrier_init(&start, NULL, count), "barrier");
	for (uint32_t i = 0; i < count; i++) {
		pthread_attr_t where;
		cpu_set_t cpu;

		CPU_ZERO(&cpu);
		CPU_SET(first + i, &cpu);
		pthread_attr_init(&where);
		must(-pthread_attr_setaffinity_np(&where, sizeof(cpu), &cpu), "CPU");
		workers[i] = (struct worker){.packet = packet, .start = &start};
		must(-pthread_create(&workers[i].thread, &where, work, &workers[i]), "thread");
		pthread_attr_destroy(&where);
	}
	for (uint32_t i = 0; i < count; i++) {
		pthread_join(workers[i].thread, NULL);
		ns[first + i] = workers[i].ns;
	}
	pthread_barrier_destroy(&start);
}

static bool watching;

static int see(const struct xb_drop *drop, void *context)
{
	(void)drop;
	(void)context;
	return 0;
}

static void *watch(void *argument)
{
	while (__atomic_load_n(&watching, __ATOMIC_ACQUIRE)) {
		int error = xb_drops_poll(argument);

		must(error < 0 && error != -EINTR ? error : 0, "watch");
	}
	return NULL;
}

static void keep(json_t *rounds, const double *ns)
{
	json_t *round = json_array();

	for (uint32_t i = 0; i < bench.others; i++)
		json_array_append_new(round, json_real(ns[i]));
	json_array_append_new(rounds, round);
}

/* Each CPU alone, and all; the one comes as often first as the other, for what was read once may be
 * in a cache that they share. */
static void measure_cpus(struct cell *cell, uint32_t round)
{
	double ns[2][CPUS_MAX] = {0};
	struct xb_counts before;
	struct xb_drops watcher;
	pthread_t thread = 0;

	put_in_force(cell);
	if (cell->watched) {
		must(xb_drops_open(&watcher, bench.pins, REPORTS, see, NULL), "watch");
		watching = true;
		must(-pthread_create(&thread, NULL, watch, &watcher), "thread");
	}
	run_at_once(&cell->packet, 0, bench.others,
		    ns[0]); /* the last one's lines leave the caches */
	before = counts();
	for (uint32_t turn = 0; turn < 2; turn++) {
		if (turn != round % 2)
			run_at_once(&cell->packet, 0, bench.others, ns[1]);
		for (uint32_t i = 0; i < bench.others && turn == round % 2; i++)
			run_at_once(&cell->packet, i, 1, ns[0]);
	}
	check(cell, &before, 2ULL * bench.others * bench.repeats);
	if (cell->watched) {
		__atomic_store_n(&watching, false, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		xb_drops_close(&watcher);
	}
	if (!round)
		return;
	keep(cell->alone, ns[0]);
	keep(cell->samples, ns[1]);
}

static void measure_all_cpus(uint32_t rounds)
{
	json_t *ns = object_in(bench.report, "at_once");

	must(bench.others && bench.others <= CPUS_MAX ? 0 : -EINVAL, "CPUs");
	for (uint32_t round = 0; round <= rounds; round++)
		for (size_t i = 0; i < bench.cell_count; i++)
			measure_cpus(&bench.cells[(i + round) % bench.cell_count], round);
	for (size_t i = 0; i < bench.cell_count; i++)
		json_object_set_new(ns, bench.cells[i].subject,
				    json_pack("{s:o,s:O}", "alone", bench.cells[i].alone,
					      "together", bench.cells[i].samples));
}

static const struct section {
	const char *name;
	void (*prepare)(void);
	void (*measure)(uint32_t rounds);
} sections[] = {
	{"cost", cost, measure_rounds},	    {"cost6", cost6, measure_rounds},
	{"scopes", scopes, measure_rounds}, {"names", names, measure_rounds},
	{"cpus", cpus, measure_all_cpus},   {"countries", countries, measure_rounds},
	{"limits", limits, measure_rounds},
};

int main(int argc, char **argv)
{
	const struct section *section = sections;

	while (argc == 6 && section < sections + COUNT_OF(sections) &&
	       strcmp(section->name, argv[1]) != 0)
		section++;
	must_have_arguments(argc == 6 && section < sections + COUNT_OF(sections),
			    "SECTION COUNT OTHERS ROUNDS REPEATS");
	bench.count = number_of(argv[2]);
	bench.others = number_of(argv[3]);
	bench.repeats = number_of(argv[5]);
	begin();
	section->prepare();
	section->measure(number_of(argv[4]));
	report_cells();
	json_object_set_new(bench.report, "filters", bench.told);
	json_object_set_new(bench.report, "confirmed_rate", json_real(XB_CONFIRMED_RATE));
	put_number(bench.report, "lpm_trie_max", TRIE_MAX);
	print_json(bench.report);
	return 0;
}
