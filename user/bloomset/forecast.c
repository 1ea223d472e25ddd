/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/forecast.h"

#include <inttypes.h>
#include <stdio.h>

#include "bloomset/parts.h"
#include "bloomset/rates.h"
#include "bloomset/sieve.h"
#include "bloomset/spillfile.h"

#define TABLE_BYTES 32 /* in a table, which needs room for former slots while it grows */

/* The share of texts that a sieve lets pass by mistake, with so many keys of those it is for. */
static double mistakes(const struct plan *plan, int sieve, double share)
{
	struct sieve shape;

	sieve_shape(&shape, plan->sieve[sieve].keys, plan->sieve[sieve].bytes);
	return sieve_rate(&shape, (uint64_t)(share * (double)plan->sieve[sieve].keys));
}

/* The share of the texts of a step that are kept, if there is no reason to keep any. */
static double least_share(const struct plan *plan, const struct step *step)
{
	double first = mistakes(plan, 0, 1);

	if (step->action == STEP_KEEP)
		return 1;
	if (step->action == STEP_CHAIN)
		return step->keeps ? mistakes(plan, step->from, 1) : 0;
	/* What is in a further sieve came there by mistakes of the first. */
	return step->action == STEP_SIFT ? mistakes(plan, step->to, first) : 0;
}

static bool keeps(const struct step *step)
{
	return step->action == STEP_KEEP || step->action == STEP_SIFT || step->keeps;
}

/* How often parts are parted again, each time with all that is in them written once more. Texts
 * that are alike take memory once: if few do, each file has all of them. */
static unsigned int partings(const struct plan *plan, double bytes, double lines, bool most)
{
	double files = most ? 1 : plan->rule.files;
	double part = (bytes + lines * TABLE_BYTES) / files / parts_streams(plan->pool);
	unsigned int again = 0;

	for (; part > (double)plan->memory && again < PARTS_LEVELS; again++)
		part /= parts_streams(plan->memory / 4);
	return again;
}

/* Bytes of texts that go to disk the first time. (A record has its size in place of a line end.) */
static double text_writes(const struct plan *plan, const struct input *inputs, bool most,
			  unsigned int *again)
{
	double texts = 0, lines = 0;

	for (size_t i = 0; i < plan->count; i++) {
		const struct step *step = &plan->steps[i];
		const struct input *input = &inputs[step->input];
		double share = most ? 1 : least_share(plan, step);

		if (!keeps(step))
			continue;
		texts += (double)input->text_bytes * share;
		lines += (double)input->text_lines * share;
	}
	if (texts < (double)plan->pool)
		texts = 0;
	*again = texts > 0 ? partings(plan, texts, lines, most) : 0;
	return texts;
}

static double number_writes(const struct plan *plan)
{
	uint64_t numbers = plan->bits ? 0 : plan->number_lines * PARTS_NUMBER_BYTES;

	return numbers < plan->number_pool ? 0 : (double)numbers;
}

uint64_t forecast_writes(const struct plan *plan, const struct input *inputs, bool most)
{
	unsigned int again;
	double texts = text_writes(plan, inputs, most, &again);

	return (uint64_t)(texts * (again + 1) + number_writes(plan));
}

static double seconds(const struct plan *plan, const struct input *inputs,
		      const struct rates *rates, bool most)
{
	unsigned int again;
	double kept = text_writes(plan, inputs, most, &again) + number_writes(plan);

	return (double)plan_reads(plan, inputs) / rates->read +
	       (double)forecast_writes(plan, inputs, most) / rates->written +
	       kept / rates->compared;
}

static const char *form_name(enum number_form form)
{
	return form == NUMBERS_INTEGERS ? "integers" : "addresses";
}

static uint64_t sieve_memory(const struct plan *plan)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < plan->sieves; i++)
		bytes += plan->sieve[i].bytes;
	return bytes;
}

static void print_memory(const struct plan *plan)
{
	printf("memory    %s", cli_bytes(plan->memory));
	if (plan->bits)
		printf("; a bit or more for each of 4294967296 %s takes %s",
		       form_name(plan->numbers), cli_bytes(plan->number_bytes));
	else if (plan->numbers)
		printf("; %s take %d bytes each, up to %s", form_name(plan->numbers),
		       PARTS_NUMBER_BYTES, cli_bytes(plan->number_pool));
	if (plan->sieves)
		printf("; %" PRIu32 " Bloom filters take %s", plan->sieves,
		       cli_bytes(sieve_memory(plan)));
	putchar('\n');
}

static void print_text(const struct plan *plan, const struct input *inputs,
		       const struct rates *rates)
{
	uint64_t least = forecast_writes(plan, inputs, false);
	uint64_t most = forecast_writes(plan, inputs, true);

	printf("files     %" PRIu32 ", %s%s: about %" PRIu64 " lines, %" PRIu64 " of them %s\n",
	       plan->rule.files, cli_bytes(plan->bytes), plan->unknown ? " and more" : "",
	       plan->text_lines + plan->number_lines, plan->number_lines, form_name(plan->numbers));
	print_memory(plan);
	printf("passes    %zu over files, %s in all\n", plan->count,
	       cli_bytes(plan_reads(plan, inputs)));
	if (plan->sieves)
		printf("writes    %s to %s if the filters keep from it all that they can, %s if "
		       "they can keep nothing from it\n",
		       cli_bytes(least), spill_folder(), cli_bytes(most));
	else
		printf("writes    %s to %s\n", cli_bytes(most), spill_folder());
	printf("takes     about %.1f to %.1f s (%s/s read, %s/s written, %s/s compared)\n",
	       seconds(plan, inputs, rates, false), seconds(plan, inputs, rates, true),
	       cli_bytes((uint64_t)rates->read), cli_bytes((uint64_t)rates->written),
	       cli_bytes((uint64_t)rates->compared));
}

static json_t *answer(const struct plan *plan, const struct input *inputs,
		      const struct rates *rates)
{
	return json_pack("{s:i,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:f}", "files",
			 (int)plan->rule.files, "bytes", (json_int_t)plan->bytes, "lines",
			 (json_int_t)(plan->text_lines + plan->number_lines), "numbers",
			 (json_int_t)plan->number_lines, "memory", (json_int_t)plan->memory,
			 "passes", (json_int_t)plan->count, "read_bytes",
			 (json_int_t)plan_reads(plan, inputs), "least_written_bytes",
			 (json_int_t)forecast_writes(plan, inputs, false), "most_written_bytes",
			 (json_int_t)forecast_writes(plan, inputs, true), "least_seconds",
			 seconds(plan, inputs, rates, false), "most_seconds",
			 seconds(plan, inputs, rates, true));
}

int forecast_print(const struct cli *cli, const struct plan *plan, const struct input *inputs,
		   const struct input_terms *terms)
{
	struct rates rates;

	if (rates_measure(plan, inputs, terms, &rates))
		return cli_fail();
	if (cli->json)
		return cli_json(cli, answer(plan, inputs, &rates));
	print_text(plan, inputs, &rates);
	return cli_done(EXIT_DONE);
}
