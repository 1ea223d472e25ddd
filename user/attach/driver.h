/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What drivers are known to do wrong with an XDP program, although they take it: a table by driver,
 * kernel and condition. */
#ifndef XB_ATTACH_DRIVER_H
#define XB_ATTACH_DRIVER_H

#include <stdbool.h>

#include "attach/netdev.h"

/*
 * Whether the device may be in native mode, as it is now. asked: the mode that was asked for; skb
 * always may be. Returns 0, or an error that says what the driver does wrong, and advises another
 * mode only where native mode alone was asked for.
 */
int xb_driver_check(const struct xb_netdev *device, enum xb_mode asked);

/* Whether the driver forgets a native program when the device is opened anew: after down and up,
 * another MTU, other rings. The kernel goes on showing the program. */
bool xb_driver_forgets(const struct xb_netdev *device);

/* A note before a native program is put on the device or taken off, if that takes the link away. */
void xb_driver_announce(const struct xb_netdev *device);

#define XB_KERNEL(version, patchlevel) ((version) << 8 | (patchlevel))

/* What the table is asked about, for tests to be on other machines. */
struct xb_driver_place {
	const char *sysfs;   /* where /sys is */
	unsigned int kernel; /* XB_KERNEL() */
	unsigned int page;   /* bytes */
};

/* xb_driver_check() and xb_driver_forgets() for a driver by its name, or a kind of device, there.
 */
int xb_driver_check_at(const struct xb_driver_place *place, const char *driver,
		       const struct xb_netdev *device, enum xb_mode asked);
bool xb_driver_forgets_at(const struct xb_driver_place *place, const char *driver);

#endif
