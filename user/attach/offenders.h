/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources over limits that have a list, as the kernel reports them to one reader. */
#ifndef XB_ATTACH_OFFENDERS_H
#define XB_ATTACH_OFFENDERS_H

#include <bpf/libbpf.h>
#include <stdint.h>

#include "attach/anchor.h"
#include "attach/pin.h"

/* What fits into the ring. */
#define XB_OFFENDERS_MOST                                                                          \
	((int64_t)(XB_OFFENDERS_BYTES / (sizeof(struct xb_offender) + BPF_RINGBUF_HDR_SZ)))

typedef void xb_offenders_see(const struct xb_offender *offender, void *context);

/* None of the anchor's programs is kept open, because a replaced program must be able to go. */
struct xb_offenders {
	struct xb_pins place; /* of the anchor's pins */
	int map;
	struct xb_mapping budget, cells;
	struct ring_buffer *ring;
	xb_offenders_see *see;
	void *context;
};

/* Takes out what was reported before; the kernel reports nothing yet. The reader must not move in
 * memory. -ENOENT without a message: there is no anchor. */
int xb_offenders_open(struct xb_offenders *offenders, const char *pins, xb_offenders_see *see,
		      void *context);

/* From now on the kernel makes at most so many reports, up to XB_OFFENDERS_MOST. */
void xb_offenders_allow(struct xb_offenders *offenders, int64_t reports);

/* Becomes readable when something is reported. It belongs to the reader. */
int xb_offenders_descriptor(const struct xb_offenders *offenders);

/* Passes all that was reported to see(), but for frames of `bloomctl test`. Returns how many
 * reports that were, or an error. */
int xb_offenders_read(struct xb_offenders *offenders);

/* 0, or -ENOENT without a message: the anchor has gone, or another one is in its place. */
int xb_offenders_look(const struct xb_offenders *offenders, const char *pins);

/* Ends the reports at once. Of one that is all zero, and of one that could not be opened, nothing
 * is open. */
void xb_offenders_close(struct xb_offenders *offenders);

#endif
