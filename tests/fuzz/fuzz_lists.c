/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * List files: the first byte says of which format, the rest is the file. It is read at once, and
 * again in pieces, and its lines are taken one by one with nothing behind them: all have to find
 * the same. What is refused is told with its line.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/merge.h"
#include "fuzz.h"
#include "lists/reader.h"
#include "lists/table.h"
#include "store/membership.h"

/* 'a' is the first of "plain, netset, ..."; NULL behind the last: told by the file. */
static const char *format_of(uint8_t byte)
{
	static char names[512];
	char *name;

	snprintf(names, sizeof(names), "%s", xb_listfile_formats());
	for (name = strtok(names, ", "); name && byte-- != 'a'; name = strtok(NULL, ", "))
		;
	return name;
}

static void check_item(const struct xb_listfile *file, const struct xb_item *item)
{
	const char *comment = xb_listfile_comment(file, item);
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry again;
	char text[XB_ENTRY_TEXT];

	must(!xb_comment_check(comment, strlen(comment)));
	if (*comment)
		must_be_clear(comment);
	must(item->entry.line && item->entry.line <= file->lines && !item->doubtful);
	xb_entry_format(&item->entry, text);
	must(!xb_entry_parse(text, strlen(text), form, &again, NULL));
	if (xb_entry_is_allow(&item->entry))
		again = xb_entry_allow(&again);
	must(!xb_entry_compare(&again, &item->entry));
}

/* A line is understood, or left out as a whole; but of several domains in a line of dnsmasq some
 * may be exceptions that are none. */
static void check_unknown(const struct xb_listfile *file)
{
	bool in_part = !strcmp(file->format, "dnsmasq");
	uint64_t line = 0;

	for (size_t i = 0; i < file->unknown; i++) {
		must(file->first_unknown[i].line >= line && file->first_unknown[i].line);
		line = file->first_unknown[i].line;
		must_be_clear(file->first_unknown[i].text);
		for (size_t j = 0; !in_part && j < file->count; j++)
			must(file->items[j].entry.line != line);
	}
	must(line <= file->lines);
}

static void check(const struct xb_listfile *file)
{
	uint64_t allowed = 0;

	must(file->format && file->count && file->count + file->repeats <= UINT32_MAX);
	for (size_t i = 0; i < file->count; i++) {
		const struct xb_item *item = &file->items[i];

		must(!i || xb_entry_compare(&file->items[i - 1].entry, &item->entry) < 0);
		allowed += xb_entry_is_allow(&item->entry);
		check_item(file, item);
	}
	must(allowed == file->allowed);
	must(!file->host_bits == !file->first_host_bits_line);
	check_unknown(file);
}

static void must_be_same(const struct xb_listfile *a, const struct xb_listfile *b)
{
	must(a->count == b->count && a->allowed == b->allowed && a->lines == b->lines);
	must(a->repeats == b->repeats && a->host_bits == b->host_bits && a->unknown == b->unknown);
	must(a->format == b->format);
	for (size_t i = 0; i < a->count; i++) {
		const struct xb_item *first = &a->items[i], *second = &b->items[i];

		must(!xb_entry_compare(&first->entry, &second->entry));
		must(first->entry.line == second->entry.line && first->timeout == second->timeout);
		must(!strcmp(xb_listfile_comment(a, first), xb_listfile_comment(b, second)));
	}
	for (size_t i = 0; i < a->unknown; i++)
		must(a->first_unknown[i].line == b->first_unknown[i].line &&
		     !strcmp(a->first_unknown[i].text, b->first_unknown[i].text));
}

/* "list: why" or "list:LINE: why". Returns the line, 0 without one. */
static uint64_t refused_line(void)
{
	const char *message = xb_error_message();
	char *end;
	uint64_t line;

	must(xb_error_class() == XB_ERROR_INPUT);
	must_be_clear(message);
	must(!strncmp(message, "list:", 5));
	if (message[5] == ' ')
		return 0;
	line = strtoull(message + 5, &end, 10);
	must(line && !strncmp(end, ": ", 2) && end[2]);
	return line;
}

static int read_whole(const char *format, const uint8_t *data, size_t size,
		      struct xb_listfile *file)
{
	static int list = -1;
	char path[64];

