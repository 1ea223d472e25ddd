/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/classfigures.h"

#include "attach/classcounts.h"
#include "filter/scopemap.h"
#include "model/verdict.h"
#include "store/listclass.h"

int xb_class_figures_read(const struct xb_anchor *anchor, const struct xb_storeview *view,
			  struct xb_class_figures *figures)
{
	struct xb_class classes[XB_CLASSES];
	uint32_t used = xb_classes_of(view->lists, view->list_count, classes);
	struct xb_scopes scopes = xb_scopemap_scopes(classes, used);
	int error = 0;

	*figures = (struct xb_class_figures){0};
	for (uint32_t class = 1; !error && class < XB_CLASSES; class ++) {
		struct xb_class_figure *figure = &figures->item[figures->count];

		if (!(used >> class & 1))
			continue;
		*figure = (struct xb_class_figure){.class = class,
						   .identity = scopes.identity[class],
						   .scope = classes[class].scope,
						   .counts = classes[class].counts};
		figures->count++;
		if (anchor)
			error = xb_class_counts_read(anchor, class, figure->identity,
						     &figure->count);
	}
	return error;
}

const char *xb_class_figure_scope(const struct xb_class_figure *figure, char out[XB_SCOPE_TEXT])
{
	static const struct xb_scope all_packets;

	return xb_scope_format(figure->scope ? figure->scope : &all_packets, out);
}

const char *xb_class_figure_verdict(const struct xb_class_figure *figure)
{
	return xb_domain_verdict_name(figure->counts ? XB_DOMAIN_COUNT : XB_DOMAIN_DROP);
}
