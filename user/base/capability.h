/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities of this process, as the kernel will ask for them. */
#ifndef XB_BASE_CAPABILITY_H
#define XB_BASE_CAPABILITY_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the names of the missing ones among CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, separated
 * by blanks; "" if none is missing. */
void xb_capabilities_missing(char *names, size_t size);

/* For callers that create maps or load programs: an error that names the missing capabilities.
 * To open, change and put in force what exists already, the rights to its pins are enough. */
int xb_capabilities_need(void);

/* Whether this process has CAP_SYS_ADMIN. Without it the kernel opens no program, map or BTF by
 * its number, and libxdp always opens them so. */
bool xb_capability_by_id(void);

#endif
