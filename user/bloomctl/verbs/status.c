/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl status: what should be enforced, what is, and every difference by name. Changes nothing.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/pin.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/holder.h"
#include "base/text.h"
#include "bloomctl/cli.h"
#include "bloomctl/show.h"
#include "bloomctl/tried.h"
#include "engine/interfaces.h"
#include "engine/moment.h"
#include "engine/repair.h"
#include "engine/trial.h"
#include "model/policy.h"
#include "model/ports.h"
#include "model/verdict.h"
#include "store/lmdbfile.h"
#include "store/membership.h"
#include "store/readers.h"
#include "store/trialrecord.h"
#include "store/wanted.h"

struct report {
	const struct cli *cli;
	struct xb_writer view; /* link and generation as they are; no locks */
	struct xb_meta meta;
	uint64_t expired; /* memberships that are no longer listed, but enforced */
	struct xb_list *lists;
	size_t list_count;
	struct xb_wanted *wanted;
	size_t wanted_count;
	struct xb_home home;
	json_t *problems, *interfaces;
	json_t *automatic;	 /* what is allowed by itself */
	uint64_t only_by_itself; /* entries of the allowlist that nobody added */
	struct xb_reader reader;
	struct xb_trial trial;
	bool tried;	 /* there is a trial, or one that is over and not cleared away */
	uint32_t policy; /* in force, be it on trial */
};

__attribute__((format(printf, 2, 3))) static void problem(struct report *report, const char *format,
							  ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	xb_utf8_clean(text);
	json_array_append_new(report->problems, json_string(text));
}

/* One entry of the allowlist: how often it is there by itself. */
static uint64_t note_allowed(struct report *report, struct xb_txn *txn, const struct xb_walk *walk)
{
	struct xb_members members = walk->members;
	struct xb_membership member;
	char text[XB_ENTRY_TEXT];
	uint64_t automatic = 0;
	bool manual = false;

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (!list || !xb_list_is_auto(list)) {
			manual = true;
			continue;
		}
		automatic++;
		json_array_append_new(report->automatic,
				      json_pack("{s:s,s:s,s:s%}", "entry",
						xb_entry_format(&walk->entry, text), "kind",
						list->name + strlen(XB_LIST_AUTO), "why",
						member.comment, (size_t)member.comment_size));
	}
	report->only_by_itself += automatic && !manual;
	return automatic;
}

/* Walks no further than to the last entry that is there by itself. */
static int read_allowlist(struct report *report, struct xb_txn *txn)
{
	struct xb_walk walk;
	uint64_t left = 0;
	int more = 0, error;

	for (size_t i = 0; i < txn->list_count; i++)
		left += xb_list_is_auto(&txn->lists[i]) ? txn->lists[i].members : 0;
	error = left ? xb_walk_begin(&walk, txn, &XB_WALK_ALLOW) : 0;
	if (error || !left)
		return error;
	while (left && (more = xb_walk_next(&walk)) > 0)
		left -= note_allowed(report, txn, &walk);
	xb_walk_end(&walk);
	return more < 0 ? more : 0;
}

static int read_trial(struct report *report, struct xb_txn *txn)
{
	int error = xb_trial_get(txn, &report->trial);

	report->tried = !error;
	return error == -ENOENT ? 0 : error;
}

static int read_store(struct report *report)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_open(report->cli->paths.state, XB_STORE_READ, &store);

	if (error)
		return error == -ENOENT ? 0 : error;
	report->reader = xb_readers_last(store->env);
	error = xb_store_read(store, &txn);
	if (!error) {
		error = xb_member_overlook(txn, (uint32_t)time(NULL), &report->expired);
		report->meta = txn->meta;
		if (!error)
			error = read_allowlist(report, txn);
		report->lists = txn->lists;
		report->list_count = txn->list_count;
		txn->lists = NULL;
		if (!error)
			error = xb_wanted_all(txn, &report->wanted, &report->wanted_count);
		if (!error)
			error = xb_home_get(txn, &report->home);
		if (!error)
			error = read_trial(report, txn);
		xb_txn_abort(txn);
	}
	xb_store_close(store);
	return error;
}

