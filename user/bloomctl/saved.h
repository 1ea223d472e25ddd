/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a store: JSON objects, one a line, that save writes and restore reads. */
#ifndef XB_CLI_SAVED_H
#define XB_CLI_SAVED_H

#include <stdio.h>

#include "engine/write.h"
#include "store/mapped.h"

/* What the transaction sees. */
int saved_write(struct xb_txn *txn, FILE *out);

/* A text to be read. */
struct saved {
	const char *name; /* for messages */
	FILE *file;	  /* can be rewound */
	bool interfaces;  /* become those of the text; else those that are wanted stay so */
	/* What came of it. */
	unsigned long line;
	uint64_t entries, expired;
	struct xb_mapped mapped; /* those left out are not among the entries */
	bool counted;		 /* its head says how many lines of entries follow */
	uint64_t memberships;
};

/* Inside a write transaction, the body of it: all that was there goes. Begins at the beginning of
 * the file. */
int saved_read(struct xb_writer *writer, void *saved);

#endif
