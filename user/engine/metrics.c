/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every name and label is a promise to dashboards and alerts: docs/agent.md. */
#include "engine/metrics.h"

#include <string.h>

#include "base/program.h"
#include "engine/exposition.h"
#include "model/policy.h"
#include "model/reason.h"

static void put(FILE *out, const char *name, uint64_t value)
{
	static const struct xb_label none[XB_LABELS];

	xb_exposition_sample(out, name, "", none, value);
}

static void put_by(FILE *out, const char *name, const char *label, const char *value,
		   uint64_t number)
{
	xb_exposition_sample(out, name, "", (struct xb_label[XB_LABELS]){{label, value}}, number);
}

static void gauge(FILE *out, const char *name, const char *help, uint64_t value)
{
	xb_exposition_family(out, name, "gauge", help);
	put(out, name, value);
}

static void write_build(FILE *out)
{
	xb_exposition_family(out, "build_info", "gauge", "Always 1; the version is the label.");
	put_by(out, "build_info", "version", XB_VERSION, 1);
}

/* --- packets --- */

/* field: its offset. */
static uint64_t field_of(const struct xb_count *count, size_t field)
{
	__u64 value;

	memcpy(&value, (const char *)count + field, sizeof(value));
	return value;
}

static void write_counts(const struct xb_figures *figures, FILE *out, const char *name,
			 const char *help, size_t field)
{
	xb_exposition_family(out, name, "counter", help);
	for (size_t i = 0; i < figures->row_count; i++) {
		const struct xb_carried *row = &figures->row[i];

		for (enum xb_reason reason = 0; reason < XB_REASON_COUNT; reason++)
			xb_exposition_sample(out, name, "",
					     (struct xb_label[XB_LABELS]){
						     {"interface", row->name},
						     {"reason", xb_reason_name(reason)},
						     {"verdict", xb_reason_verdict(reason)}},
					     field_of(&row->counts.reason[reason], field));
	}
}

static void write_packets(const struct xb_figures *figures, FILE *out)
{
	write_counts(figures, out, "packets_total",
		     "Packets by interface, reason and verdict; docs/counters.md explains them.",
		     offsetof(struct xb_count, packets));
	write_counts(figures, out, "bytes_total", "Bytes of the same packets.",
		     offsetof(struct xb_count, bytes));
}

static void write_classes(const struct xb_figures *figures, FILE *out, const char *name,
			  const char *help, size_t field)
{
	char scope[XB_SCOPE_TEXT];

	xb_exposition_family(out, name, "counter", help);
	for (size_t i = 0; i < figures->classes.count; i++) {
		const struct xb_class_figure *class = &figures->classes.item[i];

		xb_exposition_sample(
			out, name, "",
			(struct xb_label[XB_LABELS]){{"scope", xb_class_figure_scope(class, scope)},
						     {"verdict", xb_class_figure_verdict(class)}},
			field_of(&class->count, field));
	}
}

static void write_scoped(const struct xb_figures *figures, FILE *out)
{
	write_classes(figures, out, "scoped_packets_total",
		      "Packets from sources that lists have with this scope and verdict.",
		      offsetof(struct xb_count, packets));
	write_classes(figures, out, "scoped_bytes_total", "Bytes of the same packets.",
		      offsetof(struct xb_count, bytes));
}

static void write_over(const struct xb_limit_figures *limits, FILE *out, const char *name,
		       const char *help, size_t field)
{
	xb_exposition_family(out, name, "counter", help);
	for (uint32_t i = 0; i < limits->count; i++)
		put_by(out, name, "limit", limits->item[i].limit.name,
		       field_of(&limits->item[i].over, field));
}

static void write_limits(const struct xb_limit_figures *limits, FILE *out)
{
	write_over(limits, out, "limit_over_packets_total",
		   "Packets of sources that were over this limit, dropped or counted.",
		   offsetof(struct xb_count, packets));
	write_over(limits, out, "limit_over_bytes_total", "Bytes of the same packets.",
		   offsetof(struct xb_count, bytes));
}

/* --- what is listed --- */

/* An entry that is in two lists counts in both, and once in `_all`. */
static void put_entries(FILE *out, const char *list, const char *family, uint64_t value)
{
	xb_exposition_sample(out, "entries", "",
			     (struct xb_label[XB_LABELS]){{"list", list}, {"family", family}},
			     value);
}

static void write_entries(const struct xb_figures *figures, FILE *out)
{
	const struct xb_totals *totals = &figures->health.store.meta.totals;

	xb_exposition_family(out, "entries", "gauge",
			     "Entries: of each list with family \"all\", and of all lists together "
			     "with list \"_all\", by family.");
	for (size_t i = 0; i < figures->list_count; i++)
		put_entries(out, figures->list[i].name, "all", figures->list[i].entries);
	put_entries(out, "_all", "ipv4_host", totals->host4);
	put_entries(out, "_all", "ipv4_prefix", totals->prefix4);
	put_entries(out, "_all", "ipv6", totals->net6);
	put_entries(out, "_all", "domain", totals->names);
	put_entries(out, "_all", "exception", totals->exceptions);
	put_entries(out, "_all", "allow", totals->allow);
}

