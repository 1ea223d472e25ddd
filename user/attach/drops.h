/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watching drops as they happen: a budget of reports for the kernel, and the ring through which
 * they come. */
#ifndef XB_ATTACH_DROPS_H
#define XB_ATTACH_DROPS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/anchor.h"
#include "model/entry.h"

#define XB_DROPS_RATE_MAX 100000
#define XB_DROPS_TICKS	  10 /* refills a second */

/* drop: a struct xb_name_drop if name_bytes says so. A negative value ends the poll, which returns
 * it. */
typedef int xb_drops_see(const struct xb_drop *drop, void *context);

/* The source of the packet, as an entry for itself alone. */
struct xb_entry xb_drop_source(const struct xb_drop *drop);

/* Whether the kernel reports packets of this reason: drops, answers, and what was only counted. */
bool xb_drop_is_told(unsigned int reason);

/* The anchor that is watched. None of its programs is kept open, because a replaced program must
 * be able to go. */
struct xb_watched {
	int directory; /* of its pins; locked, so that there is one watcher */
	int ifaces, stats, drops;
	struct xb_mapping budget, cells;
	struct ring_buffer *ring;
};

struct xb_drops {
	struct xb_watched now;
	const char *pins; /* not owned */
	xb_drops_see *see;
	void *context;
	uint32_t rate;
	uint64_t refill;	      /* when to, CLOCK_MONOTONIC ns */
	uint64_t gone;		      /* since when the pins are gone; 0: they are there */
	int64_t given;		      /* at the last refill */
	int64_t used[XB_DROPS_TICKS]; /* of the last refills, one after the other */
	unsigned int tick;
	bool dry, was_dry; /* the budget was used up since the last refill, the last count */
	uint64_t dropped;  /* at the last count */
	int64_t untold;
};

/*
 * From now on the kernel reports drops, at most `rate` in any second, and xb_drops_poll() passes
 * each to see(). The watcher must not move in memory. -ENOENT without a message: there is no
 * anchor. -EALREADY: there is another watcher.
 */
int xb_drops_open(struct xb_drops *watcher, const char *pins, uint32_t rate, xb_drops_see *see,
		  void *context);

/*
 * Waits for drops until the next refill is due; a signal ends the wait. The caller must call it
 * again within a tenth of a second, or the kernel may stop reporting. If another anchor takes the
 * place of the watched one, that one is watched from then on. -ENOENT without a message: the anchor
 * has been gone for a second. -EALREADY: the one in its place has another watcher.
 */
int xb_drops_poll(struct xb_drops *watcher);

/* How many drops since the last call were not passed to see(). They are counted only if the
 * budget was used up meanwhile, otherwise 0. */
int xb_drops_untold(struct xb_drops *watcher, uint64_t *count);

/* Ends the reports at once. */
void xb_drops_close(struct xb_drops *watcher);

#endif
