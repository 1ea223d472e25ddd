/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_scopes HOSTS ROUNDS REPEATS: what it costs a packet that addresses are listed for the ports
 * of mail, beside the same addresses listed for everything. Prints one JSON object as bench_cost
 * does. Pins go below XB_TEST_BPFFS, counters below XB_TEST_DIR.
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

static struct timing timing;
static struct xb_snapshot keys;
static struct xb_scope scope;
static struct xb_generation *generations[SUBJECTS * COPIES];

static void end(void)
{
	for (size_t i = 0; i < SUBJECTS * COPIES; i++)
		xb_generation_discard(&timing.home.paths, generations[i]);
	timing_end(&timing);
	xb_snapshot_free(&keys);
}

static void list_scoped(void)
{
	keys.scoped = calloc(keys.host4_count, sizeof(*keys.scoped));
	must(keys.scoped ? 0 : -ENOMEM, "addresses");
	for (size_t i = 0; i < keys.host4_count; i++)
		keys.scoped[keys.scoped_count++] = (struct xb_scoped){
			.entry = {.hi = (uint64_t)keys.host4[i] << 32,
				  .kind = XB_HOST4,
				  .length = 32},
			.class = 1,
		};
	must(xb_scope_parse("tcp/25,tcp/465,tcp/587", &scope), "scope");
	keys.class[1].scope = &scope;
	keys.classes = 1U << XB_CLASS_ALL | 1U << 1;
}

static void build(size_t copy)
{
	const struct xb_build wanted = {.paths = &timing.home.paths,
					.anchor = &timing.home.anchor,
					.store = 1,
					.rate = XB_CONFIRMED_RATE,
					.confirm = true,
					.policy = XB_POLICY_ENFORCE};
	enum content content = subjects[copy % SUBJECTS].content;
	struct xb_snapshot some = keys;

	some.host4_count = content == ALL || content == BOTH ? keys.host4_count : 0;
	some.scoped_count = content == SCOPED || content == BOTH ? keys.scoped_count : 0;
	some.allow_count = 0;
	if (content != NOTHING)
		must(xb_build(&wanted, &some, &generations[copy]), "build");
}

static void time_it(size_t copy)
{
	const struct subject *subject = &subjects[copy % SUBJECTS];

	timing_add(&timing,
		   (struct timed){
			   .name = subject->name,
			   .program = generations[copy]
					      ? generations[copy]->program
					      : bpf_program__fd(timing.measure->progs.parse_only),
			   .blind = subject->blind,
			   .port = subject->port,
		   });
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
	must(list_hosts(&keys, strtoul(argv[1], NULL, 10)), "addresses");
	list_scoped();
	must(list_allowed(&keys), "allowlist");
	for (size_t i = 0; i < SUBJECTS * COPIES; i++)
		build(i);
	timing_load(&timing, &keys);
	for (size_t i = 0; i < SUBJECTS * COPIES; i++)
		time_it(i);
	timing_rounds(&timing, (uint32_t)strtoul(argv[2], NULL, 10));
	timing_report(&timing, report);
	print_report(report);
	return 0;
}
