/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packets FRAMES SEED FROM: frames by chance through the program, and through the reference. Frame
 * number N of a seed is the same whatever comes before it; it goes to configuration N % WORLDS.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "corpus.h"
#include "generate.h"
#include "model/reason.h"
#include "support/knowing.h"
#include "support/seconds.h"
#include "world.h"

#define BLAMES_MAX 10

/* Fewer frames need not reach every reason. */
#define ENOUGH 200000

#define SUITE "packets/"

struct tally {
	struct xb_counts counts; /* as last read */
	uint64_t reasons[XB_REASON_COUNT];
	uint64_t verdicts[3]; /* enum reference_verdict */
};

static struct world worlds[WORLDS];
static struct tally tallies[WORLDS];
static struct universe *universe;
static struct corpus corpus;
static bool several_buffers; /* test runs take frames in several, as wished */
static uint64_t seed, blames;

/* Where names are looked for, most frames have one. */
static void make_frame(uint64_t number, struct frame *frame)
{
	bool names = worlds[number % WORLDS].rules.listed.count;
	uint64_t chance = seed;

	chance = rig_random(&chance) + number;
	if (one_in(&chance, names ? 6 : 3))
		corpus_frame(&corpus, universe, &chance, frame);
	else
		generate(universe, &chance, names, frame);
	if (one_in(&chance, names ? 6 : 2))
		mutate(&corpus, universe, &chance, frame);
	shape(&chance, frame);
	if (!several_buffers) {
		frame->size = frame->size < ONE_BUFFER ? frame->size : ONE_BUFFER;
		frame->first = frame->size;
	}
}

/* An errno, or the verdict, and the frame as it is left. */
static int run_frame(int program, const struct frame *frame, struct frame *left)
{
	struct xdp_md context = {.data_end = frame->first};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame->byte, .data_size_in = frame->size,
		    .data_out = left->byte, .data_size_out = FRAME_BYTES, .repeat = 1);

	if (frame->first != frame->size) {
		options.ctx_in = &context;
		options.ctx_size_in = sizeof(context);
	}
	if (bpf_prog_test_run_opts(program, &options))
		return -errno;
	left->size = options.data_size_out;
	return (int)options.retval;
}

static const char *name_of(int reason)
{
	return reason < 0 ? "none, or several" : xb_reason_name((unsigned int)reason);
}

static void blame(const struct world *world, uint64_t number, const struct frame *frame,
		  const char *what)
{
	blames++;
	printf("frame %" PRIu64 " of seed %" PRIu64
	       ", \"%s\", %u bytes, %u in the first buffer: %s\n",
	       number, seed, world->name, frame->size, frame->first, what);
	for (uint32_t i = 0; i < frame->size; i++)
		printf("%02x", frame->byte[i]);
	printf("\nagain: tests/packets/run 1 %" PRIu64 " %" PRIu64 "\n", seed, number);
}

/* The one reason it was counted for, -1: none or several. *bytes: what was counted for it. */
static int reason_counted(const struct world *world, struct tally *tally, uint64_t *bytes)
{
	struct xb_counts before = tally->counts;
	int reason = -1, reasons = 0;

	if (xb_anchor_counts(&world->anchor, 0, &tally->counts)) {
		fprintf(stderr, "counts: %s\n", xb_error_message());
		exit(1);
	}
	for (int i = 0; i < XB_REASON_SLOTS; i++) {
		uint64_t more = tally->counts.reason[i].packets - before.reason[i].packets;

		*bytes = more ? tally->counts.reason[i].bytes - before.reason[i].bytes : *bytes;
		reason = more ? i : reason;
		reasons += (int)more;
	}
	return reasons == 1 && reason < XB_REASON_COUNT ? reason : -1;
}

static bool is_verdict(int verdict, enum reference_verdict expected)
{
	static const int verdicts[] = {
		[VERDICT_PASS] = XDP_PASS, [VERDICT_DROP] = XDP_DROP, [VERDICT_ANSWER] = XDP_TX};

	return verdict == verdicts[expected];
}