static void check_wanted(struct report *report, const struct xb_interface *item, bool keepable)
{
	if (xb_interface_is_open(item) && item->why[0])
		problem(report, "unfiltered: %s", item->why);
	else if (xb_interface_is_open(item))
		problem(report, "%s is unfiltered: %s", item->wanted, xb_interface_state(item));
	else if (!keepable)
		problem(report, "%s is called %s now, which no command takes: give it another name",
			item->wanted, item->now.name);
	else if (item->renamed)
		problem(report, "%s is called %s now; the next command keeps it under that name",
			item->wanted, item->now.name);
	else if (item->mode != XB_MODE_AUTO && item->mode != item->now.mode)
		problem(report,
			"%s is attached in %s mode, wanted is %s; `bloomctl attach %s --mode %s` "
			"tries again",
			item->wanted, xb_mode_name(item->now.mode), xb_mode_name(item->mode),
			item->wanted, xb_mode_name(item->mode));
}

static void check_unwanted(struct report *report, const struct xb_interface *item)
{
	const char *name = item->enrolled.name;

	if (item->difference == XB_IFACE_STALE && item->now.ifindex)
		problem(report,
			"interface %u, attached as %s, is %s now and has no filter; `bloomctl up` "
			"clears it away",
			item->enrolled.ifindex, name, item->now.name);
	else if (item->difference == XB_IFACE_STALE)
		problem(report,
			"interface %u, attached as %s, is gone; `bloomctl up` clears it away",
			item->enrolled.ifindex, name);
	else if (item->difference == XB_IFACE_HEIR)
		problem(report,
			"%s is called %s now, and another interface is %s; the next command "
			"protects both",
			name, item->now.name, name);
	else if (item->difference == XB_IFACE_UNWANTED)
		problem(report, "%s is filtered, and nobody wants it; the next command ends that",
			item->now.ifindex ? item->now.name : name);
}

static void add_interface(struct report *report, const struct xb_interface *item)
{
	const char *name = item->wanted[0]     ? item->wanted
			   : item->now.ifindex ? item->now.name
					       : item->enrolled.name;
	bool ours = item->now.ifindex && item->hold == XB_HOLD_OURS;
	json_t *one = json_pack("{s:s,s:s,s:s,s:s}", "name", name, "wanted",
				item->wanted[0] ? xb_mode_name(item->mode) : "no", "state",
				xb_interface_state(item), "mode",
				ours ? xb_mode_name(item->now.mode) : "none");

	if (item->now.ifindex)
		json_object_set_new(one, "ifindex", json_integer(item->now.ifindex));
	if (item->renamed)
		json_object_set_new(one, "now", json_string(item->now.name));
	json_array_append_new(report->interfaces, one);
}

/* Interfaces on trial are told with the trial. */
static int check_interfaces(struct report *report)
{
	const struct xb_link *link =
		report->view.linked && !report->view.link.elsewhere ? &report->view.link : NULL;
	struct xb_interfaces all;
	int error = xb_interfaces_look(link, report->wanted, report->wanted_count, &report->trial,
				       &all);

	for (size_t i = 0; !error && i < all.count; i++) {
		struct xb_interface *item = &all.item[i];
		bool keepable = !item->renamed || !xb_wanted_check(item->now.name);

		xb_utf8_clean(item->wanted);
		xb_utf8_clean(item->now.name);
		xb_utf8_clean(item->enrolled.name);
		if (item->wanted[0] && item->lasting)
			check_wanted(report, item, keepable);
		else if (!item->wanted[0])
			check_unwanted(report, item);
		if ((item->wanted[0] && item->lasting) || item->difference == XB_IFACE_ELSEWHERE)
			add_interface(report, item);
	}
	xb_interfaces_free(&all);
	return error;
}

