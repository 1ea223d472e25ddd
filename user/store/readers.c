/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/readers.h"

#include <stdio.h>
#include <unistd.h>

struct search {
	size_t newest;
	struct xb_reader last;
};

/* A line of LMDB's: process, thread, transaction; none of the latter while it does not read. */
static int look(const char *line, void *context)
{
	struct search *search = context;
	struct xb_reader one;
	size_t thread, transaction;

	if (sscanf(line, "%d %zx %zu", &one.process, &thread, &transaction) != 3 ||
	    one.process == getpid() || transaction >= search->newest)
		return 0;
	one.behind = search->newest - transaction;
	if (one.behind > search->last.behind)
		search->last = one;
	return 0;
}

struct xb_reader xb_readers_last(MDB_env *env)
{
	struct search search = {0};
	MDB_envinfo info;

	mdb_env_info(env, &info);
	search.newest = info.me_last_txnid;
	mdb_reader_list(env, look, &search);
	return search.last;
}
