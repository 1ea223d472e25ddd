/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words, comments, addresses and domains of list lines. */
#include "lists/line.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "model/comment.h"

char *xb_line_trim(char *text)
{
	size_t size;

	text += strspn(text, XB_BLANKS);
	size = strlen(text);
	while (size && strchr(XB_BLANKS, text[size - 1]))
		size--;
	text[size] = '\0';
	return text;
}

uint64_t xb_line_count_ends(const char *text, size_t size)
{
	const char *end = text + size;
	uint64_t count = 0;

	for (; (text = memchr(text, '\n', (size_t)(end - text))); text++)
		count++;
	return count;
}

char *xb_line_word(char **rest)
{
	char *word = *rest + strspn(*rest, XB_BLANKS), *end = word + strcspn(word, XB_BLANKS);

	*rest = *end ? end + 1 : end;
	*end = '\0';
	return *word ? word : NULL;
}

char *xb_line_comment(char *text, const char *marks)
{
	char *mark = text + strcspn(text, marks);

	if (!*mark)
		return mark;
	*mark = '\0';
	return xb_line_trim(mark + 1);
}

#define COMMENT_BYTES ((size_t)1 << 30) /* of all together, so that offsets fit */

const char *xb_line_comment_apart(char *text, const char *mark)
{
	for (char *at = strstr(text, mark); at; at = strstr(at + 1, mark)) {
		if (at > text && strchr(XB_BLANKS, at[-1])) {
			*at = '\0';
			return xb_line_trim(at + strlen(mark));
		}
	}
	return "";
}

bool xb_line_knows_options(char *options, bool (*is_known)(char *option))
{
	char *option;

	while ((option = strsep(&options, ",")))
		if (!is_known(option))
			return false;
	return true;
}

int xb_line_store_comment(struct xb_listfile *file, struct xb_item *item, const char *comment)
{
	size_t start = file->comment_bytes ? file->comment_bytes : 1,
	       end = start + strlen(comment) + 1;
	int error;

	if (!*comment || xb_comment_check(comment, strlen(comment))) {
		xb_error_clear();
		return 0;
	}
	if (end > COMMENT_BYTES)
		return xb_input_error("the comments up to here are more than 1 GiB");
	error = xb_array_grow(&file->comments, &file->comment_room, end, 1);
	if (error)
		return error;
	file->comments[0] = '\0';
	strcpy(file->comments + start, comment);
	file->comment_bytes = end;
	item->comment = start & (COMMENT_BYTES - 1);
	return 0;
}

int xb_line_keep_with_comment(struct xb_listfile *file, struct xb_item *item, const char *comment)
{
	int error = xb_line_store_comment(file, item, comment);

	return error ? error : xb_line_keep(file, item);
}

int xb_line_unknown(struct xb_listfile *file, uint64_t line, const char *format, ...)
{
	struct xb_unknown_line unknown = {.line = line};
	char text[XB_UNKNOWN_TEXT];
	va_list arguments;
	int error;

	if (file->forgets && file->unknown >= XB_UNKNOWN_KEPT) {
		file->unknown++;
		return 0;
	}
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	unknown.text = xb_arena_copy(&file->names, text, strlen(text) + 1);
	if (!unknown.text)
		return -ENOMEM;
	error = xb_array_grow(&file->first_unknown, &file->unknown_room, file->unknown + 1,
			      sizeof(unknown));
	if (!error)
		file->first_unknown[file->unknown++] = unknown;
	return error;
}

int xb_line_note(struct xb_listfile *file, uint64_t line, const char *format, ...)
{
	char text[XB_UNKNOWN_TEXT];
	va_list arguments;
	const char *kept;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < file->noted; i++)
		if (!strcmp(file->notes[i].text, text))
			return 0;
	if (file->noted == XB_NOTES_KEPT) {
		file->more_notes++;
		return 0;
	}
	kept = xb_arena_copy(&file->names, text, strlen(text) + 1);
	if (!kept)
		return -ENOMEM;
	file->notes[file->noted++] = (struct xb_unknown_line){line, kept};
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct xb_unknown_line *first = a, *second = b;

	return (first->line > second->line) - (first->line < second->line);
}

void xb_line_sort_unknown(struct xb_listfile *file)
{
	if (file->unknown > 1)
		qsort(file->first_unknown, file->unknown, sizeof(*file->first_unknown),
		      compare_lines);
}

int xb_line_settle(struct xb_listfile *file, const char *why)
{
	size_t kept = 0, before = file->unknown;
	int error = 0;

	for (size_t i = 0; !error && i < file->count; i++) {
		const struct xb_item *item = &file->items[i];
		char name[XB_ENTRY_TEXT];

		if (item->doubtful)
			error = xb_line_unknown(file, item->entry.line, "'%s' %s",
						XB_SHOW(xb_entry_format(&item->entry, name)), why);
		else
			file->items[kept++] = *item;
	}
	file->count = kept;
	if (file->unknown > before)
		xb_line_sort_unknown(file);
	return error;
}

bool xb_line_looks_like_name(const char *text, size_t size)
{
	const char *last;

	size -= size && text[size - 1] == '.';
	last = memrchr(text, '.', size);
	last = last ? last + 1 : text;
	for (size_t i = 0; i < size; i++)
		if (!(text[i] & 0x80) && !strchr(XB_LABEL_CHARS ".", text[i]))
			return false;
	return last < text + size && *text != '.' && !strchr(XB_DIGITS, *last);
}

