/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The health of an installation: what is wanted, what is in force, and every difference as a
 * problem. Changes nothing, and no writer waits for it. */
#ifndef XB_ENGINE_HEALTH_H
#define XB_ENGINE_HEALTH_H

#include "engine/context.h"
#include "engine/interfaces.h"
#include "engine/known.h"
#include "engine/limitfigures.h"
#include "engine/problem.h"
#include "engine/storeview.h"
#include "filter/generation.h"

/* The generation in force. */
struct xb_filterview {
	bool known;	  /* it exists and can be read; otherwise the rest is zero */
	uint32_t program; /* identity */
	char name[XB_GENERATION_NAME];
	double rate;
	struct xb_params params; /* with the secret keys left out */
	/* 0 if its counters are lost */
	uint64_t host4_keys, net6_keys, names_keys, scoped_keys;
};

struct xb_health {
	struct xb_storeview store;
	struct xb_filterview filter;
	struct xb_interfaces interfaces; /* names are safe for a terminal; none away from home */
	uint64_t trial_left;		 /* seconds until store.trial ends; 0: it has ended */
	struct xb_known_view known;	 /* if they are wanted */
	struct xb_limit_figures *limits; /* of the store */
	uint32_t policy; /* in force, perhaps on trial; without a filter the store's */
	struct xb_problems problems;
	bool watches; /* looks twice at interfaces, and waits while their filtering is in doubt */
};

/*
 * Looks at the store and the kernel. A difference may come from a change that another process is
 * making, so xb_health_look() looks again until nobody is changing anything, for five seconds at
 * most. Returns 0, also with problems, or an error with its message; the caller frees the record in
 * either case.
 */
int xb_health_look(const struct xb_paths *paths, struct xb_health *health);

/* Whether nothing is amiss because nothing is wanted: no interface is attached, and none is on
 * trial. */
bool xb_health_is_idle(const struct xb_health *health);

/* The same in one look that never waits, with a store view that is a glance and without feeds: a
 * difference may be that of a change in the making. */
int xb_health_glance(const struct xb_paths *paths, struct xb_health *health);

/* Adds the problems of feeds: a part of xb_health_look() that needs neither store nor kernel. What
 * cannot be read is a problem, too. */
void xb_health_feeds(const struct xb_paths *paths, struct xb_problems *problems);

/* Fills in the rest of *health, all zero but for its store, by what the kernel has. A difference
 * may come from a change that is being made. Errors as above. */
int xb_health_compare(const struct xb_writer *kernel, struct xb_health *health);

void xb_health_free(struct xb_health *health);

#endif
