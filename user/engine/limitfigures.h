/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The limits of a store, with what the filter counted over each. */
#ifndef XB_ENGINE_LIMITFIGURES_H
#define XB_ENGINE_LIMITFIGURES_H

#include "attach/anchor.h"
#include "store/limits.h"

struct xb_limit_figure {
	uint32_t number;
	struct xb_limit limit;
	struct xb_count over; /* packets over it, dropped or not */
};

struct xb_limit_figures {
	uint32_t count;
	struct xb_limit_figure item[XB_LIMITS];
};

/* All limits that are wanted, by number. anchor: NULL if there is none, and nothing was counted.
 * Returns 0 or an error with its message. */
int xb_limit_figures_read(const struct xb_anchor *anchor, const struct xb_limits_wanted *limits,
			  struct xb_limit_figures *figures);

/* What came over the limit since the earlier figures; all of it, if they do not have it, or if it
 * was counted anew. */
struct xb_count xb_limit_over_since(const struct xb_limit_figure *now,
				    const struct xb_limit_figures *before);

/* Bytes of the lines of the meter that the limit asks for. */
uint64_t xb_limit_memory(const struct xb_limit *limit);

#endif
