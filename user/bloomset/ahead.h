/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file in a thread of its own, while what came before is looked at. */
#ifndef XB_BLOOMSET_AHEAD_H
#define XB_BLOOMSET_AHEAD_H

#include <sys/types.h>

#include "lists/unpack.h"

struct ahead;

/* The file stays the caller's, who leaves it alone until ahead_close(). NULL with a message. */
struct ahead *ahead_open(struct xb_unpack *unpack);

/* As xb_unpack_read(). */
ssize_t ahead_read(struct ahead *ahead, char *out, size_t room);

/* Bytes of the file itself for what was given, about. */
uint64_t ahead_done(const struct ahead *ahead);

/* NULL is allowed. */
void ahead_close(struct ahead *ahead);

#endif