/* In another network namespace nothing can be said of interfaces. */
static int check_namespace(struct report *report)
{
	const struct xb_link *link = &report->view.link;
	bool linked = report->view.linked, wanted = report->wanted_count;
	enum xb_place place = XB_PLACE_HOME;

	if (linked && link->elsewhere && !xb_enforce_is_dead(link, wanted)) {
		xb_link_at_home(link);
		problem(report, "%s", xb_error_message());
		return 0;
	}
	if (wanted)
		place = xb_enforce_place(&report->view, report->meta.identity, &report->home);
	if (place != XB_PLACE_AWAY && place != XB_PLACE_HEIR)
		return check_interfaces(report);
	xb_home_refuse(&report->home, place, report->cli->paths.state);
	problem(report, "%s", xb_error_message());
	return 0;
}

static void check_generation(struct report *report)
{
	const struct xb_generation *active = report->view.active;

	if (!report->wanted_count && !report->view.linked)
		return;
	if (!report->view.linked && xb_pin_check_place(report->cli->paths.pins))
		problem(report, "nothing can be seen of what is enforced: %s", xb_error_message());
	else if (!report->view.linked)
		problem(report, "nothing is enforced: the pin directory is empty");
	else if (!xb_link_active(&report->view.link))
		problem(report, "nothing is enforced: no filter is in force");
	else if (!active)
		problem(report,
			"the filter in force is not pinned, or another version's: it can only be "
			"rebuilt");
	else if (active->params.store != report->meta.identity)
		problem(report, "the filter in force was built from another store");
	else if (!report->wanted_count && report->tried)
		return;
	else if (!report->wanted_count)
		problem(report,
			"a filter is in force for no interface; the next command takes it off");
	else if (!active->header)
		problem(report,
			"the counters of the filter are lost; the next change builds it anew");
	else if (active->header->dirty)
		problem(report,
			"a change was interrupted; the next command builds the filter anew");
	else if (!xb_generation_is_current(active, &report->meta))
		problem(report, "the filter does not have what the store has now; the next command "
				"brings it up to date");
	else if (!xb_generation_fits(active, &report->meta))
		problem(report, "the filter in force was built for another rate or policy, other "
				"ports, or confirms otherwise than wanted; the next command builds "
				"it anew");
}

/* Seconds until the trial goes back; 0: it has. */
static uint64_t trial_left(const struct report *report)
{
	return report->view.linked ? xb_trial_left(&report->trial, &report->view.link.guard.state)
				   : 0;
}

static int read_tried_policy(struct report *report)
{
	int error = -ENOENT;

	report->policy = report->meta.policy;
	if (report->tried && trial_left(report))
		error = xb_rollback_policy(&report->cli->paths, &report->view.link,
					   &report->policy);
	return error == -ENOENT ? 0 : error;
}

/* Another store's filter has the policy of that store. */
static int check_policy(struct report *report)
{
	const struct xb_generation *active = report->view.active;
	uint32_t policy;
	int error;

	if (!active || active->params.store != report->meta.identity)
		return 0;
	error = xb_generation_policy(active, &policy);
	if (!error && policy != report->meta.policy)
		problem(report, "the policy in force is %s, wanted is %s; the next command sets it",
			xb_policy_name(policy), xb_policy_name(report->meta.policy));
	return error;
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
	return json_pack("{s:s,s:f,s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "name", active->name,
			 "fpr", xb_generation_rate(active), "confirm", active->params.confirm,
			 "program", (json_int_t)xb_link_active(&report->view.link), "host4_keys",
			 (json_int_t)(active->header ? active->header->host4_keys : 0),
			 "host4_capacity", (json_int_t)active->params.host4.capacity, "net6_keys",
			 (json_int_t)(active->header ? active->header->net6_keys : 0),
			 "net6_capacity", (json_int_t)active->params.net6.capacity, "names_keys",
			 (json_int_t)(active->header ? active->header->names_keys : 0),
			 "names_capacity", (json_int_t)active->params.names.capacity, "memory",
			 memory_json(active));
}

