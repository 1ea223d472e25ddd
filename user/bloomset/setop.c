/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/setop.h"

#include "base/error.h"
#include "bloomset/parts.h"
#include "bloomset/prefetch.h"
#include "bloomset/sieve.h"
#include "bloomset/spill.h"
#include "bloomset/texthash.h"
#include "bloomset/values.h"

#define MANY_NUMBERS 4000000 /* from here on most pages will be needed */

struct run {
	const struct plan *plan;
	struct budget budget;
	struct input_terms terms;
	struct output *output;
	struct sieve sieves[PLAN_SIEVES];
	struct values values;
	struct spill texts, numbers;
	const struct step *step;
	const struct input *input;
};

static int keep(struct run *run, const struct record *record)
{
	return spill_put(&run->texts, parts_stream(&run->texts, record->hash, 0),
			 run->input->number, record->text, record->size);
}

static int keep_all(struct run *run, const struct batch *batch)
{
	int stop = 0;

	for (size_t i = 0; !stop && i < batch->records_count; i++)
		stop = keep(run, &batch->records[i]);
	return stop;
}

PREFETCHES fetch(const struct sieve *sieve, const struct batch *batch)
{
	for (size_t i = 0; i < batch->records_count; i++)
		sieve_prefetch(sieve, batch->records[i].hash);
}

/* What seems to be in a sieve goes on to the next one, which is fetched meanwhile. */
static void take_level(struct run *run, const struct batch *batch)
{
	uint64_t hashes[BATCH_RECORDS];
	size_t count = batch->records_count, again;

	fetch(&run->sieves[0], batch);
	for (size_t i = 0; i < count; i++)
		hashes[i] = batch->records[i].hash;
	for (int level = 0; count && level <= run->step->to; level++, count = again) {
		again = 0;
		for (size_t i = 0; i < count; i++) {
			if (!sieve_add(&run->sieves[level], hashes[i]))
				continue;
			if (level < run->step->to)
				sieve_prefetch(&run->sieves[level + 1], hashes[i]);
			hashes[again++] = hashes[i];
		}
	}
}

static int take_chain(struct run *run, const struct batch *batch)
{
	const struct step *step = run->step;
	const struct sieve *from = step->from < 0 ? NULL : &run->sieves[step->from];
	struct sieve *to = &run->sieves[step->to];
	int stop = 0;

	fetch(from ?: to, batch);
	for (size_t i = 0; !stop && i < batch->records_count; i++) {
		const struct record *record = &batch->records[i];

		if (from && !sieve_has(from, record->hash))
			continue;
		sieve_add(to, record->hash);
		if (step->keeps)
			stop = keep(run, record);
	}
	return stop;
}

static bool is_sifted(const struct run *run, uint64_t hash)
{
	for (int i = run->step->from; i <= run->step->to; i++)
		if (sieve_has(&run->sieves[i], hash))
			return true;
	return false;
}

static int take_sift(struct run *run, const struct batch *batch)
{
	int stop = 0;

	for (int i = run->step->from; i <= run->step->to; i++)
		fetch(&run->sieves[i], batch);
	for (size_t i = 0; !stop && i < batch->records_count; i++) {
		const struct record *record = &batch->records[i];

		if (is_sifted(run, record->hash))
			stop = keep(run, record);
		else if (run->step->gives)
			stop = output_line(run->output, record->text, record->size);
	}
	return stop;
}

static int keep_numbers(struct run *run, const struct batch *batch)
{
	int stop = 0;

	for (size_t i = 0; !stop && i < batch->numbers_count; i++)
		stop = parts_put_number(&run->numbers, run->input->number, batch->numbers[i]);
	return stop;
}

static int take_numbers(struct run *run, const struct batch *batch)
{
	if (run->input->readings || !batch->numbers_count)
		return 0;
	if (!run->plan->bits)
		return keep_numbers(run, batch);
	values_take(&run->values, run->input->number, batch->numbers, batch->numbers_count);
	return 0;
}

static int take(void *to, const struct batch *batch)
{
	struct run *run = to;
	int stop = take_numbers(run, batch);

	if (stop || !batch->records_count)
		return stop;
	switch (run->step->action) {
	case STEP_KEEP:
		return keep_all(run, batch);
	case STEP_LEVEL:
		take_level(run, batch);
		return 0;
	case STEP_CHAIN:
		return take_chain(run, batch);
	case STEP_SIFT:
		return take_sift(run, batch);
	}
	return 0;
}

