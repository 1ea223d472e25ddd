/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces: putting the entry program on one, taking it off, and telling what is on it. */
#ifndef XB_CORE_ATTACH_H
#define XB_CORE_ATTACH_H

#include <stdbool.h>

#include "link.h"
#include "wanted.h"

/* What the kernel says of an interface. */
struct xb_attachment {
	uint32_t ifindex;  /* 0: there is no such interface */
	bool ours;	   /* our entry program of this link is on it */
	enum xb_mode mode; /* native or skb, if anything is attached */
	uint32_t program;  /* identity of what is attached (the dispatcher, where it is one); 0:
			      nothing */
};

int xb_attachment_of(const struct xb_link *link, const char *name,
		     struct xb_attachment *attachment);

/* Whether our entry program of this link is on the interface: 1 or 0, or an error. Asks for no more
 * than that: every change of a list does. */
int xb_is_attached(const struct xb_link *link, const char *name);

/*
 * Attaches and enrols; *mode: what it got. Replaces the entry of an older link of ours in place.
 * Errors say what to do.
 */
int xb_attach(const struct xb_link *link, const char *name, enum xb_mode wanted,
	      enum xb_mode *mode);

/* Takes our program off; what else is on the interface stays. No error if it was not on it. */
int xb_detach(const struct xb_link *link, const char *name);

/* An error that names what is missing to take programs of this link off. */
int xb_detach_allowed(const struct xb_link *link);

/* Takes every entry of the former link, which gave way to this one, off all interfaces. link may be
 * NULL: nothing came in its place. */
int xb_detach_former(const struct xb_link *link, const struct xb_link *former);

/* Drops pins of interfaces that are gone, and of those not among the wanted. */
int xb_detach_unwanted(const struct xb_link *link, const struct xb_wanted *wanted, size_t count);

#endif
