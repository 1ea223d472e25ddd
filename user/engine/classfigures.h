/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The classes that the lists of a store have, with what the filter counted for each. */
#ifndef XB_ENGINE_CLASSFIGURES_H
#define XB_ENGINE_CLASSFIGURES_H

#include "attach/anchor.h"
#include "engine/storeview.h"

struct xb_class_figure {
	uint32_t class; /* its number */
	uint64_t identity;
	const struct xb_scope *scope; /* NULL: all packets; the view owns it */
	bool counts;		      /* its packets are counted; otherwise they are dropped */
	struct xb_count count;
};

struct xb_class_figures {
	struct xb_class_figure item[XB_CLASSES];
	size_t count;
};

/* All classes but XB_CLASS_ALL, by number. anchor: NULL if there is none, and nothing was counted.
 * Returns 0 or an error with its message. */
int xb_class_figures_read(const struct xb_anchor *anchor, const struct xb_storeview *view,
			  struct xb_class_figures *figures);

/* The scope as text; returns out. */
const char *xb_class_figure_scope(const struct xb_class_figure *figure, char out[XB_SCOPE_TEXT]);

/* The name of the verdict. */
const char *xb_class_figure_verdict(const struct xb_class_figure *figure);

#endif
