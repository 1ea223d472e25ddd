/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_cpus HOSTS CPUS ROUNDS REPEATS: what a packet costs on each of so many CPUs alone, and on
 * all of them at once: nothing that they share may be in their way. Beside it stand what tells
 * whether the machine is in it: a line read, fewer addresses, and an addition that all share.
 * Prints one JSON object: of each subject nanoseconds of a whole run, one number for each CPU and
 * round. Pins go below XB_TEST_BPFFS, counters below XB_TEST_DIR.
 */
#include <pthread.h>
#include <sched.h>

#include "attach/drops.h"
#include "bench/question.h"
#include "bench/timing.h"
#include "filter/build.h"
#include "model/reason.h"

#include "ask.skel.h" /* behind the structures it names */
#include "filter.skel.h"

#define CPUS_MAX   256
#define NAMES	   100000
#define WRONG_HITS 65536 /* sources: as many lines of the filter, or more than a cache has */
#define SOME_OF	   10	 /* addresses, one is in SOME */
#define FEW_OF	   1000
#define REPORTS	   1000 /* a second, wanted by who watches */
#define ALL_BUT	   0.01 /* of clean packets: some are listed, or wrong hits */

/* ADDS: as ENFORCES, and with its maps, but each wrong hit makes an atomic addition, as it does
 * where the processor does not keep reads in order. SOME and FEW: with fewer addresses. */
enum filter { PARSES, READS, ENFORCES, MONITORS, ANSWERS, SOME, FEW, FILTERS, ADDS };

/* A run is parsing and counting alone, or with one line read as well, or with one of the filters.
 */
static const struct subject {
	const char *name;
	enum filter filter;
	enum { ANY, LISTED, WRONG, QUESTION } source;
	enum xb_reason reason;
	bool watched;
} subjects[] = {
	{"parse_only", PARSES, ANY, XB_CLEAN, false},
	{"line_read", READS, ANY, XB_CLEAN, false},
	{"clean", ENFORCES, ANY, XB_CLEAN, false},
	{"clean_some", SOME, ANY, XB_CLEAN, false},
	{"clean_few", FEW, ANY, XB_CLEAN, false},
	{"wrong_hit", ENFORCES, WRONG, XB_UNCONFIRMED, false},
	{"wrong_hit_adds", ADDS, WRONG, XB_UNCONFIRMED, false},
	{"listed", ENFORCES, LISTED, XB_LISTED_IPV4_HOST, false},
	{"listed_watched", ENFORCES, LISTED, XB_LISTED_IPV4_HOST, true},
	{"listed_monitored", MONITORS, LISTED, XB_MONITORED, false},
	{"answered", ANSWERS, QUESTION, XB_NAME_NXDOMAIN, false},
};

#define SUBJECTS COUNT_OF(subjects)

/* What a CPU runs: its frame is a copy of the kernel's. */
struct packet {
	int sender;
	uint32_t size, runs;
	union {
		struct frame4 frame;
		struct frame question;
	} data;
};

struct worker {
	pthread_t thread;
	const struct packet *packet;
	pthread_barrier_t *start;
	double ns;
};

static struct timing timing;
static struct ask_bpf *ask;
static struct filter_bpf *adds;
static struct xb_contents keys, some, few;
static struct xb_generation *generations[FILTERS];
static int cpus;
static bool watching;
static json_t *alone[SUBJECTS], *together[SUBJECTS];

static void end(void)
{
	for (size_t i = 0; i < FILTERS; i++)
		xb_generation_discard(&timing.home.paths, generations[i]);
	filter_bpf__destroy(adds);
	ask_bpf__destroy(ask);
	timing_end(&timing);
	xb_contents_free(&keys);
	xb_contents_free(&some);
	xb_contents_free(&few);
}

static void list(uint32_t hosts)
{
	must(list_hosts(&keys, hosts), "addresses");
	must(list_hosts(&some, hosts / SOME_OF), "addresses");
	must(list_hosts(&few, hosts / FEW_OF), "addresses");
	keys.names = calloc(NAMES, sizeof(*keys.names));
	must(keys.names ? 0 : -ENOMEM, "names");
	for (uint32_t i = 0; i < NAMES; i++) {
		uint64_t label = ask_label('n', i);
		char text[64];

		snprintf(text, sizeof(text), "%.8s.example.com", (const char *)&label);
		must(list_name(&keys, text, XB_DOMAIN_NXDOMAIN), "name");
	}
}

/* A wrong hit looks whether keys have moved since the table was built, and goes on if so. */
static void pretend_a_move(const struct xb_generation *generation)
{
	uint32_t last = xb_buckets_count(generation->params.confirm4.parts,
					 generation->params.confirm4.size);
	int map = generation->map[XB_MAP_CONFIRM4];
	struct xb_bucket bucket;

	must(bpf_map_lookup_elem(map, &last, &bucket) ? -errno : 0, "end of the table");
	bucket.word[XB_BUCKET_MOVES]++;
	must(bpf_map_update_elem(map, &last, &bucket, BPF_ANY) ? -errno : 0, "end of the table");
}

