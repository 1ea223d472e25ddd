/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks that a thread of its own fills, while the one before is looked at. */
#ifndef XB_BLOOMSET_AHEAD_H
#define XB_BLOOMSET_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

struct ahead;

/* Fills a block, whose bytes are what they were after it was filled before; at first, zero. The
 * former block is still there, and another thread may read it. False: this one is the last. */
typedef bool ahead_filler(void *to, void *block);

/* size: bytes of a block. `to` is left alone by the caller until ahead_close(). NULL with a
 * message. */
struct ahead *ahead_open(size_t size, ahead_filler *fill, void *to);

/* The next block, which stays until the next call. NULL: there is none after the last. */
const void *ahead_next(struct ahead *ahead);

/* Ends the thread, also while it waits for a file. NULL is allowed. */
void ahead_close(struct ahead *ahead);

#endif
