/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of a value beside an address: `=DE|AT`, `!=x`, `>=50`. */
#ifndef XB_LISTS_CONDITION_H
#define XB_LISTS_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#define XB_CONDITION_BYTES 256 /* of all its values, a terminator behind each */

enum xb_condition_how {
	XB_CONDITION_IS,     /* = or !=: one of the values, as text or, of a number, as number */
	XB_CONDITION_BEYOND, /* >, >=, < and <=: a number */
};

struct xb_condition {
	enum xb_condition_how how;
	bool negated; /* !=, and < or <=, the contrary of >= and > */
	bool equal;   /* >= or <, where the number itself counts as beyond */
	size_t count;
	char values[XB_CONDITION_BYTES];
};

/*
 * Reads a word up to one of `ends`. One in double quotes may have any character, and two quotes for
 * one; what stands behind it is an end, too. Returns where it ends; NULL: it has no room, or its
 * quote stays open.
 */
const char *xb_word_read(const char *text, const char *ends, char *word, size_t room);

/*
 * Reads what stands behind a name: a comparison and values with `|` between them, up to another of
 * `ends`. Returns where it ends; NULL: it is none.
 */
const char *xb_condition_parse(const char *text, const char *ends, struct xb_condition *condition);

/* Whether the value is one that is asked for. is_number: 5.0 is 5. */
bool xb_condition_meets(const struct xb_condition *condition, const char *value, bool is_number);

#endif
