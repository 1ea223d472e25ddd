/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The classes of lists: all lists with the same scope, of which the entries drop or count alike,
 * have one class, a number by which the filter knows them. */
#ifndef XB_STORE_LISTCLASS_H
#define XB_STORE_LISTCLASS_H

#include "store/types.h"

/* What the lists of a class have in common. */
struct xb_class {
	const struct xb_scope *scope; /* NULL: all packets */
	bool counts;		      /* its packets pass, and are counted */
};

/*
 * After the scope of the list, or whether it counts, has changed: gives it the class of another
 * list like it, or a number that is free, if there is one not the one it had. The filter is built
 * anew. Returns 0; or an error with its message, if all numbers are in use.
 */
int xb_list_classify(struct xb_txn *txn, struct xb_list *list);

/* In a write transaction: gives the list its scope. */
int xb_list_scope_set(struct xb_txn *txn, struct xb_list *list, const struct xb_scope *scope);

/* The scope of the list, which may be all. */
const struct xb_scope *xb_list_scope(const struct xb_list *list);

/* The classes that lists have now, by number. Returns a bit for each that is in use;
 * XB_CLASS_ALL is always. */
uint32_t xb_list_classes(const struct xb_txn *txn, struct xb_class classes[XB_CLASSES]);

/* The classes that these lists have, in the same way. */
uint32_t xb_classes_of(const struct xb_list *lists, size_t count,
		       struct xb_class classes[XB_CLASSES]);

#endif
