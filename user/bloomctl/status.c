/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl status: what should be enforced, what is, and every difference by name. Changes nothing.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/attach.h"
#include "core/enforce.h"
#include "core/error.h"

struct report {
	const struct cli *cli;
	struct xb_writer view; /* link and generation as they are; no locks */
	struct xb_meta meta;
	struct xb_list *lists;
	size_t list_count;
	struct xb_wanted *wanted;
	size_t wanted_count;
	json_t *problems, *interfaces;
};

__attribute__((format(printf, 2, 3))) static void problem(struct report *report, const char *format,
							  ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_array_append_new(report->problems, json_string(text));
}

static int read_store(struct report *report)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_open(report->cli->paths.state, false, &store);

	if (error)
		return error == -ENOENT ? 0 : error;
	error = xb_store_read(store, &txn);
	if (!error) {
		report->meta = txn->meta;
		report->lists = txn->lists;
		report->list_count = txn->list_count;
		txn->lists = NULL;
		error = xb_wanted_all(txn, &report->wanted, &report->wanted_count);
		xb_txn_abort(txn);
	}
	xb_store_close(store);
	return error;
}

static int check_interface(struct report *report, const struct xb_wanted *wanted)
{
	struct xb_attachment now;
	const char *state = "attached";
	int error = xb_attachment_of(report->view.linked ? &report->view.link : NULL, wanted->name,
				     &now);

	if (error)
		return error;
	if (!now.ifindex)
		state = "missing";
	else if (!now.ours)
		state = now.program ? "held by another program" : "not attached";
	if (!now.ours)
		problem(report, "%s is unfiltered: %s", wanted->name, state);
	json_array_append_new(report->interfaces,
			      json_pack("{s:s,s:s,s:s,s:s}", "name", wanted->name, "wanted",
					xb_mode_name(wanted->mode), "state", state, "mode",
					now.ours ? xb_mode_name(now.mode) : "none"));
	return 0;
}

static int find_orphans(struct report *report)
{
	struct xb_enrolled *all;
	size_t count;
	int error = xb_link_enrolled(&report->view.link, &all, &count);

	for (size_t i = 0; !error && i < count; i++) {
		char now[IF_NAMESIZE];

		if (!if_indextoname(all[i].ifindex, now))
			problem(report,
				"interface %u, attached as %s, is gone; `bloomctl up` clears it "
				"away",
				all[i].ifindex, all[i].name);
	}
	free(all);
	return error;
}

static void check_generation(struct report *report)
{
	const struct xb_generation *active = report->view.active;

	if (!report->wanted_count && !report->view.linked)
		return;
	if (!report->view.linked)
		problem(report, "nothing is enforced: the pin directory is empty");
	else if (!xb_link_active(&report->view.link))
		problem(report, "nothing is enforced: no filter is in force");
	else if (!active)
		problem(report,
			"the filter in force is not pinned; it can be rebuilt, not changed");
	else if (active->params.store != report->meta.identity)
		problem(report, "the filter in force was built from another store");
	else if (!report->wanted_count)
		problem(report,
			"a filter is in force for no interface; the next command takes it off");
	else if (!active->header)
		problem(report,
			"the counters of the filter are lost; the next change builds it anew");
	else if (active->header->dirty)
		problem(report,
			"a change was interrupted; the next command builds the filter anew");
	else if (active->header->applied != report->meta.sequence)
		problem(report,
			"the filter is behind the store; the next command brings it up to date");
}

static json_t *memory_json(const struct xb_generation *active)
{
	json_t *memory = json_object();

	for (enum xb_map map = 0; map < XB_MAPS; map++)
		if (xb_map_bytes(map, &active->params))
			json_object_set_new(
				memory, xb_map_name(map),
				json_integer((json_int_t)xb_map_bytes(map, &active->params)));
	json_object_set_new(memory, "counters",
			    json_integer((json_int_t)xb_generation_file_bytes(&active->params)));
	return memory;
}

static json_t *generation_json(const struct report *report)
{
	const struct xb_generation *active = report->view.active;

	if (!active)
		return json_null();
	return json_pack("{s:s,s:f,s:b,s:I,s:I,s:I,s:I,s:I,s:o}", "name", active->name, "fpr",
			 xb_generation_rate(active), "confirm", active->params.confirm, "program",
			 (json_int_t)xb_link_active(&report->view.link), "host4_keys",
			 (json_int_t)(active->header ? active->header->host4_keys : 0),
			 "host4_capacity", (json_int_t)active->params.host4.capacity, "net6_keys",
			 (json_int_t)(active->header ? active->header->net6_keys : 0),
			 "net6_capacity", (json_int_t)active->params.net6.capacity, "memory",
			 memory_json(active));
}

