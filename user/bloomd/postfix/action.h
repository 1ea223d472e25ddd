/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Postfix is to do with a client: an action of its access(5), as the configuration has it. */
#ifndef XB_BLOOMD_ACTION_H
#define XB_BLOOMD_ACTION_H

#include <stdbool.h>
#include <stddef.h>

#define ACTION_MOST  300  /* bytes of the text, before lists and what was asked are put in */
#define ACTION_TEXT  1000 /* bytes of an action with them, terminator included */
#define ACTION_LISTS 200  /* bytes of names of lists, terminator included */

/* Whether the text is an action: one of those that do not let the client pass, or a code. %l stands
 * for lists, %a for what was asked, %% for a %. Returns 0, or an error with its message. */
int action_check(const char *text);

/* "DUNNO" decides nothing. */
bool action_is_none(const char *text);

/* Writes the action; returns out. Both texts come without characters that would end a line. */
const char *action_format(const char *text, const char *asked, const char *lists,
			  char out[ACTION_TEXT]);

#endif
