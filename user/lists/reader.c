/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading list files: lines, and one sorted array of what they say. */
#include "lists/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "lists/line.h"
#include "lists/table.h"
#include "lists/unpack.h"

#define BUFFER_BYTES   (1U << 20)
#define PROGRESS_BYTES (8U << 20)

/* Where lines come from. */
struct source {
	const char *name;
	int fd;
	bool owned; /* fd is */
	char *buffer;
	size_t begin, end; /* what the buffer holds and no line has taken */
	bool ended;
	bool skipping; /* the rest of a line that is too long */
	char cut;      /* then the byte behind the part that came, in whose place is a NUL */
	struct xb_unpack *unpack;
	uint64_t done, total;
	uint64_t until, text; /* unpacked bytes: that count, that came */
	struct xb_siphash *hash;
};

static int open_source(int fd, const char *path, const struct xb_listfile_terms *terms,
		       struct source *source)
{
	bool is_stdin = !strcmp(path, "-");
	struct stat about;

	*source = (struct source){.name = terms->name ? terms->name
					  : is_stdin  ? "stdin"
						      : path,
				  .fd = fd >= 0 ? fd : STDIN_FILENO,
				  .owned = fd < 0 && !is_stdin,
				  .hash = terms->hash,
				  .buffer = malloc(BUFFER_BYTES + 1 + XB_LIST_SLACK)};
	if (!source->buffer) {
		xb_out_of_memory();
		return -ENOMEM;
	}
	if (source->owned)
		source->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return xb_input_error("%s: %s", source->name, strerror(errno));
	if (source->fd < 0 || fstat(source->fd, &about))
		return xb_system_error(errno, "%s", source->name);
	if (S_ISDIR(about.st_mode))
		return xb_input_error("%s: this is a directory, not a list", source->name);
	source->until = terms->until ?: UINT64_MAX;
	source->total = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
	source->unpack = xb_unpack_open(source->fd, source->name, terms->most);
	if (source->unpack)
		xb_unpack_bound(source->unpack, terms->unpacking);
	return source->unpack ? 0 : -EIO;
}

static void close_source(struct source *source)
{
	xb_unpack_close(source->unpack);
	if (source->owned && source->fd >= 0)
		close(source->fd);
	free(source->buffer);
}

static int refill(struct source *source)
{
	uint64_t before = source->done;
	ssize_t got;

	memmove(source->buffer, source->buffer + source->begin, source->end - source->begin);
	source->end -= source->begin;
	source->begin = 0;
	got = xb_unpack_read(source->unpack, source->buffer + source->end,
			     BUFFER_BYTES - source->end);
	if (got < 0)
		return (int)got;
	if ((uint64_t)got > source->until - source->text)
		got = (ssize_t)(source->until - source->text);
	if (source->hash)
		xb_siphash_add(source->hash, source->buffer + source->end, (size_t)got);
	source->text += (uint64_t)got;
	source->ended = !got;
	source->end += (size_t)got;
	memset(source->buffer + source->end, 0, 1 + XB_LIST_SLACK);
	source->done = xb_unpack_done(source->unpack);
	if (source->done / PROGRESS_BYTES != before / PROGRESS_BYTES &&
	    (!source->total || source->done < source->total))
		xb_progress("reading", source->done, source->total);
	return 0;
}

/* Passes over what is held of a line that came in part. */
static void skip_rest(struct source *source)
{
	char *start = source->buffer + source->begin,
	     *newline = memchr(start, '\n', source->end - source->begin);

	source->begin = newline ? (size_t)(newline + 1 - source->buffer) : source->end;
	source->skipping = !newline;
}

/* 1: a line, its end replaced by NUL; 0: none is left. Of one that is too long a part comes,
 * however much of it was read. */
static int next_line(struct source *source, char **line, size_t *size)
{
	int error = 0;

	while (!error) {
		size_t held;
		char *start, *newline;

		if (source->skipping)
			skip_rest(source);
		held = source->end - source->begin;
		start = source->buffer + source->begin;
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): no source, no line */
		newline = memchr(start, '\n', held);
		if (newline || held > XB_LIST_LINE_PART || (source->ended && held)) {
			size_t whole = newline ? (size_t)(newline - start) : held;

			source->skipping = whole > XB_LIST_LINE_PART;
			*line = start;
			*size = source->skipping ? XB_LIST_LINE_PART : whole;
			/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): was read */
			source->cut = start[*size];
			start[*size] = '\0';
			source->begin += *size + (newline && !source->skipping);
			return 1;
		}
		if (source->ended)
			return 0;
		error = refill(source);
	}
	return error;
}