static void check_trial(struct report *report)
{
	char command[256];

	if (!report->tried || trial_left(report))
		return;
	xb_trial_command(&report->trial, command, sizeof(command));
	problem(report, "the trial of `%s` is over; the next command clears it away", command);
}

static json_t *trial_json(const struct report *report)
{
	char command[256];

	if (!report->tried)
		return json_null();
	xb_trial_command(&report->trial, command, sizeof(command));
	return json_pack("{s:s,s:I,s:s}", "command", command, "seconds_left",
			 (json_int_t)trial_left(report), "policy", xb_policy_name(report->policy));
}

static json_t *lists_json(const struct report *report)
{
	json_t *lists = json_array();

	for (size_t i = 0; i < report->list_count; i++)
		if (!xb_list_is_auto(&report->lists[i]))
			json_array_append_new(
				lists,
				json_pack("{s:s,s:I,s:s}", "name", report->lists[i].name, "entries",
					  (json_int_t)report->lists[i].members, "verdict",
					  xb_domain_verdict_name(report->lists[i].verdict)));
	return lists;
}

static uint64_t allowed_by_hand(const struct report *report)
{
	return report->meta.totals.allow - report->only_by_itself;
}

static json_t *allowlist_json(const struct report *report)
{
	return json_pack("{s:I,s:I,s:O,s:o}", "entries", (json_int_t)report->meta.totals.allow,
			 "manual", (json_int_t)allowed_by_hand(report), "automatic",
			 report->automatic, "refused", show_kinds_json(report->meta.refused));
}

static json_t *listed_json(const struct xb_totals *totals)
{
	return json_pack("{s:I,s:I,s:I,s:I}", "ipv4_prefixes", (json_int_t)totals->prefix4,
			 "ipv4_hosts", (json_int_t)totals->host4, "ipv6_prefixes",
			 (json_int_t)totals->net6, "domains", (json_int_t)totals->names);
}

static json_t *reader_json(const struct report *report)
{
	const struct xb_reader *reader = &report->reader;
	struct xb_process process;

	if (!reader->behind)
		return json_null();
	xb_process_look((uint32_t)reader->process, &process);
	return json_pack("{s:i,s:s,s:s,s:b,s:I}", "process", reader->process, "command",
			 process.command, "since", process.since, "stopped", process.stopped,
			 "transactions", (json_int_t)reader->behind);
}

static int answer_json(struct report *report)
{
	const struct xb_meta *meta = &report->meta;

	return cli_json(
		report->cli,
		json_pack("{s:b,s:O,s:o,s:s,s:b,s:o,s:I,s:O,s:o,s:o,s:o,s:o,s:f,s:I,s:I,s:o}", "ok",
			  json_array_size(report->problems) == 0, "problems", report->problems,
			  "trial", trial_json(report), "policy", xb_policy_name(meta->policy),
			  "confirm", !meta->unconfirmed, "ports", show_all_ports_json(meta->ports),
			  "answer_limit", (json_int_t)meta->answer_limit, "interfaces",
			  report->interfaces, "generation", generation_json(report), "lists",
			  lists_json(report), "listed", listed_json(&meta->totals), "allowlist",
			  allowlist_json(report), "fpr", xb_meta_rate(meta), "sequence",
			  (json_int_t)meta->sequence, "expired", (json_int_t)report->expired,
			  "reader", reader_json(report)));
}

/* A count as printf wants it. */
static unsigned long long keys(uint64_t count)
{
	return count;
}

static void print_generation(const struct report *report)
{
	const struct xb_generation *active = report->view.active;
	const struct xb_params *params;

	if (!active)
		return;
	params = &active->params;
	printf("filter      program %u, false-positive rate %g per packet%s\n",
	       xb_link_active(&report->view.link), xb_generation_rate(active),
	       params->confirm ? ", then confirmed exactly"
			       : "; not confirmed: wrong hits are dropped too");
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
	if (active->params.names.blocks)
		printf("  domains   %llu of %llu, %s\n",
		       keys(active->header ? active->header->names_keys : 0),
		       keys(active->params.names.capacity),
		       cli_bytes(xb_map_bytes(XB_MAP_NAMES, params) +
				 xb_map_bytes(XB_MAP_CONFIRM_NAMES, params)));
	printf("  counters  %s\n", cli_bytes(xb_generation_file_bytes(params)));
}

