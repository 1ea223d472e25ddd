/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/plan.h"

#include <stdlib.h>

#include "base/error.h"
#include "bloomset/behind.h"
#include "bloomset/parts.h"
#include "bloomset/sieve.h"
#include "bloomset/table.h"

/* A share of memory holds what can go to disk, and gives way to a line and its copy. */
#define LEFT_TO_GIVE_WAY 4
#define LINE_SHARE	 8

#define PACKED_GROWS   4 /* times: a guess */
#define UNPACKING_MOST ((uint64_t)128 << 20)

static int look(struct plan *plan, struct input *inputs, uint32_t count,
		struct input_sample *samples)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < count; i++) {
		error = input_look(&inputs[i]);
		if (error)
			break;
		plan->bytes += inputs[i].size;
		plan->unknown |= !inputs[i].size && !inputs[i].again;
		plan->guessed |= inputs[i].packed;
		if (inputs[i].again)
			error = input_sample(&inputs[i], &samples[i]);
	}
	return error;
}

/* Unpacked. */
static uint64_t bytes_of(const struct input *input)
{
	return input->packed ? input->size * PACKED_GROWS : input->size;
}

/* Which form most lines have. Of pipes nobody knows; addresses are what lists have most. */
static enum number_form choose_form(const struct plan *plan, const struct input *inputs,
				    uint32_t count, const struct input_sample *samples, bool lines)
{
	double addresses = 0, integers = 0, others = 0;
	bool seen = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct input_sample *sample = &samples[i];
		double weight = (double)bytes_of(&inputs[i]) / (double)(sample->bytes ?: 1);

		seen |= sample->lines > 0;
		addresses += weight * (double)sample->addresses;
		integers += weight * (double)sample->integers;
		others += weight * (double)(sample->lines - sample->addresses - sample->integers);
	}
	if (!values_width(&plan->rule))
		return NUMBERS_NONE;
	if (!seen)
		return NUMBERS_ADDRESSES;
	if (addresses >= integers && addresses >= others / 8 && addresses > 0)
		return NUMBERS_ADDRESSES;
	return lines && integers > others / 8 ? NUMBERS_INTEGERS : NUMBERS_NONE;
}

/* How many lines of texts and of numbers there will be. */
static void expect(struct plan *plan, struct input *inputs, uint32_t count,
		   const struct input_sample *samples)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct input_sample *sample = &samples[i];
		uint64_t numbers = plan->numbers == NUMBERS_ADDRESSES  ? sample->addresses
				   : plan->numbers == NUMBERS_INTEGERS ? sample->integers
								       : 0;
		double weight = (double)bytes_of(&inputs[i]) / (double)(sample->bytes ?: 1);

		if (!sample->lines) {
			inputs[i].text_bytes = inputs[i].size * PACKED_GROWS;
			inputs[i].text_lines = inputs[i].text_bytes / 16;
		} else {
			double share = (double)(sample->lines - numbers) / (double)sample->lines;

			plan->number_lines += (uint64_t)((double)numbers * weight);
			inputs[i].text_lines =
				(uint64_t)((double)(sample->lines - numbers) * weight);
			inputs[i].text_bytes = (uint64_t)((double)bytes_of(&inputs[i]) * share);
		}
		plan->text_bytes += inputs[i].text_bytes;
		plan->text_lines += inputs[i].text_lines;
	}
}

static struct step *add(struct plan *plan, uint32_t input, enum step_action action)
{
	struct step *step = &plan->steps[plan->count++];

	*step = (struct step){.input = input, .action = action, .from = -1, .clears = -1};
	return step;
}

static void sift(struct plan *plan, uint32_t input, int from, int to, bool gives)
{
	struct step *step = add(plan, input, STEP_SIFT);

	step->from = from;
	step->to = to;
	step->gives = gives;
}

static void level(struct plan *plan, uint32_t input, int last)
{
	add(plan, input, STEP_LEVEL)->to = last;
}

