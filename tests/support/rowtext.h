/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes as text, for tables of frames: hexadecimal digits, 'names.in.quotes' (labels without the
 * root), "text" with \r \n \t \xNN, N*WORD for N times the same, (WORDS)
 * together, and what `let` has defined: NAME,
 * or NAME(a,b) with a and b for $1 and $2 in it. Exits with a message if it is none of these.
 */
#ifndef XB_TESTS_ROWTEXT_H
#define XB_TESTS_ROWTEXT_H

#include <stdint.h>

#define ROW_TEXT 8192

struct rowtext {
	struct {
		char name[32], body[1024];
	} let[160];
	uint32_t lets;
};

/* definition: a name, blanks, what it stands for. Takes the place of an older one. */
void rowtext_let(struct rowtext *lets, const char *definition);

/* Returns the number of bytes. */
uint32_t rowtext_bytes(const struct rowtext *lets, const char *text, uint8_t *out);

/* The next word; blanks in quotes and in parentheses end none. NULL: there is no more. Writes into
 * the text. */
char *rowtext_word(char **text);

#endif
