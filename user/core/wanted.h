/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interfaces that should be protected, as the store has them. */
#ifndef XB_CORE_WANTED_H
#define XB_CORE_WANTED_H

#include <net/if.h>

#include "store.h"

enum xb_mode { XB_MODE_AUTO, XB_MODE_NATIVE, XB_MODE_SKB };

struct xb_wanted {
	char name[IF_NAMESIZE];
	enum xb_mode mode;
};

const char *xb_mode_name(enum xb_mode mode);
int xb_mode_parse(const char *text, enum xb_mode *mode);

/* Whether it can be the name of one: what the kernel takes, if it is UTF-8 without control
 * characters. An input error otherwise. */
int xb_wanted_check(const char *name);

int xb_wanted_put(struct xb_txn *txn, const struct xb_wanted *wanted);

int xb_wanted_has(struct xb_txn *txn, const char *name, bool *found);

/* *found: whether it was there. */
int xb_wanted_remove(struct xb_txn *txn, const char *name, bool *found);

/* All of them, by name; the caller frees *wanted. */
int xb_wanted_all(struct xb_txn *txn, struct xb_wanted **wanted, size_t *count);

#endif
