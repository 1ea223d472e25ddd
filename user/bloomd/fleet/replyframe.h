/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames in which bloomd-redis hands over answers (redis/wire.h). Somebody may have taken that
 * process over, so every field is checked. */
#ifndef XB_BLOOMD_REPLYFRAME_H
#define XB_BLOOMD_REPLYFRAME_H

#include "bloomd/fleet/reply.h"

/*
 * Reads the content of a frame, behind its kind. *nodes: the first is the answer, the others are
 * below it; texts point into the frame; the caller frees it. Returns 0, or an error with its
 * message.
 */
int replyframe_read(const void *bytes, size_t size, struct server_reply **nodes);

#endif
