/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many domains, in the long run a million: all found, nothing else; and domains that come and go
 * while others are asked for. */
#include <stdbool.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "support/amount.h"
#include "support/cmocka.h"
#include "support/dns.h"
#include "support/rig.h"

#define MANY	   1000000
#define LISTED	   amount(100000, MANY)
#define FORM_BYTES 64 /* of the names made here, at most */
#define NAME_TEXT  80

/* Name number so and so: 2 to 5 labels of 6 to 11 letters, so that none falls on another or into
 * it. */
static void name_text(uint64_t number, char *out)
{
	uint64_t state = number * 0x2545f4914f6cdd1dULL + 1;
	int labels = 2 + (int)(rig_random(&state) % 4);

	for (int i = 0; i < labels; i++) {
		uint64_t bits = rig_random(&state);
		int length = 6 + (int)(bits % 6);

		bits >>= 3;
		for (int j = 0; j < length; j++, bits /= 26)
			*out++ = (char)('a' + bits % 26);
		*out++ = '.';
	}
	out[-1] = '\0';
}

struct names {
	struct xb_entry *entries;
	uint8_t (*forms)[FORM_BYTES];
	size_t count;
};

/* Names first to first + count - 1 as entries. */
static struct names names_make(uint64_t first, size_t count)
{
	struct names names = {.entries = calloc(count, sizeof(*names.entries)),
			      .forms = calloc(count, sizeof(*names.forms)),
			      .count = count};

	for (size_t i = 0; i < count; i++) {
		uint8_t form[XB_NAME_BYTES];
		char text[NAME_TEXT];

		name_text(first + i, text);
		assert_int_equal(xb_entry_parse(text, strlen(text), form, &names.entries[i], NULL),
				 0);
		assert_true(names.entries[i].length <= FORM_BYTES);
		memcpy(names.forms[i], form, names.entries[i].length);
		names.entries[i].name = names.forms[i];
	}
	return names;
}

static void names_free(struct names *names)
{
	free(names->entries);
	free(names->forms);
}

static uint32_t ask(int program, const char *name)
{
	struct dns_frame frame;

	dns_query(name, name[0] & 1, &frame);
	return rig_run(program, frame.byte, frame.size);
}

/* Every so many of them is asked for. */
static uint64_t pace(void)
{
	return amount(3, 1);
}

static void ask_all_listed(int program)
{
	for (uint64_t i = 0; i < LISTED; i += pace()) {
		char name[NAME_TEXT], child[2 * NAME_TEXT];

		name_text(i, name);
		if (ask(program, name) != XDP_DROP)
			fail_msg("%s passed", name);
		snprintf(child, sizeof(child), "%c%c.%s", 'a' + (int)(i % 26),
			 'A' + (int)(i / 26 % 26), name);
		if (ask(program, child) != XDP_DROP)
			fail_msg("%s passed", child);
	}
}

/* Near a listed name, or anything: above it, glued to it, beside it. */
static void unlisted_name(uint64_t number, char *out)
{
	switch (number % 4) {
	case 0:
		name_text(number, out);
		memmove(out, strchr(out, '.') + 1, strlen(strchr(out, '.')));
		return;
	case 1:
		name_text(number, out + 1);
		out[0] = (char)('a' + number / 4 % 26);
		return;
	case 2:
		name_text(number, out);
		out[number / 4 % 6] ^= 0x10; /* another letter, or what is none */
		return;
	default:
		name_text(MANY + number, out);
	}
}

static void ask_many_others(struct rig *rig, int program)
{
	struct xb_counts before, after;
	uint64_t asked = 0;

	rig_counts(rig, &before);
	for (uint64_t i = 0; i < LISTED; i += pace(), asked++) {
		char name[NAME_TEXT];

		unlisted_name(i, name);
		if (ask(program, name) != XDP_PASS)
			fail_msg("%s was dropped", name);
	}
	rig_counts(rig, &after);
	assert_int_equal(after.reason[XB_NAME_CLEAN].packets - before.reason[XB_NAME_CLEAN].packets,
			 asked);
}

TEST(many_domains)
{
	struct names names = names_make(0, LISTED);
	struct rig rig;
	int program;

	rig_begin(&rig, "many");
	program = rig_entry(&rig);
	rig_add_all(&rig, names.entries, names.count);
	ask_all_listed(program);
	ask_many_others(&rig, program);
	assert_true(rig_matches_rebuild(&rig));
	close(program);
	rig_end(&rig);
	names_free(&names);
}

/* ---- Changes while queries run ---- */

#define STABLE 64
#define BATCH  64

/* Frames of names that stay: listed, never listed, and in one list or two. */
struct asker {
	struct dns_frame listed[STABLE], unlisted[STABLE], joining;
	int program;
	uint64_t frames;
	uint64_t wrong[3];
	bool stop;
};

static void *ask_on(void *context)
{
	struct asker *asker = context;

	while (!__atomic_load_n(&asker->stop, __ATOMIC_ACQUIRE)) {
		const struct dns_frame *joining = &asker->joining;
		uint32_t verdict = rig_run(asker->program, joining->byte, joining->size);

		asker->wrong[2] += verdict != XDP_DROP && verdict != XDP_TX;
		for (int i = 0; i < STABLE; i++) {
			const struct dns_frame *listed = &asker->listed[i];
			const struct dns_frame *unlisted = &asker->unlisted[i];

			asker->wrong[0] +=
				rig_run(asker->program, listed->byte, listed->size) != XDP_DROP;
			asker->wrong[1] +=
				rig_run(asker->program, unlisted->byte, unlisted->size) != XDP_PASS;
		}
		asker->frames += 2 * STABLE + 1;
	}
	return NULL;
}

