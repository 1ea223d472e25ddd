/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_scopes HOSTS ROUNDS REPEATS: what it costs a packet that addresses are listed for the ports
 * of mail, beside the same addresses listed for everything; of IPv4, and of IPv6 with a 6 behind
 * the names. Prints one JSON object as bench_cost does. Pins go below XB_TEST_BPFFS, counters below
 * XB_TEST_DIR.
 */
#include "bench/timing.h"
#include "filter/build.h"

#define MAIL  25
#define OTHER 443

/* What is listed: for everything, for mail, or for both. */
enum content { NOTHING, ALL, SCOPED, BOTH, CONTENTS };

/* `again` is as `all`, and tells how much two filters that are alike differ. */
static const struct subject {
	const char *name;
	enum content content;
	uint16_t port;
	bool blind; /* nothing of it drops */
} subjects[] = {
	{"parse_only", NOTHING, OTHER, true},  {"all", ALL, OTHER, false},
	{"again", ALL, OTHER, false},	       {"both_other", BOTH, OTHER, false},
	{"scoped_other", SCOPED, OTHER, true}, {"scoped_mail", SCOPED, MAIL, false},
	{"both_mail", BOTH, MAIL, false},
};

#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

/* Each is built so often, because where a filter lies in memory makes a difference of several ns.
 */
#define COPIES 4
#define BUILDS (SUBJECTS * COPIES)

enum family { IPV4, IPV6, FAMILIES };

static struct timing timing;
static struct xb_contents keys[FAMILIES];
static struct xb_scope scope;
static struct xb_generation *generations[FAMILIES][BUILDS];
static char names[FAMILIES][SUBJECTS][24];

static void end(void)
{
	for (size_t i = 0; i < FAMILIES * BUILDS; i++)
		xb_generation_discard(&timing.home.paths, generations[i / BUILDS][i % BUILDS]);
	timing_end(&timing);
	for (size_t i = 0; i < FAMILIES; i++)
		xb_contents_free(&keys[i]);
}

static struct xb_entry entry_of(enum family family, uint32_t address)
{
	if (family == IPV4)
		return (struct xb_entry){
			.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
	return (struct xb_entry){
		.hi = XB_BENCH_NET6, .lo = address, .kind = XB_NET6, .length = 128};
}

static void list_all(enum family family)
{
	struct xb_contents *all = &keys[family];
	const struct xb_contents *hosts = &keys[IPV4];

	if (family == IPV4)
		return;
	all->net6 = calloc(hosts->host4_count, sizeof(*all->net6));
	must(all->net6 ? 0 : -ENOMEM, "addresses");
	for (size_t i = 0; i < hosts->host4_count; i++)
		all->net6[all->net6_count++] = entry_of(IPV6, hosts->host4[i]);
}

static void list_scoped(enum family family)
{
	struct xb_contents *all = &keys[family];
	const struct xb_contents *hosts = &keys[IPV4];

	all->scoped = calloc(hosts->host4_count, sizeof(*all->scoped));
	must(all->scoped ? 0 : -ENOMEM, "addresses");
	for (size_t i = 0; i < hosts->host4_count; i++)
		all->scoped[all->scoped_count++] =
			(struct xb_scoped){.entry = entry_of(family, hosts->host4[i]), .class = 1};
	all->class[1].scope = &scope;
	all->classes = 1U << XB_CLASS_ALL | 1U << 1;
}

static void build(enum family family, size_t copy)
{
	const struct xb_build wanted = {.paths = &timing.home.paths,
					.anchor = &timing.home.anchor,
					.store = 1,
					.rate = XB_CONFIRMED_RATE,
					.confirm = true,
					.policy = XB_POLICY_ENFORCE};
	enum content content = subjects[copy % SUBJECTS].content;
	struct xb_contents some = keys[family];
	bool all = content == ALL || content == BOTH;

	some.host4_count = all ? some.host4_count : 0;
	some.net6_count = all ? some.net6_count : 0;
	some.scoped_count = content == SCOPED || content == BOTH ? some.scoped_count : 0;
	some.allow_count = 0;
	if (content != NOTHING)
		must(xb_build(&wanted, &some, &generations[family][copy]), "build");
}

static void add(enum family family, size_t copy)
{
	const struct subject *subject = &subjects[copy % SUBJECTS];
	const struct xb_generation *generation = generations[family][copy];
	const struct measure_bpf *measure = timing.measure;
	int parse_only = bpf_program__fd(family == IPV6 ? measure->progs.parse_only6
							: measure->progs.parse_only);
	char *name = names[family][copy % SUBJECTS];

	snprintf(name, sizeof(names[0][0]), "%s%s", subject->name, family == IPV6 ? "6" : "");
	timing_add(&timing, (struct timed){.name = name,
					   .program = generation ? generation->program : parse_only,
					   .blind = subject->blind,
					   .port = subject->port,
					   .ipv6 = family == IPV6});
}

int main(int argc, char **argv)
{
	json_t *report = json_object();

	if (argc != 4) {
		fprintf(stderr, "usage: XB_TEST_BPFFS= XB_TEST_DIR= bench_scopes HOSTS ROUNDS "
				"REPEATS; scripts/bench does it\n");
		return 2;
	}
	atexit(end);
	timing_open(&timing, (uint32_t)strtoul(argv[3], NULL, 10));
	must(list_hosts(&keys[IPV4], strtoul(argv[1], NULL, 10)), "addresses");
	must(xb_scope_parse("tcp/25,tcp/465,tcp/587", &scope), "scope");
	must(list_allowed(&keys[IPV4]), "allowlist");
	for (enum family family = IPV4; family < FAMILIES; family++) {
		list_all(family);
		list_scoped(family);
		for (size_t i = 0; i < BUILDS; i++)
			build(family, i);
	}
	timing_load(&timing, &keys[IPV4]);
	for (enum family family = IPV4; family < FAMILIES; family++)
		for (size_t i = 0; i < BUILDS; i++)
			add(family, i);
	timing_rounds(&timing, (uint32_t)strtoul(argv[2], NULL, 10));
	timing_report(&timing, report);
	print_report(report);
	return 0;
}
