/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures for a person or a program that watches: read from the store and the kernel in a time that
 * does not depend on how much is listed. No lock is taken that a writer waits for. */
#ifndef XB_ENGINE_FIGURES_H
#define XB_ENGINE_FIGURES_H

#include <stdint.h>

#include "engine/carry.h"
#include "engine/classfigures.h"
#include "engine/health.h"

#define XB_FIGURES_LISTS 200 /* that have a name; the others are summed up */
#define XB_FIGURES_OTHER "_other"

struct xb_figure_list {
	char name[65];
	uint64_t entries;
	uint32_t verdict;	      /* enum xb_domain_verdict */
	const struct xb_scope *scope; /* NULL: all; of health.store */
};

struct xb_figures {
	/* A glance (xb_storeview_glance()); a problem may come from a change that is being made. */
	struct xb_health health;
	bool anchored;		/* anything was attached since the machine started */
	struct xb_carried *row; /* packets by interface; the first is XB_CARRY_OTHER */
	size_t row_count;
	struct xb_figure_list *list; /* oldest first; at most XB_FIGURES_LISTS, and the others */
	size_t list_count;
	struct xb_class_figures classes; /* of lists with a scope, or of which addresses count */
	uint64_t store_bytes;
	uint64_t applied; /* sequence number of the last change that is in the filter; 0: none */
	uint64_t created; /* when the generation in force was made, seconds since 1970; 0: none */
	uint64_t overdue; /* seconds since something should have expired */
};

/* Returns 0 or an error with its message; the caller frees the figures in either case. */
int xb_figures_read(const struct xb_paths *paths, struct xb_figures *figures);
void xb_figures_free(struct xb_figures *figures);

#endif
