/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl status: what should be enforced, what is, and every difference by name. Changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/holder.h"
#include "base/text.h"
#include "bloomctl/advice.h"
#include "bloomctl/cli.h"
#include "bloomctl/display.h"
#include "bloomctl/ontrial.h"
#include "engine/health.h"
#include "engine/limitjson.h"
#include "engine/requesttext.h"
#include "engine/settingsjson.h"
#include "machine/lifelines.h"
#include "model/policy.h"
#include "model/nameports.h"
#include "model/verdict.h"
#include "store/lmdbfile.h"

/* Filtered until the trial ends, unless somebody commits it. */
static bool is_tried(const struct xb_health *health, const struct xb_interface *item)
{
	return item->on_trial && !item->lasting && health->trial_left;
}

/* What a trial that is over has left is told as a problem. */
static bool is_told(const struct xb_health *health, const struct xb_interface *item)
{
	return (item->wanted[0] && item->lasting) || is_tried(health, item) ||
	       item->difference == XB_IFACE_ELSEWHERE;
}

static size_t count_told(const struct xb_health *health)
{
	size_t count = 0;

	for (size_t i = 0; i < health->interfaces.count; i++)
		count += is_told(health, &health->interfaces.item[i]);
	return count;
}

/* To last. */
static const char *wanted_mode(const struct xb_interface *item)
{
	return item->wanted[0] && item->lasting ? xb_mode_name(item->mode) : "no";
}

static const char *mode_now(const struct xb_interface *item)
{
	return item->now.ifindex && item->hold == XB_HOLD_OURS ? xb_mode_name(item->now.mode)
							       : "none";
}

/* Whether packets have reached the filter, as far as it is known since when. */
static bool is_proven(const struct xb_interface *item)
{
	return item->view.calls == XB_CALLS_SEEN;
}

static void print_proof(FILE *out, const struct xb_interface *item)
{
	char since[XB_TIME_TEXT];

	if (is_proven(item) || !item->view.seen || item->view.calls != XB_CALLS_QUIET)
		return;
	xb_time_format(item->view.seen, since);
	if (item->view.ever)
		fprintf(out, "  no packets seen since %s\n", since);
	else
		fprintf(out, "  no packets seen since it was attached, %s\n", since);
}

static json_t *interface_json(const struct xb_health *health, const struct xb_interface *item)
{
	json_t *one = json_pack("{s:s,s:s,s:s,s:s}", "name", display_wanted(item), "wanted",
				wanted_mode(item), "state", xb_interface_state(item), "mode",
				mode_now(item));

	if (is_tried(health, item))
		json_object_set_new(one, "on_trial", json_true());

	if (item->now.ifindex)
		json_object_set_new(one, "ifindex", json_integer(item->now.ifindex));
	if (item->renamed)
		json_object_set_new(one, "now", json_string(item->now.name));
	if (is_proven(item))
		json_object_set_new(one, "packets_seen", json_true());
	else if (item->view.seen)
		json_object_set_new(one, "no_packets_since",
				    json_integer((json_int_t)item->view.seen));
	return one;
}

static json_t *interfaces_json(const struct xb_health *health)
{
	const struct xb_interfaces *all = &health->interfaces;
	json_t *told = json_array();

	for (size_t i = 0; i < all->count; i++)
		if (is_told(health, &all->item[i]))
			json_array_append_new(told, interface_json(health, &all->item[i]));
	return told;
}

static json_t *memory_json(const struct xb_params *params)
{
	json_t *memory = json_object();

	for (enum xb_map map = 0; map < XB_MAPS; map++)
		if (xb_map_bytes(map, params))
			json_object_set_new(memory, xb_map_name(map),
					    json_integer((json_int_t)xb_map_bytes(map, params)));
	json_object_set_new(memory, "counters",
			    json_integer((json_int_t)xb_generation_file_bytes(params)));
	return memory;
}

static json_t *generation_json(const struct xb_filterview *filter)
{
	const struct xb_params *params = &filter->params;

	if (!filter->known)
		return json_null();
	return json_pack("{s:s,s:f,s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "name", filter->name,
			 "fpr", filter->rate, "confirm", params->confirm, "program",
			 (json_int_t)filter->program, "host4_keys", (json_int_t)filter->host4_keys,
			 "host4_capacity", (json_int_t)params->host4.capacity, "net6_keys",
			 (json_int_t)filter->net6_keys, "net6_capacity",
			 (json_int_t)params->net6.capacity, "names_keys",
			 (json_int_t)filter->names_keys, "names_capacity",
			 (json_int_t)params->names.capacity, "memory", memory_json(params));
}

