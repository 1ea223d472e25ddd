/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the web server shows, read when somebody asks, and not more often than LOOK_AGAIN. It tells
 * a change that is being made from one that was left undone without waiting: what is amiss counts
 * if nobody is at work and nothing moves while it is looked at, or if it has lasted.
 */
#ifndef XB_BLOOMD_LOOK_H
#define XB_BLOOMD_LOOK_H

#include <stdbool.h>

#include "engine/figures.h"
#include "engine/moment.h"

#define LOOK_AGAIN   100000000ULL  /* ns */
#define LOOK_CHANGES 5000000000ULL /* ns: how long a change may be in the making */

struct look {
	const struct xb_paths *paths;
	uint64_t taken; /* xb_clock(); 0: never */
	struct xb_figures figures;
	struct xb_problems feeds;
	int error;		 /* of the figures */
	char why[512];		 /* its message */
	bool in_making;		 /* the problems may be those of a change that is being made */
	uint64_t since;		 /* xb_clock(), when that began; 0: it is not so */
	struct xb_moment moment; /* at which it began */
};

/* Brings *look up to date if it is too old. */
void look_take(struct look *look);
void look_free(struct look *look);

/* Whether all that is wanted is enforced, and feeds are fresh. */
bool look_is_well(const struct look *look);

/* Calls take() with each thing that is not so, a line of text; what may come from a change that is
 * being made is none. */
void look_tell(const struct look *look, void (*take)(const char *text, void *data), void *data);

#endif
