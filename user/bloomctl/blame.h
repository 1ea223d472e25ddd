/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which entry, and which of its lists, had a packet dropped: by the reason that the kernel tells of
 * the drop, and by the service that the packet asked for. Or which limit it was over. */
#ifndef XB_BLOOMCTL_BLAME_H
#define XB_BLOOMCTL_BLAME_H

#include <jansson.h>

#include "model/limit.h"
#include "store/covers.h"
#include "xdp_bloom/reason.h"

struct blame {
	uint8_t reason;	  /* enum xb_reason */
	bool has_service; /* false: the report has no port, or no service has such packets */
	struct xb_service service;
};

/* Of a drop. ports: of its source and destination in network byte order, 0: not told. */
struct blame blame_of(uint8_t reason, bool ipv6, uint8_t protocol, uint16_t sport, uint16_t dport);

/* Whether the list can have the packet dropped; of a name, each that has it can. */
bool blame_is(const struct blame *blame, const struct xb_entry *asked, const struct xb_list *list);

/* Finds the most specific entry that covers the source or the name, and that has a list of which
 * blame_is() is true. *covers and *members are those of the entry. Returns 1, 0 if there is none,
 * or an error with its message. */
int blame_find(struct xb_txn *txn, const struct blame *blame, const struct xb_entry *asked,
	       struct xb_covers *covers, struct xb_members *members);

/* As display_entry_json(), with those lists alone; the caller frees it. NULL: out of memory. */
json_t *blame_json(struct xb_txn *txn, const struct blame *blame, const struct xb_entry *asked,
		   const struct xb_entry *entry, struct xb_members members);

/* The name of the limit of this number, which may be on trial; empty: there is none any more.
 * Returns 0, or an error with its message. */
int blame_limit(struct xb_txn *txn, uint8_t number, char name[XB_LIMIT_NAME]);

#endif
