/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many edits, a line each, as one change. */
#ifndef XB_CLI_BATCH_H
#define XB_CLI_BATCH_H

#include <stdio.h>

#include "bloomctl/edit.h"

/* An entry of a line. */
struct op {
	struct xb_entry entry; /* first, for xb_entry_sort; with the number of its line */
	uint32_t terms;	       /* index */
};

struct said {
	struct xb_edit_terms terms;
	uint32_t first_line;
};

struct batch {
	const char *name; /* for messages */
	struct op *ops;	  /* in store order, those of one entry in the order of their lines */
	size_t count, room;
	struct said *terms; /* each once for all lines in a row that have the same */
	size_t terms_count, terms_room;
	struct xb_arena texts; /* of terms and entries */
	struct xb_edit_result result;
	bool in_order; /* a line needs it; also set by the caller after a refusal, see batch_apply()
			*/
};

/* The batch has a name, all else is zero. Returns 0, or the exit code with the message printed. The
 * caller frees it in either case. */
int batch_read(const struct cli *cli, struct batch *batch, FILE *file);
void batch_free(struct batch *batch);

/*
 * Inside a write transaction, the body of it. 1: an entry was absent and --exist was not given. The
 * message of a refusal may tell of entries that only later lines add. With batch->in_order, in
 * another transaction, the lines are applied one after the other, and the message is true.
 */
int batch_apply(struct xb_writer *writer, void *batch);

#endif