static json_t *trial_json(const struct xb_health *health)
{
	char command[256];

	if (!health->store.tried)
		return json_null();
	xb_request_command(&health->store.trial.request, command, sizeof(command));
	return json_pack("{s:s,s:I,s:s}", "command", command, "seconds_left",
			 (json_int_t)health->trial_left, "policy", xb_policy_name(health->policy));
}

static json_t *automatic_json(const struct xb_storeview *store)
{
	json_t *all = json_array();

	for (size_t i = 0; i < store->automatic_count; i++)
		json_array_append_new(
			all, json_pack("{s:s,s:s,s:s}", "entry", store->automatic[i].entry, "kind",
				       store->automatic[i].kind, "why", store->automatic[i].why));
	return all;
}

static json_t *allowlist_json(const struct xb_storeview *store)
{
	return json_pack("{s:I,s:I,s:o,s:o}", "entries", (json_int_t)store->meta.totals.allow,
			 "manual", (json_int_t)store->manual, "automatic", automatic_json(store),
			 "refused", xb_kinds_json(store->meta.refused));
}

static json_t *listed_json(const struct xb_totals *totals)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I}", "ipv4_prefixes", (json_int_t)totals->prefix4,
			 "ipv4_hosts", (json_int_t)totals->host4, "ipv6_prefixes",
			 (json_int_t)totals->net6, "domains", (json_int_t)totals->names,
			 "exceptions", (json_int_t)totals->exceptions);
}

static json_t *reader_json(const struct xb_reader *reader)
{
	struct xb_process process;

	if (!reader->behind)
		return json_null();
	xb_process_look((uint32_t)reader->process, &process);
	return json_pack("{s:i,s:s,s:s,s:b,s:I}", "process", reader->process, "command",
			 process.command, "since", process.since, "stopped", process.stopped,
			 "transactions", (json_int_t)reader->behind);
}

static json_t *known_json(const struct xb_health *health)
{
	if (!health->store.known.on)
		return json_null();
	return json_pack("{s:b,s:f,s:I}", "learning", health->known.learns, "sources",
			 health->known.sources, "capacity", (json_int_t)health->known.capacity);
}

static int exit_code(const struct xb_health *health)
{
	return health->problems.count	   ? EXIT_SYSTEM
	       : xb_health_is_idle(health) ? EXIT_ABSENT
					   : EXIT_DONE;
}

static int answer_json(const struct cli *cli, const struct xb_health *health)
{
	const struct xb_storeview *store = &health->store;
	const struct xb_meta *meta = &store->meta;

	return cli_json(
		cli,
		json_pack("{s:b,s:o,s:o,s:o,s:s,s:b,s:b,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:"
			  "f,s:I,s:I,s:o}",
			  "ok", !exit_code(health), "problems",
			  display_problems_json(&health->problems), "problem_details",
			  display_problem_details_json(&health->problems), "trial",
			  trial_json(health), "policy", xb_policy_name(meta->policy),
			  "admits_known", meta->admits_known, "confirm", !meta->unconfirmed,
			  "known", known_json(health), "ports", xb_all_ports_json(meta->ports),
			  "answer_limit", (json_int_t)meta->answer_limit, "interfaces",
			  interfaces_json(health), "generation", generation_json(&health->filter),
			  "lists", display_lists_json(store), "limits",
			  xb_limit_figures_json(health->limits), "listed",
			  listed_json(&meta->totals), "allowlist", allowlist_json(store), "fpr",
			  xb_meta_rate(meta), "sequence", (json_int_t)meta->sequence, "expired",
			  (json_int_t)store->expired, "reader", reader_json(&store->reader)));
}

/* A count as printf wants it. */
static unsigned long long keys(uint64_t count)
{
	return count;
}

