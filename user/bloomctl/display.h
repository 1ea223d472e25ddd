/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How commands show entries, lists, interfaces and problems. */
#ifndef XB_CLI_DISPLAY_H
#define XB_CLI_DISPLAY_H

#include <net/if.h>

#include "bloomctl/cli.h"
#include "engine/problem.h"
#include "engine/storeview.h"
#include "store/walk.h"

/* {"entry": ..., "lists": [{"name", "verdict"?, "scope"?, "added", "expires"?, "comment"?}]}; the
 * verdict: of a domain that is listed, or count; the scope: of an address, if it is not all.
 * `only`: XB_ANY_LIST or one list. */
json_t *display_entry_json(struct xb_txn *txn, const struct xb_entry *entry,
			   struct xb_members members, uint32_t only);

/* The same as lines of text, each with `before` in front. */
void display_entry(struct xb_txn *txn, const char *before, const struct xb_entry *entry,
		   struct xb_members members, uint32_t only);

/* What an interface is called, clean, or "ifN" if there is none of this number. Returns name. */
const char *display_interface(uint32_t ifindex, char name[IF_NAMESIZE]);

/* The same for a row of statistics: "other" for the one of all interfaces that have none. */
const char *display_row(uint32_t ifindex, char name[IF_NAMESIZE]);

/* [{"name", "entries", "verdict"?, "scope"?, "origins"?}], without those of automatic entries. */
json_t *display_lists_json(const struct xb_storeview *store);

/* As it is wanted; one that is not, as it is called or was. */
const char *display_wanted(const struct xb_interface *item);

/* The text of each, with advice. */
json_t *display_problems_json(const struct xb_problems *problems);

/* [{"kind", "interface"?, "text"}], for programs. */
json_t *display_problem_details_json(const struct xb_problems *problems);

/* `list` and `allow list`: everything of one side, XB_WALK_LISTED or XB_WALK_ALLOW. */
extern const struct option_spec show_list_options[];
int display_list(struct cli *cli, int argc, char **argv, const struct xb_entry *side);

/* `test` and `allow test`: every entry of the one side that covers those named. argv[0] is "test".
 */
int display_test(struct cli *cli, int argc, char **argv, bool allow);

#endif
