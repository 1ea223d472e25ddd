/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The health of an installation: what is wanted, what is in force, and every difference as a
 * problem. Changes nothing, and keeps nobody waiting. */
#ifndef XB_ENGINE_HEALTH_H
#define XB_ENGINE_HEALTH_H

#include "engine/interfaces.h"
#include "engine/problem.h"
#include "engine/storeview.h"
#include "filter/generation.h"

/* The generation in force, for which the store is. */
struct xb_filterview {
	bool known;	  /* there is one that can be read; if not, the rest is zero */
	uint32_t program; /* identity */
	char name[XB_GENERATION_NAME];
	double rate;
	struct xb_params params;		    /* but for the secret key */
	uint64_t host4_keys, net6_keys, names_keys; /* 0 if its counters are lost */
};

struct xb_health {
	struct xb_storeview store;
	struct xb_filterview filter;
	struct xb_interfaces interfaces; /* names are safe for a terminal; none if they are those of
					    another network namespace */
	uint64_t trial_left;		 /* seconds until store.trial goes back; 0: it has */
	uint32_t policy;		 /* in force, be it on trial; if none is, the store's */
	struct xb_problems problems;
};

/*
 * Looks at the store and the kernel. What is amiss may be a change that somebody is making, so it
 * looks again until that is settled, for five seconds at most. The caller frees the record, in case
 * of failure too.
 */
int xb_health_look(const struct xb_paths *paths, struct xb_health *health);
void xb_health_free(struct xb_health *health);

#endif
