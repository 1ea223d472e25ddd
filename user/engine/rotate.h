/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A new generation while the old one goes on enforcing and taking changes. */
#ifndef XB_ENGINE_ROTATE_H
#define XB_ENGINE_ROTATE_H

#include "base/paths.h"
#include "engine/wish.h"
#include "xdp_bloom/layout.h"

/* *params (may be NULL): what is in force now; generation 0 if nothing is attached, and the request
 * is kept for then. */
int xb_rotate(const struct xb_paths *paths, const struct xb_rotate_request *request,
	      struct xb_params *params, struct xb_written *written);

/* The same as the wish says; its request is one to rotate. */
int xb_rotate_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_params *params, struct xb_written *written);

/*
 * What may follow the acknowledgement: a filter that a change left full is grown. Call it after the
 * answer is out; it does nothing if no write asked for it.
 */
void xb_write_settle(const struct xb_paths *paths, struct xb_written *written);

#endif
