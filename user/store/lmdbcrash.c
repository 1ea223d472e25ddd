/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/lmdbcrash.h"

#include <stdint.h>

#include "base/mapfault.h"
#include "base/paths.h"
#include "base/program.h"

#define PART "/" XB_STORE_FILE

void xb_lmdbcrash_end(void)
{
	xb_mapfault_end(PART);
}

static void on_assertion(MDB_env *env, const char *message)
{
	(void)env;
	(void)message;
	xb_lmdbcrash_end();
}

void xb_lmdbcrash_expect_full(const char *path)
{
	xb_mapfault_expect(PART,
			   "cannot use the store %s: no space left on the disk of the state "
			   "directory, or the file is damaged",
			   path);
}

void xb_lmdbcrash_expect(MDB_env *env, const char *path)
{
	xb_mapfault_expect(PART,
			   "cannot read the store %s: the file is damaged, or its disk fails: "
			   "move it away%s",
			   path, xb_advice(XB_ADVICE_RESTORE_SAVED));
	xb_mapfault_read_by(PART, (const void *)(uintptr_t)mdb_env_open);
	mdb_env_set_assert(env, on_assertion);
}
