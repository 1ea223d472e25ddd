/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One add or del as it was typed, on the command line or in a batch. */
#ifndef XB_CLI_EDIT_H
#define XB_CLI_EDIT_H

#include "bloomctl/cli.h"
#include "engine/write.h"
#include "model/entry.h"
#include "store/exempt.h"

/* What is to be done, whatever the entries are. */
struct edit_terms {
	bool add, exist;
	bool allow;	  /* of the allowlist */
	bool force;	  /* what is too wide, too */
	const char *list; /* NULL: "default" or "allow" for add, every list for del */
	const char *comment;
	uint32_t timeout; /* seconds, 0: none */
	uint32_t id;	  /* of the list, since edit_begin() */
};

struct edit {
	struct edit_terms terms;
	struct xb_entry *entries;
	struct xb_arena names; /* of entries */
	size_t count;
};

/* What became of it. */
struct edit_result {
	uint64_t added, renewed, removed, unchanged, absent;
	json_t *lists_left; /* entry to names of the lists a del took it out of; NULL: not wanted */
	struct xb_exemptions exempt; /* of what edit_run() added */
	json_t *covered;	     /* entry to what still covers it; with lists_left */
};

/* Of `add`, `allow add`, and both dels. */
extern const struct option_spec edit_add_options[], edit_allow_options[], edit_del_options[];

/* argv[0] is "add" or "del", or "allow" and argv[1] is. The texts stay the caller's. Returns 0, or
 * EXIT_USAGE with the message printed. */
int edit_parse(const struct cli *cli, int argc, char **argv, struct edit *edit);
void edit_free(struct edit *edit);

/* Inside a write transaction: makes or finds the list, before any of its entries is applied. */
int edit_begin(struct xb_writer *writer, struct edit_terms *terms);

/* One entry. 1: it was absent and --exist was not given. */
int edit_apply(struct xb_writer *writer, const struct edit_terms *terms,
	       const struct xb_entry *entry, struct edit_result *result);

/* One edit in a transaction of its own, and the answer. */
int edit_run(struct cli *cli, int argc, char **argv);

#endif