/* One that is dropped instead of answered may have been turned round in part: nobody sees it. */
static bool is_left(const struct frame *frame, const struct frame *left,
		    const struct outcome *expected)
{
	const struct frame *wanted =
		expected->verdict == VERDICT_ANSWER ? &expected->answer : frame;

	return expected->reason == XB_NAME_UNANSWERED || expected->reason == XB_NAME_LIMITED ||
	       (left->size == wanted->size && !memcmp(left->byte, wanted->byte, wanted->size));
}

static void check_frame(uint64_t number)
{
	static struct frame frame, left;
	static struct outcome expected;
	struct world *world = &worlds[number % WORLDS];
	struct tally *tally = &tallies[number % WORLDS];
	uint64_t bytes = 0;
	int verdict, reason;
	char what[200];

	make_frame(number, &frame);
	verdict = run_frame(world->program, &frame, &left);
	reason = reason_counted(world, tally, &bytes);
	reference(&world->rules, &frame, &expected);
	/* Which sources these are nobody can tell beforehand, for the keys are secret. */
	if (expected.may_hit && reason == XB_UNCONFIRMED)
		expected.reason = XB_UNCONFIRMED;
	if (world->rules.limit && expected.verdict == VERDICT_ANSWER && reason == XB_NAME_LIMITED)
		reference_limited(&frame, &expected);
	if (reason != (int)expected.reason) {
		snprintf(what, sizeof(what), "%s, the reference says %s", name_of(reason),
			 name_of((int)expected.reason));
		blame(world, number, &frame, what);
		return;
	}
	tally->reasons[reason]++;
	tally->verdicts[expected.verdict]++;
	snprintf(what, sizeof(what),
		 "%s, but verdict %d, %" PRIu64 " bytes counted, %" PRIu64 " expected%s",
		 name_of(reason), verdict, bytes, expected.counted,
		 is_left(&frame, &left, &expected) ? "" : ", and left as another frame");
	if (!is_verdict(verdict, expected.verdict) || bytes != expected.counted ||
	    !is_left(&frame, &left, &expected))
		blame(world, number, &frame, what);
}

static void find_out_buffers(void)
{
	static struct frame frame = {.size = 64, .first = 32}, left;

	several_buffers = run_frame(worlds[0].program, &frame, &left) >= 0;
	if (!several_buffers)
		printf("skip " SUITE
		       "several_buffers: test runs of this kernel do not take them as wished\n");
}

static uint64_t check_frames(uint64_t frames, uint64_t from)
{
	uint64_t done = 0;

	for (; done < frames && blames < BLAMES_MAX; done++) {
		check_frame(from + done);
		if (done % 4096 == 0 && isatty(STDERR_FILENO))
			fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " frames", done, frames);
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	return done;
}

static uint64_t reached(int reason)
{
	uint64_t frames = 0;

	for (int i = 0; i < WORLDS; i++)
		frames += tallies[i].reasons[reason];
	return frames;
}

static void print_reached(void)
{
	for (int reason = 0; reason < XB_REASON_COUNT; reason++)
		printf("  %-20s %10" PRIu64 "\n", name_of(reason), reached(reason));
	printf("\n  %-20s %10s %10s %10s\n", "", "passed", "dropped", "answered");
	for (int i = 0; i < WORLDS; i++) {
		const uint64_t *verdicts = tallies[i].verdicts;

		printf("  %-20s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n", worlds[i].name,
		       verdicts[VERDICT_PASS], verdicts[VERDICT_DROP], verdicts[VERDICT_ANSWER]);
	}
}

static bool tell(const char *check, bool fine, const char *why)
{
	printf("%s " SUITE "%s%s%s\n", fine ? "ok  " : "FAIL", check, fine ? "" : ": ",
	       fine ? "" : why);
	return fine;
}

/* The worlds have no limits: prog/test_limits asks for these. */
static bool can_reach(int reason)
{
	return reason != XB_LIMITED && reason != XB_OVER_COUNTED && reason != XB_OVER_TRUNCATED &&
	       (several_buffers || reason != XB_ETHERNET_SHORT);
}

