/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the list formats share: they take a line apart, and keep what it says. */
#ifndef XB_LISTS_LINE_H
#define XB_LISTS_LINE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "lists/items.h"

#define XB_DIGITS      "0123456789"
#define XB_BLANKS      " \t\r"
#define XB_LABEL_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_" XB_DIGITS

/* The text without blanks around it; what is behind is cut off. */
char *xb_line_trim(char *text);

/* Line ends in a text. */
uint64_t xb_line_count_ends(const char *text, size_t size);

/* Whether the line ends with a backslash. */
static inline bool xb_line_goes_on(const char *line)
{
	size_t size = strlen(line);

	return size && line[size - 1] == '\\';
}

/* Cuts the next word off, NULL at the end. */
char *xb_line_word(char **rest);

/* Cuts the text off at the first of `marks`. Returns the rest behind it, trimmed; "" if there is no
 * mark. */
char *xb_line_comment(char *text, const char *marks);

/* Does the same for formats in which a mark begins a comment only behind a blank. */
const char *xb_line_comment_apart(char *text, const char *mark);

/* Keeps an IPv4 address in the upper half, where file->bare is. */
static inline int xb_line_keep_bare(struct xb_listfile *file, uint64_t address)
{
	int error = xb_array_grow(&file->bare, &file->room, file->count + 1, sizeof(*file->bare));

	if (!error)
		file->bare[file->count++] = address | (uint32_t)file->lines;
	return error;
}

/* Keeps the item, as one of the line that file->lines is at. */
static inline int xb_line_keep(struct xb_listfile *file, const struct xb_item *item)
{
	int error;

	if (file->bare && xb_item_is_bare(item))
		return xb_line_keep_bare(file, item->entry.hi);
	error = xb_listfile_widen(file);
	if (!error && file->count == file->room && file->bound)
		error = xb_listfile_may_grow(file, file->room * sizeof(*item));
	if (!error)
		error = xb_array_grow(&file->items, &file->room, file->count + 1, sizeof(*item));
	if (error)
		return error;
	file->items[file->count] = *item;
	file->items[file->count++].entry.line = (uint32_t)file->lines;
	return 0;
}

/* Keeps the text for the item, unless it is one that xb_comment_check() refuses. */
int xb_line_store_comment(struct xb_listfile *file, struct xb_item *item, const char *comment);

int xb_line_keep_with_comment(struct xb_listfile *file, struct xb_item *item, const char *comment);

/* Counts a line that was not understood, and keeps the text to show for it. */
__attribute__((format(printf, 3, 4))) int xb_line_unknown(struct xb_listfile *file, uint64_t line,
							  const char *format, ...);

/* Keeps what is to be told of a line that was taken, or with line 0 of the whole file; the same
 * text only once, and XB_NOTES_KEPT of all; others are counted. */
__attribute__((format(printf, 3, 4))) int xb_line_note(struct xb_listfile *file, uint64_t line,
						       const char *format, ...);

/* Puts the lines that were not understood in order, where some were noted at the end. */
void xb_line_sort_unknown(struct xb_listfile *file);

/* Removes the doubtful items and counts their lines as unknown, with the domain in quotes and
 * `why` as the reason. */
int xb_line_settle(struct xb_listfile *file, const char *why);

/*
 * What becomes of exceptions, which readers keep as names for the allowlist. The items are in store
 * order, repeats among them; each item that a function removes counts as unknown.
 */

/* Makes exceptions of the list of them. Of a name that is listed and excepted the exception stays.
 */
int xb_line_own_exceptions(struct xb_listfile *file);

/* Leaves them to the allowlist. There an exception would hide what the file lists below it, so this
 * function removes it; but where the file lists something wider too, it keeps the exception and
 * removes what is listed below. */
int xb_line_allow_exceptions(struct xb_listfile *file);

/* Whether the file lists something wider than the domain, or, with `itself`, the domain. */
bool xb_line_is_listed(const struct xb_listfile *file, const struct xb_entry *domain, bool itself);

/* Whether a name that is in the file, or has names below it there, hides from wildcards above it.
 */
enum xb_wildcards {
	XB_WILDCARDS_OPEN,
	XB_WILDCARDS_HIDDEN, /* as in the DNS (RFC 4592) */
};

/*
 * For formats in which a wildcard stands for what lies below a domain, and not for the domain, with
 * the items in store order, repeats among them. The reader keeps a wildcard as the domain, and a
 * name as that name alone; this function adds what an entry says in another way, such as an
 * exception for the domain itself. An exception that is doubtful is left out with a note if the
 * file lists nothing around it; if it is `meant` as well, nothing is told: it says only that the
 * name is there, or, of a wildcard, that all in the domain passes, whatever the file says. None is
 * doubtful afterwards.
 */
int xb_line_wildcards(struct xb_listfile *file, enum xb_wildcards kind);

/* Whether all options are known, which commas separate; they are cut apart. NULL: there are none.
 */
bool xb_line_knows_options(char *options, bool (*is_known)(char *option));

/* The type of a resource record (RFC 1035, section 5.1), behind time to live and class; NULL at the
 * end. */
char *xb_line_record_type(char **rest);

/* An address or prefix, with its host bits cut off and noted. */
int xb_line_address(struct xb_listfile *file, const char *text, struct xb_entry *entry);

/* Keeps an address or prefix. */
int xb_line_keep_address(struct xb_listfile *file, const char *text, const char *comment);

/* By shape: two labels or more, of which the last begins as that of no address does. */
bool xb_line_looks_like_domain(const char *text, size_t size);

/* The same, but one label will do. */
bool xb_line_looks_like_name(const char *text, size_t size);

/* Bytes of what stands in front of a domain to say "and all below it": `*.`, `.`, `+.`; 0: nothing.
 * Some programs leave the domain itself out where `*.` stands; here it is always in. */
size_t xb_line_wildcard(const char *word);

/* Whether the line is `!DOMAIN` or `!=DOMAIN`, perhaps with a comment. */
bool xb_line_excepts(const char *line);

/* Whether the word can be no domain, but an address or a prefix, perhaps a wrong one. */
bool xb_line_looks_like_address(const char *word);

/* The form of a domain that stands for itself and all below it; `=` in front is an input error. */
int xb_line_domain(const char *text, uint8_t form[XB_NAME_BYTES], uint8_t *used);

#define XB_LINE_EXACT	 1U /* this name alone */
#define XB_LINE_ALLOW	 2U /* an exception */
#define XB_LINE_DOUBTFUL 4U /* see struct xb_item */
#define XB_LINE_MEANT	 8U /* the same */

/*
 * Keeps a domain. how: XB_LINE_ bits. An input error also where the domain could be a wrong
 * address: its last label begins with a digit, as that of no domain on the Internet does.
 */
int xb_line_keep_domain(struct xb_listfile *file, const char *text, unsigned int how,
			const char *comment);

/* Whether it is an address, without a length. */
bool xb_line_is_address(const char *text);

/* Single labels, addresses, and what else hosts files call the machine itself: no business of a
 * list. */
bool xb_line_is_local(const char *name);

/* A rule of which parts of pages browsers hide: names, then `##`, `#@#`, `#?#`, `#$#` or `#%#`. No
 * name in it is one to block, and what is behind it is no comment. */
bool xb_line_is_cosmetic(const char *line);

/* The same without names, for all pages. */
bool xb_line_hides_parts(const char *line);

/* Whether lists give this address to names that should lead nowhere: 0.0.0.0, 127.0.0.0/8, ::,
 * ::1, fe80::1 of an interface. */
bool xb_line_is_nowhere(const char *address);

#endif