static void asker_begin(struct asker *asker, struct rig *rig)
{
	for (uint64_t i = 0; i < STABLE; i++) {
		char name[NAME_TEXT];

		name_text(i, name);
		dns_query(name, name[0] & 1, &asker->listed[i]);
		name_text(MANY + i, name);
		dns_query(name, name[0] & 1, &asker->unlisted[i]);
	}
	dns_query("a.joins.test", true, &asker->joining);
	asker->program = rig_entry(rig);
}

/* As many as the exact table takes before a new generation is built. */
static size_t names_room(struct rig *rig, uint64_t *identity)
{
	struct xb_generation *generation = rig_generation(rig);
	uint64_t capacity = generation->params.names.capacity;
	size_t room = capacity + capacity / 8 - generation->header->names_keys;

	*identity = generation->params.generation;
	xb_generation_close(generation);
	return room;
}

static void change_and_look(struct rig *rig, int program, const struct names *churn, size_t at,
			    bool listed)
{
	rig_change_all(rig, churn->entries + at, BATCH, listed);
	for (size_t i = 0; i < BATCH; i++) {
		char name[NAME_TEXT];

		name_text(2 * MANY + at + i, name);
		assert_int_equal(ask(program, name), listed ? XDP_DROP : XDP_PASS);
	}
}

static bool few_frames(const struct asker *asker)
{
	return __atomic_load_n(&asker->frames, __ATOMIC_RELAXED) <= 10000;
}

/* All in place, in the end at the fullest; until there were enough queries. No queries from here:
 * two that ran on one processor at once would share what a packet has for itself. */
static void churn_names(struct rig *rig, const struct names *churn, const struct asker *asker)
{
	uint8_t form[XB_NAME_BYTES];
	int rounds = (int)amount(100, 1500);
	struct xb_entry joins;

	assert_int_equal(xb_entry_parse("joins.test", 10, form, &joins, NULL), 0);
	for (size_t at = 0; at + BATCH <= churn->count; at += BATCH)
		rig_change_all(rig, churn->entries + at, BATCH, true);
	for (int i = 0; i < rounds || (few_frames(asker) && i < 20 * rounds); i++) {
		size_t at = (size_t)i % (churn->count / BATCH) * BATCH;

		rig_change_all(rig, churn->entries + at, BATCH, false);
		rig_change_all(rig, churn->entries + at, BATCH, true);
		if (i % 2)
			rig_change_all(rig, &joins, 1, true);
		else
			rig_del(rig, "joins.test", "default");
	}
}

static void check_churned(struct rig *rig, struct names *churn, uint64_t identity)
{
	struct xb_generation *after = rig_generation(rig);
	int program = rig_entry(rig);

	assert_int_equal(after->params.generation, identity);
	assert_int_equal(xb_generation_map_all(after), 0);
	printf("%lu domains, %lu moves\n", after->header->names_keys,
	       rig_moves(&after->confirm_names));
	assert_true(rig_moves(&after->confirm_names) > amount(200, 1000));
	xb_generation_close(after);
	assert_true(rig_matches_rebuild(rig));
	for (size_t at = 0; at + BATCH <= churn->count; at += BATCH)
		change_and_look(rig, program, churn, at, false);
	change_and_look(rig, program, churn, 0, true);
	assert_true(rig_matches_rebuild(rig));
	close(program);
}

TEST(changes_while_queries_run)
{
	static struct asker asker;
	struct names stable = names_make(0, amount(2000, 20000)), churn;
	pthread_t thread;
	uint64_t identity;
	struct rig rig;

	rig_begin(&rig, "changes");
	rig_verdict(&rig, "refused", XB_DOMAIN_REFUSED);
	rig_add_all(&rig, stable.entries, stable.count);
	rig_add(&rig, "joins.test", "refused");
	churn = names_make(2 * MANY, names_room(&rig, &identity) / BATCH * BATCH);
	asker_begin(&asker, &rig);
	assert_int_equal(pthread_create(&thread, NULL, ask_on, &asker), 0);
	churn_names(&rig, &churn, &asker);
	__atomic_store_n(&asker.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	printf("%lu queries\n", asker.frames);
	assert_int_equal(asker.wrong[0], 0);
	assert_int_equal(asker.wrong[1], 0);
	assert_int_equal(asker.wrong[2], 0);
	assert_false(few_frames(&asker));
	check_churned(&rig, &churn, identity);
	close(asker.program);
	rig_end(&rig);
	names_free(&stable);
	names_free(&churn);
}

/* More allowed domains than there was room for when the generation was built, in place and anew. */
TEST(more_allowed_than_there_was_room_for)
{
	struct names names = names_make(0, 3000);
	struct rig rig;
	int program;

	rig_begin(&rig, "allowed");
	program = rig_entry(&rig);
	rig_add_all(&rig, names.entries, names.count);
	for (size_t i = 0; i < names.count; i++)
		names.entries[i] = xb_entry_allow(&names.entries[i]);
	for (int allowed = 1; allowed >= 0; allowed--) {
		for (size_t i = 0; i < names.count; i += 100)
			rig_change_all(&rig, &names.entries[i], 100, allowed);
		for (size_t i = 0; i < names.count; i++) {
			char name[NAME_TEXT];

			name_text(i, name);
			if (ask(program, name) != (allowed ? XDP_PASS : XDP_DROP))
				fail_msg("%s, allowed %d", name, allowed);
		}
		assert_true(rig_matches_rebuild(&rig));
	}
	close(program);
	rig_end(&rig);
	names_free(&names);
}
