/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities of this process, as the kernel will ask for them. */
#ifndef XB_BASE_CAPABILITY_H
#define XB_BASE_CAPABILITY_H

#include <stdbool.h>
#include <stddef.h>

/* Names those of CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON that are missing, with blanks between; ""
 * if none is. */
void xb_capabilities_missing(char *names, size_t size);

/* For who makes maps or loads programs: an error that names what is missing. What exists already is
 * opened, changed and put in force with the rights to its pins alone. */
int xb_capabilities_need(void);

/* CAP_SYS_ADMIN, without which the kernel opens no program, map or BTF by its number: libxdp does
 * nothing else. */
bool xb_capability_by_id(void);

#endif
