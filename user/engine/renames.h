/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces that got another name: what was wanted by the former one is wanted by the present. */
#ifndef XB_ENGINE_RENAMES_H
#define XB_ENGINE_RENAMES_H

#include "engine/context.h"

/* Makes renamed interfaces of the last look wanted under their present names, and names their rows
 * so. *followed: there were some, so that the look is out of date. */
int xb_renames_follow(struct xb_writer *writer, bool *followed);

/* Gives rows the names under which the interfaces are wanted, where a writer that moved the wishes
 * did not come to it: this store's own rows alone. To be called before anything counts as wanted by
 * nobody. */
int xb_renames_finish(struct xb_writer *writer);

/* The anchor is new, so that no row has a former name. Forgets them in the writer's transaction, if
 * it has one, or in one of its own. */
int xb_renames_forget(struct xb_writer *writer, struct xb_txn *committed);

#endif
