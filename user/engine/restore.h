/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restores a store from the text that xb_dump() wrote of this or another store. */
#ifndef XB_ENGINE_RESTORE_H
#define XB_ENGINE_RESTORE_H

#include <stdio.h>

#include "engine/writepath.h"
#include "store/limits.h"

struct xb_restore {
	const char *name;  /* of the text, for messages */
	const char *maker; /* of such texts, for messages: "`PROGRAM VERB`" */
	FILE *file;	   /* can be rewound */
	bool interfaces;   /* true: the text says which are wanted; false: they stay as they are */
	/* The outcome. */
	unsigned long line; /* read last */
	uint64_t entries, expired;
	uint64_t shared; /* passed by: of lists that are shared with a fleet, which stay */
	struct xb_limits_wanted limits; /* that the text has */
	bool counted;			/* the text says how many memberships it has: memberships */
	uint64_t memberships;
};

/*
 * The body of a write: rewinds the file and makes the store what the text says; everything else
 * goes, except the lifelines of this machine. Returns 0 or an error that names the line; xb_write()
 * then gives up the transaction.
 */
int xb_restore(struct xb_writer *writer, void *restore);

/* Restores as the wish says, then attaches the interfaces that the text names, unless it is on
 * trial. */
int xb_restore_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		    struct xb_restore *restore, struct xb_written *written);

#endif
