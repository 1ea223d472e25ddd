/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LMDB trusts its file: of a damaged one it reads where nothing is, or gives up by an assertion. */
#ifndef XB_STORE_LMDBCRASH_H
#define XB_STORE_LMDBCRASH_H

#include <lmdb.h>

/* Says what the person should know when LMDB does that with this file, see base/mapfault.h. What
 * was half done the next command repairs. */
void xb_damage_expect(MDB_env *env, const char *path);

#endif
