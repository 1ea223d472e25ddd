/* SPDX-License-Identifier: GPL-2.0-or-later */
/* extract: every address, network and range that stands alone in a text, whatever else the text
 * says, but for those behind `!` and `except`. It has to be asked for. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

#define HEX_CHARS XB_DIGITS "abcdefABCDEF"

struct text {
	struct xb_reading *reading;
	const char *start;
	bool excepts; /* up to the end of the line, or, in braces, up to theirs */
	bool in_braces;
	const char *last_brace; /* that closes some; NULL: there is none */
	const char *excepted;	/* where an address is excepted */
};

/* An address or prefix, and where it ends. */
struct found {
	struct xb_entry entry;
	int length; /* -1: it is no prefix */
	const char *at, *address_end, *end;
};

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte & 0x80;
}

/* Whether a word, or a number with more parts, begins in front or goes on behind. */
static bool goes_on(const char *end)
{
	return is_word(*end) || ((*end == '.' || *end == '-') && is_word(end[1]) &&
				 !(*end == '-' && isdigit((unsigned char)end[1])));
}

static bool begins(const char *text, const char *at)
{
	if (at == text)
		return true;
	if (is_word(at[-1]) || at[-1] == '.')
		return false;
	return at[-1] != '-' || at - 1 == text || !isalpha((unsigned char)at[-2]);
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* The prefix length of a netmask, or of a wildcard, its opposite; -1: it is neither. */
static int mask_length(uint32_t mask, bool wildcard)
{
	uint32_t hosts = wildcard ? mask : ~mask;

	if (hosts & (hosts + 1))
		return -1;
	return hosts ? __builtin_clz(hosts) : 32;
}

/* --- one address --- */

/* Behind the address: a prefix length or netmask, if there is one that can be. False: this is no
 * address, but part of something else. */
static bool read_length(struct found *found, int most)
{
	const char *text = found->address_end + 1, *end;
	size_t digits = text[-1] == '/' ? strspn(text, XB_DIGITS) : 0;
	struct xb_entry mask;

	found->length = -1;
	found->end = found->address_end;
	if (!digits)
		return true;
	end = most == 32 ? xb_ipv4_read(text, &mask) : NULL;
	if (end) {
		found->length = mask_length(xb_entry_ipv4(&mask), false);
	} else {
		end = text + digits;
		found->length = digits > 3 ? -1 : (int)strtol(text, NULL, 10);
	}
	found->end = end;
	return found->length >= 0 && found->length <= most && !goes_on(end) && *end != '/';
}

static bool read_ipv4(struct found *found)
{
	found->address_end = xb_ipv4_read(found->at, &found->entry);
	return found->address_end && !goes_on(found->address_end) && read_length(found, 32);
}

/* A time of day, or `::` between names, is no address. */
static bool is_ipv6(const char *text, size_t size, struct xb_entry *entry)
{
	size_t colons = 0, digits = 0;

	for (size_t i = 0; i < size; i++) {
		colons += text[i] == ':';
		digits += isdigit((unsigned char)text[i]) != 0;
	}
	if (colons < 2 || !digits || size > 45)
		return false;
	if (!xb_entry_parse(text, size, NULL, entry, NULL))
		return true;
	xb_error_clear();
	return false;
}

static bool read_ipv6(struct found *found)
{
	const char *at = found->at;
	size_t size = strspn(at, HEX_CHARS ":.");

	while (size &&
	       (at[size - 1] == '.' || (at[size - 1] == ':' && (size < 2 || at[size - 2] != ':'))))
		size--;
	found->address_end = at + size;
	return !is_word(at[size]) && is_ipv6(at, size, &found->entry) && read_length(found, 128);
}

static bool read_address(const char *at, struct found *found)
{
	*found = (struct found){.at = at};
	if ((isxdigit((unsigned char)*at) || *at == ':') && read_ipv6(found))
		return true;
	return isdigit((unsigned char)*at) && read_ipv4(found);
}

/* --- what stands behind it --- */

/* The other end of a range. With blanks around the dash, nothing else may follow in its field: logs
 * have a dash between addresses that are no range. */
static bool read_last(const struct found *first, struct found *last)
{
	const char *at = skip_blanks(first->end);
	bool spaced = at > first->end;

	if (*at != '-' || first->length >= 0)
		return false;
	at = spaced ? skip_blanks(at + 1) : at + 1;
	if (!read_address(at, last) || last->length >= 0 ||
	    xb_entry_is_ipv6(&first->entry) != xb_entry_is_ipv6(&last->entry))
		return false;
	at = skip_blanks(last->end);
	return !spaced || !*at || strchr("\r\n,;#|\"')]}", *at);
}

/* A netmask or wildcard in a word of its own; what it says about an address with host bits is the
 * network in which that lies. */
static const char *read_mask(struct found *found)
{
	static const char *const words[] = {"netmask ", "mask "};
	const char *at = skip_blanks(found->end), *end;
	struct xb_entry mask;
	int length;

	if (found->length >= 0 || xb_entry_is_ipv6(&found->entry) || !is_blank(*found->end))
		return found->end;
	for (size_t i = 0; i < 2; i++)
		if (!strncasecmp(at, words[i], strlen(words[i])))
			at = skip_blanks(at + strlen(words[i]));
	end = xb_ipv4_read(at, &mask);
	if (!end || goes_on(end) || *end == '/')
		return found->end;
	/* No source has an address that looks so. */
	length = mask_length(xb_entry_ipv4(&mask), false);
	if (length < 8)
		length = xb_entry_ipv4(&mask) && !(mask.hi >> 56)
				 ? mask_length(xb_entry_ipv4(&mask), true)
				 : -1;
	if (length < 8)
		return found->end;
	if (!(xb_entry_ipv4(&found->entry) & ~(uint32_t)(~0ULL << (32 - length))))
		found->length = length;
	return end;
}

/* --- taking --- */

static int keep(struct xb_reading *reading, const struct found *found, bool excepted)
{
	struct xb_item item = {.entry = found->entry};
	char text[XB_ENTRY_TEXT];
	int error = 0;

	if (found->length >= 0) {
		snprintf(text, sizeof(text), "%.*s/%d", (int)(found->address_end - found->at),
			 found->at, found->length);
		error = xb_line_address(reading->file, text, &item.entry);
	}
	if (excepted)
		item.entry = xb_entry_allow(&item.entry);
	return error ? error : xb_line_keep(reading->file, &item);
}

static int keep_range(struct xb_reading *reading, const struct found *first,
		      const struct found *last, bool excepted)
{
	struct xb_item item = {.entry.kind = excepted ? XB_ALLOW4 : 0};
	struct xb_span span = {.first = xb_span_of(&first->entry).first,
			       .last = xb_span_of(&last->entry).last,
			       .ipv6 = xb_entry_is_ipv6(&first->entry)};

	return xb_span_keep(reading->file, &span, &item, "");
}

/* What is excepted is left out, and taken out of all else. */
static int except(struct xb_listfile *file, size_t from, const char *at, const char *end)
{
	char text[XB_SHOWN + 1];

	for (size_t i = from; i < file->count; i++)
		file->items[i].entry.line = UINT32_MAX; /* behind all */
	snprintf(text, sizeof(text), "%.*s", (int)(end - at), at);
	return xb_line_unknown(file, file->lines, "'%s' is excepted", text);
}

/* Returns where to go on; `at` itself: there is no address. */
static const char *take_address(struct text *text, const char *at, int *error)
{
	struct xb_listfile *file = text->reading->file;
	bool excepted = text->excepts || text->excepted == at;
	size_t before = file->count;
	struct found first, last;
	const char *end;

	if (!begins(text->start, at) || (at > text->start && at[-1] == ':') ||
	    !read_address(at, &first))
		return at;
	if (read_last(&first, &last) &&
	    xb_span_of(&first.entry).first <= xb_span_of(&last.entry).first) {
		*error = keep_range(text->reading, &first, &last, excepted);
		end = last.end;
	} else {
		end = read_mask(&first);
		*error = keep(text->reading, &first, excepted);
	}
	if (!*error && excepted)
		*error = except(file, before, at, end);
	return end;
}

/* Whether the line that ends there does so with a backslash. */
static bool goes_on_behind(const char *start, const char *end)
{
	end -= end > start && end[-1] == '\r';
	return end > start && end[-1] == '\\';
}

/* `!`, `!=`, `! -s`, and `!= {`, which holds for several, as `except` does. */
static void look_at_mark(struct text *text, const char *at)
{
	if (*at == '\n') {
		text->excepts &= text->in_braces || goes_on_behind(text->start, at);
	} else if (*at == '}') {
		text->excepts &= !text->in_braces;
		text->in_braces = false;
	} else if (*at == '!') {
		at = skip_blanks(at + 1 + (at[1] == '='));
		text->excepts |= *at == '{';
		text->in_braces |= *at == '{' && at < text->last_brace;
		if (*at == '-')
			at = skip_blanks(at + strcspn(at, " \t\r\n"));
		text->excepted = at;
	} else if (begins(text->start, at) && !strncasecmp(at, "except", 6) && !is_word(at[6])) {
		text->excepts = true;
	}
}

static int extract(struct xb_reading *reading, char *start, size_t size)
{
	struct text text = {
		.reading = reading, .start = start, .last_brace = memrchr(start, '}', size)};
	const char *at = start, *end = start + size;
	int error = 0;

	reading->file->lines = reading->text_line;
	while (!error && at < end) {
		const char *next = at;

		if (isxdigit((unsigned char)*at) || *at == ':')
			next = take_address(&text, at, &error);
		if (next == at && strchr("!}\neE", *at))
			look_at_mark(&text, at);
		reading->file->lines += *at == '\n';
		at = next == at ? at + 1 : next;
	}
	return error;
}

static int finish_extract(struct xb_reading *reading)
{
	return xb_span_except(reading->file, XB_LATEST);
}

const struct xb_list_format xb_extract_format = {
	"extract", NULL, NULL, .comments = "", .document = extract, .finish = finish_extract};
