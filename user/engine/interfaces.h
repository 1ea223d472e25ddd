/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces compared: side by side what is wanted of each, what the kernel says of it now, and the
 * difference. Whatever says that an interface is filtered has it from here. */
#ifndef XB_ENGINE_INTERFACES_H
#define XB_ENGINE_INTERFACES_H

#include "attach/attach.h"
#include "store/trialrecord.h"

enum xb_difference {
	XB_IFACE_SAME,	    /* wanted, and our entry is on it */
	XB_IFACE_BARE,	    /* wanted, and no program is on it, or that of an older anchor */
	XB_IFACE_HELD,	    /* wanted, and another program is on it */
	XB_IFACE_BLIND,	    /* wanted, and our entry on it cannot read its packets */
	XB_IFACE_MISSING,   /* wanted, and nothing has the name */
	XB_IFACE_ELSEWHERE, /* it went to another network namespace, with our entry on it */
	XB_IFACE_HEIR,	    /* was renamed, and another one has the wanted name now: both count */
	XB_IFACE_UNWANTED,  /* our entry is on what nobody wants */
	XB_IFACE_STALE,	    /* enrolled, without our entry */
};

struct xb_interface {
	char wanted[IF_NAMESIZE]; /* "": nobody wants it */
	enum xb_mode mode;	  /* wanted; of an heir that of the name it had */
	bool lasting;		  /* false: wanted by the trial alone */
	bool renamed;		  /* it lost the wanted name, and stays wanted as now.name */
	struct xb_netdev now;
	enum xb_hold hold;
	struct xb_enrolled enrolled; /* ifindex 0: it is not */
	enum xb_difference difference;
	char why[256]; /* why it is bare, held or blind, with its name in front; "": not tried */
};

struct xb_interfaces {
	struct xb_interface *item;
	size_t count;
	struct xb_ifpins pins;
};

/*
 * Looks at all that is wanted, enrolled or pinned. trial: NULL, or the one that goes on. anchor:
 * NULL, nothing is ours; else it must be of this network namespace. The caller frees it, in case of
 * failure too.
 */
int xb_interfaces_look(const struct xb_anchor *anchor, const struct xb_wanted *wanted, size_t count,
		       const struct xb_trial *trial, struct xb_interfaces *all);
void xb_interfaces_free(struct xb_interfaces *all);

/* What `name` stands for: the name it is wanted by, has now (or an alternative one of it), or had
 * when it was attached. NULL: none of these. An error is left out: then it is none. */
struct xb_interface *xb_interfaces_find(const struct xb_interfaces *all, const char *name);

/* Wanted to last, or by the trial, and not filtered by us. */
bool xb_interface_is_open(const struct xb_interface *item);

/* "attached", "missing" and the like. */
const char *xb_interface_state(const struct xb_interface *item);

#endif
