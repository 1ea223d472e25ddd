/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that lists except: the verdict of a query is the strictest of each list's own most specific
 * entry, by a model of its own, after and during each change. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "filter/apply.h"
#include "store/expiry.h"
#include "store/listverdict.h"
#include "store/membership.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/counted_reason.h"
#include "support/dns.h"
#include "support/random.h"
#include "support/rig.h"

#define LISTS	  6
#define ENTRIES	  amount(20000, 100000)
#define CHANGES	  amount(150, 1000)
#define NAME_TEXT 128

static struct rig rig;
static int program;
static struct xb_anchor anchor; /* open throughout: it counts twice for each question */

/* --- the model ------------------------------------------------------------------------------ */

static const char *const list_names[LISTS] = {"a", "b", "c", "d", "e", "f"};
static uint32_t verdicts[LISTS] = {XB_DOMAIN_DROP,     XB_DOMAIN_REFUSED, XB_DOMAIN_NXDOMAIN,
				   XB_DOMAIN_TRUNCATE, XB_DOMAIN_COUNT,	  XB_DOMAIN_DROP};

/* What lists say of a name, a bit for each. text: "=" in front of a name alone. */
struct said {
	char text[NAME_TEXT];
	uint8_t lists, excepts;
};

static struct said **said; /* in the order in which they came */
static size_t said_count, said_room;
static struct hsearch_data index_of;

static struct said *find(const char *text)
{
	ENTRY *found;

	return hsearch_r((ENTRY){.key = (char *)(uintptr_t)text}, FIND, &found, &index_of)
		       ? found->data
		       : NULL;
}

static struct said *need(const char *text)
{
	struct said *one = find(text);
	ENTRY *entered;

	if (one)
		return one;
	if (said_count == said_room) {
		said_room = said_room ? 2 * said_room : 1024;
		said = realloc(said, said_room * sizeof(struct said *));
	}
	one = said[said_count++] = calloc(1, sizeof(*one));
	snprintf(one->text, sizeof(one->text), "%s", text);
	assert_true(hsearch_r((ENTRY){one->text, one}, ENTER, &entered, &index_of));
	return one;
}

/* Lists that have not decided yet do by what they say here. */
static void decide(const struct said *one, uint8_t *decided, uint32_t *strictest)
{
	for (int list = 0; one && list < LISTS; list++) {
		uint8_t bit = (uint8_t)(1U << list);

		if (*decided & bit || !((one->lists | one->excepts) & bit))
			continue;
		*decided |= bit;
		if (!(one->excepts & bit) && verdicts[list] < *strictest)
			*strictest = verdicts[list];
	}
}

