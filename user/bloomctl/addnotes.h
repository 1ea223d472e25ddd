/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody may not expect of the entries that an add has put into a list, as notes. */
#ifndef XB_CLI_ADDNOTES_H
#define XB_CLI_ADDNOTES_H

#include "bloomctl/cli.h"
#include "engine/edit.h"

/* Says which of the entries are prefixes that import leaves out, what becomes of domains, and
 * addnotes_timeout() if the entries have a timeout. */
void addnotes_tell(const struct cli *cli, const struct xb_edit *edit);

/* Says that entries with a timeout stay in force when it is over, if nothing on this machine takes
 * them out by itself. */
void addnotes_timeout(const struct cli *cli);

#endif