static void chain(struct plan *plan, uint32_t input, int from, int to, bool keeps)
{
	struct step *step = add(plan, input, STEP_CHAIN);

	step->from = from;
	step->to = to;
	step->keeps = keeps;
}

/* What occurs twice, or seems to, is in the second sieve at the end. */
static void schedule_levels(struct plan *plan, int last, bool gives)
{
	plan->sieves = (uint32_t)last + 1;
	for (uint32_t i = 0; i < plan->rule.files; i++)
		level(plan, i, last);
	for (uint32_t i = 0; i < plan->rule.files; i++)
		sift(plan, i, last, last, gives);
}

/* Each sieve has what may be in all files so far. */
static void schedule_all(struct plan *plan)
{
	uint32_t last = plan->rule.files - 1;

	plan->sieves = 2;
	for (uint32_t i = 0; i <= last; i++) {
		chain(plan, i, i ? (int)(i - 1) % 2 : -1, (int)(i % 2), i == last);
		if (i > 1)
			plan->steps[plan->count - 1].clears = (int)(i % 2);
	}
	for (uint32_t i = 0; i < last; i++)
		sift(plan, i, (int)(last % 2), (int)(last % 2), false);
}

static void schedule_first(struct plan *plan)
{
	plan->sieves = 3;
	level(plan, 0, 1);
	for (uint32_t i = 1; i < plan->rule.files; i++)
		chain(plan, i, 0, 2, true);
	sift(plan, 0, 1, 2, true);
}

static void schedule_keep(struct plan *plan)
{
	plan->sieves = 0;
	plan->count = 0;
	for (uint32_t i = 0; i < plan->rule.files; i++)
		add(plan, i, STEP_KEEP);
}

static void schedule(struct plan *plan)
{
	const struct rule *rule = &plan->rule;
	int last = rule->least < PLAN_SIEVES ? (int)rule->least - 1 : PLAN_SIEVES - 1;

	switch (rule->kind) {
	case RULE_ANY:
	case RULE_ONCE:
		schedule_levels(plan, 1, true);
		break;
	case RULE_LEAST:
		schedule_levels(plan, last, false);
		break;
	case RULE_ALL:
		schedule_all(plan);
		break;
	case RULE_FIRST:
		schedule_first(plan);
		break;
	}
}

/* Whether what is read twice can be. */
static bool is_possible(const struct plan *plan, const struct input *inputs)
{
	for (size_t i = 0; i < plan->count; i++)
		for (size_t j = 0; j < i; j++)
			if (plan->steps[i].input == plan->steps[j].input &&
			    !inputs[plan->steps[i].input].again)
				return false;
	return true;
}

/* How many keys a sieve may have to hold. */
static uint64_t keys_of(const struct plan *plan, const struct input *inputs, uint32_t sieve)
{
	switch (plan->rule.kind) {
	case RULE_ALL:
		return inputs[sieve].text_lines;
	case RULE_FIRST:
		return inputs[0].text_lines;
	default:
		return plan->text_lines;
	}
}

/* The first sieve sees most texts. */
static void share_out(struct plan *plan, const struct input *inputs)
{
	uint64_t left = plan->text_memory > plan->pool ? plan->text_memory - plan->pool : 0;

	for (uint32_t i = 0; i < plan->sieves; i++) {
		struct plan_sieve *sieve = &plan->sieve[i];
		uint64_t share = i + 1 < plan->sieves ? left / 2 : left;

		sieve->keys = keys_of(plan, inputs, i);
		sieve->bytes = share < sieve_bytes(sieve->keys) ? share : sieve_bytes(sieve->keys);
		left -= sieve->bytes;
	}
}

/* Numbers that are parted by their upper bits are compared in the processor's caches: as long as
 * there is memory for them, that is faster than a bit or two for each that there could be. */
