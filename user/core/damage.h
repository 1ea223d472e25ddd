/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LMDB trusts its file: of a damaged one it reads where nothing is, or gives up by an assertion. */
#ifndef XB_CORE_DAMAGE_H
#define XB_CORE_DAMAGE_H

#include <lmdb.h>

/*
 * From now on this process ends with a line on stderr that says so, and exit code 3, when LMDB does
 * that with this file, or when the counters of a filter are cut off while they are mapped. What was
 * half done is as after kill -9: the next command repairs it. One environment at a time.
 */
void xb_damage_watch(MDB_env *env, const char *path);

#endif
