/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl stats */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/anchor.h"
#include "attach/counts.h"
#include "attach/pin.h"
#include "attach/topnames.h"
#include "base/error.h"
#include "base/netns.h"
#include "bloomctl/cli.h"
#include "bloomctl/display.h"
#include "engine/classfigures.h"
#include "engine/limitjson.h"
#include "model/reason.h"

#define DEFAULT_NAMES 10
#define NAMES_MAX     1000

/* Too large for a stack. */
struct table {
	bool attached;
	struct xb_count_table counts;
	struct xb_topname *hits; /* most packets first */
	size_t hit_count;
	struct xb_storeview view;
	struct xb_class_figures classes; /* of the lists in view */
	struct xb_limit_figures limits;
};

static void free_table(struct table *table)
{
	xb_counts_free(&table->counts);
	free(table->hits);
	xb_storeview_free(&table->view);
}

/* The statistics are there without the store: what cannot be read of it is left out. */
static int read_wanted(const struct cli *cli, const struct xb_anchor *anchor, struct table *table)
{
	int error;

	if (xb_storeview_glance(cli->paths.state, &table->view)) {
		xb_error_clear();
		return 0;
	}
	error = xb_class_figures_read(anchor, &table->view, &table->classes);
	return error ? error : xb_limit_figures_read(anchor, table->view.limits, &table->limits);
}

static int read_table(const struct xb_anchor *anchor, struct table *table, uint64_t names)
{
	int error = xb_counts_read(anchor, &table->counts);

	if (!error && names)
		error = xb_topnames_read(anchor, &table->hits, &table->hit_count);
	if (table->hit_count > names)
		table->hit_count = names;
	return error;
}

static json_t *row_json(const struct xb_count_row *row)
{
	json_t *reasons = json_array();
	char name[IF_NAMESIZE];

	for (unsigned int i = 0; i < XB_REASON_COUNT; i++)
		json_array_append_new(reasons,
				      json_pack("{s:s,s:s,s:I,s:I}", "reason", xb_reason_name(i),
						"verdict", xb_reason_verdict(i), "packets",
						(json_int_t)row->counts.reason[i].packets, "bytes",
						(json_int_t)row->counts.reason[i].bytes));
	return json_pack("{s:s,s:I,s:o}", "name", display_row(row->ifindex, name), "ifindex",
			 (json_int_t)row->ifindex, "reasons", reasons);
}

static json_t *class_json(const struct xb_storeview *view, const struct xb_class_figure *class)
{
	json_t *lists = json_array();
	char scope[XB_SCOPE_TEXT];

	for (size_t i = 0; i < view->list_count; i++)
		if (view->lists[i].class == class->class)
			json_array_append_new(lists, json_string(view->lists[i].name));
	return json_pack("{s:s,s:s,s:o,s:I,s:I}", "scope", xb_class_figure_scope(class, scope),
			 "verdict", xb_class_figure_verdict(class), "lists", lists, "packets",
			 (json_int_t) class->count.packets, "bytes",
			 (json_int_t) class->count.bytes);
}

static int print_json(const struct cli *cli, const struct table *table)
{
	json_t *interfaces = json_array(), *names = json_array(), *scopes = json_array();

	for (size_t i = 0; i < table->counts.count; i++)
		json_array_append_new(interfaces, row_json(&table->counts.rows[i]));
	for (size_t i = 0; i < table->hit_count; i++)
		json_array_append_new(names,
				      json_pack("{s:s,s:I}", "entry", table->hits[i].name,
						"packets", (json_int_t)table->hits[i].packets));
	for (size_t i = 0; i < table->classes.count; i++)
		json_array_append_new(scopes, class_json(&table->view, &table->classes.item[i]));
	return cli_json(cli,
			json_pack("{s:o,s:o,s:o,s:o}", "interfaces", interfaces, "scopes", scopes,
				  "limits", xb_limit_figures_json(&table->limits), "names", names));
}

static void print_names(const struct table *table)
{
	if (table->hit_count)
		printf("%-29s %16s\n", "listed names", "packets");
	for (size_t i = 0; i < table->hit_count; i++)
		printf("  %-27s %16llu\n", table->hits[i].name,
		       (unsigned long long)table->hits[i].packets);
}

/* A line of the table; rated: there is an earlier table. */
static void print_counts(const char *what, const struct xb_count *count, bool rated,
			 unsigned long long rate)
{
	printf("  %-27s %16llu %20llu", what, count->packets, count->bytes);
	if (rated)
		printf(" %12llu", rate);
	putchar('\n');
}

static void print_row(const struct xb_count_row *row, const struct xb_counts *then)
{
	unsigned long long rate, rates = 0;
	struct xb_count total = {0};
	char text[64];

	printf("%-29s %16s %20s", display_row(row->ifindex, text), "packets", "bytes");
	puts(then ? "    packets/s" : "");
	for (unsigned int reason = 0; reason < XB_REASON_COUNT; reason++) {
		const struct xb_count *count = &row->counts.reason[reason];

		if (!count->packets)
			continue;
		rate = then ? xb_count_since(&row->counts, then, reason).packets : 0;
		snprintf(text, sizeof(text), "%-6s %s", xb_reason_verdict(reason),
			 xb_reason_name(reason));
		print_counts(text, count, then, rate);
		total.packets += count->packets;
		total.bytes += count->bytes;
		rates += rate;
	}
	print_counts("total", &total, then, rates);
}

