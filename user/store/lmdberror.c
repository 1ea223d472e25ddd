/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/lmdberror.h"

#include <errno.h>
#include <lmdb.h>

#include "base/error.h"
#include "base/holder.h"
#include "base/program.h"
#include "store/latest.h"
#include "store/openenv.h"
#include "store/readers.h"

/* Whoever keeps freed room from being used again, in front of a message that there is none. */
static int blame_reader(int error)
{
	MDB_env *env = xb_openenv();
	struct xb_reader last = env ? xb_readers_last(env) : (struct xb_reader){0};
	char text[256];

	return last.behind ? xb_error_prefix(error,
					     "%s holds a state of the store that is %zu "
					     "transactions old, so freed space cannot be reused: "
					     "end it",
					     xb_process_describe((uint32_t)last.process, text,
								 sizeof(text)),
					     last.behind)
			   : error;
}

int xb_lmdb_error(int error, const char *doing)
{
	if (error == MDB_MAP_FULL)
		return blame_reader(xb_system_error(
			0, "%s: the store has reached %zu GiB, the size it is built for", doing,
			XB_STORE_BYTES >> 30));
	if (error == MDB_READERS_FULL)
		return xb_system_error(0, "%s: %d processes read the store already", doing,
				       XB_STORE_READERS);
	if (error == ENOMEM)
		return xb_system_error(0,
				       "%s: too little memory, or less than %zu GiB of address "
				       "space (ulimit -v)",
				       doing, XB_STORE_BYTES >> 30);
	if (error == ENOSPC)
		return blame_reader(xb_system_error(
			0, "%s: no space left on the disk of the state directory", doing));
	if (error == XB_NOT_LATEST)
		return xb_system_error(0,
				       "%s: a process that has the store open uses an outdated "
				       "state (an older %s?); try again when it has ended",
				       doing, xb_program());
	if (error > 0)
		return xb_system_error(error, "%s", doing);
	return xb_system_error(0, "%s: %s; the store file is damaged: move it away%s", doing,
			       mdb_strerror(error), xb_advice(XB_ADVICE_RESTORE_SAVED));
}
