/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/http/pagejson.h"

#include <string.h>
#include <time.h>

#include "base/program.h"
#include "base/text.h"
#include "bloomd/feeds/feedsjson.h"
#include "engine/limitjson.h"
#include "engine/requesttext.h"
#include "model/policy.h"
#include "model/reason.h"
#include "model/verdict.h"

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static void append_text(const char *text, void *texts)
{
	json_array_append_new(texts, json_string(text));
}

static json_t *problems_json(const struct look *look)
{
	json_t *texts = json_array();

	look_tell(look, append_text, texts);
	return texts;
}

static json_t *trial_json(const struct xb_health *health)
{
	char command[256];

	if (!health->trial_left)
		return json_null();
	xb_request_command(&health->store.trial.request, command, sizeof(command));
	xb_utf8_clean(command);
	return json_pack("{s:s,s:I}", "command", command, "seconds_left",
			 (json_int_t)health->trial_left);
}

static json_t *interface_json(const struct xb_interface *item, bool filters)
{
	bool open = !filters || xb_interface_is_open(item);

	return json_pack("{s:s,s:s,s:s,s:b}", "name", item->wanted, "state",
			 xb_interface_state(item), "mode",
			 item->now.ifindex && item->hold == XB_HOLD_OURS
				 ? xb_mode_name(item->now.mode)
				 : "none",
			 "enforcing", !open);
}

static json_t *interfaces_json(const struct xb_health *health)
{
	bool filters = health->filter.known && health->filter.program;
	json_t *all = json_array();

	for (size_t i = 0; i < health->interfaces.count; i++)
		if (health->interfaces.item[i].wanted[0])
			json_array_append_new(all,
					      interface_json(&health->interfaces.item[i], filters));
	return all;
}

/* Terms that differ from those of any list. */
static json_t *list_json(const struct xb_figure_list *list)
{
	const char *verdict = list->verdict ? xb_domain_verdict_name(list->verdict) : NULL;
	char text[XB_SCOPE_TEXT];
	const char *scope = list->scope ? xb_scope_format(list->scope, text) : NULL;

	return json_pack("{s:s,s:I,s:s*,s:s*}", "name", list->name, "entries",
			 (json_int_t)list->entries, "verdict", verdict, "scope", scope);
}

static json_t *lists_json(const struct xb_figures *figures)
{
	json_t *lists = json_array();

	for (size_t i = 0; i < figures->list_count; i++)
		json_array_append_new(lists, list_json(&figures->list[i]));
	return lists;
}

static json_t *scopes_json(const struct xb_figures *figures)
{
	json_t *scopes = json_array();
	char text[XB_SCOPE_TEXT];

	for (size_t i = 0; i < figures->classes.count; i++) {
		const struct xb_class_figure *class = &figures->classes.item[i];

		json_array_append_new(scopes, json_pack("{s:s,s:s,s:o,s:o}", "scope",
							xb_class_figure_scope(class, text),
							"verdict", xb_class_figure_verdict(class),
							"packets", number(class->count.packets),
							"bytes", number(class->count.bytes)));
	}
	return scopes;
}

static json_t *listed_json(const struct xb_totals *totals)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "ipv4_host", number(totals->host4), "ipv4_prefix",
			 number(totals->prefix4), "ipv6", number(totals->net6), "domain",
			 number(totals->names), "allow", number(totals->allow));
}

static json_t *part_json(const char *family, uint64_t keys, uint64_t capacity)
{
	return json_pack("{s:s,s:o,s:o}", "family", family, "keys", number(keys), "capacity",
			 number(capacity));
}

static json_t *filter_json(const struct xb_figures *figures)
{
	const struct xb_filterview *filter = &figures->health.filter;
	const struct xb_params *params = &filter->params;

	if (!filter->known)
		return json_null();
	return json_pack("{s:o,s:o,s:f,s:b,s:[o,o,o]}", "created", number(figures->created),
			 "bytes", number(xb_maps_bytes(params) + xb_generation_file_bytes(params)),
			 "fpr", filter->rate, "confirm", (int)params->confirm, "parts",
			 part_json("ipv4_host", filter->host4_keys, params->host4.capacity),
			 part_json("ipv6", filter->net6_keys, params->net6.capacity),
			 part_json("domain", filter->names_keys, params->names.capacity));
}

static json_t *row_json(const struct xb_carried *row)
{
	json_t *reasons = json_object();
	char name[sizeof(row->name)];

	for (enum xb_reason reason = 0; reason < XB_REASON_COUNT; reason++) {
		const struct xb_count *count = &row->counts.reason[reason];

		if (count->packets)
			json_object_set_new(reasons, xb_reason_name(reason),
					    json_pack("[I,I]", (json_int_t)count->packets,
						      (json_int_t)count->bytes));
	}
	xb_utf8_show(row->name, sizeof(row->name), name, sizeof(name));
	return json_pack("{s:s,s:o}", "interface", name, "reasons", reasons);
}

static json_t *packets_json(const struct xb_figures *figures)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < figures->row_count; i++)
		json_array_append_new(rows, row_json(&figures->row[i]));
	return rows;
}

static json_t *reasons_json(void)
{
	json_t *all = json_object();

	for (enum xb_reason reason = 0; reason < XB_REASON_COUNT; reason++)
		json_object_set_new(
			all, xb_reason_name(reason),
			json_pack("[s,s]", xb_reason_verdict(reason), xb_reason_meaning(reason)));
	return all;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void add(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

json_t *status_json(const struct look *look)
{
	const struct xb_figures *figures = &look->figures;
	const struct xb_health *health = &figures->health;
	json_t *all = json_object();

	add(all, "schema", number(1));
	add(all, "version", json_string(XB_VERSION));
	add(all, "time", json_real(seconds_now()));
	add(all, "ok", json_boolean(look_is_well(look)));
	add(all, "problems", problems_json(look));
	if (look->error)
		return all;
	add(all, "policy", json_string(xb_policy_name(health->policy)));
	add(all, "trial", trial_json(health));
	add(all, "interfaces", interfaces_json(health));
	add(all, "listed", listed_json(&health->store.meta.totals));
	add(all, "lists", lists_json(figures));
	add(all, "scopes", scopes_json(figures));
	add(all, "limits", xb_limit_figures_json(health->limits));
	add(all, "filter", filter_json(figures));
	add(all, "store_bytes", number(figures->store_bytes));
	add(all, "overdue", number(figures->overdue));
	add(all, "packets", packets_json(figures));
	add(all, "reasons", reasons_json());
	add(all, "feeds", feeds_json(look->paths));
	return all;
}
