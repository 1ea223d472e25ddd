/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batches: all lines as one change do what they do one by one. The oracle is a batch of each line
 * by itself, all of them parsed before the first is applied; it stops at the first that fails.
 */
#include "base/program.h"
#include "bloomctl/advice.h"
#include "bloomctl/program.h"
#include "bloomctl/verbs/batch.h"
#include "engine/dump.h"
#include "fuzz.h"
#include "store/membership.h"

#define LINES 64

/* What a batch ended with, of lines numbered from `first`. */
struct outcome {
	int code; /* 0, or of what was refused */
	uint64_t line;
	char why[1024];
};

static void read_message(const char *message, uint64_t first, struct outcome *outcome)
{
	static const char before[] = "batch:";
	char *end;

	must_be_clear(message);
	must(!strncmp(message, before, strlen(before)));
	outcome->line = strtoull(message + strlen(before), &end, 10) + first - 1;
	must(!strncmp(end, ": ", 2) && end[2]);
	snprintf(outcome->why, sizeof(outcome->why), "%s", end + 2);
}

/* Refused: one line on stderr. */
static int read_batch(const uint8_t *text, size_t size, uint64_t first, struct batch *batch,
		      struct outcome *outcome)
{
	const struct cli cli = {.program = &bloomctl_program, .verb = &verb_batch, .quiet = true};
	FILE *file = fmemopen((void *)(uintptr_t)text, size, "r");
	struct heard heard;

	must(file);
	*batch = (struct batch){.name = "batch"};
	hear(&heard, &stderr);
	outcome->code = batch_read(&cli, batch, file);
	hear_end(&heard);
	fclose(file);
	if (outcome->code) {
		static const char program[] = "bloomctl: ";
		char *newline = strchr(heard.text, '\n');

		must(outcome->code == EXIT_USAGE && newline && !newline[1]);
		*newline = '\0';
		must(!strncmp(heard.text, program, strlen(program)));
		read_message(heard.text + strlen(program), first, outcome);
	} else {
		must(!heard.size);
	}
	free(heard.text);
	return outcome->code;
}

static int apply(struct xb_writer *writer, struct batch *batch, uint64_t first,
		 struct outcome *outcome)
{
	xb_error_clear();
	outcome->code = batch_apply(writer, batch);
	if (outcome->code)
		read_message(xb_error_message(), first, outcome);
	return outcome->code;
}

static char *save(struct xb_txn *txn)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	must(out && !xb_dump(txn, out));
	fclose(out);
	return text;
}

/* Lists that have members already, for what a batch finds there. */
static struct xb_writer begin(void)
{
	static const char there[] = "add 192.0.2.1 example.com --list a --comment c\n"
				    "add 192.0.2.1 192.0.2.0/24 2001:db8::/32 --timeout 60\n"
				    "allow add 192.0.2.2 =example.com\n";
	struct xb_writer writer = fuzz_begin();
	struct outcome outcome;
	struct batch batch;

	must(!read_batch((const uint8_t *)there, strlen(there), 1, &batch, &outcome));
	must(!apply(&writer, &batch, 1, &outcome));
	batch_free(&batch);
	return writer;
}

static void add_up(struct xb_edit_result *sum, const struct xb_edit_result *one)
{
	sum->added += one->added;
	sum->renewed += one->renewed;
	sum->removed += one->removed;
	sum->unchanged += one->unchanged;
	sum->absent += one->absent;
}

/* One by one; each but the first behind the end of the line before it, since the first line of a
 * batch may have a byte order mark. */
struct oracle {
	struct batch batches[LINES];
	uint64_t count;
	struct outcome outcome;
	struct xb_edit_result result;
};

/* Of the batch with the line of that number, from 0: the number of its first line. */
static uint64_t first_of(uint64_t i)
{
	return i ? i : 1;
}

static void read_each(const uint8_t *data, size_t size, struct oracle *oracle)
{
	for (size_t at = 0, end; at < size; at = end + 1) {
		const uint8_t *newline = memchr(data + at, '\n', size - at);
		size_t from = at ? at - 1 : 0;
		uint64_t i = oracle->count++;

		end = newline ? (size_t)(newline - data) : size;
		if (read_batch(data + from, end - from + (newline ? 1 : 0), first_of(i),
			       &oracle->batches[i], &oracle->outcome))
			return;
	}
}

static void apply_each(struct xb_writer *writer, struct oracle *oracle)
{
	for (uint64_t i = 0; i < oracle->count && !oracle->outcome.code; i++) {
		apply(writer, &oracle->batches[i], first_of(i), &oracle->outcome);
		add_up(&oracle->result, &oracle->batches[i].result);
	}
}

static void must_be_same(const struct outcome *a, const struct outcome *b)
{
	must(a->code == b->code && a->line == b->line);
	must(!strcmp(a->why, b->why));
}

static size_t count_lines(const uint8_t *data, size_t size)
{
	size_t lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	return lines;
}

static bool same_counts(const struct xb_edit_result *one, const struct xb_edit_result *other)
{
	return one->added == other->added && one->renewed == other->renewed &&
	       one->removed == other->removed && one->unchanged == other->unchanged &&
	       one->absent == other->absent;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct oracle *oracle;
	struct outcome outcome = {0};
	struct batch batch;
	struct xb_writer writer;
	char *saved;

	if (count_lines(data, size) > LINES)
		return 0;
	xb_program_set("bloomctl", advice_words);
	xb_notice_sink(note_must_be_clear);
	oracle = calloc(1, sizeof(*oracle));
	must(oracle);
	read_each(data, size, oracle);
	read_batch(data, size, 1, &batch, &outcome);
	if (outcome.code)
		goto out;
	writer = begin();
	if (apply(&writer, &batch, 1, &outcome)) {
		xb_txn_abort(writer.txn);
		writer = begin();
		batch.in_order = true;
		must(apply(&writer, &batch, 1, &outcome));
	}
	saved = save(writer.txn);
	xb_txn_abort(writer.txn);
	writer = begin();
	apply_each(&writer, oracle);
	if (!outcome.code && !oracle->outcome.code) {
		char *wanted = save(writer.txn);

		must(!strcmp(saved, wanted));
		free(wanted);
		must(same_counts(&batch.result, &oracle->result));
	}
	xb_txn_abort(writer.txn);
	free(saved);
out:
	must_be_same(&outcome, &oracle->outcome);
	batch_free(&batch);
	for (uint64_t i = 0; i < oracle->count; i++)
		batch_free(&oracle->batches[i]);
	free(oracle);
	return 0;
}
