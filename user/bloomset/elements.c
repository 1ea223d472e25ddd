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
#include "lists/reader.h"
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

static int read_more(struct lines *lines, int fd, bool *ended)
{
	ssize_t got;
	int error;

	if (lines->used >= ELEMENTS_LINE_MOST)
		return xb_input_error("%s, line %llu: it is longer than %zu MiB", lines->name,
				      lines->number + 1, ELEMENTS_LINE_MOST >> 20);
	error = xb_array_grow(&lines->buffer, &lines->room, lines->used + 65536, 1);
	if (error)
		return error;
	do
		got = read(fd, lines->buffer + lines->used, lines->room - lines->used);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return xb_system_error(errno, "cannot read %s", lines->name);
	*ended = !got;
	lines->used += (size_t)got;
	return take_lines(lines, lines->used - (size_t)got);
}

static int read_lines(const char *path, element_taker *take, void *to)
{
	bool standard = !strcmp(path, "-"), ended = false;
	struct lines lines = {.name = standard ? "standard input" : path, .take = take, .to = to};
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return xb_system_error(errno, "cannot open %s", path);
	while (!error && !ended)
		error = read_more(&lines, fd, &ended);
	if (!error && lines.used)
		error = take_line(&lines, lines.buffer, lines.used);
	if (lines.number >= PROGRESS_LINES)
		xb_progress("lines", lines.number, lines.number);
	free(lines.buffer);
	if (!standard)
		close(fd);
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
		if (write(to, bytes, (size_t)got) != got)
			return xb_system_error(errno, "cannot keep standard input below TMPDIR");
	}
	return 0;
}

const char *elements_spool(const char *path, char room[ELEMENTS_SPOOL_PATH], int *fd)
{
	const char *folder = getenv("TMPDIR") ?: "/tmp";
	int from;

	*fd = -1;
	if (elements_can_be_read_again(path))
		return path;
	from = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (from < 0)
		return xb_system_error(errno, "cannot open %s", path), NULL;
	*fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*fd < 0)
		xb_system_error(errno, "cannot create a file below %s", folder);
	if (*fd >= 0 && copy(from, *fd)) {
		close(*fd);
		*fd = -1;
	}
	snprintf(room, ELEMENTS_SPOOL_PATH, SPOOLED "%d", *fd);
	if (from != STDIN_FILENO)
		close(from);
	return *fd < 0 ? NULL : room;
}