/* Perhaps another format, or no list at all: nothing that may empty one. */
static int no_entries(const struct source *source, const struct xb_reading *reading)
{
	const struct xb_listfile *file = reading->file;

	if (file->unknown > file->set_aside)
		return xb_input_error("%s: %s as %s (%llu: %s)", source->name,
				      xb_listformat_is_document(reading)
					      ? "nothing of it can be listed"
					      : "no line could be read",
				      xb_listformat_name(reading),
				      (unsigned long long)file->first_unknown[0].line,
				      file->first_unknown[0].text);
	xb_input_error("%s: no entries", source->name);
	return -ENODATA;
}

#define LEAST_ROOM 1024 /* items; of a pipe nobody knows how many come */

/* Room for all there can be, so that it need not grow: what is not filled costs nothing. */
static void reserve(const struct source *source, bool bare, struct xb_listfile *file)
{
	size_t most = source->total / strlen("1.2.3.4\n") + LEAST_ROOM;

	if (bare)
		file->bare = xb_array_alloc(most, sizeof(*file->bare));
	else
		file->items = xb_array_alloc(most, sizeof(*file->items));
	file->room = file->bare || file->items ? most : 0;
}

/* How the file was to end, and whether what was read so far does. */
struct ending {
	const char *line; /* NULL: any way */
	size_t size;
	bool met;
};

static struct ending ending_of(const char *line)
{
	struct ending ending = {.line = line};

	if (line) {
		ending.line += strspn(line, XB_BLANKS);
		ending.size = strlen(ending.line);
		while (ending.size && strchr(XB_BLANKS, ending.line[ending.size - 1]))
			ending.size--;
	}
	return ending;
}

static void look_at_end(struct ending *ending, const char *line, size_t size)
{
	while (size && strchr(XB_BLANKS, *line)) {
		line++;
		size--;
	}
	while (size && strchr(XB_BLANKS, line[size - 1]))
		size--;
	if (size)
		ending->met = size == ending->size && !memcmp(line, ending->line, size);
}

static void look_at_lines(struct ending *ending, const char *text, size_t size)
{
	const char *end = text + size, *newline;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		newline = newline ?: end;
		look_at_end(ending, text, (size_t)(newline - text));
	}
}

static int check_end(const struct source *source, const struct ending *ending)
{
	if (!ending->line || ending->met)
		return 0;
	return xb_input_error("%s: the last line is not '%s', so the file may have been cut off",
			      source->name, XB_SHOW(ending->line));
}

static int add(const struct source *source, struct xb_reading *reading, const char *bytes,
	       size_t size)
{
	int error = xb_listformat_add(reading, bytes, size);

	return error ? xb_error_prefix(error, "%s", source->name) : 0;
}

/* Of a document, all that no line has taken. */
static int read_rest(struct source *source, struct xb_reading *reading)
{
	int error = 0;

	while (!error) {
		error = add(source, reading, source->buffer + source->begin,
			    source->end - source->begin);
		source->begin = source->end = 0;
		if (!error && source->ended)
			return 0;
		if (!error)
			error = refill(source);
	}
	return error;
}

/* All behind the first line of a document, which came as a line or as a part of one. */
static int read_document(struct source *source, struct xb_reading *reading, const char *line,
			 size_t size)
{
	int error = add(source, reading, line, size);

	if (!error && !source->skipping && !(source->ended && source->begin == source->end))
		error = add(source, reading, "\n", 1);
	if (source->skipping)
		source->buffer[source->begin] = source->cut;
	source->skipping = false;
	return error ? error : read_rest(source, reading);
}

/* A file of bytes has no first line. 1: it is one, and was read. */
static int read_binary(struct source *source, struct xb_reading *reading)
{
	int error = 0;

	while (!error && !source->ended && source->end < XB_LIST_LOOK)
		error = refill(source);
	if (error)
		return error;
	xb_listformat_look(reading, source->buffer, source->end);
	return xb_listformat_is_binary(reading) ? read_rest(source, reading) ?: 1 : 0;
}

#define PART_ITEMS    16384
#define CHECKED_LINES 4096

