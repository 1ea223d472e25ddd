/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of lists of a transaction. */
#ifndef XB_STORE_LISTS_H
#define XB_STORE_LISTS_H

#include "store/types.h"

/* Lists. A list exists while it has members, a scope, or a verdict other than XB_DOMAIN_DROP. */
bool xb_list_name_ok(const char *name);
struct xb_list *xb_list_find(struct xb_txn *txn, const char *name);
/* Finds also a list that xb_list_need() made, or that was emptied, in this transaction. */
struct xb_list *xb_list_by_name(struct xb_txn *txn, const char *name);
struct xb_list *xb_list_by_id(struct xb_txn *txn, uint32_t id);
int xb_list_need(struct xb_txn *txn, const char *name, struct xb_list **list); /* creates it */

/* A membership of the list came, went or changed: it is no longer what its imprint is of. */
void xb_list_changed(struct xb_list *list);
void xb_list_set_imprint(struct xb_txn *txn, struct xb_list *list,
			 const struct xb_imprint *imprint);
bool xb_imprint_equals(const struct xb_imprint *a, const struct xb_imprint *b);
bool xb_imprint_is(const struct xb_imprint *imprint); /* false: all zero */

/* Lists of what is allowed automatically; their names cannot be typed. */
#define XB_LIST_AUTO  "auto:"
#define XB_LIST_ALLOW "allow" /* the list of `allow add` without a name of one */
bool xb_list_is_auto(const struct xb_list *list);
/* False for automatic lists and for XB_LIST_ALLOW: what is allowed passes. */
bool xb_list_has_verdict(const struct xb_list *list);
int xb_list_need_auto(struct xb_txn *txn, const char *kind, struct xb_list **list);

/* From the begin of a transaction to its commit. */

/* 0, or an error with its message; xb_lists_free() is for the caller in either case. */
int xb_lists_load(struct xb_txn *txn);
void xb_lists_free(struct xb_txn *txn);

/* Writes what changed. 0, or an error of LMDB without a message. */
int xb_lists_save(struct xb_txn *txn);

#endif
