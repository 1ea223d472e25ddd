/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store from the text that xb_dump() has written of it, or of another one. */
#ifndef XB_ENGINE_RESTORE_H
#define XB_ENGINE_RESTORE_H

#include <stdio.h>

#include "engine/writepath.h"
#include "store/mapped.h"

struct xb_restore {
	const char *name;  /* of the text, for messages */
	const char *maker; /* of such texts, for messages: "`PROGRAM VERB`" */
	FILE *file;	   /* can be rewound */
	bool interfaces;   /* become those of the text; else those that are wanted stay so */
	/* What came of it. */
	unsigned long line;
	uint64_t entries, expired;
	struct xb_mapped mapped; /* those left out are not among the entries */
	bool counted;		 /* its head says how many lines of entries follow */
	uint64_t memberships;
};

/*
 * A body for xb_write(): the store becomes what the text says, all else that was there goes. Begins
 * at the beginning of the file. A line that is refused is named by its number, and the transaction
 * is to be given up.
 */
int xb_restore(struct xb_writer *writer, void *restore);

/* Restores as the wish says, then attaches the interfaces that the text names, unless it is on
 * trial. */
int xb_restore_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		    struct xb_restore *restore, struct xb_written *written);

#endif
