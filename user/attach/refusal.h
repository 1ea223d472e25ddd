/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why an interface cannot be attached, in words a person can act on. */
#ifndef XB_ATTACH_REFUSAL_H
#define XB_ATTACH_REFUSAL_H

#include "attach/netdev.h"

/* Records and returns an error that explains why the driver refused XDP in this mode. error: a
 * positive errno. */
int xb_refusal_explain(const char *name, enum xb_mode mode, int error);

/* Records and returns the error that another program holds the device. */
int xb_refusal_held(const struct xb_netdev *device);

#endif
