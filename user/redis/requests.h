/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of bloomd, as it frames them, become requests in RESP. */
#ifndef XB_REDIS_REQUESTS_H
#define XB_REDIS_REQUESTS_H

#include "redis/buffer.h"
#include "redis/end.h"

/* Appends a request of these words. False: no memory. */
bool requests_add(struct buffer *out, size_t count, const char **words, const size_t *sizes);

/* Takes whole frames out of `in` and appends their requests. *count: one more for each. False: end
 * says what is wrong. */
bool requests_take(struct buffer *in, struct buffer *out, size_t *count, struct redis_end *end);

#endif