static void print_policy(const struct report *report)
{
	static const char *const meanings[] = {
		[XB_POLICY_ENFORCE] = "what is listed is dropped",
		[XB_POLICY_MONITOR] = "NOTHING IS DROPPED, what would be is counted",
		[XB_POLICY_ALLOW_ONLY] = "ALL BUT WHAT IS LISTED OR ALLOWED IS DROPPED",
	};

	uint32_t policy = report->policy;

	printf("policy      %s%s%s", xb_policy_name(policy),
	       policy <= XB_POLICY_ALLOW_ONLY ? ": " : "",
	       policy <= XB_POLICY_ALLOW_ONLY ? meanings[policy] : "");
	if (policy != report->meta.policy)
		tried_print(trial_left(report), xb_policy_name(report->meta.policy));
	putchar('\n');
}

/* Only what is not the default. */
static void print_ports(struct xb_name_ports ports)
{
	static const struct xb_name_ports usual = {.dns = {XB_DNS_PORT}};
	char text[XB_PORTS_TEXT];

	if (!memcmp(&ports, &usual, sizeof(ports)))
		return;
	printf("ports      ");
	for (enum xb_carrier carrier = 0; carrier < XB_CARRIERS; carrier++)
		printf(" %s %s", xb_carrier_name(carrier),
		       xb_ports_format(xb_ports_of(&ports, carrier), text));
	putchar('\n');
}

static void print_limit(uint32_t limit)
{
	if (!limit)
		puts("limit       off: any number of answers");
	else if (limit != XB_ANSWER_LIMIT)
		printf("limit       %u answers a second on each CPU\n", limit);
}

static void print_trial(const struct report *report)
{
	uint64_t left = trial_left(report);
	char command[256];

	if (!report->tried || !left)
		return;
	xb_trial_command(&report->trial, command, sizeof(command));
	printf("TRIAL       `%s` goes back in %llu seconds; `bloomctl commit` keeps it\n", command,
	       keys(left));
}

static void print_allowlist(const struct report *report)
{
	json_t *refused = show_kinds_json(report->meta.refused), *item;
	size_t i;

	printf("allowed     %llu entries by hand, %llu by itself\n", keys(allowed_by_hand(report)),
	       keys(json_array_size(report->automatic)));
	json_array_foreach(report->automatic, i, item)
		printf("  %-25s %-10s %s\n", json_string_value(json_object_get(item, "entry")),
		       json_string_value(json_object_get(item, "kind")),
		       json_string_value(json_object_get(item, "why")));
	if (json_array_size(refused))
		printf("  refused  ");
	json_array_foreach(refused, i, item) printf(" %s", json_string_value(item));
	if (json_array_size(refused))
		putchar('\n');
	json_decref(refused);
}

static void print_reader(const struct report *report)
{
	const struct xb_reader *reader = &report->reader;
	char text[256];

	if (reader->behind)
		printf("reader      %s reads the store as it was %llu transactions ago: until it "
		       "ends, the file grows with each change, up to %zu GiB\n",
		       xb_process_describe((uint32_t)reader->process, text, sizeof(text)),
		       keys(reader->behind), XB_STORE_BYTES >> 30);
}

static void print_lists(const struct report *report)
{
	bool first = true;

	for (size_t i = 0; i < report->list_count; i++) {
		const struct xb_list *list = &report->lists[i];

		if (xb_list_is_auto(list))
			continue;
		if (first)
			puts("lists");
		first = false;
		printf("  %-9s %llu entries", list->name, keys(list->members));
		if (list->verdict)
			printf(", domains: %s", xb_domain_verdict_name(list->verdict));
		putchar('\n');
	}
}

