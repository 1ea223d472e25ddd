/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_names [--answered] NAMES ROUNDS REPEATS: what names cost a packet, of packets that carry
 * none, of queries and of answers, beside parsing alone and a filter without names. With --answered
 * all that is listed is answered, and asked: as over a veth. Prints one JSON object:
 * nanoseconds per run, one number for each round. Pins go below XB_TEST_BPFFS, counters below
 * XB_TEST_DIR.
 */
#include "bench/home.h"
#include "bench/lists.h"
#include "bench/question.h"
#include "filter/build.h"

#include "ask.skel.h" /* behind the structures it names */

#define HOSTS 100000

enum subject { PARSE_ALONE, WITHOUT_NAMES, WITH_NAMES, SUBJECTS };

static const char *const subject_names[] = {"parse_alone", "without_names", "with_names"};

/* Letters with which names begin: 'd' and 'n' are listed, to be dropped and answered. */
struct traffic {
	const char *name;
	uint8_t protocol;
	uint16_t port;
	char first;
	const char *ask; /* the name, its drawn label as ????????; NULL: not DNS */
	enum xb_reason reason;
};

static const struct traffic traffics[] = {
	{"tcp", IPPROTO_TCP, 80, 0, NULL, XB_CLEAN},
	{"udp", IPPROTO_UDP, 5000, 0, NULL, XB_CLEAN},
	{"clean-3", IPPROTO_UDP, 53, 'c', "????????.example.com", XB_NAME_CLEAN},
	{"clean-5", IPPROTO_UDP, 53, 'c', "a.b.????????.example.com", XB_NAME_CLEAN},
	{"clean-127", IPPROTO_UDP, 53, 'c', "", XB_NAME_CLEAN},
	{"dropped", IPPROTO_UDP, 53, 'd', "????????.example.com", XB_NAME_DROPPED},
	{"dropped-below", IPPROTO_UDP, 53, 'd', "www.????????.example.com", XB_NAME_DROPPED},
	{"answered", IPPROTO_UDP, 53, 'n', "????????.example.com", XB_NAME_NXDOMAIN},
};

#define TRAFFICS COUNT_OF(traffics)
#define ANSWERED (TRAFFICS - 1)

/* Kinds of names, as many of each. */
#define ALL_KINDS "dneee"
#define ONE_KIND  "n"

struct bench {
	struct home home;
	struct xb_contents keys;
	struct xb_generation *generations[SUBJECTS];
	struct ask_bpf *ask;
	const char *kinds;
	size_t first; /* of the traffics that are measured; all behind it are, too */
	uint32_t names, repeats;
	json_t *samples[SUBJECTS][TRAFFICS];
};

static struct bench bench;

static void end(void)
{
	for (size_t i = 0; i < SUBJECTS; i++)
		xb_generation_discard(&bench.home.paths, bench.generations[i]);
	ask_bpf__destroy(bench.ask);
	home_close(&bench.home);
	xb_contents_free(&bench.keys);
}

/* Three labels mostly, as lists have; some of two and of four, so that three depths are asked. */
static void list_names(void)
{
	static const char *const tails[] = {".example.com", ".example.com", ".example.com", ".com",
					    ".b.example.com"};
	uint32_t kinds = (uint32_t)strlen(bench.kinds), each = bench.names / kinds;

	bench.keys.names = calloc(bench.names, sizeof(*bench.keys.names));
	must(bench.keys.names ? 0 : -ENOMEM, "names");
	for (uint32_t i = 0; i < kinds * each; i++) {
		char kind = bench.kinds[i / each], text[64];
		uint64_t label = ask_label(kind, i % each);

		snprintf(text, sizeof(text), "%.8s%s", (const char *)&label,
			 kind == 'e' ? tails[i / each] : tails[0]);
		must(list_name(&bench.keys, text,
			       kind == 'n' ? XB_DOMAIN_NXDOMAIN : XB_DOMAIN_DROP),
		     "name");
	}
}

static void load_ask(void)
{
	bench.ask = ask_bpf__open();
	must(bench.ask ? 0 : -errno, "open");
	home_count_into(&bench.home, bench.ask->obj, bench.ask->maps.ifaces, bench.ask->maps.stats);
	must(ask_bpf__load(bench.ask), "load");
}

static uint32_t make_frame(const struct traffic *traffic, struct frame *frame, struct ask *ask)
{
	*frame = (struct frame){
		.ethernet = {.h_dest = {2}, .h_source = {2, 1}},
		.ip = {.protocol = traffic->protocol,
		       .saddr = htonl(0xc0000201),
		       .daddr = htonl(0xc0000202)},
		.udp = {.source = htons(40000), .dest = htons(traffic->port)},
	};
	*ask = (struct ask){.count = bench.names / (uint32_t)strlen(bench.kinds),
			    .first = (uint8_t)traffic->first};
	return put_question(traffic->ask, frame, ask);
}

static uint64_t counted(enum xb_reason reason)
{
	return home_counts(&bench.home).reason[reason].packets;
}

static double run(const struct traffic *traffic)
{
	struct frame frame;
	struct xdp_md context = {.ingress_ifindex = LOOPBACK};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = &frame, .ctx_in = &context,
		    .ctx_size_in = sizeof(context), .repeat = (int)bench.repeats);
	double start;

	options.data_size_in = context.data_end = make_frame(traffic, &frame, &bench.ask->bss->ask);
	start = now_ns();
	must(bpf_prog_test_run_opts(bpf_program__fd(bench.ask->progs.ask_anew), &options) ? -errno
											  : 0,
	     "run");
	return (now_ns() - start) / bench.repeats;
}

