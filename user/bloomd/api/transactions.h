/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transaction of a group: it writes all tasks and answers them. If one of them makes it fail,
 * the halves are tried, and theirs. */
#ifndef XB_BLOOMD_TRANSACTIONS_H
#define XB_BLOOMD_TRANSACTIONS_H

#include "bloomd/api/tasks.h"

/* All zero but for turn and tasks: none was made. */
struct transactions {
	struct turn *turn;
	struct tasks *tasks;
	uint64_t blocked_until; /* others are in the way of writes; us, see agent_clock() */
	uint64_t quiet_until;	/* a failure was told before: agent_clock() */
	uint32_t splits;	/* in this turn */
};

/* Answers all tasks, when what they write is durable and in force, or with an error. If others are
 * in the way, tasks wait for another turn from blocked_until on, until they have waited enough. */
void transactions_write(struct transactions *all);

#endif
