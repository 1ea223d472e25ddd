/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why an interface cannot be attached, in words a person can act on. */
#ifndef XB_ATTACH_REFUSAL_H
#define XB_ATTACH_REFUSAL_H

#include "attach/netdev.h"

/* What a driver's refusal of XDP in this mode means; error: a positive errno. Returns an error with
 * that message. */
int xb_refusal_explain(const char *name, enum xb_mode mode, int error);

/* The error that a program of somebody else's is on the device. */
int xb_refusal_held(const struct xb_netdev *device);

#endif
