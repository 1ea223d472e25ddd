/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces from which the kernel does not take the program: they are left with it, and everything
 * passes there, while others stay filtered. */
#ifndef XB_ATTACH_LEFT_H
#define XB_ATTACH_LEFT_H

#include "attach/anchor.h"

/*
 * Lets everything pass on the interface: the guard in the slot, which is put there if need be, says
 * so. A trial for all interfaces ends with that. *news: the interface was not left before. To find
 * the filter in force by its number takes CAP_SYS_ADMIN, as the dispatcher does.
 */
int xb_leave(struct xb_anchor *anchor, uint32_t ifindex, bool *news);

#endif
