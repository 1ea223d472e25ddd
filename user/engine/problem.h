/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Problems: each has a text for people and a kind for programs. Each program says, by the kind,
 * what its user can do about it. */
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
	XB_PROBLEM_NAME_TAKEN,	  /* it was renamed, and another interface has its former name */
	XB_PROBLEM_MODE,	  /* it is filtered in another mode than wanted, or than will do */
	XB_PROBLEM_UNWANTED,	  /* it is filtered, and not wanted */
	XB_PROBLEM_LEFT,     /* it is not wanted, and has the program, which lets everything pass */
	XB_PROBLEM_STALE,    /* only its row of statistics is left */
	XB_PROBLEM_UNPROVEN, /* it is filtered, but packets came that the filter has not seen */
	XB_PROBLEM_VLAN_ANSWERS, /* queries are answered where they must not be, or not where they
				    can */
	/* Of all of them. */
	XB_PROBLEM_NAMESPACE,	   /* they are wanted in another network namespace */
	XB_PROBLEM_HIDDEN,	   /* this process cannot see the pins */
	XB_PROBLEM_NOT_ENFORCED,   /* there is no anchor, or no filter in it */
	XB_PROBLEM_FILTER_UNKNOWN, /* the filter in force cannot be read */
	XB_PROBLEM_FILTER_FOREIGN, /* ... was built from another store */
	XB_PROBLEM_FILTER_IDLE,	   /* ... is on no interface */
	XB_PROBLEM_COUNTERS_LOST,  /* ... can only be replaced, not changed */
	XB_PROBLEM_INTERRUPTED,	   /* ... has half of a change */
	XB_PROBLEM_FILTER_BEHIND,  /* ... lacks the last changes of the store */
	XB_PROBLEM_FILTER_UNFIT,   /* ... was built with other settings than the store has */
	XB_PROBLEM_POLICY,	   /* the policy in force is not that of the store */
	XB_PROBLEM_TRIAL_OVER,	   /* a trial has ended, and its record is left */
	XB_PROBLEM_CHANGE_LASTS,   /* a writer has been at work for more than five seconds */
	XB_PROBLEM_NOT_LEARNING,   /* known sources are wanted, and not learned */
	XB_PROBLEM_KNOWN_FULL,	   /* more strangers than promised are taken for known */
	XB_PROBLEM_OVERDUE,	   /* an entry has expired, and nothing took it out */
	XB_PROBLEM_FEED_STALE,	   /* a feed has brought no list for long */
	XB_PROBLEM_STILL_LEARNING, /* known sources are not wanted, and learned all the same */
	XB_PROBLEM_NOT_LIMITING,   /* limits of names count nothing */
	XB_PROBLEM_NOT_LISTING,	   /* a limit has a list, and nobody lists who is over it */
	/* Of one interface. */
	XB_PROBLEM_ELSEWHERE, /* it is filtered, in another network namespace than that of all */
	/* Of all of them. Only `bloomctl check` finds these; XB_PROBLEM_CHECKED is the first. */
	XB_PROBLEM_CHECKED,
	XB_PROBLEM_NOTHING_WANTED = XB_PROBLEM_CHECKED, /* no interface is attached */
	XB_PROBLEM_OTHER_POLICY, /* the policy in force is not the one that should be */
	XB_PROBLEM_FEED_LATE,	 /* a feed was to be fetched, and nobody has tried */
	XB_PROBLEM_NO_ROOM,	 /* the file system of the store is nearly full */
	XB_PROBLEM_KINDS,
};

/* The kind as a word for programs: "unfiltered" and the like, of small letters and underscores. */
const char *xb_problem_name(enum xb_problem_kind kind);

struct xb_problem {
	enum xb_problem_kind kind;
	const struct xb_interface *interface; /* that has the problem; NULL: all of them */
	char text[512];			      /* safe for a terminal */
};

/* All zero: there are none. */
struct xb_problems {
	struct xb_problem *item;
	size_t count, room;
	bool lost; /* there are more, but no memory for them */
};

/* Appends a problem. The caller owns the interface, which must outlive the problem; NULL: the
 * problem is that of all. */
__attribute__((format(printf, 4, 5))) void xb_problem_add(struct xb_problems *problems,
							  enum xb_problem_kind kind,
							  const struct xb_interface *interface,
							  const char *format, ...);

void xb_problems_free(struct xb_problems *problems);

#endif
