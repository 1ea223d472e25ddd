/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/limitjson.h"

#include <stdio.h>
#include <string.h>

#include "engine/settingsjson.h"

json_t *xb_limit_figure_json(const struct xb_limit_figure *figure)
{
	json_t *object = xb_limit_json("name", &figure->limit);

	json_object_set_new(object, "over_packets", json_integer((json_int_t)figure->over.packets));
	json_object_set_new(object, "over_bytes", json_integer((json_int_t)figure->over.bytes));
	return object;
}

json_t *xb_limit_figures_json(const struct xb_limit_figures *figures)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < figures->count; i++)
		json_array_append_new(all, xb_limit_figure_json(&figures->item[i]));
	return all;
}

const char *xb_limit_describe(const struct xb_limit *limit, char out[XB_LIMIT_TEXT])
{
	char to[XB_SCOPE_TEXT], rate[XB_LIMIT_RATE_TEXT], per[32];

	if (limit->names)
		strcpy(per, "name");
	else
		snprintf(per, sizeof(per), "/%u and /%u", limit->bits4, limit->bits6);
	snprintf(out, XB_LIMIT_TEXT, "%s %s per %s to %s", xb_limit_format_rate(limit, rate),
		 xb_limit_units[limit->of], per, xb_scope_format(&limit->scope, to));
	return out;
}
