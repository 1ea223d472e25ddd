/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds a new generation while the old one enforces and takes changes. */
#ifndef XB_ENGINE_ROTATE_H
#define XB_ENGINE_ROTATE_H

#include "base/paths.h"
#include "engine/wish.h"
#include "xdp_bloom/layout.h"

/* Stores the rate, the capacity and the confirm stage of the request, and builds a generation with
 * them. *params (may be NULL): those now in force. If nothing is attached, params->generation is 0,
 * and the settings count from the next attach. */
int xb_rotate(const struct xb_paths *paths, const struct xb_rotate_request *request,
	      struct xb_params *params, struct xb_written *written);

/* Does the same to last, on trial or as a commit. The wish has a request of kind XB_REQUEST_ROTATE.
 */
int xb_rotate_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_params *params, struct xb_written *written);

/*
 * Grows the filter if a write has filled it (written->growth_due). Call it after the command has
 * answered. A failure causes a warning, because the change stands.
 */
void xb_write_settle(const struct xb_paths *paths, struct xb_written *written);

#endif
