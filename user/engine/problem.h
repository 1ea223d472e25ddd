/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Problems: what is amiss, as a text for people and as a kind for programs. What to do about it is
 * for each program to say, by the kind. */
#ifndef XB_ENGINE_PROBLEM_H
#define XB_ENGINE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/interfaces.h"

enum xb_problem_kind {
	/* Of one interface. */
	XB_PROBLEM_UNFILTERED,	  /* it is wanted, and not filtered */
	XB_PROBLEM_RENAMED,	  /* it is filtered, and the store has its former name */
	XB_PROBLEM_NAME_UNUSABLE, /* the same, and the store cannot have its new name */
	XB_PROBLEM_NAME_TAKEN,	  /* it was renamed, and another one has its former name */
	XB_PROBLEM_MODE,	  /* it is filtered in another mode than wanted */
	XB_PROBLEM_UNWANTED,	  /* it is filtered, and not wanted */
	XB_PROBLEM_STALE,	  /* its row of statistics is left, its filter is not */
	/* Of all of them. */
	XB_PROBLEM_NAMESPACE,	   /* they are those of another network namespace */
	XB_PROBLEM_HIDDEN,	   /* the pins cannot be seen from here */
	XB_PROBLEM_NOT_ENFORCED,   /* there is no link, or no filter in it */
	XB_PROBLEM_FILTER_UNKNOWN, /* the filter in force cannot be read */
	XB_PROBLEM_FILTER_FOREIGN, /* ... was built from another store */
	XB_PROBLEM_FILTER_IDLE,	   /* ... is for no interface */
	XB_PROBLEM_COUNTERS_LOST,  /* ... can only be replaced, not changed */
	XB_PROBLEM_INTERRUPTED,	   /* ... has half of a change */
	XB_PROBLEM_FILTER_BEHIND,  /* ... lacks the last changes of the store */
	XB_PROBLEM_FILTER_UNFIT,   /* ... was built with other settings than the store has */
	XB_PROBLEM_POLICY,	   /* the policy in force is not that of the store */
	XB_PROBLEM_TRIAL_OVER,	   /* a trial has ended, and its record is left */
	XB_PROBLEM_CHANGE_LASTS,   /* somebody has been changing something for long */
	XB_PROBLEM_KINDS,
};

struct xb_problem {
	enum xb_problem_kind kind;
	const struct xb_interface *interface; /* that it is of; NULL: of all */
	char text[512];			      /* safe for a terminal */
};

/* All zero is none. */
struct xb_problems {
	struct xb_problem *item;
	size_t count, room;
	bool lost; /* there are more, for which there was no memory */
};

/* interface: stays the caller's, and has to last as long as the problem. */
__attribute__((format(printf, 4, 5))) void xb_problem_add(struct xb_problems *problems,
							  enum xb_problem_kind kind,
							  const struct xb_interface *interface,
							  const char *format, ...);

void xb_problems_free(struct xb_problems *problems);

#endif
