/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bpf_links of our own that hold the entry on interfaces: a pin each, `iface-` and the ifindex.
 * A bpf_link knows its device, wherever that goes and whatever it is called, and dies with it. */
#ifndef XB_ATTACH_IFPINS_H
#define XB_ATTACH_IFPINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xb_ifpin {
	char pin[32];	  /* its name in the pin directory */
	uint32_t of;	  /* the ifindex in that name; 0: set aside, see xb_ifpin_vacate() */
	uint32_t ifindex; /* that the device has now, in whichever network namespace; 0: it is gone
			   */
	uint32_t program;
};

struct xb_ifpins {
	struct xb_ifpin *item;
	size_t count, room;
};

/* All that are pinned. The caller frees it, in case of failure too. */
int xb_ifpins_read(const char *pins, struct xb_ifpins *all);
void xb_ifpins_free(struct xb_ifpins *all);

/* The one pinned for the ifindex; NULL: there is none. */
const struct xb_ifpin *xb_ifpins_of(const struct xb_ifpins *all, uint32_t ifindex);

/* The one that holds the program on the interface of this number in this network namespace; NULL:
 * there is none. Others may hold it on one that has the same number elsewhere. */
const struct xb_ifpin *xb_ifpins_on(const struct xb_ifpins *all, uint32_t ifindex,
				    uint32_t program);

/*
 * Creates a bpf_link with this program on the interface, in this network namespace. A negative
 * errno; *told: whether there is a message, which is so only if the bpf_link could be created and a
 * later step failed. If the kernel refuses, whoever listens (attach/extack.h) hears why.
 */
int xb_ifpin_attach(const char *pins, uint32_t ifindex, int program, bool skb, bool *told);

/* Gives the bpf_link another program, without interruption. -ENOENT without a message: it does
 * not accept it. */
int xb_ifpin_update(const char *pins, const struct xb_ifpin *pin, int program);

/* Takes the program off now; unpinning alone would do it some time later. XB_STAYS_ON
 * (attach/refusal.h): the kernel does not do it. */
int xb_ifpin_detach(const char *pins, const struct xb_ifpin *pin);

/* Renames the pin after the ifindex that its device has now. */
int xb_ifpin_rename(const char *pins, struct xb_ifpin *pin);

/* Makes room for another interface that got the ifindex of one which is gone, or which is in
 * another network namespace and keeps its filter. */
int xb_ifpin_vacate(const char *pins, const struct xb_ifpin *pin);

#endif