static int answer_text(const struct report *report)
{
	const struct xb_totals *totals = &report->meta.totals;
	json_t *item;
	size_t i;

	print_trial(report);
	print_policy(report);
	json_array_foreach(report->interfaces, i, item) printf(
		"%-11s %s (mode %s, wanted %s)\n", json_string_value(json_object_get(item, "name")),
		json_string_value(json_object_get(item, "state")),
		json_string_value(json_object_get(item, "mode")),
		json_string_value(json_object_get(item, "wanted")));
	if (!report->wanted_count)
		puts("no interface is attached");
	print_generation(report);
	printf("listed      %llu IPv4 addresses, %llu IPv4 prefixes, %llu IPv6 prefixes, %llu "
	       "domains\n",
	       keys(totals->host4), keys(totals->prefix4), keys(totals->net6), keys(totals->names));
	if (report->expired)
		printf("expired     %llu entries, to be taken out by `bloomctl expire` or another "
		       "command that writes\n",
		       keys(report->expired));
	print_ports(report->meta.ports);
	print_limit(report->meta.answer_limit);
	print_allowlist(report);
	print_lists(report);
	print_reader(report);
	json_array_foreach(report->problems, i, item)
		printf("PROBLEM     %s\n", json_string_value(item));
	return cli_done(EXIT_DONE);
}

static void begin_report(struct report *report, const struct cli *cli)
{
	*report = (struct report){
		.cli = cli,
		.view = {.paths = &cli->paths},
		.meta = {.ports.dns = {XB_DNS_PORT}, .answer_limit = XB_ANSWER_LIMIT},
		.problems = json_array(),
		.interfaces = json_array(),
		.automatic = json_array(),
	};
}

static void free_report(struct report *report)
{
	xb_enforce_close(&report->view);
	json_decref(report->problems);
	json_decref(report->interfaces);
	json_decref(report->automatic);
	free(report->lists);
	free(report->wanted);
	xb_trial_free(&report->trial);
}

static int look(struct report *report)
{
	int error = read_store(report);

	if (!error)
		error = xb_enforce_open(&report->view);
	if (!error)
		error = check_namespace(report);
	if (!error) {
		check_generation(report);
		check_trial(report);
	}
	if (!error)
		error = check_policy(report);
	return error ? error : read_tried_policy(report);
}

/* How long a change may be in the making while status looks on. */
#define IN_THE_MAKING (5 * XB_SECOND)
#define LOOK_AGAIN    20000 /* us */

/*
 * What is amiss may be a change that somebody is making. It is looked at again until nobody holds
 * the writer lock and nothing moves meanwhile: then a writer left it who is dead.
 */
static int look_until_settled(struct report *report)
{
	const struct cli *cli = report->cli;
	struct xb_moment before, after;
	uint64_t end = xb_clock() + IN_THE_MAKING;
	char holder[256];
	bool busy = false;
	int error = look(report);

	while (error || json_array_size(report->problems)) {
		if (xb_clock() >= end) {
			if (busy)
				problem(report,
					"%s is in the middle of a change that takes more than 5 "
					"seconds",
					holder);
			break;
		}
		free_report(report);
		begin_report(report, cli);
		error = xb_moment_take(&cli->paths, &before);
		if (!error)
			error = look(report);
		busy = xb_moment_is_busy(&cli->paths, holder, sizeof(holder));
		if (!busy && (error || (!xb_moment_take(&cli->paths, &after) &&
					xb_moment_is_same(&before, &after))))
			break;
		usleep(LOOK_AGAIN);
	}
	return error;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct report report;
	int error, code;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "status takes no arguments");
	begin_report(&report, cli);
	error = look_until_settled(&report);
	if (error)
		code = cli_fail();
	else
		code = cli->json ? answer_json(&report) : answer_text(&report);
	if (!code && json_array_size(report.problems))
		code = EXIT_SYSTEM;
	free_report(&report);
	return code;
}

const struct verb verb_status = {
	.name = "status",
	.summary = "what is enforced where; non-zero while something is not",
	.run = run,
	.examples = {"status", "-p status"},
};