	if (list < 0)
		list = memfd_create("list", MFD_CLOEXEC);
	must(list >= 0 && !ftruncate(list, 0));
	must(pwrite(list, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", list);
	return xb_listfile_read_as(
		-1, path, &(struct xb_listfile_terms){.name = "list", .format = format}, file);
}

#define PIECES 50 /* fewer than a pipe holds */

/* In a pipe that keeps packets apart, each is a read of its own. */
static int read_in_pieces(const char *format, const uint8_t *data, size_t size,
			  struct xb_listfile *file)
{
	size_t most = size / PIECES + 1;
	char path[64];
	int ends[2], error;

	must(!pipe2(ends, O_DIRECT | O_CLOEXEC));
	must(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
	for (size_t at = 0, piece; at < size; at += piece) {
		piece = size - at < most ? size - at : most;
		must(write(ends[1], data + at, piece) == (ssize_t)piece);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", dup2(ends[0], ends[0]));
	close(ends[1]);
	error = xb_listfile_read_as(
		-1, path, &(struct xb_listfile_terms){.name = "list", .format = format}, file);
	close(ends[0]);
	return error;
}

/* A line of its own size. What may be read behind it are digits or letters: it counts for nothing.
 */
static int take_line(struct xb_reading *reading, const uint8_t *data, size_t size, char behind)
{
	char *line;
	int error;

	if (size > XB_LIST_LINE_PART)
		size = XB_LIST_LINE_PART;
	line = malloc(size + 1 + XB_LIST_SLACK);
	must(line);
	memcpy(line, data, size);
	line[size] = '\0';
	memset(line + size + 1, behind, XB_LIST_SLACK);
	reading->file->lines++;
	error = xb_listformat_take(reading, line, size);
	free(line);
	return error < 0 ? error : 0;
}

static int take_lines(const char *format, const uint8_t *data, size_t size, char behind,
		      struct xb_listfile *file)
{
	struct xb_reading reading = {.file = file};
	int error = 0;

	memset(file, 0, sizeof(*file));
	must(!format || !xb_listformat_choose(&reading, format));
	for (size_t at = 0, end; !error && at < size; at = end + 1) {
		const uint8_t *newline = memchr(data + at, '\n', size - at);

		end = newline ? (size_t)(newline - data) : size;
		error = take_line(&reading, data + at, end - at, behind);
	}
	if (!error)
		error = xb_listformat_finish(&reading);
	xb_listformat_end(&reading);
	return error;
}

/* Before repeats are dropped. */
static void check_lines(const char *format, const uint8_t *data, size_t size, int error,
			const struct xb_listfile *whole)
{
	struct xb_listfile digits, letters;
	int with_digits = take_lines(format, data, size, '9', &digits);
	int with_letters = take_lines(format, data, size, 'a', &letters);

	must(with_digits == with_letters);
	must(with_digits == error || !digits.count);
	if (!with_digits && !error) {
		must(digits.lines == whole->lines && digits.count == letters.count);
		must(digits.count + digits.repeats == whole->count + whole->repeats);
	}
	xb_listfile_free(&digits);
	xb_listfile_free(&letters);
}

/* Every line of a list of addresses is an entry that the parser of entries takes, and is in the
 * list. Lines that begin with '!' are comments until the format has been recognised. */
static void check_addresses(const uint8_t *data, size_t size, bool recognised,
			    const struct xb_listfile *file)
{
	uint64_t number = 0;

	for (size_t at = 0, end; at < size; at = end + 1) {
		const uint8_t *newline = memchr(data + at, '\n', size - at);
		const char *word = (const char *)data + at;
		struct xb_entry entry;
		bool found = false;
		size_t bytes = 0;

		end = newline ? (size_t)(newline - data) : size;
		if (!number++ && end - at >= 3 && !memcmp(word, "\xef\xbb\xbf", 3))
			word += 3;
		for (; word < (const char *)data + end && strchr(" \t\r", *word); word++)
			;
		while (word + bytes < (const char *)data + end && !strchr(" \t\r#;", word[bytes]))
			bytes++;
		if (!bytes || (!recognised && *word == '!'))
			continue;
		recognised = true;
		must(!xb_entry_parse(word, bytes, NULL, &entry, NULL));
		for (size_t i = 0; !found && i < file->count; i++)
			found = !xb_entry_compare(&file->items[i].entry, &entry);
		must(found);
	}
}

/* Into an empty list, and as what it becomes. */
static void check_merge(const struct xb_listfile *file)
{
	struct xb_writer writer = fuzz_begin();
	struct xb_list *list;
	struct xb_merge merge;

	must(!xb_list_need(writer.txn, "list", &list));
	merge = (struct xb_merge){.file = file, .list = list->id, .now = writer.now};
	xb_error_clear();
	if (!xb_merge_check(&merge)) {
		must(!xb_merge_add(writer.txn, &merge));
		must(merge.added == file->count && list->members == file->count);
		merge = (struct xb_merge){.file = file, .list = list->id, .now = writer.now};
		must(!xb_merge_replace(writer.txn, &merge));
		must(merge.unchanged == file->count && !merge.added && !merge.removed);
	} else {
		must_be_clear(xb_error_message());
	}
	xb_txn_abort(writer.txn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xb_listfile whole, pieces;
	const char *format = size ? format_of(data[0]) : NULL;
	uint64_t line = 0;
	int error;

	if (!size)
		return 0;
	data++;
	size--;
	xb_error_clear();
	error = read_whole(format, data, size, &whole);
	must(!error == !xb_error_class());
	if (error)
		line = refused_line();
	xb_error_clear();
	must(read_in_pieces(format, data, size, &pieces) == error);
	must(!error || refused_line() == line);
	must_be_same(&whole, &pieces);
	check_lines(format, data, size, error, &whole);
	if (error) {
		must(!whole.items && !whole.count && (!line || error == -EINVAL));
		return 0;
	}
	check(&whole);
	if (!strcmp(whole.format, "plain"))
		check_addresses(data, size, format, &whole);
	check_merge(&whole);
	xb_listfile_free(&whole);
	xb_listfile_free(&pieces);
	return 0;
}