static int move_texts(struct xb_unknown_line *lines, size_t count, struct xb_arena *names)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = lines[i].text;

		lines[i].text = xb_arena_copy(names, text, strlen(text) + 1);
		if (!lines[i].text)
			return -EIO;
	}
	return 0;
}

/* Gives the items away; the texts of unknown lines and notes stay. */
static int hand_over(const struct xb_listfile_terms *terms, struct xb_listfile *file)
{
	size_t kept = file->unknown < XB_UNKNOWN_KEPT ? file->unknown : XB_UNKNOWN_KEPT;
	struct xb_arena names = {0};
	int error = terms->take(terms->to, file);

	if (!error)
		error = move_texts(file->first_unknown, kept, &names);
	if (!error)
		error = move_texts(file->notes, file->noted, &names);
	xb_arena_free(&file->names);
	file->names = names;
	file->handed += file->count;
	file->count = 0;
	file->comment_bytes = 0;
	return error;
}

static bool is_held(const struct xb_reading *reading)
{
	return reading->format && (reading->format->finish || reading->format->document);
}

/* After a line. What was not understood takes memory, too. */
static int hand_part(const struct xb_listfile_terms *terms, struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;

	if (!terms->take)
		return 0;
	file->forgets = !is_held(reading);
	if (!file->forgets)
		return file->lines % CHECKED_LINES ? 0 : xb_listfile_may_grow(file, 0);
	return file->count < PART_ITEMS ? 0 : hand_over(terms, file);
}

static int read_lines(struct source *source, struct xb_reading *reading, struct ending *ending,
		      const struct xb_listfile_terms *terms)
{
	char *line = NULL;
	size_t size = 0;
	int got = read_binary(source, reading);

	if (got)
		return got < 0 ? got : 0;
	while ((got = next_line(source, &line, &size)) > 0) {
		reading->file->lines++;
		if (ending->line)
			look_at_end(ending, line, size);
		if (!xb_listformat_is_document(reading))
			got = xb_listformat_take(reading, line, size);
		if (got >= 0)
			got = hand_part(terms, reading);
		if (got < 0)
			return xb_error_prefix(got, "%s:%llu", source->name,
					       (unsigned long long)reading->file->lines);
		if (!xb_listformat_is_document(reading))
			continue;
		got = read_document(source, reading, line, size);
		if (got < 0)
			return got;
		if (ending->line)
			look_at_lines(ending, reading->text, reading->text_bytes);
	}
	if (!got)
		xb_progress("reading", source->done, source->done);
	return got;
}

/* Whether it says nothing beyond the one before it in order: the same, or a name alone whose domain
 * is there with all below it. */
static bool is_repeat(const struct xb_entry *before, const struct xb_entry *entry)
{
	return !xb_entry_compare(before, entry) ||
	       (before->kind == entry->kind && xb_entry_is_name(entry) &&
		xb_name_is_exact(entry->name, entry->length) &&
		before->length == entry->length - 1 &&
		!memcmp(before->name, entry->name, before->length));
}

/* Of items in order the first line with an entry wins. Returns how many are kept. */
static size_t drop_items(struct xb_listfile *file)
{
	size_t kept = 0;

	for (size_t i = 0; i < file->count; i++) {
		const struct xb_item *item = &file->items[i];

		if (kept && is_repeat(&file->items[kept - 1].entry, &item->entry)) {
			file->items[kept - 1].meant |= item->meant;
			continue;
		}
		file->allowed += xb_entry_is_allow(&item->entry);
		file->exceptions += item->entry.kind == XB_EXCEPT_NAME;
		if (kept++ != i)
			file->items[kept - 1] = *item;
	}
	return kept;
}

/* Does the same with addresses. */
static size_t drop_bare(uint64_t *bare, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || bare[i] >> 32 != bare[kept - 1] >> 32)
			bare[kept++] = bare[i];
	return kept;
}

static void drop_repeats(struct xb_listfile *file)
{
	size_t kept = file->bare ? drop_bare(file->bare, file->count) : drop_items(file);

	file->repeats += file->count - kept;
	file->count = kept;
}

static int too_many_unknown(const struct source *source, const struct xb_reading *reading)
{
	const struct xb_listfile *file = reading->file;

	return xb_input_error("%s: %zu lines were not understood as %s, and %llu are allowed "
			      "(%llu: %s)",
			      source->name, file->unknown, xb_listformat_name(reading),
			      (unsigned long long)reading->choice->most_wrong,
			      (unsigned long long)file->first_unknown[0].line,
			      file->first_unknown[0].text);
}

