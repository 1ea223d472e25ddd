/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changes of names in the store are in the filter, which has one slot for each name, whatever
 * lists and exceptions name it. */
#ifndef XB_FILTER_NAMESTEPS_H
#define XB_FILTER_NAMESTEPS_H

#include "store/store.h"

/* In a step for a name, `before` and `after` say whether the filter has it, and whether some list
 * excepts it, so that its verdict is final. */
#define XB_NAMESTEP_THERE XB_CLASSES_ALL
#define XB_NAMESTEP_FINAL (XB_NAMESTEP_THERE << 1)

/* The steps of a change. As it is, if nothing excepts a name; else with names in place of listings
 * and exceptions, and with each excepted name below a changed one. */
struct xb_namesteps {
	const struct xb_changes *all;
	struct xb_changes own;
};

/*
 * Finds the steps of settled changes, which the transaction has. steps->all is bulk where they are
 * too many, or where no order of steps keeps each query at the verdict that it had or gets: then a
 * new generation is needed. Returns 0, or an error with its message; xb_namesteps_free() is for the
 * caller in either case, before the changes go.
 */
int xb_namesteps_find(struct xb_txn *txn, const struct xb_changes *changes,
		      struct xb_namesteps *steps);
void xb_namesteps_free(struct xb_namesteps *steps);

static inline bool xb_namestep_is_final(uint32_t state)
{
	return state & XB_NAMESTEP_FINAL;
}

#endif
