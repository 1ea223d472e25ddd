/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For a test: what somebody could do who has taken over a program in the sandbox. Only in a build
 * with -DXB_TAKEN_OVER. */
#ifndef XB_SANDBOX_TAKEN_H
#define XB_SANDBOX_TAKEN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef XB_TAKEN_OVER
/* Tries it all, and says in the text what was possible. True: nothing else is to be done. */
bool taken_over(char *text, size_t size);

/* False to see that without the sandbox it is all possible. Called before the sandbox. */
bool sandbox_wanted(void);
#else
static inline bool taken_over(char *text, size_t size)
{
	(void)text;
	(void)size;
	return false;
}

static inline bool sandbox_wanted(void)
{
	return true;
}
#endif

#endif