static void print_filter(FILE *out, const struct xb_health *health)
{
	const struct xb_filterview *filter = &health->filter;
	const struct xb_params *params = &filter->params;

	if (!filter->known)
		return;
	fprintf(out, "filter      program %u, false-positive rate %s per packet%s\n",
		filter->program, XB_NUMBER(filter->rate),
		params->confirm ? ", then confirmed exactly"
				: "; not confirmed: wrong hits are dropped too");
	if (params->host4.blocks)
		fprintf(out, "  IPv4      %llu of %llu addresses, %s\n", keys(filter->host4_keys),
			keys(params->host4.capacity),
			cli_bytes(xb_map_bytes(XB_MAP_HOST4, params) +
				  xb_map_bytes(XB_MAP_CONFIRM4, params)));
	if (params->prefix4)
		fprintf(out, "  IPv4      prefixes, %s\n",
			cli_bytes(xb_map_bytes(XB_MAP_PREFIX4, params)));
	if (params->net6.blocks)
		fprintf(out, "  IPv6      %llu of %llu prefixes, %s and %s of lengths\n",
			keys(filter->net6_keys), keys(params->net6.capacity),
			cli_bytes(xb_map_bytes(XB_MAP_NET6, params) +
				  xb_map_bytes(XB_MAP_CONFIRM6, params)),
			cli_bytes(xb_maps_lengths_bytes(params)));
	if (params->names.blocks)
		fprintf(out, "  domains   %llu of %llu, %s\n", keys(filter->names_keys),
			keys(params->names.capacity),
			cli_bytes(xb_map_bytes(XB_MAP_NAMES, params) +
				  xb_map_bytes(XB_MAP_CONFIRM_NAMES, params)));
	fprintf(out, "  counters  %s\n", cli_bytes(xb_generation_file_bytes(params)));
}

static void print_policy(FILE *out, const struct xb_health *health)
{
	static const char *const meanings[] = {
		[XB_POLICY_ENFORCE] = "what is listed is dropped",
		[XB_POLICY_MONITOR] = "NOTHING IS DROPPED, what would be is counted",
		[XB_POLICY_ALLOW_ONLY] = "ALL BUT WHAT IS LISTED OR ALLOWED IS DROPPED",
	};

	uint32_t policy = health->policy, stored = health->store.meta.policy;
	bool known = policy == XB_POLICY_ALLOW_ONLY && health->filter.params.admits_known;

	fprintf(out, "policy      %s%s%s", xb_policy_name(policy),
		policy <= XB_POLICY_ALLOW_ONLY ? ": " : "",
		known ? "ALL BUT WHAT IS LISTED, ALLOWED OR KNOWN IS DROPPED"
		: policy <= XB_POLICY_ALLOW_ONLY ? meanings[policy]
						 : "");
	if (policy != stored)
		ontrial_print(out, health->trial_left, xb_policy_name(stored));
	fputc('\n', out);
}

/* Only what is not the default. */
static void print_ports(FILE *out, const struct xb_health *health)
{
	struct xb_name_ports ports = health->store.meta.ports;
	static const struct xb_name_ports usual = {.dns = {XB_DNS_PORT}};
	char text[XB_PORTS_TEXT];

	if (!memcmp(&ports, &usual, sizeof(ports)))
		return;
	fprintf(out, "ports      ");
	for (enum xb_carrier carrier = 0; carrier < XB_CARRIERS; carrier++)
		fprintf(out, " %s %s", xb_carrier_name(carrier),
			xb_ports_format(xb_ports_of(&ports, carrier), text));
	fputc('\n', out);
}

static void print_answer_limit(FILE *out, const struct xb_health *health)
{
	uint32_t limit = health->store.meta.answer_limit;

	if (!limit)
		fputs("limit       off: any number of answers\n", out);
	else if (limit != XB_ANSWER_LIMIT)
		fprintf(out, "limit       %u answers a second on each CPU\n", limit);
}

static void print_trial(FILE *out, const struct xb_health *health)
{
	char command[256];

	if (!health->trial_left)
		return;
	xb_request_command(&health->store.trial.request, command, sizeof(command));
	fprintf(out, "TRIAL       `%s` goes back in %llu seconds; `bloomctl commit` keeps it\n",
		command, keys(health->trial_left));
}

static void print_allowed(FILE *out, const struct xb_health *health)
{
	const struct xb_storeview *store = &health->store;

	fprintf(out, "allowed     %llu entries by hand, %llu automatically\n", keys(store->manual),
		keys(store->automatic_count));
}

static void print_automatic(FILE *out, const struct xb_health *health)
{
	const struct xb_storeview *store = &health->store;

	for (size_t i = 0; i < store->automatic_count; i++)
		fprintf(out, "  %-25s %-10s %s\n", store->automatic[i].entry,
			store->automatic[i].kind, store->automatic[i].why);
}

