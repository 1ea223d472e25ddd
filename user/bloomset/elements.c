/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/elements.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/writeall.h"
#include "bloomset/input.h"
#include "bloomset/spillfile.h"
#include "model/entry.h"

int elements_look(struct input *input, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	int error;

	*input = (struct input){.path = path};
	if (!is_stdin && access(path, F_OK) && errno == ENOENT)
		return xb_input_error("%s does not exist", path);
	error = input_look(input);
	if (is_stdin)
		input->name = "standard input";
	return error;
}

struct elements {
	const struct input *input;
	bool lines;
	uint64_t taken;
	element_taker *take;
	void *to;
};

static int take_batch(void *to, const struct batch *batch)
{
	struct elements *elements = to;
	int stop = 0;

	for (size_t i = 0; !stop && i < batch->records_count; i++) {
		stop = elements->take(elements->to, batch->records[i].text, batch->records[i].size);
		elements->taken++;
	}
	if (stop != -EINVAL || !elements->lines)
		return stop;
	return xb_error_prefix(stop, "%s, line %llu", elements->input->name,
			       (unsigned long long)elements->taken);
}

int elements_read(struct input *input, const struct input_terms *terms, element_taker *take,
		  void *to)
{
	struct elements elements = {.input = input, .lines = terms->lines, .take = take, .to = to};
	struct input_terms texts = *terms;

	texts.numbers = NUMBERS_NONE;
	texts.most = ELEMENTS_LINE_MOST;
	return input_read(input, &texts, take_batch, &elements);
}

int elements_read_once(const char *path, const struct input_terms *terms, element_taker *take,
		       void *to)
{
	struct input input;
	int error = elements_look(&input, path);

	return error ?: elements_read(&input, terms, take, to);
}

static int take_word(const char *word, enum xb_filter_form form, element_taker *take, void *to)
{
	struct xb_entry entry;
	uint8_t name[XB_NAME_BYTES];
	char text[XB_ENTRY_TEXT];
	int error;

	if (form == XB_FORM_LINES)
		return take(to, word, strlen(word));
	error = xb_entry_parse(word, strlen(word), name, &entry, NULL);
	if (error)
		return error;
	xb_entry_format(&entry, text);
	return take(to, text, strlen(text));
}

int elements_take_words(char **words, int count, enum xb_filter_form form, element_taker *take,
			void *to)
{
	int error = 0;

	for (int i = 0; !error && i < count; i++)
		error = take_word(words[i], form, take, to);
	return error;
}

static int copy(const char *name, int from, int to)
{
	char bytes[4096];
	ssize_t got;

	while ((got = read(from, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return xb_system_error(errno, "cannot read %s", name);
		if (!xb_write_all(to, bytes, (size_t)got))
			return xb_system_error(errno, "cannot write to %s (TMPDIR)",
					       spill_folder());
	}
	return 0;
}

int elements_spool(struct input *input, struct elements_spool *spool)
{
	const char *name = input->name;
	int from, error;

	spool->fd = -1;
	if (input->again)
		return 0;
	from = strcmp(input->path, "-") ? open(input->path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (from < 0)
		return xb_system_error(errno, "cannot open %s", name);
	spool->fd = spill_file();
	error = spool->fd < 0 ? spool->fd : copy(name, from, spool->fd);
	if (from != STDIN_FILENO)
		close(from);
	if (error)
		return error;
	snprintf(spool->path, sizeof(spool->path), "/proc/self/fd/%d", spool->fd);
	error = elements_look(input, spool->path);
	input->name = name;
	return error;
}

void elements_spool_close(struct elements_spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	spool->fd = -1;
}
