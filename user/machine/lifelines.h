/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lifelines: the sources this machine cannot do without. Blocking one locks its keeper out. */
#ifndef XB_MACHINE_LIFELINES_H
#define XB_MACHINE_LIFELINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entry.h"

enum xb_lifeline_kind {
	XB_LIFELINE_ADDRESS,	/* of the interfaces themselves */
	XB_LIFELINE_GATEWAY,	/* next hops of default routes */
	XB_LIFELINE_RESOLVER,	/* name servers */
	XB_LIFELINE_LOOPBACK,	/* 127.0.0.0/8, ::1 */
	XB_LIFELINE_LINK_LOCAL, /* 169.254.0.0/16, fe80::/10 */
	XB_LIFELINE_SSH,	/* see machine/ssh.h */
	XB_LIFELINE_TIME,	/* NTP servers */
	XB_LIFELINE_DHCP,	/* servers this machine has a lease from */
	XB_LIFELINE_PEER,	/* servers that bloomd talks to, see machine/peerfile.h */
	XB_LIFELINE_KINDS,
};

/* The reason text for addresses and gateways of an interface, with its name; a later survey
 * finds by it where to look again. */
#define XB_WHY_ADDRESS "on %s"
#define XB_WHY_GATEWAY "default route of %s"

#define XB_LIFELINE_ALL ((1U << XB_LIFELINE_KINDS) - 1)

struct xb_lifeline {
	struct xb_entry entry;
	enum xb_lifeline_kind kind;
	char why[96]; /* "on eth0", "/etc/resolv.conf"; clean, see base/text.h */
};

/* All zero is an empty one. */
struct xb_lifelines {
	struct xb_lifeline *item;
	size_t count, room;
	struct xb_lifeline *seen; /* one for each place that could be looked at */
	size_t seen_count, seen_room;
	bool network; /* an attached interface has an address that is good beyond its link */
};

const char *xb_lifeline_name(enum xb_lifeline_kind kind);
int xb_lifeline_parse(const char *text, enum xb_lifeline_kind *kind);

/* Appends one unless (entry, kind) is there. `why` is cut to its room, and cleaned. */
__attribute__((format(printf, 4, 5))) int xb_lifelines_add(struct xb_lifelines *lifelines,
							   const struct xb_entry *entry,
							   enum xb_lifeline_kind kind,
							   const char *why_format, ...);

/*
 * Notes that the survey could look at `why` for lifelines of this kind and of the family of `like`,
 * an address that was seen there. xb_lifelines_add() does this for each address that it adds,
 * except addresses of the link alone, which an interface has before it has a network.
 */
int xb_lifelines_see(struct xb_lifelines *lifelines, const struct xb_entry *like,
		     enum xb_lifeline_kind kind, const char *why);

/* Notes the same for all addresses and gateways of the interface of this name, for the family of
 * `like`: what the survey does not find there is not there. */
int xb_lifelines_see_device(struct xb_lifelines *lifelines, const struct xb_entry *like,
			    const char *name);

/*
 * Whether the survey looked at the place where this lifeline was found before, so that it would
 * have found it again. Each interface speaks for its own addresses and gateways, each lease file
 * for its servers; any resolv.conf that names a server speaks for all, and so does the file of
 * peers.
 */
bool xb_lifelines_deny(const struct xb_lifelines *found, const struct xb_entry *entry,
		       enum xb_lifeline_kind kind, const char *why, size_t why_size);

/* Leaves it empty. */
void xb_lifelines_free(struct xb_lifelines *lifelines);

#endif
