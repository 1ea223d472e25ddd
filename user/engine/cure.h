/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done about an interface whose driver does not call the filter that is attached to it. */
#ifndef XB_ENGINE_CURE_H
#define XB_ENGINE_CURE_H

#include "base/paths.h"
#include "engine/interfaces.h"

/*
 * Attaches the interface anew in the same mode, or in skb mode if that was tried since calls were
 * last seen, or if the filter has just been attached (item->fresh), and says so by a warning. The
 * mode changes only if the wanted mode is auto. Where nothing is left to try, nothing is done.
 * *changed: something was, and item->fresh is set. Returns 0 or an error with its message.
 */
int xb_cure(const struct xb_paths *paths, const struct xb_anchor *anchor, struct xb_interface *item,
	    bool *changed);

#endif
