/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The limits that are wanted: each has a number, 1 to 15, that it keeps. */
#ifndef XB_STORE_LIMITS_H
#define XB_STORE_LIMITS_H

#include "model/limit.h"
#include "store/store.h"

/* By number; a name of no letters: there is none. */
struct xb_limits_wanted {
	struct xb_limit limit[XB_LIMITS];
};

/* An error with its message. */
int xb_limits_get(struct xb_txn *txn, struct xb_limits_wanted *wanted);

/* The number of the limit of this name; 0: there is none. */
uint32_t xb_limits_find(const struct xb_limits_wanted *wanted, const char *name);

/* How many there are. */
uint32_t xb_limits_count(const struct xb_limits_wanted *wanted);

/* Whether any lets known sources send more. */
bool xb_limits_know(const struct xb_limits_wanted *wanted);

/* Whether any is of names. */
bool xb_limits_have_names(const struct xb_limits_wanted *wanted);

/* Whether queries over any are answered. */
bool xb_limits_truncate(const struct xb_limits_wanted *wanted);

/* Puts one where xb_limits_put() would: in the place of that of its name, or under the first free
 * number. Returns its number; 0: there is none left. */
uint32_t xb_limits_place(struct xb_limits_wanted *wanted, const struct xb_limit *limit);

/* The error if there is none left. */
int xb_limits_full(void);

/* Writes one that is sound, in the place of that of its name, if there is one. The filter is built
 * anew. An error with its message, also if there is no number left. */
int xb_limits_put(struct xb_txn *txn, const struct xb_limit *limit);

/* *found: whether there was one. */
int xb_limits_remove(struct xb_txn *txn, const char *name, bool *found);

#endif
