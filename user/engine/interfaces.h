/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of interfaces: for each, what is wanted, what the kernel says now, and the difference.
 * All answers to "is this interface filtered?" come from this table. */
#ifndef XB_ENGINE_INTERFACES_H
#define XB_ENGINE_INTERFACES_H

#include "attach/attach.h"
#include "engine/calls.h"
#include "store/trialrecord.h"

enum xb_difference {
	XB_IFACE_SAME,	    /* wanted, and our entry is on it */
	XB_IFACE_BARE,	    /* wanted, and no program is on it, or only an older anchor's entry */
	XB_IFACE_HELD,	    /* wanted, and another program is on it */
	XB_IFACE_BLIND,	    /* wanted, and our entry on it cannot read its packets */
	XB_IFACE_UNCALLED,  /* wanted, and its driver does not call our entry on it */
	XB_IFACE_MISSING,   /* wanted, and no device has the name */
	XB_IFACE_ELSEWHERE, /* it moved to another network namespace, with our entry on it */
	XB_IFACE_HEIR,	    /* renamed, and another device has the wanted name: both are wanted */
	XB_IFACE_UNWANTED,  /* not wanted, and our entry is on it */
	XB_IFACE_STALE,	    /* enrolled, but our entry is not on it */
};

struct xb_interface {
	char wanted[IF_NAMESIZE]; /* "": it is not wanted */
	enum xb_mode mode;	  /* wanted; for an heir, the mode wanted for its former name */
	bool on_trial;		  /* only the trial asked for that name */
	bool lasting;		  /* false: it is wanted until the trial ends */
	bool fresh;		  /* this writer has just attached it */
	bool left;    /* the kernel did not take the program off, and everything passes */
	bool renamed; /* it lost the wanted name, and is wanted as now.name from now on */
	struct xb_netdev now;
	enum xb_hold hold;
	struct xb_enrolled enrolled; /* its row of statistics; ifindex 0: it has none */
	enum xb_difference difference;
	struct xb_calls_view view; /* of one that has our entry and a row */
	char why[256]; /* reason for bare, held, blind or uncalled, with its name in front; "": not
			  tried */
};

struct xb_interfaces {
	struct xb_interface *item;
	size_t count;
	struct xb_ifpins pins;
};

/*
 * Fills *all with the interfaces that are wanted, enrolled or pinned. trial: the present one; NULL:
 * none. anchor: must be of this network namespace; NULL: none, so no program is ours. Returns 0 or
 * an error with its message; the caller frees the table in either case.
 */
int xb_interfaces_look(const struct xb_anchor *anchor, const struct xb_wanted *wanted, size_t count,
		       const struct xb_trial *trial, struct xb_interfaces *all);
void xb_interfaces_free(struct xb_interfaces *all);

/*
 * Looks once more whether the drivers of the table's interfaces call the program, and watches those
 * of which that is in doubt for up to a second. anchor: that of the table. Returns 0 or an error
 * with its message.
 */
int xb_interfaces_watch(const struct xb_anchor *anchor, struct xb_interfaces *all);

/* Watches those that are fresh, until the filter is called, or until it is clear that it is not:
 * longer where packets come than where none do. Errors as above. */
int xb_interfaces_watch_fresh(const struct xb_anchor *anchor, struct xb_interfaces *all);

/* Finds an interface by the name by which it is wanted, by its present or an alternative name, or
 * by the name that it had at the last look of a writer. NULL: no interface has it, or the kernel
 * does not answer. */
struct xb_interface *xb_interfaces_find(const struct xb_interfaces *all, const char *name);

/* Whether the interface is wanted, by the store or by the trial, but not filtered. One that is in
 * another network namespace has the filter still. */
bool xb_interface_is_open(const struct xb_interface *item);

/* Whether it is wanted, but not filtered here: it is open, or in another network namespace. */
bool xb_interface_is_amiss(const struct xb_interface *item);

/* What is amiss with it, in a sentence. Returns text. */
#define XB_AMISS_TEXT 320
const char *xb_interface_amiss(const struct xb_interface *item, char text[XB_AMISS_TEXT]);

/* The difference in words: "attached", "missing" and so on. */
const char *xb_interface_state(const struct xb_interface *item);

#endif
