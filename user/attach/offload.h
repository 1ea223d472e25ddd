/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offloads of a device that attaching turns off, and wishes for them that it takes back: noted in
 * its row, and turned on again when the program is off. */
#ifndef XB_ATTACH_OFFLOAD_H
#define XB_ATTACH_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/anchor.h"

/* Those of the offloads that are on, and of the wishes for them, bits of enum xb_offload; 0 if the
 * device does not say. */
uint32_t xb_offloads_on(const char *name);

/* Turns these on. Returns those that are still off. */
uint32_t xb_offloads_turn_on(const char *name, uint32_t offloads);

/* Before the program of an enrolled interface is attached: notes what may go off. Returns what is
 * on, or was on before that. */
uint32_t xb_offloads_before(const struct xb_anchor *anchor, uint32_t ifindex);

/* After it was attached, or could not be: keeps a note of what has gone off. before: what
 * xb_offloads_before() returned. */
void xb_offloads_after(const struct xb_anchor *anchor, uint32_t ifindex, uint32_t before);

/* Turns on again what is noted, unless another program holds it off. finally: a failure is a
 * warning, because nothing of ours is attached any more; otherwise the note stays for that time. */
void xb_offloads_put_back(const struct xb_anchor *anchor, uint32_t ifindex, bool finally);

/* The interface has another number now, and a row for that. */
void xb_offloads_move(const struct xb_anchor *anchor, uint32_t from, uint32_t to);

#endif