static void write_capacity(const struct xb_filterview *filter, FILE *out)
{
	const struct xb_params *params = &filter->params;

	xb_exposition_family(out, "capacity_entries", "gauge",
			     "Keys for which the filter in force was sized.");
	put_by(out, "capacity_entries", "family", "ipv4_host", params->host4.capacity);
	put_by(out, "capacity_entries", "family", "ipv6", params->net6.capacity);
	put_by(out, "capacity_entries", "family", "domain", params->names.capacity);
	put_by(out, "capacity_entries", "family", "scoped", params->scoped.capacity);
	xb_exposition_family(out, "filter_entries", "gauge",
			     "Keys that the filter in force holds.");
	put_by(out, "filter_entries", "family", "ipv4_host", filter->host4_keys);
	put_by(out, "filter_entries", "family", "ipv6", filter->net6_keys);
	put_by(out, "filter_entries", "family", "domain", filter->names_keys);
	put_by(out, "filter_entries", "family", "scoped", filter->scoped_keys);
}

static void write_memory(const struct xb_filterview *filter, FILE *out)
{
	const struct xb_params *params = &filter->params;

	xb_exposition_family(out, "memory_bytes", "gauge",
			     "Memory of the filter in force: its maps in the kernel, and the file "
			     "of its counters.");
	for (enum xb_map map = 0; map < XB_MAPS; map++)
		put_by(out, "memory_bytes", "kind", xb_map_name(map),
		       filter->known ? xb_map_bytes(map, params) : 0);
	put_by(out, "memory_bytes", "kind", "counters",
	       filter->known ? xb_generation_file_bytes(params) : 0);
}

/* --- what is enforced --- */

/* One that was renamed has the name by which it is wanted now; another may have its former one. */
static const char *name_of(const struct xb_interface *item)
{
	return item->difference == XB_IFACE_HEIR ? item->now.name : item->wanted;
}

static bool is_first(const struct xb_interfaces *all, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (!strcmp(name_of(&all->item[i]), name_of(&all->item[number])))
			return false;
	return true;
}

static void write_enforcing(const struct xb_health *health, FILE *out)
{
	const struct xb_interfaces *all = &health->interfaces;
	bool filters = health->filter.known && health->filter.program;

	xb_exposition_family(out, "enforcing", "gauge",
			     "Whether the interface, which is wanted, is filtered.");
	for (size_t i = 0; i < all->count; i++)
		if (all->item[i].wanted[0] && is_first(all, i))
			put_by(out, "enforcing", "interface", name_of(&all->item[i]),
			       filters && !xb_interface_is_open(&all->item[i]) &&
				       all->item[i].view.calls < XB_CALLS_DOUBTED);
}

static void write_problems(const struct xb_problems *problems, FILE *out)
{
	uint64_t count[XB_PROBLEM_KINDS] = {0};

	for (size_t i = 0; i < problems->count; i++)
		count[problems->item[i].kind]++;
	xb_exposition_family(out, "problems", "gauge",
			     "What is not as it should be, by kind; during a change for a moment.");
	for (enum xb_problem_kind kind = 0; kind < XB_PROBLEM_CHECKED; kind++)
		put_by(out, "problems", "kind", xb_problem_name(kind), count[kind]);
}

static void write_policy(const struct xb_health *health, FILE *out)
{
	xb_exposition_family(out, "policy", "gauge", "1 for the policy in force, 0 for others.");
	for (uint32_t policy = 0; policy <= XB_POLICY_ALLOW_ONLY; policy++)
		put_by(out, "policy", "policy", xb_policy_name(policy), policy == health->policy);
}

static void write_state(const struct xb_figures *figures, FILE *out)
{
	const struct xb_health *health = &figures->health;

	gauge(out, "trial_active", "Whether a change is on trial.", health->trial_left > 0);
	gauge(out, "generation_created_timestamp_seconds",
	      "When the filter in force was built; 0 without one.", figures->created);
	gauge(out, "store_sequence", "Number of the last change of what is listed.",
	      health->store.meta.sequence);
	gauge(out, "applied_sequence", "Number of the last change that is in the filter.",
	      figures->applied);
	gauge(out, "store_bytes", "Size of the store.", figures->store_bytes);
	gauge(out, "expiry_overdue_seconds",
	      "For how long the entry that should have been taken out first is overdue.",
	      figures->overdue);
}

static void write_known(const struct xb_health *health, FILE *out)
{
	const struct xb_known_view *known = &health->known;

	gauge(out, "known_learning", "Whether sources that connect are learned.", known->learns);
	gauge(out, "known_sources", "Sources that are known, by estimate.",
	      (uint64_t)known->sources);
	gauge(out, "known_fresh_sources", "Those of them that connected in this period.",
	      (uint64_t)known->now);
	gauge(out, "known_capacity_sources", "Sources in a period for which there is room.",
	      known->capacity);
	gauge(out, "known_memory_bytes", "Memory of known sources.",
	      known->lines * sizeof(struct xb_known_line));
	xb_exposition_family(out, "known_learned_total", "counter",
			     "Sources learned since they are remembered in the kernel, once in "
			     "each period.");
	put(out, "known_learned_total", known->learned);
}

void xb_metrics_write(const struct xb_paths *paths, const struct xb_figures *figures, FILE *out)
{
	const struct xb_health *health = &figures->health;

	write_build(out);
	write_enforcing(health, out);
	write_problems(&health->problems, out);
	write_policy(health, out);
	write_state(figures, out);
	write_packets(figures, out);
	write_scoped(figures, out);
	write_limits(health->limits, out);
	write_entries(figures, out);
	write_capacity(&health->filter, out);
	write_memory(&health->filter, out);
	write_known(health, out);
	xb_metrics_write_tallies(paths, out);
}
