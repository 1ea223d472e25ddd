/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network namespaces: which one this process is in, and how to get into another. */
#ifndef XB_BASE_NETNS_H
#define XB_BASE_NETNS_H

#include <stdbool.h>
#include <stdint.h>

struct xb_netns {
	uint64_t cookie; /* never the same again until the machine boots; 0: cannot be told */
	uint64_t inode;	 /* of its file in /proc, to find it by; may be used again */
};

struct xb_netns xb_netns_self(void);

/* Whether they are the same; true if it cannot be told. */
bool xb_netns_same(const struct xb_netns *one, const struct xb_netns *other);

/* Whether it is the one that the kernel begins with, of which it never has another. */
bool xb_netns_is_initial(const struct xb_netns *netns);

#define XB_NETNS_ENTER 320

/* The command that enters it, as "nsenter --net=/run/netns/NAME". false: nothing here names it, and
 * `text` is only an example. */
bool xb_netns_enter(const struct xb_netns *netns, char text[XB_NETNS_ENTER]);

/*
 * Whether no process that /proc shows and no name in /run/netns is of it any more. false, too, if
 * that of some process may not be looked at, or if another one has its number by now, unless that
 * is this process's.
 */
bool xb_netns_is_gone(const struct xb_netns *netns);

/* Whether /sys is hidden, as `ip netns exec` does it, from what the first process sees. */
bool xb_netns_hides_sys(void);

#endif
