/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages for an entry that a del did not find, and for a wider entry that covers it. */
#ifndef XB_CLI_ABSENT_H
#define XB_CLI_ABSENT_H

#include "engine/absence.h"

/* Makes the message for an entry that a del did not find. list: where it was looked for, NULL: in
 * all of its side. */
void absent_error(const struct xb_absence *absence, const struct xb_entry *entry, const char *list);

#define ABSENT_HOW 800 /* bytes, terminator included */

/* What covers the entry, in which lists, and which command ends that for it. Returns how. */
const char *absent_cover(const struct xb_cover *cover, const struct xb_entry *entry,
			 char how[ABSENT_HOW]);

#endif
