/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request as bytes. */
#ifndef XB_STORE_REQUESTCODEC_H
#define XB_STORE_REQUESTCODEC_H

#include <stddef.h>

#include "model/request.h"

/* How many bytes the request takes. */
size_t xb_request_size(const struct xb_request *request);

/* Writes that many. False: the request has a value that cannot be read back. */
bool xb_request_encode(const struct xb_request *request, uint8_t *bytes);

/*
 * Reads a request that takes all of the bytes. Its texts stay in them; the caller ends it with
 * xb_request_clear() before they go. -EINVAL without a message: they are no request. Every length
 * is checked, and every number that stands for something.
 */
int xb_request_decode(uint8_t *bytes, size_t size, struct xb_request *request);
void xb_request_clear(struct xb_request *request);

#endif
