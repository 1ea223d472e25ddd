/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes the policy, and the verdicts and scopes of lists. */
#ifndef XB_ENGINE_SETTINGS_H
#define XB_ENGINE_SETTINGS_H

#include "base/paths.h"
#include "engine/wish.h"
#include "store/admits.h"

/* Each carries out a wish with a request of its kind. Returns 0 or an error with its message. */

/* *admits: of the policy allow-only, what it admits of what is listed; the caller frees it in each
 * case. NULL: that is not asked. */
int xb_policy_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_admits *admits, struct xb_written *written);
int xb_verdict_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		    struct xb_written *written);
int xb_scope_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		  struct xb_written *written);

#endif
