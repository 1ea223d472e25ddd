/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/settingsjson.h"

#include "machine/lifelines.h"
#include "model/nameports.h"
#include "model/origin.h"

json_t *xb_kinds_json(uint32_t kinds)
{
	json_t *names = json_array();

	for (enum xb_lifeline_kind kind = 0; kind < XB_LIFELINE_KINDS; kind++)
		if (kinds >> kind & 1)
			json_array_append_new(names, json_string(xb_lifeline_name(kind)));
	return names;
}

json_t *xb_origins_json(uint32_t origins)
{
	json_t *names = origins ? json_array() : NULL;

	for (uint32_t origin = 0; origin < XB_ORIGINS; origin++)
		if (origins >> origin & 1)
			json_array_append_new(names, json_string(xb_origin_name(origin)));
	return names;
}

json_t *xb_ports_json(const uint16_t ports[XB_NAME_PORTS])
{
	json_t *numbers = json_array();

	for (int i = 0; i < XB_NAME_PORTS && ports[i]; i++)
		json_array_append_new(numbers, json_integer(ports[i]));
	return numbers;
}

json_t *xb_all_ports_json(struct xb_name_ports ports)
{
	json_t *object = json_object();

	for (enum xb_carrier carrier = 0; carrier < XB_CARRIERS; carrier++)
		json_object_set_new(object, xb_carrier_name(carrier),
				    xb_ports_json(xb_ports_of(&ports, carrier)));
	return object;
}

/* Of what the limit is. */
static json_t *per_json(const struct xb_limit *limit)
{
	return limit->names ? json_pack("{s:s}", "per", "name")
			    : json_pack("{s:i,s:i}", "per4", (int)limit->bits4, "per6",
					(int)limit->bits6);
}

json_t *xb_limit_json(const char *key, const struct xb_limit *limit)
{
	char rate[XB_LIMIT_RATE_TEXT], to[XB_SCOPE_TEXT], known[XB_LIMIT_KNOWN_TEXT];
	json_t *object = json_pack("{s:s,s:s,s:s,s:I,s:s}", key, limit->name, "to",
				   xb_scope_format(&limit->scope, to), "rate",
				   xb_limit_format_rate(limit, rate), "burst",
				   (json_int_t)limit->burst, "of", xb_limit_units[limit->of]);

	json_object_update_new(object, per_json(limit));
	json_object_update_new(object, json_pack("{s:s,s:I,s:s}", "over", xb_limit_over(limit),
						 "capacity", (json_int_t)limit->capacity, "known",
						 xb_limit_format_known(limit, known)));
	if (*limit->list)
		json_object_update_new(object, json_pack("{s:s,s:i,s:i,s:b}", "list", limit->list,
							 "timeout", (int)limit->timeout, "longest",
							 (int)limit->longest, "forgeable",
							 limit->forgeable));
	return object;
}
