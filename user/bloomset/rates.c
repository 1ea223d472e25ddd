/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/rates.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "bloomset/output.h"
#include "bloomset/parts.h"
#include "bloomset/sieve.h"
#include "bloomset/spillfile.h"

#define SAMPLE_BYTES ((uint64_t)64 << 20)
#define SLOWEST	     (1 << 20) /* bytes a second, of what cannot be tried */
#define ENOUGH	     (-ECANCELED)

struct trial {
	const struct plan *plan;
	struct sieve sieve;
	struct values values;
	struct budget budget;
	struct spill *keeps; /* NULL: it looks only */
	const struct xb_key *key;
	uint64_t bytes; /* of the lines that came */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The bytes that numbers have as text, with a line end; about. */
#define NUMBER_TEXT 14

static int take(void *to, const struct batch *batch)
{
	struct trial *trial = to;
	int error = 0;

	if (trial->values.words)
		values_take(&trial->values, 0, batch->numbers, batch->numbers_count);
	for (size_t i = 0; trial->sieve.words && i < batch->records_count; i++)
		sieve_prefetch(&trial->sieve, batch->records[i].hash);
	for (size_t i = 0; !error && i < batch->records_count; i++) {
		const struct record *record = &batch->records[i];

		trial->bytes += record->size + 1;
		if (trial->keeps)
			error = spill_put(trial->keeps, parts_stream(trial->keeps, record->hash, 0),
					  0, record->text, record->size);
		else if (trial->sieve.words)
			sieve_add(&trial->sieve, record->hash);
	}
	trial->bytes += batch->numbers_count * NUMBER_TEXT;
	return error ?: trial->bytes < SAMPLE_BYTES ? 0 : ENOUGH;
}

/* Reads the sample; the seconds that it took. */
static int try_reading(struct trial *trial, struct input input, const struct input_terms *terms,
		       double *took)
{
	double before = now();
	int error;

	trial->bytes = 0;
	error = input_read(&input, terms, take, trial);
	*took = now() - before;
	if (error != ENOUGH)
		return error;
	xb_error_clear();
	return 0;
}

static double rate(uint64_t bytes, double took)
{
	return took > 0 && bytes ? (double)bytes / took : SLOWEST;
}

/* The second time, memory is there, and the file is in the cache: as it will be, if all files have
 * room there. */
static int try_looking(struct trial *trial, const struct input *input,
		       const struct input_terms *terms, struct rates *rates)
{
	const struct plan *plan = trial->plan;
	uint64_t bytes =
		(plan->sieves ? plan->sieve[0].bytes : 0) + (plan->bits ? plan->number_bytes : 0);
	double first = 0, second = 0;
	int error = 0;

	budget_use(&trial->budget, bytes);
	if (plan->sieves)
		error = sieve_open(&trial->sieve, plan->sieve[0].keys, plan->sieve[0].bytes);
	if (!error && plan->bits)
		error = values_open(&trial->values, &plan->rule, PARTS_NUMBERS, true);
	if (!error)
		error = try_reading(trial, *input, terms, &first);
	if (!error)
		error = try_reading(trial, *input, terms, &second);
	sieve_close(&trial->sieve);
	values_close(&trial->values);
	budget_return(&trial->budget, bytes);
	if (error)
		return error;
	if (plan->bytes > xb_memory_available() && first > second)
		second = first;
	rates->read = rate(trial->bytes, second);
	return 0;
}

static int try_keeping(struct trial *trial, const struct input *input,
		       const struct input_terms *terms, struct rates *rates)
{
	struct output output = {.silent = true};
	uint64_t pool = PLAN_MEMORY_LEAST / 4, written = 0;
	struct spill spill;
	double reading = 0, before;
	int error = spill_open(&spill, parts_streams(pool), pool, &trial->budget);

	trial->keeps = &spill;
	if (!error)
		error = try_reading(trial, *input, terms, &reading);
	before = now();
	if (!error)
		error = spill_settle(&spill);
	if (!error && spill.file.fd >= 0 && fdatasync(spill.file.fd))
		error = xb_system_error(errno, "cannot write to %s (TMPDIR)", spill_folder());
	rates->written = rate(spill.file.written, reading + now() - before);
	before = now();
	if (!error)
		error = parts_give(&spill, &trial->plan->rule, &terms->key, &output, &written);
	rates->compared = rate(spill.file.written, now() - before);
	trial->keeps = NULL;
	spill_close(&spill);
	return error;
}

int rates_measure(const struct plan *plan, const struct input *inputs,
		  const struct input_terms *terms, struct rates *rates)
{
	struct trial trial = {
		.plan = plan, .key = &terms->key, .budget.size = plan->memory + PLAN_BESIDE};
	struct input_terms looks = *terms, texts;
	const struct input *largest = NULL;
	int error;

	*rates = (struct rates){SLOWEST, SLOWEST, SLOWEST};
	for (uint32_t i = 0; i < plan->rule.files; i++)
		if (inputs[i].again && (!largest || inputs[i].size > largest->size))
			largest = &inputs[i];
	if (!largest)
		return 0;
	looks.budget = &trial.budget;
	texts = looks;
	texts.numbers = NUMBERS_NONE;
	error = try_looking(&trial, largest, &looks, rates);
	return error ?: try_keeping(&trial, largest, &texts, rates);
}
