/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces: putting the entry program on one, taking it off, and saying what is on it. */
#ifndef XB_ATTACH_ATTACH_H
#define XB_ATTACH_ATTACH_H

#include <stdbool.h>

#include "attach/anchor.h"
#include "attach/ifpins.h"
#include "attach/netdev.h"
#include "model/interface.h"

/* What is in the device's XDP hook. */
enum xb_hold {
	XB_HOLD_NONE,
	XB_HOLD_OURS,	/* our entry with the slot of this anchor */
	XB_HOLD_FORMER, /* an entry of ours that leads into another anchor; it gives way to this one
			 */
	XB_HOLD_OTHER,
};

/* Asks the kernel what is on the device now. anchor NULL: no program is ours. */
int xb_hold_of(const struct xb_anchor *anchor, const struct xb_ifpins *pins,
	       const struct xb_netdev *device, enum xb_hold *hold);

/*
 * Attaches and enrols the device, under its present name; *mode: the mode that it got. Returns 0
 * only if the kernel then says that the device of that name has our entry. Replaces the entry of an
 * older anchor of ours in place. Errors say what to do. Unless our entry was on it, queries there
 * are not answered until somebody has looked for VLANs (XB_MUTE_UNSEEN).
 */
int xb_attach(const struct xb_anchor *anchor, const struct xb_netdev *device, enum xb_mode wanted,
	      enum xb_mode *mode);

/*
 * Gives a device that has our entry another mode. The kernel allows no overlap: *open is how long
 * the device was unfiltered, in microseconds; 0: not at all. What can be checked in advance is
 * checked; if the change fails, the former mode is back. The statistics are kept. Queries are not
 * answered until somebody has looked for VLANs, as above.
 */
int xb_change_mode(const struct xb_anchor *anchor, const struct xb_netdev *device,
		   enum xb_mode mode, uint64_t *open);

/*
 * Gives a device that has our entry, for which any mode will do, skb mode instead of native mode if
 * its driver is known to do wrong there (attach/driver.h), with a warning. *left: that was tried;
 * *open as for xb_change_mode().
 */
int xb_leave_native(const struct xb_anchor *anchor, const struct xb_netdev *device, bool *left,
		    uint64_t *open);

/* Takes our program off and leaves others on the interface. It is no error if ours was not there.
 * Returns 0 only if the kernel then says that it is gone. XB_STAYS_ON (attach/refusal.h): the
 * kernel does not take it off, and it filters on until xb_leave(). */
int xb_detach(const struct xb_anchor *anchor, uint32_t ifindex);

/* Takes our program off all interfaces. XB_STAYS_ON: the kernel does not take it off some, but it
 * is off all others. */
int xb_detach_all(const struct xb_anchor *anchor);

/* Returns 0 if this process may take programs of this anchor off, or an error that names the
 * missing capabilities. */
int xb_detach_allowed(const struct xb_anchor *anchor);

/* Takes every entry of the former anchor, which was replaced by this one, off all interfaces.
 * anchor may be NULL: nothing replaced it. */
int xb_detach_former(const struct xb_anchor *anchor, const struct xb_anchor *former);

#endif
