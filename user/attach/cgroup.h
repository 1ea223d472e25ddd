/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The root of cgroup v2, on which programs that hear of all sockets are attached. */
#ifndef XB_ATTACH_CGROUP_H
#define XB_ATTACH_CGROUP_H

/* A descriptor of the root that this process sees: in a cgroup namespace, that of the namespace.
 * An error says what is missing. */
int xb_cgroup_root(void);

#endif
