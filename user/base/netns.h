/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network namespaces: which one this process is in, and how to get into another. */
#ifndef XB_BASE_NETNS_H
#define XB_BASE_NETNS_H

#include <stdbool.h>
#include <stdint.h>

struct xb_netns {
	uint64_t cookie; /* unique until the machine boots; 0: cannot be determined */
	uint64_t inode;	 /* inode of its file in /proc, to find it by; may be used again */
};

struct xb_netns xb_netns_self(void);

/* Whether they are the same; true if that cannot be determined. */
bool xb_netns_same(const struct xb_netns *one, const struct xb_netns *other);

/* Whether it is the initial namespace, of which the kernel has only one. */
bool xb_netns_is_initial(const struct xb_netns *netns);

#define XB_NETNS_ENTER 320

/* The command that enters it, as "nsenter --net=/run/netns/NAME". false: nothing here names it, and
 * `text` is only an example. */
bool xb_netns_enter(const struct xb_netns *netns, char text[XB_NETNS_ENTER]);

/*
 * Whether neither a process that /proc shows nor a name in /run/netns is in this namespace any
 * more. False also if this process may not look at some process, or may not enter another namespace
 * that has its inode by now.
 */
bool xb_netns_is_gone(const struct xb_netns *netns);

/* Whether this process sees another /sys than the first process does, as under `ip netns exec`. */
bool xb_netns_hides_sys(void);

#endif
