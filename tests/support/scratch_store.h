/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store of its own for each test of a file: its setup and teardown. */
#ifndef XB_TEST_SCRATCH_STORE_H
#define XB_TEST_SCRATCH_STORE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

static char directory[sizeof("/tmp/xb-store-XXXXXX")];
static struct xb_store *store;

static inline int begin(void **state)
{
	strcpy(directory, "/tmp/xb-store-XXXXXX");
	*state = NULL;
	return mkdtemp(directory) && !xb_store_open(directory, XB_STORE_CREATE, &store) ? 0 : -1;
}

static inline int end(void **state)
{
	char command[128];

	xb_store_close(store);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

#endif
