/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to choose for a file that no format recognizes, since its lines could mean several things.
 */
#ifndef XB_LISTS_HINT_H
#define XB_LISTS_HINT_H

#include <stdbool.h>

#define XB_LIST_HINT 256

/* Writes which choice would read such a line, for a message. False: none is known. */
bool xb_list_hint(const char *line, char hint[XB_LIST_HINT]);

#endif
