/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/openenv.h"

#include <stddef.h>
#include <unistd.h>

static MDB_env *open_environment;
static pid_t owner;

MDB_env *xb_openenv(void)
{
	return owner == getpid() ? open_environment : NULL;
}

void xb_openenv_set(MDB_env *env)
{
	open_environment = env;
	owner = getpid();
}
