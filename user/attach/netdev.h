/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's present view of a network device: one question, one answer. */
#ifndef XB_ATTACH_NETDEV_H
#define XB_ATTACH_NETDEV_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/interface.h"

struct xb_netdev {
	uint32_t ifindex;	/* 0: there is no such device */
	char name[IF_NAMESIZE]; /* its primary name, whatever it was asked for by */
	uint16_t type;		/* ARPHRD_... */
	char kind[32];		/* as `ip link add type` calls it; empty: hardware, or old style */
	uint32_t program;	/* identity of the XDP program on it; 0: none */
	enum xb_mode mode;	/* native or skb, if there is a program */
	uint32_t mtu;		/* bytes behind the Ethernet header */
	uint32_t ups;		/* how often its carrier has come */
	uint64_t received;	/* packets, as its driver counts them; of a bond 0: see netdev.c */
};

/* The device that bears the name, as its own or as one of its alternative names, in this network
 * namespace. ifindex 0: none does. An error only if the kernel does not answer. */
int xb_netdev_by_name(const char *name, struct xb_netdev *device);
int xb_netdev_by_index(uint32_t ifindex, struct xb_netdev *device);

/* All of this network namespace; the caller frees *all. */
int xb_netdev_all(struct xb_netdev **all, size_t *count);

enum xb_support { XB_SUPPORT_UNKNOWN, XB_SUPPORT_NO, XB_SUPPORT_YES };

/* Whether its driver supports native XDP at present (its queues, its peer). Kernels before 6.3
 * do not say. */
enum xb_support xb_netdev_has_native(uint32_t ifindex);

#endif