static void plan_numbers(struct plan *plan)
{
	uint64_t bytes = plan->numbers ? values_bytes(&plan->rule, PARTS_NUMBERS) : 0;
	uint64_t parted = plan->number_lines * PARTS_NUMBER_BYTES * (plan->guessed ? 2 : 1);

	plan->number_bytes = bytes;
	parted += parted / 16 + plan->memory / 16;
	if (!bytes)
		plan->number_pool = 0;
	else if (!plan->unknown && parted <= plan->memory / 4 * 3)
		plan->number_pool = parted;
	else if (bytes + plan->memory / LEFT_TO_GIVE_WAY <= plan->memory)
		plan->bits = true;
	else
		plan->number_pool = plan->memory / 4;
	plan->text_memory = plan->memory - (plan->bits ? bytes : plan->number_pool);
}

static void plan_texts(struct plan *plan, const struct input *inputs)
{
	uint64_t least = plan->bits ? plan->memory / LEFT_TO_GIVE_WAY : 0;
	bool fits = !plan->unknown && plan->text_bytes < plan->text_memory / 3;

	plan->pool = plan->text_memory / 2;
	schedule(plan);
	if (fits || !plan->text_bytes || least > plan->text_memory / 2 ||
	    !is_possible(plan, inputs)) {
		schedule_keep(plan);
		return;
	}
	plan->pool = plan->text_memory / 4 > least ? plan->text_memory / 4 : least;
	share_out(plan, inputs);
}

static int by_size(const void *a, const void *b)
{
	const struct input *first = a, *second = b;

	/* What cannot be read again comes last, and is read once. */
	if (first->again != second->again)
		return first->again ? -1 : 1;
	return (first->size > second->size) - (first->size < second->size);
}

/* What unpacking takes is no more there for the rest. (The least is so little that it counts as the
 * program's own.) */
static uint64_t plan_unpacking(struct plan *plan, const struct input *inputs, uint32_t count)
{
	uint64_t share = plan->memory / 8 < UNPACKING_MOST ? plan->memory / 8 : UNPACKING_MOST;
	bool packed = false;

	for (uint32_t i = 0; i < count; i++)
		packed |= inputs[i].packed || !inputs[i].again;
	if (!packed || share <= INPUT_UNPACKING_LEAST)
		return INPUT_UNPACKING_LEAST;
	plan->memory -= share;
	return share;
}

static uint64_t line_most(const struct plan *plan)
{
	uint64_t most = (plan->memory + PLAN_KINDS * plan->behind) / LINE_SHARE;

	return most < TABLE_TEXT_MOST ? most : TABLE_TEXT_MOST;
}

int plan_make(struct plan *plan, uint64_t memory, struct input *inputs, uint32_t count,
	      struct input_terms *terms)
{
	struct input_sample *samples = calloc(count, sizeof(*samples));
	int error;

	plan->behind = behind_memory(memory);
	plan->memory = memory - PLAN_KINDS * plan->behind;
	plan->steps = calloc(2 * (size_t)count, sizeof(*plan->steps));
	error = samples && plan->steps ? look(plan, inputs, count, samples) : xb_out_of_memory();
	if (!error) {
		plan->numbers = choose_form(plan, inputs, count, samples, terms->lines);
		expect(plan, inputs, count, samples);
		if (plan->rule.kind == RULE_ALL)
			qsort(inputs, count, sizeof(*inputs), by_size);
		for (uint32_t i = 0; i < count; i++)
			inputs[i].number = i;
		terms->unpacking = plan_unpacking(plan, inputs, count);
		plan_numbers(plan);
		plan_texts(plan, inputs);
		terms->numbers = plan->numbers;
		terms->most = line_most(plan);
	}
	free(samples);
	return error;
}

void plan_free(struct plan *plan)
{
	free(plan->steps);
	plan->steps = NULL;
}

uint64_t plan_reads(const struct plan *plan, const struct input *inputs)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < plan->count; i++)
		bytes += inputs[plan->steps[i].input].size;
	return bytes;
}
