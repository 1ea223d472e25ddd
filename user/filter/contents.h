/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that is listed at one moment, as a generation needs it: the input of a build. */
#ifndef XB_FILTER_CONTENTS_H
#define XB_FILTER_CONTENTS_H

#include "model/suffix.h"
#include "store/limits.h"
#include "store/listclass.h"
#include "store/store.h"

struct xb_named {
	struct xb_entry entry;
	uint32_t slot; /* what the filter has of it, see xb_name_slot() */
};

/* A prefix that is listed for services: once for each of its classes but XB_CLASS_ALL. */
struct xb_scoped {
	struct xb_entry entry;
	uint32_t class;
};

struct xb_contents {
	uint32_t *host4; /* addresses, host byte order, prefixes from /25 on expanded */
	size_t host4_count;
	struct xb_entry *net6; /* from /33 on */
	size_t net6_count;
	struct xb_entry *prefix6; /* IPv6 up to /32 */
	size_t prefix6_count;
	struct xb_entry *prefix4;
	size_t prefix4_count;
	struct xb_entry *allow;
	size_t allow_count;
	struct xb_named
		*names; /* in order those that are listed, then those that are only excepted */
	size_t names_count;
	struct xb_scoped *scoped;
	size_t scoped_count, scoped_room;
	struct xb_class class[XB_CLASSES]; /* scopes are the transaction's */
	uint32_t classes;		   /* that are in use, a bit for each */
	struct xb_limits_wanted limits;
	struct xb_suffixes suffixes; /* if a limit is of names, and there is a list of them */
	struct xb_arena arena;	     /* has the bytes of all names */
};

/* Reads everything the transaction sees, in store order; good as long as the transaction. */
int xb_contents_take(struct xb_txn *txn, struct xb_contents *contents);
/* Keys of Bloom filters, in all. */
static inline size_t xb_contents_keys(const struct xb_contents *contents)
{
	return contents->host4_count + contents->net6_count + contents->names_count +
	       contents->scoped_count;
}

void xb_contents_free(struct xb_contents *contents);

#endif