/* What is in memory may as well go to disk, if a line or a list needs the room. */
static int give_way(void *to, uint64_t bytes)
{
	struct run *run = to;
	int error = spill_give_way(&run->texts, bytes);

	return error ?: spill_give_way(&run->numbers, bytes);
}

static int open_sieves(struct run *run)
{
	const struct plan *plan = run->plan;
	int error = 0;

	for (uint32_t i = 0; !error && i < plan->sieves; i++) {
		error = sieve_open(&run->sieves[i], plan->sieve[i].keys, plan->sieve[i].bytes);
		budget_use(&run->budget, error ? 0 : plan->sieve[i].bytes);
	}
	return error;
}

static int open_numbers(struct run *run)
{
	const struct plan *plan = run->plan;

	if (!plan->numbers)
		return 0;
	if (!plan->bits)
		return spill_open(&run->numbers, parts_number_streams(&plan->rule, plan->memory),
				  plan->number_pool, &run->budget);
	budget_use(&run->budget, plan->number_bytes);
	return values_open(&run->values, &plan->rule, PARTS_NUMBERS,
			   plan->number_lines > MANY_NUMBERS);
}

static int open_all(struct run *run)
{
	const struct plan *plan = run->plan;
	int error;

	run->budget = (struct budget){
		.size = plan->memory + PLAN_KINDS * plan->behind + PLAN_BESIDE, .to = run};
	run->terms.budget = &run->budget;
	budget_use(&run->budget, run->output->memory);
	error = spill_open(&run->texts, parts_streams(plan->pool), plan->pool, &run->budget);
	if (!error)
		error = open_numbers(run);
	if (!error)
		error = open_sieves(run);
	run->budget.give_way = give_way;
	return error;
}

static void close_sieves(struct run *run)
{
	for (uint32_t i = 0; i < PLAN_SIEVES; i++) {
		if (run->sieves[i].words)
			budget_return(&run->budget, run->plan->sieve[i].bytes);
		sieve_close(&run->sieves[i]);
	}
}

static int read_inputs(struct run *run, struct input *inputs, struct setop_done *done)
{
	int stop = 0;

	for (size_t i = 0; !stop && i < run->plan->count; i++) {
		const struct step *step = &run->plan->steps[i];
		struct input *input = &inputs[step->input];

		if (step->clears >= 0)
			sieve_clear(&run->sieves[step->clears]);
		run->step = step;
		run->input = input;
		stop = input_read(input, &run->terms, take, run);
		done->read += input->bytes;
	}
	return stop;
}

static int give_address(void *to, uint32_t number)
{
	return output_address(to, number);
}

static int give_integer(void *to, uint32_t number)
{
	return output_integer(to, number);
}

static int give_numbers(struct run *run)
{
	values_giver *give = run->plan->numbers == NUMBERS_ADDRESSES ? give_address : give_integer;
	int stop;

	if (!run->plan->numbers)
		return 0;
	if (!run->plan->bits)
		return parts_give_numbers(&run->numbers, &run->plan->rule, give, run->output);
	stop = values_give(&run->values, give, run->output);
	values_close(&run->values);
	budget_return(&run->budget, run->plan->number_bytes);
	return stop;
}

static int give_all(struct run *run, struct setop_done *done)
{
	int stop;

	close_sieves(run);
	stop = spill_settle(&run->texts);
	if (!stop)
		stop = spill_settle(&run->numbers);
	done->written = run->texts.file.written + run->numbers.file.written;
	if (!stop)
		stop = give_numbers(run);
	spill_close(&run->numbers);
	return stop
		       ?: parts_give(&run->texts, &run->plan->rule, &run->terms.key, run->output,
				     &done->written);
}

int setop_run(const struct plan *plan, struct input *inputs, const struct input_terms *terms,
	      struct output *output, struct setop_done *done)
{
	struct run run = {.plan = plan,
			  .terms = *terms,
			  .output = output,
			  .texts.file.fd = -1,
			  .numbers.file.fd = -1};
	int stop = open_all(&run);

	*done = (struct setop_done){0};
	if (!stop)
		stop = read_inputs(&run, inputs, done);
	if (!stop)
		stop = give_all(&run, done);
	close_sieves(&run);
	values_close(&run.values);
	spill_close(&run.texts);
	spill_close(&run.numbers);
	return stop;
}
