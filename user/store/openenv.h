/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LMDB environment that this process has open. There is one at most: the kernel drops LMDB's
 * locks when the process closes any descriptor of the lock file. */
#ifndef XB_STORE_OPENENV_H
#define XB_STORE_OPENENV_H

#include <lmdb.h>

/* The environment that is open; NULL: there is none. That of a parent process does not count. */
MDB_env *xb_openenv(void);
void xb_openenv_set(MDB_env *env);

#endif
