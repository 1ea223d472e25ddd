/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/openenv.h"

static MDB_env *current;

MDB_env *xb_openenv(void)
{
	return current;
}

void xb_openenv_set(MDB_env *env)
{
	current = env;
}