static void print_refused(FILE *out, const struct xb_health *health)
{
	const char *before = "  refused  ";

	for (enum xb_lifeline_kind kind = 0; kind < XB_LIFELINE_KINDS; kind++)
		if (health->store.meta.refused >> kind & 1) {
			fprintf(out, "%s %s", before, xb_lifeline_name(kind));
			before = "";
		}
	if (!*before)
		fputc('\n', out);
}

static void print_reader(FILE *out, const struct xb_health *health)
{
	const struct xb_reader *reader = &health->store.reader;
	char text[256];

	if (reader->behind)
		fprintf(out,
			"reader      %s holds a state of the store that is %llu transactions old: "
			"until it "
			"ends, the file grows with each change, up to %zu GiB\n",
			xb_process_describe((uint32_t)reader->process, text, sizeof(text)),
			keys(reader->behind), XB_STORE_BYTES >> 30);
}

static void print_lists(FILE *out, const struct xb_health *health)
{
	const struct xb_storeview *store = &health->store;
	bool first = true;

	for (size_t i = 0; i < store->list_count; i++) {
		const struct xb_list *list = &store->lists[i];
		char scope[XB_SCOPE_TEXT];

		if (xb_list_is_auto(list))
			continue;
		if (first)
			fputs("lists\n", out);
		first = false;
		fprintf(out, "  %-9s %llu entries", list->name, keys(list->members));
		if (list->exceptions)
			fprintf(out, " (%llu exceptions)", keys(list->exceptions));
		if (list->verdict)
			fprintf(out, ", %s: %s",
				list->verdict == XB_DOMAIN_COUNT ? "verdict" : "domains",
				xb_domain_verdict_name(list->verdict));
		if (list->scope)
			fprintf(out, ", scope: %s", xb_scope_format(list->scope, scope));
		fputc('\n', out);
	}
}

/* What known sources may send, if that is another amount. remembers: there can be any. */
static void print_known_may(FILE *out, const struct xb_limit *limit, bool remembers)
{
	char text[XB_LIMIT_KNOWN_TEXT];

	if (limit->known != 1)
		fprintf(out, ", known sources: %s%s", xb_limit_format_known(limit, text),
			remembers ? "" : ", but NOBODY IS KNOWN");
}

static void print_limits(FILE *out, const struct xb_health *health)
{
	const struct xb_limit_figures *limits = health->limits;
	char text[XB_LIMIT_TEXT];

	if (limits->count)
		fputs("limits\n", out);
	for (uint32_t i = 0; i < limits->count; i++) {
		const struct xb_limit_figure *figure = &limits->item[i];

		fprintf(out, "  %-9s %s, over it: %s, %llu packets", figure->limit.name,
			xb_limit_describe(&figure->limit, text), xb_limit_over(&figure->limit),
			keys(figure->over.packets));
		print_known_may(out, &figure->limit, health->store.known.on);
		fputc('\n', out);
	}
}

static void print_interfaces(FILE *out, const struct xb_health *health)
{
	const struct xb_interfaces *all = &health->interfaces;

	for (size_t i = 0; i < all->count; i++) {
		const struct xb_interface *item = &all->item[i];

		if (!is_told(health, item))
			continue;
		fprintf(out, "%-11s %s (mode %s, %s%s)\n", display_wanted(item),
			xb_interface_state(item), mode_now(item),
			is_tried(health, item) ? "on trial" : "wanted ",
			is_tried(health, item) ? "" : wanted_mode(item));
		print_proof(out, item);
	}
	if (!health->store.wanted_count && !count_told(health))
		fputs("NOTHING IS FILTERED: no interface is attached; `bloomctl attach INTERFACE` "
		      "filters one\n",
		      out);
}

static void print_problems(FILE *out, const struct xb_health *health)
{
	const struct xb_problems *problems = &health->problems;
	char text[ADVICE_TEXT];

	for (size_t i = 0; i < problems->count; i++)
		fprintf(out, "PROBLEM     %s\n", advice_for(&problems->item[i], text));
}

static void print_known(FILE *out, const struct xb_health *health)
{
	if (health->store.known.on)
		fprintf(out, "known       about %.0f sources that have connected%s\n",
			health->known.sources,
			health->store.meta.admits_known ? ", which are admitted" : "");
}

