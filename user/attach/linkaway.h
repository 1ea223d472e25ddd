/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long links are away: some drivers take the carrier away with each change of the program, and
 * it comes back by itself. */
#ifndef XB_ATTACH_LINKAWAY_H
#define XB_ATTACH_LINKAWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XB_LINKS_MAX 256

struct xb_link {
	uint32_t ifindex;
	uint32_t changes; /* of the carrier, before the program was changed */
	uint64_t begun;	  /* xb_clock() then */
	uint64_t away;	  /* microseconds from then until the carrier was back; 0: it never went */
	bool back;	  /* false: it was not back in time, or the interface is gone */
};

/* All zero: no program was changed yet. */
struct xb_links {
	struct xb_link item[XB_LINKS_MAX];
	size_t count;
};

/* From now on, each interface that has carrier and whose program is about to be changed is entered
 * into *links, once. NULL, as it is by default: nobody wants to know. */
void xb_links_collect(struct xb_links *links);

/* For attach/: the program of the interface is about to be changed. */
void xb_links_before(uint32_t ifindex);

/* Waits until all of them are back, at most until so many ns after each change. Returns at once if
 * no carrier went. */
void xb_links_wait(struct xb_links *links, uint64_t limit);

#define XB_LINKS_LIMIT 10000000000 /* ns; igb takes 2.4 s */

/* NULL: it was not entered. */
const struct xb_link *xb_links_of(const struct xb_links *links, uint32_t ifindex);

struct xb_carrier {
	bool up;
	uint32_t changes; /* how often it came and went, since the device is there */
};

/* What the carrier is. False: there is no such interface. */
typedef bool xb_carrier_look(uint32_t ifindex, struct xb_carrier *carrier);

/* For tests: whom to ask instead of the kernel; NULL: the kernel. */
void xb_links_ask(xb_carrier_look *whom);

#endif
