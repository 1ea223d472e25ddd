/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether changes fit into a generation, and what they need before they are applied. */
#ifndef XB_FILTER_FIT_H
#define XB_FILTER_FIT_H

#include "filter/generation.h"

/* Whether these changes fit: the generation has every stage they need, and its rate stays near
 * the promise. */
bool xb_fit_accepts(const struct xb_generation *generation, const struct xb_changes *changes);

/* Maps all that the changes touch, so that applying them cannot fail for want of memory. */
int xb_fit_prepare(struct xb_generation *generation, const struct xb_changes *changes);

#endif
