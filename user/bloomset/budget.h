/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of memory: all that is large is drawn from it, and what can go to disk gives way. */
#ifndef XB_BLOOMSET_BUDGET_H
#define XB_BLOOMSET_BUDGET_H

#include <stdint.h>

/* In the calls below, NULL is one without bound. */
struct budget {
	uint64_t size, used;
	/* Frees so many bytes, if it can. NULL: nothing can give way. */
	int (*give_way)(void *to, uint64_t bytes);
	void *to;
};

static inline uint64_t budget_left(const struct budget *budget)
{
	return budget->size > budget->used ? budget->size - budget->used : 0;
}

/* An input error if so much is not there, and does not become free. */
int budget_take(struct budget *budget, uint64_t bytes);

/* Where the caller knows that it is there, or cannot do without. */
static inline void budget_use(struct budget *budget, uint64_t bytes)
{
	if (budget)
		budget->used += bytes;
}

static inline void budget_return(struct budget *budget, uint64_t bytes)
{
	if (budget)
		budget->used -= bytes;
}

#endif
