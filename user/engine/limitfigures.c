/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/limitfigures.h"

#include <string.h>

#include "attach/classcounts.h"
#include "filter/limitmap.h"

static int read_one(const struct xb_anchor *anchor, struct xb_limit_figure *figure)
{
	return xb_class_counts_read(anchor, XB_CLASSES + figure->number,
				    xb_limitmap_identity(&figure->limit), &figure->over);
}

int xb_limit_figures_read(const struct xb_anchor *anchor, const struct xb_limits_wanted *limits,
			  struct xb_limit_figures *figures)
{
	int error = 0;

	*figures = (struct xb_limit_figures){0};
	for (uint32_t number = 1; limits && !error && number < XB_LIMITS; number++) {
		const struct xb_limit *limit = &limits->limit[number];
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

struct xb_count xb_limit_over_since(const struct xb_limit_figure *now,
				    const struct xb_limit_figures *before)
{
	for (uint32_t i = 0; i < before->count; i++) {
		const struct xb_limit_figure *then = &before->item[i];

		if (!strcmp(then->limit.name, now->limit.name) &&
		    then->over.packets <= now->over.packets && then->over.bytes <= now->over.bytes)
			return (struct xb_count){now->over.packets - then->over.packets,
						 now->over.bytes - then->over.bytes};
	}
	return now->over;
}

uint64_t xb_limit_memory(const struct xb_limit *limit)
{
	return xb_limit_lines(limit->capacity) * sizeof(struct xb_meter_line);
}
