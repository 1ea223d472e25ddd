/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/elements.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "bloomset/spillfile.h"
#include "lists/reader.h"
#include "lists/unpack.h"
#include "model/entry.h"

/* Notes are about files, and are not for each of millions of lines. */
#define PROGRESS_LINES 1000000

#define SPOOLED "/proc/self/fd/"

static const char *name_of(const char *path)
{
	return !strcmp(path, "-") || !strncmp(path, SPOOLED, strlen(SPOOLED)) ? "standard input"
									      : path;
}

struct entries {
	element_taker *take;
	void *to;
};

/* Exceptions, which are to be allowed, are no elements. */
static int take_entries(void *to, const struct xb_listfile *file)
{
	const struct entries *entries = to;
	char text[XB_ENTRY_TEXT];
	int error = 0;

	for (size_t i = 0; !error && i < file->count; i++) {
		if (xb_entry_is_allow(&file->items[i].entry))
			continue;
		xb_entry_format(&file->items[i].entry, text);
		error = entries->take(entries->to, text, strlen(text));
	}
	return error;
}

static int read_entries(const char *path, const char *list_format, element_taker *take, void *to)
{
	struct entries entries = {.take = take, .to = to};
	const struct xb_listfile_terms terms = {
		.name = name_of(path), .format = list_format, .take = take_entries, .to = &entries};
	struct xb_listfile file;
	int error = xb_listfile_read_as(-1, path, &terms, &file);

	xb_listfile_free(&file);
	/* A list without an entry is an empty one. */
	return error == -ENODATA ? 0 : error;
}

struct lines {
	const char *name;
	struct xb_unpack *unpack;
	char *buffer;
	size_t used, room;
	unsigned long long number;
	element_taker *take;
	void *to;
};

static int take_line(struct lines *lines, const char *text, size_t size)
{
	int error = lines->take(lines->to, text, size);

	if (++lines->number % PROGRESS_LINES == 0)
		xb_progress("lines", lines->number, 0);
	return error == -EINVAL
		       ? xb_error_prefix(error, "%s, line %llu", lines->name, lines->number)
		       : error;
}

/* Takes whole lines, and keeps what is left at the front. from: where no line end has been looked
 * for. */
static int take_lines(struct lines *lines, size_t from)
{
	char *start = lines->buffer, *last = lines->buffer + lines->used, *end;
	int error = 0;

	end = memchr(start + from, '\n', lines->used - from);
	while (end && !error) {
		error = take_line(lines, start, (size_t)(end - start));
		start = end + 1;
		end = memchr(start, '\n', (size_t)(last - start));
	}
	lines->used = (size_t)(last - start);
	memmove(lines->buffer, start, lines->used);
	return error;
}

static int read_more(struct lines *lines, bool *ended)
{
	ssize_t got;
	int error;

	if (lines->used >= ELEMENTS_LINE_MOST)
		return xb_input_error("%s, line %llu: it is longer than %zu MiB", lines->name,
				      lines->number + 1, ELEMENTS_LINE_MOST >> 20);
	error = xb_array_grow(&lines->buffer, &lines->room, lines->used + 65536, 1);
	if (error)
		return error;
	got = xb_unpack_read(lines->unpack, lines->buffer + lines->used, lines->room - lines->used);
	if (got < 0)
		return (int)got;
	*ended = !got;
	lines->used += (size_t)got;
	return take_lines(lines, lines->used - (size_t)got);
}

static int open_list(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

	if (fd < 0 && errno == ENOENT)
		return xb_input_error("%s does not exist", path);
	return fd < 0 ? xb_system_error(errno, "cannot open %s", path) : fd;
}

static void close_list(int fd)
{
	if (fd != STDIN_FILENO)
		close(fd);
}

static int read_all(struct lines *lines)
{
	bool ended = false;
	int error = 0;

	xb_unpack_as_is(lines->unpack);
	while (!error && !ended)
		error = read_more(lines, &ended);
	if (!error && lines->used)
		error = take_line(lines, lines->buffer, lines->used);
	if (lines->number >= PROGRESS_LINES)
		xb_progress("lines", lines->number, lines->number);
	return error;
}

static int read_lines(const char *path, element_taker *take, void *to)
{
	struct lines lines = {.name = name_of(path), .take = take, .to = to};
	int fd = open_list(path), error = fd < 0 ? fd : 0;

	if (error)
		return error;
	lines.unpack = xb_unpack_open(fd, lines.name, UINT64_MAX >> 1);
	error = lines.unpack ? read_all(&lines) : -ENOMEM;
	xb_unpack_close(lines.unpack);
	free(lines.buffer);
	close_list(fd);
	return error;
}

int elements_read(const char *path, enum xb_filter_form form, const char *list_format,
		  element_taker *take, void *to)
{
	return form == XB_FORM_LINES ? read_lines(path, take, to)
				     : read_entries(path, list_format, take, to);
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

bool elements_can_be_read_again(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISREG(st.st_mode);
}

static int copy(int from, int to)
{
	char bytes[4096];
	ssize_t got;

	while ((got = read(from, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return xb_system_error(errno, "cannot read standard input");
		for (ssize_t wrote = 0, put; wrote < got; wrote += put) {
			put = write(to, bytes + wrote, (size_t)(got - wrote));
			if (put < 0)
				return xb_system_error(errno, "cannot write to %s (TMPDIR)",
						       spill_folder());
		}
	}
	return 0;
}

const char *elements_spool(const char *path, char room[ELEMENTS_SPOOL_PATH], int *fd)
{
	int from;

	*fd = -1;
	if (elements_can_be_read_again(path))
		return path;
	from = open_list(path);
	if (from < 0)
		return NULL;
	*fd = spill_file();
	if (*fd >= 0 && copy(from, *fd)) {
		close(*fd);
		*fd = -1;
	}
	snprintf(room, ELEMENTS_SPOOL_PATH, SPOOLED "%d", *fd);
	close_list(from);
	return *fd < 0 ? NULL : room;
}
