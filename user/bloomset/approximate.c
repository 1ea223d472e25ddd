/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/approximate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "bloomset/sieve.h"

#define BYTES_USUAL ((uint64_t)64 << 20) /* at least, if nobody knows how much will come */

static int take(void *to, const struct batch *batch)
{
	struct sieve *sieve = to;

	for (size_t i = 0; i < batch->records_count; i++)
		sieve_prefetch(sieve, batch->records[i].hash);
	for (size_t i = 0; i < batch->records_count; i++)
		sieve_add(sieve, batch->records[i].hash);
	return 0;
}

/* One bit for each key: with several of them the filter would be full earlier. */
static int fill(const struct plan *plan, struct input *inputs, struct input_terms terms,
		uint64_t bytes, double *count)
{
	struct budget budget = {.size = plan->memory + PLAN_BESIDE, .used = bytes};
	struct sieve sieve;
	int error = sieve_open(&sieve, bytes, bytes);

	sieve.probes = SIEVE_WORDS;
	terms.numbers = NUMBERS_NONE;
	terms.budget = &budget;
	for (uint32_t i = 0; !error && i < plan->rule.files; i++)
		error = input_read(&inputs[i], &terms, take, &sieve);
	*count = error ? 0 : sieve_count(&sieve);
	sieve_close(&sieve);
	return error;
}

static bool can_be_read_again(const struct plan *plan, const struct input *inputs)
{
	for (uint32_t i = 0; i < plan->rule.files; i++)
		if (!inputs[i].again)
			return false;
	return true;
}

/* How much is packed, or how long lines are behind the first, nobody knows: if they are more than
 * it looks like, they are read once more. The rest of the memory is for a line or a list. */
static int count_all(const struct plan *plan, struct input *inputs, const struct input_terms *terms,
		     double *count)
{
	uint64_t most = plan->memory / 4 * 3, needed;
	uint64_t bytes = plan->unknown ? plan->memory / 4
				       : sieve_bytes(plan->text_lines + plan->number_lines);
	int error;

	if (plan->unknown && bytes < BYTES_USUAL)
		bytes = BYTES_USUAL;
	bytes = bytes < most ? bytes : most;
	error = fill(plan, inputs, *terms, bytes, count);
	needed = isinf(*count) ? most : sieve_bytes((uint64_t)*count);
	if (error || needed < 2 * bytes || bytes == most || !can_be_read_again(plan, inputs))
		return error;
	return fill(plan, inputs, *terms, needed < most ? needed : most, count);
}

int approximate_print(const struct cli *cli, const struct plan *plan, struct input *inputs,
		      const struct input_terms *terms)
{
	double count = 0;
	int error = count_all(plan, inputs, terms, &count);

	if (isinf(count))
		error = xb_input_error(
			"there are more different entries than %s can tell apart: it "
			"takes more memory (--memory SIZE)",
			cli_bytes(plan->memory));
	if (error)
		return cli_fail();
	if (cli->json)
		return cli_json(cli, json_pack("{s:I,s:b}", "count", (json_int_t)(count + 0.5),
					       "approximate", 1));
	printf("%.0f\n", count);
	return cli_done(EXIT_DONE);
}
