/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One add or del as it was typed, on the command line or in a batch. */
#ifndef XB_CLI_EDIT_H
#define XB_CLI_EDIT_H

#include "bloomctl/cli.h"
#include "engine/edit.h"

/* Of `add`, `allow add`, and both dels. */
extern const struct option_spec edit_add_options[], edit_allow_options[], edit_del_options[];

/* argv[0] is "add" or "del", or "allow" and argv[1] is. The texts stay the caller's. Returns 0, and
 * the caller frees the edit, or EXIT_USAGE with the message printed. Notes on the entries wait for
 * the caller's xb_notices_settle(). */
int edit_parse(const struct cli *cli, int argc, char **argv, struct xb_edit *edit);

/* Makes the message of what the engine refused, and frees it. Returns 1 if the entry is absent, or
 * -EINVAL. */
int edit_refused(struct xb_edit_refusal *refusal);

/* One edit in a transaction of its own, and the answer. */
int edit_run(struct cli *cli, int argc, char **argv);

#endif
