/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words, comments, addresses and domains of list lines. */
#include "listline.h"

#include <ctype.h>
#include <errno.h>

#include "membership.h"

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

const char *xb_line_show(const char *text, char *out, size_t room)
{
	size_t size = strnlen(text, room - 1);

	for (size_t i = 0; i < size; i++)
		out[i] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
	out[size] = '\0';
	return out;
}

int xb_line_keep_with_comment(struct xb_listfile *file, struct xb_item *item, const char *comment)
{
	size_t start = file->comment_bytes ? file->comment_bytes : 1,
	       end = start + strlen(comment) + 1;
	int error;

	if (!*comment || xb_comment_check(comment, strlen(comment))) {
		xb_error_clear();
		return xb_line_keep(file, item);
	}
	if (end > UINT32_MAX)
		return xb_input_error("the comments up to here are more than 4 GiB");
	error = xb_line_grow(&file->comments, &file->comment_room, end, 1);
	if (error)
		return error;
	file->comments[0] = '\0';
	strcpy(file->comments + start, comment);
	file->comment_bytes = end;
	item->comment = (uint32_t)start;
	return xb_line_keep(file, item);
}

int xb_line_address(struct xb_listfile *file, const char *text, struct xb_entry *entry)
{
	char shown[XB_ENTRY_TEXT + 1] = "";
	bool host_bits;
	int error;

	xb_line_show(text, shown, sizeof(shown));
	error = xb_entry_parse(shown, strlen(shown), NULL, entry, &host_bits);
	if (error || !host_bits)
		return error;
	if (!file->host_bits++) {
		file->first_host_bits_line = file->lines;
		memcpy(file->first_host_bits, shown, sizeof(file->first_host_bits));
	}
	return 0;
}

int xb_line_keep_domain(struct xb_listfile *file, const char *text, unsigned int how,
			const char *comment)
{
	uint8_t form[XB_NAME_BYTES + 1];
	struct xb_item item = {.entry.kind = how & XB_LINE_ALLOW ? XB_ALLOW_NAME : XB_NAME};
	int error;

	if (*text == '=')
		return xb_input_error("'%s' is no domain: it begins with '='", XB_LINE_SHOW(text));
	error = xb_name_parse(text, strlen(text), form, &item.entry.length);
	if (error)
		return error;
	if (isdigit(form[1]))
		return xb_input_error("'%s' is no domain: its last label begins with a digit",
				      XB_LINE_SHOW(text));
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
