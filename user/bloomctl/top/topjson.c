/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/top/topjson.h"

#include "bloomctl/display.h"
#include "engine/settingsjson.h"
#include "model/policy.h"
#include "model/reason.h"

static json_t *count_json(const struct meter_view *view, struct xb_count count)
{
	return json_pack("{s:I,s:I,s:f,s:f}", "packets", (json_int_t)count.packets, "bytes",
			 (json_int_t)count.bytes, "packets_per_second",
			 meter_packets(view, count.packets), "bits_per_second",
			 meter_bits(view, count.bytes));
}

/* The names in front of the figures. */
static json_t *named(json_t *names, json_t *figures)
{
	json_object_update(names, figures);
	json_decref(figures);
	return names;
}

/* Those that occurred. */
static json_t *reasons_json(const struct meter_view *view, const struct xb_counts *counts)
{
	json_t *reasons = json_array();

	for (unsigned int i = 0; i < XB_REASON_COUNT; i++)
		if (counts->reason[i].packets)
			json_array_append_new(
				reasons, named(json_pack("{s:s,s:s}", "reason", xb_reason_name(i),
							 "verdict", xb_reason_verdict(i)),
					       count_json(view, counts->reason[i])));
	return reasons;
}

static json_t *interfaces_json(const struct meter_view *view)
{
	json_t *interfaces = json_array();

	for (size_t i = 0; i < view->interface_count; i++) {
		const struct meter_interface *one = &view->interfaces[i];
		char name[IF_NAMESIZE];
		json_t *object =
			named(json_pack("{s:s,s:I}", "name", display_row(one->ifindex, name),
					"ifindex", (json_int_t)one->ifindex),
			      count_json(view, one->total));

		json_object_set_new(object, "dropped", count_json(view, one->dropped));
		json_object_set_new(object, "reasons", reasons_json(view, &one->since));
		json_array_append_new(interfaces, object);
	}
	return interfaces;
}

static json_t *source_json(const struct meter_view *view, const struct meter_source *source)
{
	const struct tally_source *tally = &source->tally;
	char text[XB_ENTRY_TEXT], name[IF_NAMESIZE];
	json_t *object = json_pack(
		"{s:s,s:I,s:f,s:s,s:I,s:s}", "source", xb_entry_format(&tally->source, text),
		"packets", (json_int_t)tally->packets, "packets_per_second",
		meter_packets(view, tally->packets), "interface",
		display_interface(tally->ifindex, name), "ifindex", (json_int_t)tally->ifindex,
		"reason", xb_reason_name(tally->reason));

	if (xb_reason_is_over_limit(tally->reason))
		json_object_set_new(object, "limit",
				    *source->limit ? json_string(source->limit) : json_null());
	return named(object, source->covered ? json_incref(source->covered)
					     : json_pack("{s:n,s:[]}", "entry", "lists"));
}

static json_t *limits_json(const struct meter_view *view)
{
	json_t *limits = json_array();

	for (size_t i = 0; i < view->limit_count; i++)
		json_array_append_new(limits, named(xb_limit_json("name", &view->limits[i].limit),
						    count_json(view, view->limits[i].over)));
	return limits;
}

static json_t *sources_json(const struct meter_view *view)
{
	json_t *sources;

	if (*view->why_no_sources)
		return json_null();
	sources = json_array();
	for (size_t i = 0; i < view->source_count; i++)
		json_array_append_new(sources, source_json(view, &view->sources[i]));
	return sources;
}

static json_t *names_json(const struct meter_view *view)
{
	json_t *names = json_array();

	for (size_t i = 0; i < view->name_count; i++)
		json_array_append_new(
			names, json_pack("{s:s,s:I,s:f}", "entry", view->names[i].name, "packets",
					 (json_int_t)view->names[i].packets, "packets_per_second",
					 meter_packets(view, view->names[i].packets)));
	return names;
}

static json_t *feeds_json(const struct meter_view *view)
{
	json_t *feeds = json_array();

	for (size_t i = 0; i < view->feed_count; i++)
		json_array_append_new(feeds, xb_feed_state_json(&view->feeds[i]));
	return feeds;
}

json_t *top_json(const struct meter_view *view)
{
	const struct xb_health *health = &view->health;

	return json_pack(
		"{s:f,s:b,s:o,s:s,s:o,s:o,s:o,s:I,s:I,s:o,s:o,s:o,s:o}", "seconds", view->seconds,
		"ok", !health->problems.count, "problems", display_problems_json(&health->problems),
		"policy", xb_policy_name(health->policy), "interfaces", interfaces_json(view),
		"reasons", reasons_json(view, &view->reasons), "limits", limits_json(view),
		"dropped", (json_int_t)view->dropped, "reported", (json_int_t)view->reported,
		"sources", sources_json(view), "names", names_json(view), "lists",
		display_lists_json(&health->store), "feeds", feeds_json(view));
}
