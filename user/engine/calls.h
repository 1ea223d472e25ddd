/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the driver of an interface calls the program: what the kernel counted as received there
 * against what the program counted over the same time. Attached is not filtered. */
#ifndef XB_ENGINE_CALLS_H
#define XB_ENGINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/anchor.h"
#include "attach/netdev.h"

enum xb_calls {
	XB_CALLS_QUIET,	  /* no packet has come since calls were last seen: nothing is known */
	XB_CALLS_SEEN,	  /* the program was called */
	XB_CALLS_DOUBTED, /* packets have come without a call, too few for a verdict */
	XB_CALLS_MISSING, /* packets come, and the program is not called */
};

struct xb_calls_view {
	enum xb_calls calls;
	bool ever;	 /* calls were seen since the interface was attached */
	uint64_t seen;	 /* when they were last seen, or when it was attached; s since 1970 */
	uint64_t missed; /* packets received since then for which there was no call */
	uint32_t cures;	 /* how often it was attached anew since then */
	bool stale;	 /* the note tells less than this process has seen */
	bool reopened;	 /* its carrier came, or its MTU changed, since it was attached */
};

/* What the row of an interface has. */
struct xb_calls_row {
	uint64_t calls; /* packets that the program has counted */
	struct xb_iface_note note;
};

/* Reads it. Returns 0 or an error with its message. */
int xb_calls_read(const struct xb_anchor *anchor, uint32_t row, struct xb_calls_row *out);

/* The same of all rows up to the last one of these interfaces, at once; the caller frees *rows. */
int xb_calls_read_all(const struct xb_anchor *anchor, const struct xb_enrolled *enrolled,
		      size_t count, struct xb_calls_row **rows);

/*
 * Compares the counters of the interface, which has the row, with those at earlier looks: of this
 * process, and before the first one, of the last writer that noted them. now: of that row. device:
 * as the kernel told it after that; in the other order, packets that come in between would seem to
 * have come without a call.
 *
 * Calls are missing after three looks between which packets came and none was counted: a driver may
 * count packets a moment after or before it calls the program.
 */
void xb_calls_look(uint32_t row, const struct xb_calls_row *now, const struct xb_netdev *device,
		   struct xb_calls_view *view);

/* For a writer, after a look: notes the counters of now, if calls were seen, but not again and
 * again. */
int xb_calls_note(const struct xb_anchor *anchor, uint32_t row, uint32_t ifindex,
		  const struct xb_calls_view *view);

/* For a writer that has attached the interface: what came before it counts no more. cures: how
 * often it was attached anew since calls were last seen. */
int xb_calls_begin(const struct xb_anchor *anchor, uint32_t row, uint32_t ifindex, uint32_t cures);

/* Whether a program of others stands in front of ours on the interface (libxdp's dispatcher): it
 * may keep packets from ours, as it should, and counting proves nothing. */
bool xb_calls_prove_nothing(const struct xb_anchor *anchor, uint32_t ifindex);

/*
 * Looks at all interfaces that have the program of the anchor below `pins`. *worst: the worst that
 * was found. *hurry: packets have come somewhere without a call, so that the next look should come
 * soon. *due: calls were seen where a process that reads the last note doubts them, so that a
 * writer should note anew. Returns 0, also without an anchor, or an error with its message.
 */
int xb_calls_poll(const char *pins, enum xb_calls *worst, bool *hurry, bool *due);

/* An interface that is being watched. */
struct xb_call_watch {
	uint32_t row;
	struct xb_netdev device; /* ifindex 0: it is gone */
	struct xb_calls_view view;
};

/*
 * Looks at the interfaces whose calls are not seen, until they are seen or missing, for one second
 * while packets come, and for `quiet` milliseconds while none do. Where it can, it makes packets
 * come: it asks neighbours. Returns 0 or an error with its message.
 */
int xb_calls_watch(const struct xb_anchor *anchor, struct xb_call_watch *item, size_t count,
		   unsigned int quiet);

#endif
