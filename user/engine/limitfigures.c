/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/limitfigures.h"

#include <string.h>

#include "attach/classcounts.h"
#include "filter/scopemap.h"

static int read_one(const struct xb_anchor *anchor, struct xb_limit_figure *figure)
{
	const char *name = figure->limit.name;

	return xb_class_counts_read(anchor, XB_CLASSES + figure->number,
				    xb_scopemap_identity(name, strlen(name)), &figure->over);
}

int xb_limit_figures_read(const struct xb_anchor *anchor, const struct xb_storeview *view,
			  struct xb_limit_figures *figures)
{
	int error = 0;

	*figures = (struct xb_limit_figures){0};
	for (uint32_t number = 1; !error && number < XB_LIMITS; number++) {
		const struct xb_limit *limit = &view->limits.limit[number];
		struct xb_limit_figure *figure = &figures->item[figures->count];

		if (!*limit->name)
			continue;
		*figure = (struct xb_limit_figure){.number = number, .limit = *limit};
		figures->count++;
		if (anchor)
			error = read_one(anchor, figure);
	}
	return error;
}

uint64_t xb_limit_memory(const struct xb_limit *limit)
{
	return limit->capacity * XB_LIMIT_LINES * sizeof(struct xb_meter_line);
}
