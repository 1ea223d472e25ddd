/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The note for somebody who lists what is on the allowlist. */
#ifndef XB_CLI_EXEMPTED_H
#define XB_CLI_EXEMPTED_H

#include "store/exempt.h"

/* One line on stderr, unless there is nothing to say. */
void exempted_note(const struct xb_exemptions *exemptions);

#endif