/* Of a query: by the name alone, then the name, and each domain above it. */
static uint32_t expected(const char *name)
{
	uint32_t strictest = XB_DOMAIN_VERDICTS;
	uint8_t decided = 0;
	char exact[NAME_TEXT + 1];

	snprintf(exact, sizeof(exact), "=%s", name);
	decide(find(exact), &decided, &strictest);
	for (const char *at = name; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
		decide(find(at), &decided, &strictest);
	return strictest;
}

/* Says what the model knows of the name. */
static void tell(const char *name)
{
	char exact[NAME_TEXT + 1];
	const char *at = exact;

	snprintf(exact, sizeof(exact), "=%s", name);
	while (at) {
		const struct said *one = find(at);

		if (one)
			printf("%s: listed %#x, excepted %#x\n", at, one->lists, one->excepts);
		at = at == exact ? name : strchr(at, '.') ? strchr(at, '.') + 1 : NULL;
	}
	for (int list = 0; list < LISTS; list++)
		printf("list %d has verdict %u\n", list, verdicts[list]);
	fflush(stdout);
}

/* --- names by chance: few labels at each level, so that many lie in each other -------------- */

static void random_name(char *out)
{
	static const uint32_t choices[] = {3, 60, 40, 20, 8, 4, 3};
	uint32_t levels = 1 + random_word() % 7, used = 0;
	char labels[7][16];

	/* Of a top-level domain nearly all would hang. */
	if (levels == 1 && random_word() % 64)
		levels = 2 + random_word() % 3;
	for (uint32_t i = 0; i < levels; i++)
		snprintf(labels[i], sizeof(labels[i]), "%c%u", 'a' + (int)i,
			 random_word() % choices[i]);
	for (uint32_t i = levels; i > 0; i--)
		used += (uint32_t)sprintf(out + used, "%s%s", labels[i - 1], i > 1 ? "." : "");
}

/* --- changes -------------------------------------------------------------------------------- */

struct op {
	char text[NAME_TEXT];
	int list;
	bool add, excepts, expires;
};

struct batch {
	struct op op[40];
	size_t count;
};

static int do_op(struct xb_writer *writer, const struct op *op)
{
	struct xb_membership member = {.added = writer->now, .comment = ""};
	char text[NAME_TEXT + 1];
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	enum xb_removal removal;
	struct xb_list *list;
	enum xb_put put;
	int error;

	snprintf(text, sizeof(text), "%s%s", op->excepts ? "!" : "", op->text);
	error = xb_entry_parse_listed(text, strlen(text), form, &entry, NULL);
	if (!error)
		error = xb_list_need(writer->txn, list_names[op->list], &list);
	if (error)
		return error;
	member.list = list->id;
	if (op->add)
		return xb_member_put(writer->txn, &entry, &member, 0, &put);
	return (op->expires ? xb_member_expire : xb_member_remove)(writer->txn, &entry, list->id,
								   &removal);
}

static int batch_body(struct xb_writer *writer, void *context)
{
	const struct batch *batch = context;
	int error = 0;

	for (size_t i = 0; !error && i < batch->count; i++)
		error = do_op(writer, &batch->op[i]);
	return error;
}

static void note(const struct op *op)
{
	struct said *one = need(op->text);
	uint8_t *of = op->excepts ? &one->excepts : &one->lists, bit = (uint8_t)(1U << op->list);

	*of = (uint8_t)(op->add ? *of | bit : *of & ~bit);
}

static struct op random_op(void)
{
	struct op op = {.list = (int)(random_word() % LISTS),
			.excepts = random_word() % 2,
			.add = random_word() % 2,
			.expires = random_word() % 4 == 0};
	const struct said *one = said[random_word() % said_count];

	if (random_word() % 3 == 0) {
		random_name(op.text + 1);
		if (random_word() % 4)
			memmove(op.text, op.text + 1, strlen(op.text + 1) + 1);
		else
			op.text[0] = '=';
	} else {
		strcpy(op.text, one->text);
	}
	/* What is there goes. */
	one = find(op.text);
	if (!op.add && one && (one->lists | one->excepts)) {
		op.excepts = one->excepts && (!one->lists || op.excepts);
		while (!((op.excepts ? one->excepts : one->lists) >> op.list & 1))
			op.list = (op.list + 1) % LISTS;
	}
	return op;
}

/* A few entries near each other at once, as an update of a list has them. */
static void widen(struct batch *batch)
{
	const struct op first = batch->op[0];
	const char *base = first.text + (first.text[0] == '=');
	size_t more = random_word() % 12;

	while (more--) {
		struct op *op = &batch->op[batch->count++];
		const char *dot = strchr(base, '.');

		*op = random_op();
		if (random_word() % 4 == 0)
			continue;
		op->list = random_word() % 3 ? first.list : op->list;
		op->add = random_word() % 2;
		if (random_word() % 2 && strlen(base) < NAME_TEXT - 16)
			snprintf(op->text, sizeof(op->text), "%sg%u.%s",
				 random_word() % 3 ? "" : "=", random_word() % 3, base);
		else
			snprintf(op->text, sizeof(op->text), "%s", dot ? dot + 1 : base);
	}
}

/* --- what the program says ------------------------------------------------------------------ */

static uint32_t ask(const char *name)
{
	struct xb_counts before, after;
	struct dns_frame frame;
	int reason;

	dns_query(name, name[1] & 1, &frame);
	rig_must(xb_anchor_counts(&anchor, 0, &before), "counts");
	rig_run(program, frame.byte, frame.size);
	rig_must(xb_anchor_counts(&anchor, 0, &after), "counts");
	reason = counted_reason(&before, &after);
	return reason >= XB_NAME_DROPPED && reason < XB_NAME_DROPPED + XB_DOMAIN_VERDICTS
		       ? (uint32_t)(reason - XB_NAME_DROPPED)
		       : XB_DOMAIN_VERDICTS;
}

#define PROBES 80

static struct probe {
	char name[NAME_TEXT];
	uint32_t before, after;
} probes[PROBES];
static size_t probe_count;
static uint64_t steps, step, in_place, anew;

static void probe(const char *name)
{
	if (probe_count == PROBES || !*name || strlen(name) >= NAME_TEXT - 8)
		return;
	snprintf(probes[probe_count].name, NAME_TEXT, "%s", name);
	probes[probe_count].before = expected(name);
	probe_count++;
}

/* At the changed name, below it, above it; and others. */
static void choose_probes(const struct batch *batch)
{
	char below[2 * NAME_TEXT];

	probe_count = 0;
	for (size_t i = 0; i < batch->count; i++) {
		const char *name = batch->op[i].text + (batch->op[i].text[0] == '=');
		const char *dot = strchr(name, '.');

		probe(name);
		snprintf(below, NAME_TEXT + 8, "x.%s", name);
		probe(below);
		if (dot)
			probe(dot + 1);
	}
	for (size_t tried = 0, at = 0; tried < 2000 && probe_count < PROBES - 20; tried++) {
		const char *name = batch->op[at].text;
		const char *other = said[random_word() % said_count]->text;
		size_t size, longer;

		name += *name == '=';
		other += *other == '=';
		size = strlen(name);
		longer = strlen(other);
		if (longer > size && !strcmp(other + longer - size, name))
			probe(other);
		at = at + 1 < batch->count ? at + 1 : 0;
	}
	while (probe_count < PROBES) {
		char name[NAME_TEXT];

		random_name(name);
		probe(name);
	}
}

static void wrong(const char *when, const char *name, uint32_t verdict)
{
	tell(name);
	fail_msg("%s: %s is %u, not %u", when, name, ask(name), verdict);
}

static void check_step(void)
{
	/* The first ones are in the order that matters; what lies below a name of many is long. */
	steps++;
	if (++step > 24 && step % 64)
		return;
	for (size_t i = steps % 3; i < probe_count; i += 3) {
		uint32_t now = ask(probes[i].name), before = probes[i].before,
			 after = probes[i].after;

		/* Of several lists, one after the other may make it stricter, or less so. */
		if (now < (before < after ? before : after) ||
		    now > (before > after ? before : after))
			fail_msg("%s: %u in step %llu, before %u, after %u", probes[i].name, now,
				 (unsigned long long)steps, before, after);
	}
}

static void check_after(const char *what)
{
	for (size_t i = 0; i < probe_count; i++)
		if (ask(probes[i].name) != probes[i].after)
			wrong(what, probes[i].name, probes[i].after);
}

static void change(void)
{
	struct batch batch = {.count = 1};
	step = 0;

	batch.op[0] = random_op();
	if (random_word() % 2)
		widen(&batch);
	choose_probes(&batch);
	for (size_t i = 0; i < batch.count; i++)
		note(&batch.op[i]);
	for (size_t i = 0; i < probe_count; i++)
		probes[i].after = expected(probes[i].name);
	xb_apply_stepped = check_step;
	rig_must(xb_write(&rig.paths, 0, batch_body, &batch, &rig.written), "change");
	xb_apply_stepped = NULL;
	in_place += step > 0;
	anew += !step;
	check_after(batch.op[0].text);
}

static void check_some(void)
{
	for (uint32_t i = 0; i < 2000; i++) {
		const char *name = said[random_word() % said_count]->text;

		name += *name == '=';
		if (ask(name) != expected(name))
			wrong("what was listed", name, expected(name));
	}
}

static void change_verdict(void)
{
	uint32_t list = random_word() % LISTS;

	verdicts[list] = random_word() % XB_DOMAIN_VERDICTS;
	rig_verdict(&rig, list_names[list], verdicts[list]);
	check_some();
}

/* A writer may call it twice. */
static int fill_body(struct xb_writer *writer, void *context)
{
	const struct op *ops = context;
	int error = 0;

	for (int list = 0; !error && list < LISTS; list++) {
		struct xb_list *of;

		error = xb_list_need(writer->txn, list_names[list], &of);
		if (!error)
			error = xb_domain_verdict_set(writer->txn, of, verdicts[list]);
	}
	for (uint32_t i = 0; !error && i < ENTRIES; i++)
		error = do_op(writer, &ops[i]);
	return error;
}

static void fill(void)
{
	struct op *ops = calloc(ENTRIES, sizeof(*ops));

	for (uint32_t i = 0; i < ENTRIES; i++) {
		ops[i] = random_op();
		ops[i].add = true;
		note(&ops[i]);
	}
	rig_must(xb_write(&rig.paths, 0, fill_body, ops, &rig.written), "fill");
	free(ops);
}

TEST(each_list_decides_for_itself)
{
	memset(&index_of, 0, sizeof(index_of));
	assert_true(hcreate_r(400000, &index_of));
	need("a0");
	fill();
	check_some();
	for (uint32_t i = 0; i < CHANGES; i++) {
		change();
		if (i % 97 == 50)
			change_verdict();
		if (i % 300 == 299)
			assert_true(rig_matches_rebuild(&rig));
	}
	printf("%zu names, %llu changes in place of %llu steps, %llu by a new filter\n", said_count,
	       (unsigned long long)in_place, (unsigned long long)steps, (unsigned long long)anew);
	assert_true(rig_matches_rebuild(&rig));
}

static int begin(void **state)
{
	(void)state;
	random_begin();
	rig_begin(&rig, "exceptions");
	program = rig_entry(&rig);
	rig_must(xb_anchor_open(rig.pins, &anchor), "link");
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(program);
	xb_anchor_close(&anchor);
	rig_end(&rig);
	return 0;
}

ALL_TESTS(begin, end);
