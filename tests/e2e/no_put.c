/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded: nothing can be written into the store any more. */
#include <errno.h>

int mdb_put(void *txn, unsigned int table, void *key, void *value, unsigned int flags);

int mdb_put(void *txn, unsigned int table, void *key, void *value, unsigned int flags)
{
	(void)txn;
	(void)table;
	(void)key;
	(void)value;
	(void)flags;
	return ENOSPC;
}