static void print_listed(FILE *out, const struct xb_health *health)
{
	const struct xb_storeview *store = &health->store;
	const struct xb_totals *totals = &store->meta.totals;

	fprintf(out,
		"listed      %llu IPv4 addresses, %llu IPv4 prefixes, %llu IPv6 prefixes, %llu "
		"domains\n",
		keys(totals->host4), keys(totals->prefix4), keys(totals->net6),
		keys(totals->names));
	if (store->expired)
		fprintf(out,
			"expired     %llu entries, to be taken out by `bloomctl expire` or another "
			"command that writes\n",
			keys(store->expired));
}

/* All that people look at stands on a screen. */
#define LINES 25

/* more: what has so many lines that some of them may be left out; command: where they all are. */
static const struct part {
	void (*print)(FILE *out, const struct xb_health *health);
	const char *more, *command;
} parts[] = {
	{print_problems, "problems", "check"},
	{print_trial, NULL, NULL},
	{print_policy, NULL, NULL},
	{print_interfaces, "lines on interfaces", "-p status"},
	{print_filter, NULL, NULL},
	{print_listed, NULL, NULL},
	{print_ports, NULL, NULL},
	{print_answer_limit, NULL, NULL},
	{print_known, NULL, NULL},
	{print_allowed, NULL, NULL},
	{print_automatic, "automatic entries", "allow list"},
	{print_refused, NULL, NULL},
	{print_lists, "lists", "-p status"},
	{print_limits, "limits", "limit list"},
	{print_reader, NULL, NULL},
};
#define PARTS ARRAY_SIZE(parts)

struct shown {
	char *text;
	size_t lines, kept;
};

/* With the line that says how many are left out. */
static size_t count_kept(const struct shown *shown)
{
	size_t count = 0;

	for (size_t i = 0; i < PARTS; i++)
		count += shown[i].kept + (shown[i].kept < shown[i].lines);
	return count;
}

/* The longest part; of problems only if no other one has more than two lines. */
static struct shown *longest(struct shown *shown)
{
	struct shown *problems = &shown[0], *found = NULL;

	for (size_t i = 1; i < PARTS; i++)
		if (parts[i].more && (!found || shown[i].kept > found->kept))
			found = &shown[i];
	return found && (found->kept > 2 || found->kept > problems->kept) ? found : problems;
}

static void print_shown(const struct part *part, const struct shown *shown)
{
	const char *end = shown->text;

	for (size_t i = 0; i < shown->kept; i++)
		end = strchr(end, '\n') + 1;
	printf("%.*s", (int)(end - shown->text), shown->text);
	if (shown->kept < shown->lines)
		printf("  and %zu more %s: `bloomctl %s`\n", shown->lines - shown->kept, part->more,
		       part->command);
}

static int render(const struct part *part, const struct xb_health *health, struct shown *shown)
{
	size_t size;
	FILE *out = open_memstream(&shown->text, &size);

	if (!out)
		return xb_out_of_memory();
	part->print(out, health);
	if (fclose(out))
		return xb_out_of_memory();
	for (const char *at = shown->text; (at = strchr(at, '\n')); at++)
		shown->lines++;
	shown->kept = shown->lines;
	return 0;
}

static int answer_text(const struct xb_health *health)
{
	struct shown shown[PARTS] = {0};
	int error = 0;

	for (size_t i = 0; !error && i < PARTS; i++)
		error = render(&parts[i], health, &shown[i]);
	while (!error && count_kept(shown) > LINES)
		longest(shown)->kept--;
	for (size_t i = 0; i < PARTS; i++) {
		if (!error)
			print_shown(&parts[i], &shown[i]);
		free(shown[i].text);
	}
	return error ? cli_fail() : cli_done(EXIT_DONE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	static struct xb_health health; /* too large for a stack */
	int code;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "status takes no arguments");
	if (xb_health_look(&cli->paths, &health))
		code = cli_fail();
	else
		code = cli->json ? answer_json(cli, &health) : answer_text(&health);
	if (!code)
		code = exit_code(&health);
	xb_health_free(&health);
	return code;
}

const struct verb verb_status = {
	.name = "status",
	.summary = "show what is enforced where; exit 3 if something is not, 1 if nothing is "
		   "attached",
	.run = run,
	.little = true,
	.examples = {"status", "-p status"},
};
