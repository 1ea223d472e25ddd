/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a store, in memory. */
#ifndef XB_TEST_DUMPED_H
#define XB_TEST_DUMPED_H

#include <stdio.h>
#include <stdlib.h>

#include "engine/dump.h"

/* What the transaction sees; the caller frees it. NULL: that failed. */
static inline char *dumped(struct xb_txn *txn)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int error = out ? xb_dump(txn, out) : -1;

	if (out)
		fclose(out);
	if (!error)
		return text;
	free(text);
	return NULL;
}

#endif
