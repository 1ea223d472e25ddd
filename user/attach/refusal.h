/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why an interface cannot be attached, in words a person can act on: the kernel's sentence, and
 * what follows from it where that is certain. */
#ifndef XB_ATTACH_REFUSAL_H
#define XB_ATTACH_REFUSAL_H

#include <errno.h>

#include "attach/netdev.h"

/* What the kernel refused. */
struct xb_refusal {
	const char *name;     /* of the interface */
	const char *kind;     /* of the interface, as in struct xb_netdev */
	enum xb_mode mode;    /* in which it was to be attached: native or skb */
	enum xb_mode wanted;  /* native: another one is no help but by the user's choice */
	int error;	      /* a positive errno */
	const char *sentence; /* the kernel's (attach/extack.h); "": it gave none */
};

/* Records and returns an error that says what the kernel refused and why. It advises another mode
 * only where native mode alone was wanted. */
int xb_refusal_explain(const struct xb_refusal *refusal);

/* Records and returns the error that the driver has no native XDP at present, as the kernel
 * reports by the netdev family. */
int xb_refusal_featureless(const struct xb_netdev *device);

/* The kernel does not take the program off, or lets no other one take its place. */
#define XB_STAYS_ON (-ENOTUNIQ)

/* Records an error that says so of the interface, with its MTU, which is why; returns XB_STAYS_ON.
 * error: a positive errno. sentence: the kernel's; "": it gave none. */
int xb_refusal_stays(uint32_t ifindex, int error, const char *sentence);

/* Records and returns the error that another program holds the device. */
int xb_refusal_held(const struct xb_netdev *device);

#endif