static void build(enum subject subject)
{
	struct xb_contents keys = bench.keys;
	struct xb_build build = {.paths = &bench.home.paths,
				 .anchor = &bench.home.anchor,
				 .store = 1,
				 .rate = XB_CONFIRMED_RATE,
				 .confirm = true,
				 .policy = XB_POLICY_ENFORCE,
				 .ports.dns[0] = XB_DNS_PORT};

	keys.names_count = subject == WITH_NAMES ? keys.names_count : 0;
	must(xb_build(&build, &keys, &bench.generations[subject]), "build");
}

static void put_in_force(enum subject subject)
{
	int slot = bpf_map__fd(bench.ask->maps.asked), program;
	uint32_t zero = 0;

	program = subject == PARSE_ALONE ? bpf_program__fd(bench.ask->progs.parse_alone)
					 : bench.generations[subject]->program;
	must(bpf_map_update_elem(slot, &zero, &program, BPF_ANY) ? -errno : 0, "slot");
}

/* Of a filter in a hundred the source of all packets is a wrong hit. */
static bool is_source_clean(enum subject subject)
{
	uint64_t before = counted(XB_CLEAN);

	put_in_force(subject);
	run(&traffics[0]);
	return counted(XB_CLEAN) != before;
}

static void build_generations(void)
{
	for (enum subject i = WITHOUT_NAMES; i < SUBJECTS; i++) {
		build(i);
		for (int tries = 0; tries < 10 && !is_source_clean(i); tries++) {
			xb_generation_discard(&bench.home.paths, bench.generations[i]);
			build(i);
		}
	}
}

/* Names that are drawn as clean may be listed by no more than this. */
static void measure(enum subject subject, size_t number, bool keep)
{
	const struct traffic *traffic = &traffics[number];
	enum xb_reason reason = subject == WITH_NAMES ? traffic->reason : XB_CLEAN;
	uint64_t before;
	double ns;

	put_in_force(subject);
	run(traffic);
	before = counted(reason);
	ns = run(traffic);
	if (counted(reason) - before != bench.repeats) {
		fprintf(stderr, "bench_names: %s, %s: not every run ended as %u\n",
			subject_names[subject], traffic->name, (unsigned int)reason);
		exit(1);
	}
	if (keep)
		json_array_append_new(bench.samples[subject][number], json_real(ns));
}

static void measure_rounds(uint32_t rounds)
{
	size_t cells = SUBJECTS * (TRAFFICS - bench.first);

	for (enum subject subject = 0; subject < SUBJECTS; subject++)
		for (size_t i = 0; i < TRAFFICS; i++)
			bench.samples[subject][i] = json_array();
	for (uint32_t round = 0; round <= rounds; round++)
		for (size_t i = 0; i < cells; i++) {
			size_t cell = (i + round) % cells;

			measure((enum subject)(cell % SUBJECTS), bench.first + cell / SUBJECTS,
				round);
		}
}

static uint32_t verified(int program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	must(bpf_obj_get_info_by_fd(program, &info, &size) ? -errno : 0, "program");
	return info.verified_insns;
}

static void print(void)
{
	const struct xb_generation *with = bench.generations[WITH_NAMES];
	json_t *ns = json_object(), *all;

	for (size_t i = bench.first; i < TRAFFICS; i++) {
		json_t *row = json_object();

		for (enum subject subject = 0; subject < SUBJECTS; subject++)
			json_object_set_new(row, subject_names[subject], bench.samples[subject][i]);
		json_object_set_new(ns, traffics[i].name, row);
	}
	all = json_pack("{s:I,s:I,s:I,s:I,s:i,s:i,s:o}", "names",
			(json_int_t)bench.keys.names_count, "repeats", (json_int_t)bench.repeats,
			"bits_bytes", (json_int_t)xb_map_bytes(XB_MAP_NAMES, &with->params),
			"buckets_bytes",
			(json_int_t)xb_map_bytes(XB_MAP_CONFIRM_NAMES, &with->params),
			"verified_with", verified(with->program), "verified_without",
			verified(bench.generations[WITHOUT_NAMES]->program), "ns", ns);
	print_report(all);
}

int main(int argc, char **argv)
{
	bool answered = argc > 1 && !strcmp(argv[1], "--answered");
	char **number = argv + answered;

	if (argc != 4 + answered) {
		fprintf(stderr, "usage: XB_TEST_BPFFS= XB_TEST_DIR= bench_names [--answered] NAMES "
				"ROUNDS REPEATS; scripts/bench does it\n");
		return 2;
	}
	atexit(end);
	bench.kinds = answered ? ONE_KIND : ALL_KINDS;
	bench.first = answered ? ANSWERED : 0;
	bench.names = (uint32_t)strtoul(number[1], NULL, 10);
	bench.repeats = (uint32_t)strtoul(number[3], NULL, 10);
	home_open(&bench.home);
	must(list_hosts(&bench.keys, HOSTS), "addresses");
	list_names();
	load_ask();
	build_generations();
	measure_rounds((uint32_t)strtoul(number[2], NULL, 10));
	print();
	return 0;
}