bool xb_line_looks_like_domain(const char *text, size_t size)
{
	return xb_line_looks_like_name(text, size) && memchr(text, '.', size - 1);
}

size_t xb_line_wildcard(const char *word)
{
	if (*word == '.')
		return 1;
	return (*word == '*' || *word == '+') && word[1] == '.' ? 2 : 0;
}

bool xb_line_looks_like_address(const char *word)
{
	return strchr(word, ':') || strchr(word, '/') || !word[strspn(word, XB_DIGITS ".")];
}

/* Time to live, "300" or "1h30m", or class: what may stand between owner and type. */
static bool is_between(const char *word)
{
	if (!strcasecmp(word, "IN"))
		return true;
	if (!isdigit((unsigned char)*word))
		return false;
	return !word[strspn(word, XB_DIGITS "smhdwSMHDW")];
}

char *xb_line_record_type(char **rest)
{
	char *word;

	do
		word = xb_line_word(rest);
	while (word && is_between(word));
	return word;
}

int xb_line_address(struct xb_listfile *file, const char *text, struct xb_entry *entry)
{
	char shown[XB_ENTRY_TEXT + 1] = "";
	bool host_bits;
	int error;

	xb_utf8_show(text, sizeof(shown), shown, sizeof(shown));
	error = xb_entry_parse(shown, strlen(shown), NULL, entry, &host_bits);
	if (error || !host_bits)
		return error;
	if (!file->host_bits++) {
		file->first_host_bits_line = file->lines;
		memcpy(file->first_host_bits, shown, sizeof(file->first_host_bits));
	}
	return 0;
}

int xb_line_keep_address(struct xb_listfile *file, const char *text, const char *comment)
{
	struct xb_item item = {0};
	int error = xb_line_address(file, text, &item.entry);

	return error ? error : xb_line_keep_with_comment(file, &item, comment);
}

int xb_line_domain(const char *text, uint8_t form[XB_NAME_BYTES], uint8_t *used)
{
	if (*text == '=')
		return xb_input_error("'%s' is not a valid domain: it begins with '='",
				      XB_SHOW(text));
	return xb_name_parse(text, strlen(text), form, used);
}

bool xb_line_excepts(const char *line)
{
	const char *name = line + 1 + (*line == '!' && line[1] == '=');
	size_t size = *line == '!' ? strcspn(name, XB_BLANKS "#;") : 0;
	const char *rest = name + size + strspn(name + size, XB_BLANKS);

	return size && xb_line_looks_like_domain(name, size) && (!*rest || strchr("#;", *rest));
}

int xb_line_keep_domain(struct xb_listfile *file, const char *text, unsigned int how,
			const char *comment)
{
	uint8_t form[XB_NAME_BYTES + 1];
	struct xb_item item = {.entry.kind = how & XB_LINE_ALLOW ? XB_ALLOW_NAME : XB_NAME,
			       .doubtful = (how & XB_LINE_DOUBTFUL) != 0,
			       .meant = (how & XB_LINE_MEANT) != 0};
	int error = xb_line_domain(text, form, &item.entry.length);

	if (error)
		return error;
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): set without an error */
	if (isdigit(form[1]))
		return xb_input_error(
			"'%s' is not a valid domain: its last label begins with a digit",
			XB_SHOW(text));
	if (how & XB_LINE_EXACT)
		form[item.entry.length++] = 0;
	item.entry.name = xb_arena_copy(&file->names, form, item.entry.length);
	return item.entry.name ? xb_line_keep_with_comment(file, &item, comment) : -ENOMEM;
}

bool xb_line_is_nowhere(const char *address)
{
	size_t size = strcspn(address, "%");
	struct xb_entry entry;

	if (xb_entry_parse(address, size, NULL, &entry, NULL)) {
		xb_error_clear();
		return false;
	}
	if (memchr(address, '/', size))
		return false;
	if (address[size])
		return entry.hi == 0xfe80ULL << 48 && entry.lo == 1;
	if (xb_entry_is_ipv4(&entry))
		return !entry.hi || entry.hi >> 56 == 127;
	return !entry.hi && entry.lo <= 1;
}

bool xb_line_is_address(const char *text)
{
	struct xb_entry entry;

	if (!xb_entry_parse(text, strlen(text), NULL, &entry, NULL))
		return !strchr(text, '/');
	xb_error_clear();
	return false;
}

bool xb_line_is_local(const char *name)
{
	static const char *const local[] = {"localhost.localdomain", "localhost4.localdomain4",
					    "localhost6.localdomain6"};
	size_t label = strspn(name, XB_LABEL_CHARS);

	if (label && !name[label + (name[label] == '.')])
		return true;
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		if (!strcasecmp(name, local[i]))
			return true;
	return xb_line_is_address(name);
}

bool xb_line_hides_parts(const char *line)
{
	return *line == '#' && line[1] && strchr("#@?$%", line[1]);
}

bool xb_line_is_cosmetic(const char *line)
{
	size_t size = strcspn(line, XB_BLANKS "=/:#");

	return size && xb_line_hides_parts(line + size);
}