static void build(enum filter filter)
{
	const struct xb_build wanted = {
		.paths = &timing.home.paths,
		.anchor = &timing.home.anchor,
		.store = 1,
		.rate = XB_CONFIRMED_RATE,
		.confirm = true,
		.policy = filter == MONITORS ? XB_POLICY_MONITOR : XB_POLICY_ENFORCE,
		.ports.dns[0] = XB_DNS_PORT,
	};
	struct xb_contents listed = filter == SOME ? some : filter == FEW ? few : keys;

	listed.names_count = filter == ANSWERS ? keys.names_count : 0;
	must(xb_build(&wanted, &listed, &generations[filter]), "build");
	pretend_a_move(generations[filter]);
}

static bool is_wrong_hit(uint32_t address)
{
	struct xb_bloom *filter = &generations[ENFORCES]->host4;

	return xb_bloom_contains(filter, xb_hash_ipv4(&filter->key, address)) &&
	       !bsearch(&address, keys.host4, keys.host4_count, sizeof(*keys.host4), ascending);
}

static void find_wrong_hits(void)
{
	uint32_t *found = calloc(WRONG_HITS, sizeof(*found)), number = ADDRESSES_CLEAN;

	must(found ? 0 : -ENOMEM, "addresses");
	for (size_t i = 0; i < WRONG_HITS; number++) {
		uint32_t address = address_number(number);

		if (is_wrong_hit(address))
			found[i++] = address;
	}
	timing_fill_table(&timing, TABLE_LINES, found, WRONG_HITS);
	free(found);
}

/* The program of ENFORCES once more, for a processor that does not keep reads in order. */
static void load_adds(void)
{
	const struct xb_generation *generation = generations[ENFORCES];

	adds = filter_bpf__open();
	must(adds ? 0 : -errno, "open");
	adds->rodata_params->params = generation->params;
	adds->rodata_params->params.reads_in_order = 0;
	must(xb_anchor_lend(&timing.home.anchor, adds->obj), "link");
	bpf_map__set_autocreate(adds->maps.known_state, false);
	bpf_map__set_autocreate(adds->maps.known_sets, false);
	for (enum xb_map i = 0; i < XB_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(adds->obj, xb_map_name(i));

		if (xb_map_entries(i, &generation->params))
			must(bpf_map__reuse_fd(map, generation->map[i]), xb_map_name(i));
		else
			bpf_map__set_autocreate(map, false);
	}
	xb_anchor_set_flavour(&timing.home.anchor, adds->progs.xdp_bloom_filter);
	must(filter_bpf__load(adds), "load");
}

static void load(void)
{
	uint32_t lines = generations[ENFORCES]->params.host4.blocks;

	timing.measure->bss->bare_lines = lines;
	must(bpf_map__set_max_entries(timing.measure->maps.bare, lines), "size");
	ask = ask_bpf__open();
	must(ask ? 0 : -errno, "open");
	home_count_into(&timing.home, ask->obj, ask->maps.ifaces, ask->maps.stats);
	must(ask_bpf__load(ask), "load");
	timing_load(&timing, &keys);
	load_adds();
	find_wrong_hits();
}

static int program_of(enum filter filter)
{
	if (filter == PARSES)
		return bpf_program__fd(timing.measure->progs.parse_only);
	if (filter == READS)
		return bpf_program__fd(timing.measure->progs.line_read);
	if (filter == ADDS)
		return bpf_program__fd(adds->progs.xdp_bloom_filter);
	return generations[filter]->program;
}

static void prepare(const struct subject *subject, struct packet *packet)
{
	const struct measure_bpf *measure = timing.measure;
	bool question = subject->source == QUESTION;
	int program = program_of(subject->filter);
	int slot = bpf_map__fd(question ? ask->maps.asked : measure->maps.measured);
	uint32_t zero = 0;

	must(bpf_map_update_elem(slot, &zero, &program, BPF_ANY) ? -errno : 0, "slot");
	*packet = (struct packet){.runs = timing.repeats, .size = sizeof(packet->data.frame)};
	if (question) {
		packet->data.question = (struct frame){
			.ethernet = {.h_dest = {2}, .h_source = {2, 1}},
			.ip = {.protocol = IPPROTO_UDP,
			       .saddr = htonl(0xc0000201),
			       .daddr = htonl(0xc0000202)},
			.udp = {.source = htons(40000), .dest = htons(XB_DNS_PORT)},
		};
		ask->bss->ask = (struct ask){.first = 'n', .count = NAMES};
		packet->size = put_question("????????.example.com", &packet->data.question,
					    &ask->bss->ask);
		packet->sender = bpf_program__fd(ask->progs.ask_anew);
		return;
	}
	packet->data.frame = timing_frame4(0);
	measure->bss->table_first = subject->source == WRONG ? TABLE_LINES : 0;
	packet->sender = bpf_program__fd(subject->source == ANY ? measure->progs.from_anywhere
								: measure->progs.from_table);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	const struct packet *packet = worker->packet;
	struct xdp_md context = {.data_end = packet->size, .ingress_ifindex = LOOPBACK};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = &packet->data,
		    .data_size_in = packet->size, .ctx_in = &context,
		    .ctx_size_in = sizeof(context), .repeat = (int)packet->runs);
	double start;

	pthread_barrier_wait(worker->start);
	start = now_ns();
	must(bpf_prog_test_run_opts(packet->sender, &options) ? -errno : 0, "run");
	worker->ns = (now_ns() - start) / packet->runs;
	return NULL;
}

