/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that goes between bloomd and a program in the sandbox, either of which may be lied to. */
#ifndef XB_SANDBOX_WIRETEXT_H
#define XB_SANDBOX_WIRETEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the text ends within its room and is of visible ASCII and blanks alone: it goes into
 * requests, and on a terminal. */
static inline bool wire_text_ok(const char *text, size_t room)
{
	for (size_t i = 0; i < room; i++) {
		if (!text[i])
			return true;
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return false;
}

#endif
