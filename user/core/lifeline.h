/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lifelines: the sources this machine cannot do without. Blocking one locks its keeper out. */
#ifndef XB_CORE_LIFELINE_H
#define XB_CORE_LIFELINE_H

#include <stddef.h>
#include <stdint.h>

#include "entry.h"

enum xb_lifeline_kind {
	XB_LIFELINE_ADDRESS,	/* of the interfaces themselves */
	XB_LIFELINE_GATEWAY,	/* next hops of default routes */
	XB_LIFELINE_RESOLVER,	/* name servers */
	XB_LIFELINE_LOOPBACK,	/* 127.0.0.0/8, ::1 */
	XB_LIFELINE_LINK_LOCAL, /* 169.254.0.0/16, fe80::/10 */
	XB_LIFELINE_SSH,	/* see session.h */
	XB_LIFELINE_TIME,	/* NTP servers */
	XB_LIFELINE_DHCP,	/* servers this machine has a lease from */
	XB_LIFELINE_KINDS,
};

#define XB_LIFELINE_ALL ((1U << XB_LIFELINE_KINDS) - 1)

struct xb_lifeline {
	struct xb_entry entry;
	enum xb_lifeline_kind kind;
	char why[96]; /* "on eth0", "/etc/resolv.conf"; printable ASCII */
};

/* All zero is an empty one. */
struct xb_lifelines {
	struct xb_lifeline *item;
	size_t count, room;
};

const char *xb_lifeline_name(enum xb_lifeline_kind kind);
int xb_lifeline_parse(const char *text, enum xb_lifeline_kind *kind);

/*
 * Appends what the machine's configuration and state say now. ifindexes: the attached interfaces,
 * which count with all that is stacked on them (bridge, bond, VLAN, macvlan). kinds: a bit 1U <<
 * kind each; XB_LIFELINE_SSH finds nothing here. A missing file is nothing found; an unreadable one
 * is a notice. Looks no names up. On failure out holds what was found so far; the caller frees it
 * in either case.
 */
int xb_lifelines_find(const uint32_t *ifindexes, size_t count, unsigned int kinds,
		      struct xb_lifelines *out);

/* Appends one unless (entry, kind) is there. `why` is cut to its room, other bytes than printable
 * ASCII become '?'. */
__attribute__((format(printf, 4, 5))) int xb_lifelines_add(struct xb_lifelines *lifelines,
							   const struct xb_entry *entry,
							   enum xb_lifeline_kind kind,
							   const char *why_format, ...);

/* Leaves it empty. */
void xb_lifelines_free(struct xb_lifelines *lifelines);

#endif