static int answer_json(struct report *report)
{
	const struct xb_totals *totals = &report->meta.totals;
	json_t *lists = json_array();

	for (size_t i = 0; i < report->list_count; i++)
		json_array_append_new(lists,
				      json_pack("{s:s,s:I}", "name", report->lists[i].name,
						"entries", (json_int_t)report->lists[i].members));
	return cli_json(report->cli,
			json_pack("{s:b,s:O,s:O,s:o,s:o,s:{s:I,s:I,s:I},s:f,s:I}", "ok",
				  json_array_size(report->problems) == 0, "problems",
				  report->problems, "interfaces", report->interfaces, "generation",
				  generation_json(report), "lists", lists, "listed",
				  "ipv4_prefixes", (json_int_t)totals->prefix4, "ipv4_hosts",
				  (json_int_t)totals->host4, "ipv6_prefixes",
				  (json_int_t)totals->net6, "fpr", xb_meta_rate(&report->meta),
				  "sequence", (json_int_t)report->meta.sequence));
}

/* A count as printf wants it. */
static unsigned long long keys(uint64_t count)
{
	return count;
}

static void print_generation(const struct report *report)
{
	const struct xb_generation *active = report->view.active;
	const struct xb_params *params = &active->params;

	if (!active)
		return;
	printf("filter      program %u, false-positive rate %g per packet%s\n",
	       xb_link_active(&report->view.link), xb_generation_rate(active),
	       params->confirm ? ", then confirmed exactly" : "; not confirmed");
	if (active->params.host4.blocks)
		printf("  IPv4      %llu of %llu addresses, %s\n",
		       keys(active->header ? active->header->host4_keys : 0),
		       keys(active->params.host4.capacity),
		       cli_bytes(xb_map_bytes(XB_MAP_HOST4, params) +
				 xb_map_bytes(XB_MAP_CONFIRM4, params)));
	if (active->params.prefix4)
		printf("  IPv4      prefixes, %s\n",
		       cli_bytes(xb_map_bytes(XB_MAP_PREFIX4, params)));
	if (active->params.net6.blocks)
		printf("  IPv6      %llu of %llu prefixes, %s and %s of lengths\n",
		       keys(active->header ? active->header->net6_keys : 0),
		       keys(active->params.net6.capacity),
		       cli_bytes(xb_map_bytes(XB_MAP_NET6, params) +
				 xb_map_bytes(XB_MAP_CONFIRM6, params)),
		       cli_bytes(xb_map_bytes(XB_MAP_LENGTHS6, params)));
	printf("  counters  %s\n", cli_bytes(xb_generation_file_bytes(params)));
}

static int answer_text(const struct report *report)
{
	const struct xb_totals *totals = &report->meta.totals;
	json_t *item;
	size_t i;

	json_array_foreach(report->interfaces, i, item) printf(
		"%-11s %s (mode %s, wanted %s)\n", json_string_value(json_object_get(item, "name")),
		json_string_value(json_object_get(item, "state")),
		json_string_value(json_object_get(item, "mode")),
		json_string_value(json_object_get(item, "wanted")));
	if (!report->wanted_count)
		puts("no interface is attached");
	print_generation(report);
	printf("listed      %llu IPv4 addresses, %llu IPv4 prefixes, %llu IPv6 prefixes\n",
	       keys(totals->host4), keys(totals->prefix4), keys(totals->net6));
	for (size_t list = 0; list < report->list_count; list++)
		printf("  %-9s %llu entries\n", report->lists[list].name,
		       keys(report->lists[list].members));
	json_array_foreach(report->problems, i, item)
		printf("PROBLEM     %s\n", json_string_value(item));
	return cli_done(EXIT_DONE);
}

int verb_status(struct cli *cli, int argc, char **argv)
{
	struct report report = {
		.cli = cli,
		.view = {.paths = &cli->paths},
	};
	int error, code;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "status takes no arguments");
	report.problems = json_array();
	report.interfaces = json_array();
	error = read_store(&report);
	if (!error)
		error = xb_enforce_open(&report.view);
	for (size_t i = 0; !error && i < report.wanted_count; i++)
		error = check_interface(&report, &report.wanted[i]);
	if (!error && report.view.linked)
		error = find_orphans(&report);
	if (!error)
		check_generation(&report);
	if (error)
		code = cli_fail();
	else
		code = cli->json ? answer_json(&report) : answer_text(&report);
	if (!code && json_array_size(report.problems))
		code = EXIT_SYSTEM;
	xb_enforce_close(&report.view);
	json_decref(report.problems);
	json_decref(report.interfaces);
	free(report.lists);
	free(report.wanted);
	return code;
}
