/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LMDB trusts its file: if the file is damaged, LMDB reads where nothing is mapped, or fails an
 * assertion. */
#ifndef XB_STORE_LMDBCRASH_H
#define XB_STORE_LMDBCRASH_H

#include <lmdb.h>

/* Sets the message for the case that LMDB does that with this file, see base/mapfault.h. The
 * next command repairs what was half done. */
void xb_lmdbcrash_expect(MDB_env *env, const char *path);

#endif