static int note_host_bits(struct xb_listfile *file)
{
	uint64_t number = file->host_bits;

	if (!number)
		return 0;
	return xb_line_note(file, file->first_host_bits_line,
			    "%" PRIu64
			    " prefix%s host bits set and %s taken as network%s (first: %s)",
			    number, number == 1 ? " has" : "es have", number == 1 ? "is" : "are",
			    number == 1 ? "" : "s", file->first_host_bits);
}

/* Those for which there was no room. */
static int note_more(struct xb_listfile *file)
{
	char text[XB_UNKNOWN_TEXT];
	const char *kept;

	if (!file->more_notes)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64 " more note%s, of other lines", file->more_notes,
		 file->more_notes == 1 ? "" : "s");
	kept = xb_arena_copy(&file->names, text, strlen(text) + 1);
	if (!kept)
		return -ENOMEM;
	file->notes[file->noted++] = (struct xb_unknown_line){.text = kept};
	return 0;
}

static int finish(const struct source *source, struct xb_reading *reading,
		  const struct xb_listfile_terms *terms)
{
	struct xb_listfile *file = reading->file;
	int error = xb_listformat_finish(reading);

	if (error && xb_listformat_ends_at_line(reading))
		return xb_error_prefix(error, "%s:%llu", source->name,
				       (unsigned long long)file->lines);
	error = error ?: xb_sets_check(reading);
	if (error)
		return xb_error_prefix(error, "%s", source->name);
	if (reading->choice->bounded &&
	    file->unknown - file->set_aside > reading->choice->most_wrong)
		return too_many_unknown(source, reading);
	error = terms->allows ? xb_line_allow_exceptions(file) : xb_line_own_exceptions(file);
	if (error)
		return error;
	if (!file->count && !file->handed)
		error = no_entries(source, reading);
	if (error == -ENODATA && terms->may_be_empty) {
		xb_error_clear();
		error = 0;
	}
	if (error)
		return error;
	error = note_host_bits(file) ?: note_more(file);
	if (error)
		return error;
	file->format = xb_listformat_name(reading);
	if (terms->take)
		return file->count ? hand_over(terms, file) : 0;
	drop_repeats(file);
	return 0;
}

int xb_listfile_read(const char *path, const char *format, struct xb_listfile *file)
{
	return xb_listfile_read_as(-1, path, &(struct xb_listfile_terms){.format = format}, file);
}

int xb_listfile_read_as(int fd, const char *path, const struct xb_listfile_terms *terms,
			struct xb_listfile *file)
{
	struct ending ending = ending_of(terms->end);
	struct xb_reading reading = {
		.file = file, .choice = &terms->choice, .zone_name = terms->zone};
	struct source source;
	int error;

	memset(file, 0, sizeof(*file));
	file->bound = terms->bound;
	file->comment = terms->choice.comment;
	error = terms->format ? xb_listformat_choose(&reading, terms->format) : 0;
	if (!error)
		error = xb_listformat_begin(&reading);
	if (error)
		return error;
	error = open_source(fd, path, terms, &source);
	if (!error && !terms->take)
		reserve(&source, terms->bare, file);
	if (!error)
		error = read_lines(&source, &reading, &ending, terms);
	file->bytes = source.done;
	file->text_bytes = source.text;
	if (!error)
		error = check_end(&source, &ending);
	if (!error && terms->zone && strcmp(xb_listformat_name(&reading) ?: "rpz", "rpz") != 0)
		error = xb_input_error("%s: only the format rpz has a zone, not %s", source.name,
				       xb_listformat_name(&reading));
	if (!error && terms->choice.below && reading.format && reading.format != &xb_hosts_format)
		error = xb_input_error("%s: only hosts files have names alone to take with all "
				       "below, not files of the format %s",
				       source.name, xb_listformat_name(&reading));
	if (!error)
		error = finish(&source, &reading, terms);
	close_source(&source);
	xb_listformat_end(&reading);
	if (error)
		xb_listfile_free(file);
	return error;
}

int xb_listfile_hash(int fd, const char *path, const struct xb_listfile_terms *terms)
{
	struct source source;
	int error = open_source(fd, path, terms, &source);

	while (!error && !source.ended) {
		error = refill(&source);
		source.begin = source.end;
	}
	if (!error)
		xb_progress("reading", source.done, source.done);
	close_source(&source);
	return error;
}