static bool check_reasons(uint64_t frames)
{
	char why[512] = "not reached:";
	size_t fine = strlen(why);

	if (frames < ENOUGH) {
		printf("skip " SUITE "every_reason: %" PRIu64 " frames are too few\n", frames);
		return true;
	}
	for (int reason = 0; reason < XB_REASON_COUNT; reason++)
		if (!reached(reason) && can_reach(reason))
			snprintf(why + strlen(why), sizeof(why) - strlen(why), " %s",
				 name_of(reason));
	return tell("every_reason", strlen(why) == fine, why);
}

/* Of each hundred frames at least two are dropped or answered, and two pass, where there is a
 * filter that drops. */
static bool check_verdicts(uint64_t frames)
{
	char why[512] = "rare in:";
	size_t fine = strlen(why);

	if (frames < ENOUGH) {
		printf("skip " SUITE "both_verdicts: %" PRIu64 " frames are too few\n", frames);
		return true;
	}
	for (int i = 0; i < WORLDS; i++) {
		const struct rules *rules = &worlds[i].rules;
		uint64_t passed = tallies[i].verdicts[VERDICT_PASS],
			 other = tallies[i].verdicts[VERDICT_DROP] +
				 tallies[i].verdicts[VERDICT_ANSWER];

		if (rules->policy == POLICY_MONITOR) {
			other = tallies[i].reasons[XB_MONITORED];
			passed -= other;
		}
		if (rules->slot == SLOT_FILTER && (passed * 49 < other || other * 49 < passed))
			snprintf(why + strlen(why), sizeof(why) - strlen(why), " \"%s\"",
				 worlds[i].name);
	}
	return tell("both_verdicts", strlen(why) == fine, why);
}

/* How few there have to be, prog/test_innocent says. Of the frames here many are close together,
 * and hit for the same prefix. */
static bool check_hits(uint64_t frames)
{
	return tell("few_wrong_hits", reached(XB_UNCONFIRMED) <= frames / 50 + 10,
		    "more than one frame in fifty");
}

/* As many as in a second at once, and then at the limit's pace, on each CPU. */
static bool check_limits(double taken)
{
	char why[512] = "too many in:";
	size_t fine = strlen(why);
	double cpus = (double)libbpf_num_possible_cpus();

	for (int i = 0; i < WORLDS; i++) {
		double limit = worlds[i].rules.limit * (taken + 1) * cpus;

		if (worlds[i].rules.limit && (double)tallies[i].verdicts[VERDICT_ANSWER] > limit)
			snprintf(why + strlen(why), sizeof(why) - strlen(why), " \"%s\"",
				 worlds[i].name);
	}
	return tell("limited_answers", strlen(why) == fine, why);
}

static uint64_t number_of(const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 0);

	if (!*end)
		return number;
	fprintf(stderr, "not a number: %s\n", text);
	exit(2);
}

int main(int argc, char **argv)
{
	uint64_t frames, done;
	double start;
	bool fine;

	if (argc != 4) {
		fprintf(stderr, "usage: packets FRAMES SEED FROM; tests/packets/run does it\n");
		return 2;
	}
	leave_cgroups();
	frames = number_of(argv[1]);
	seed = number_of(argv[2]);
	universe = universe_new(seed);
	corpus_read("tests/packets/frames", &corpus);
	worlds_begin(worlds, universe);
	find_out_buffers();
	for (int i = 0; i < WORLDS; i++)
		xb_anchor_counts(&worlds[i].anchor, 0, &tallies[i].counts);
	start = seconds();
	done = check_frames(frames, number_of(argv[3]));
	print_reached();
	printf("%" PRIu64 " frames in %d configurations\n", done, WORLDS);
	fine = tell("same_as_the_reference", !blames, "see above");
	fine = check_reasons(done) && fine;
	fine = check_verdicts(done) && fine;
	fine = check_hits(done) && fine;
	fine = check_limits(seconds() - start) && fine;
	fine = tell("as_built_anew", worlds_are_as_built(worlds), "see above") && fine;
	worlds_end(worlds);
	corpus_free(&corpus);
	free(universe);
	return !fine;
}
