/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks: what was found in the kernel, held against what the store wants. They look at nothing but
 * what they are given. */
#ifndef XB_ENGINE_CHECKS_H
#define XB_ENGINE_CHECKS_H

#include "engine/problem.h"
#include "engine/storeview.h"
#include "filter/generation.h"

/* But for those on trial. The problems point to the interfaces. */
void xb_check_interfaces(const struct xb_interfaces *all, struct xb_problems *problems);

/* The generation in force, which can be read. */
void xb_check_generation(const struct xb_generation *active, const struct xb_storeview *store,
			 struct xb_problems *problems);

/* in_force: as the map of that generation has it, whatever a trial says. */
void xb_check_policy(uint32_t in_force, const struct xb_storeview *store,
		     struct xb_problems *problems);

/* left: seconds until the trial, if there is one, goes back. */
void xb_check_trial(uint64_t left, const struct xb_storeview *store, struct xb_problems *problems);

#endif