static unsigned long long rate_of(const struct xb_class_figure *now,
				  const struct xb_class_figures *before)
{
	for (size_t i = 0; i < before->count; i++) {
		const struct xb_class_figure *then = &before->item[i];

		if (then->class == now->class && then->identity == now->identity &&
		    then->count.packets <= now->count.packets)
			return now->count.packets - then->count.packets;
	}
	return now->count.packets;
}

static void print_classes(const struct table *table, const struct table *before)
{
	char scope[XB_SCOPE_TEXT], text[XB_SCOPE_TEXT + 16];

	if (table->classes.count)
		printf("%-29s %16s %20s%s\n", "scopes", "packets", "bytes",
		       before ? "    packets/s" : "");
	for (size_t i = 0; i < table->classes.count; i++) {
		const struct xb_class_figure *class = &table->classes.item[i];
		unsigned long long rate = before ? rate_of(class, &before->classes) : 0;

		snprintf(text, sizeof(text), "%-6s %s", xb_class_figure_verdict(class),
			 xb_class_figure_scope(class, scope));
		print_counts(text, &class->count, before, rate);
	}
}

static void print_limits(const struct table *table, const struct table *before)
{
	char text[XB_LIMIT_NAME + 16];

	if (table->limits.count)
		printf("%-29s %16s %20s%s\n", "over limits", "packets", "bytes",
		       before ? "    packets/s" : "");
	for (uint32_t i = 0; i < table->limits.count; i++) {
		const struct xb_limit_figure *figure = &table->limits.item[i];
		unsigned long long rate =
			before ? xb_limit_over_since(figure, &before->limits).packets : 0;

		snprintf(text, sizeof(text), "%-6s %s", xb_limit_over(&figure->limit),
			 figure->limit.name);
		print_counts(text, &figure->over, before, rate);
	}
}

static int print_text(const struct table *table, const struct table *before)
{
	for (size_t i = 0; i < table->counts.count; i++) {
		const struct xb_count_row *row = &table->counts.rows[i];

		print_row(row, before ? xb_counts_of(&before->counts, row->ifindex) : NULL);
	}
	print_classes(table, before);
	print_limits(table, before);
	print_names(table);
	return cli_done(EXIT_DONE);
}

/* Without an anchor an empty table: nothing is attached, unless that cannot be seen. */
static int read_now(const struct cli *cli, struct table *table, uint64_t names)
{
	static bool noted;
	struct xb_anchor anchor;
	int error = xb_anchor_open(cli->paths.pins, &anchor);

	*table = (struct table){0};
	if (error == -ENOENT)
		return xb_netns_hides_sys() ? xb_pin_check_place(cli->paths.pins) : 0;
	if (error)
		return error;
	if (!noted)
		xb_anchor_note_elsewhere(&anchor);
	noted = true;
	table->attached = true;
	error = read_table(&anchor, table, names);
	if (!error)
		error = read_wanted(cli, &anchor, table);
	xb_anchor_close(&anchor);
	return error;
}

static int print(const struct cli *cli, const struct table *now, const struct table *before)
{
	if (cli->json)
		return print_json(cli, now);
	if (!now->attached)
		xb_notice("nothing is attached");
	return print_text(now, before);
}

/* Looks for the anchor each time: it is another one after a detach and an attach. */
static int watch(const struct cli *cli, uint64_t names)
{
	static struct table before, now;

	for (;;) {
		int code;

		if (read_now(cli, &now, names))
			return cli_fail();
		if (isatty(STDOUT_FILENO) && !cli->json)
			fputs("\033[H\033[J", stdout);
		code = print(cli, &now, before.counts.rows ? &before : NULL);
		free_table(&before);
		before = now;
		if (code)
			return code;
		sleep(1);
	}
}

static const struct option_spec options[] = {
	{"watch", NULL, 'w', .help = "repeat every second, with rates"},
	{"names", "NUMBER", 'n', .help = "how many names to show, 0 to 1000 (default 10)"},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	static struct table table;
	uint64_t names = DEFAULT_NAMES;
	bool watching = false;
	int option, code;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option == 'w')
			watching = true;
		else if (option != 'n' || !cli_number(cli, "--names", optarg, 0, NAMES_MAX, &names))
			return EXIT_USAGE;
	if (optind != argc)
		return cli_usage(cli, "stats takes no interfaces");
	if (watching)
		return watch(cli, names);
	code = read_now(cli, &table, names) ? cli_fail() : print(cli, &table, NULL);
	free_table(&table);
	return code;
}

const struct verb verb_stats = {
	.group = "what happens",
	.name = "stats",
	.summary = "show packets and bytes by reason and interface, and the names asked for most",
	.options = options,
	.run = run,
	.examples = {"stats", "stats --watch"},
};