/* Nanoseconds a run, on `count` CPUs from `first` on at once. */
static void run(const struct packet *packet, int first, int count, double *ns)
{
	struct worker workers[CPUS_MAX];
	pthread_barrier_t start;

	must(-pthread_barrier_init(&start, NULL, (unsigned int)count), "barrier");
	for (int i = 0; i < count; i++) {
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
	for (int i = 0; i < count; i++) {
		pthread_join(workers[i].thread, NULL);
		ns[first + i] = workers[i].ns;
	}
	pthread_barrier_destroy(&start);
}

static uint64_t counted(enum xb_reason reason)
{
	return home_counts(&timing.home).reason[reason].packets;
}

/* Each CPU alone, and all; the one comes as often first as the other, for what was read once may be
 * in a cache that they share. Nothing is kept unless all runs ended as they should. */
static void measure_once(const struct subject *subject, const struct packet *packet, bool all_first,
			 double ns[2][CPUS_MAX])
{
	uint64_t runs = 2ULL * (uint64_t)cpus * packet->runs, before = counted(subject->reason), as;

	if (all_first)
		run(packet, 0, cpus, ns[1]);
	for (int i = 0; i < cpus; i++)
		run(packet, i, 1, ns[0]);
	if (!all_first)
		run(packet, 0, cpus, ns[1]);
	as = counted(subject->reason) - before;
	if ((double)as >= (1 - (subject->reason == XB_CLEAN ? ALL_BUT : 0)) * (double)runs)
		return;
	fprintf(stderr, "bench_cpus: %s: of %llu runs %llu ended as %s\n", subject->name,
		(unsigned long long)runs, (unsigned long long)as, xb_reason_name(subject->reason));
	exit(1);
}

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

	for (int i = 0; i < cpus; i++)
		json_array_append_new(round, json_real(ns[i]));
	json_array_append_new(rounds, round);
}

static void measure(size_t number, uint32_t round)
{
	const struct subject *subject = &subjects[number];
	struct xb_drops watcher;
	struct packet packet;
	double ns[2][CPUS_MAX] = {0};
	pthread_t thread = 0;

	prepare(subject, &packet);
	if (subject->watched) {
		must(xb_drops_open(&watcher, timing.home.pins, REPORTS, see, NULL), "watch");
		watching = true;
		must(-pthread_create(&thread, NULL, watch, &watcher), "thread");
	}
	run(&packet, 0, cpus, ns[0]); /* the last one's lines leave the caches */
	measure_once(subject, &packet, round % 2, ns);
	if (subject->watched) {
		__atomic_store_n(&watching, false, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		xb_drops_close(&watcher);
	}
	if (!round)
		return;
	keep(alone[number], ns[0]);
	keep(together[number], ns[1]);
}

static void print(void)
{
	json_t *ns = json_object();

	for (size_t i = 0; i < SUBJECTS; i++)
		json_object_set_new(
			ns, subjects[i].name,
			json_pack("{s:o,s:o}", "alone", alone[i], "together", together[i]));
	print_report(json_pack("{s:I,s:i,s:I,s:o}", "hosts", (json_int_t)keys.host4_count, "cpus",
			       cpus, "repeats", (json_int_t)timing.repeats, "ns", ns));
}

int main(int argc, char **argv)
{
	uint32_t rounds;

	cpus = argc == 5 ? (int)strtoul(argv[2], NULL, 10) : 0;
	if (cpus < 1 || cpus > CPUS_MAX) {
		fprintf(stderr, "usage: XB_TEST_BPFFS= XB_TEST_DIR= bench_cpus HOSTS CPUS ROUNDS "
				"REPEATS; scripts/bench does it\n");
		return 2;
	}
	rounds = (uint32_t)strtoul(argv[3], NULL, 10);
	atexit(end);
	timing_open(&timing, (uint32_t)strtoul(argv[4], NULL, 10));
	list((uint32_t)strtoul(argv[1], NULL, 10));
	for (enum filter filter = ENFORCES; filter < FILTERS; filter++)
		build(filter);
	load();
	for (size_t i = 0; i < SUBJECTS; i++) {
		alone[i] = json_array();
		together[i] = json_array();
	}
	for (uint32_t round = 0; round <= rounds; round++)
		for (size_t i = 0; i < SUBJECTS; i++)
			measure((i + round) % SUBJECTS, round);
	print();
	return 0;
}
