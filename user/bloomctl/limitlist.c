/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/limitlist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attach/pin.h"
#include "base/error.h"
#include "base/netns.h"
#include "bloomctl/ontrial.h"
#include "engine/limitjson.h"

/* With what a trial has added. Too large for a stack. */
struct limits {
	struct xb_limits_wanted wanted;
	struct xb_limit_figures figures;
};

/* Without an anchor nothing was counted, unless that cannot be seen. */
static int read_figures(const struct cli *cli, struct limits *limits)
{
	struct xb_anchor anchor;
	int error = xb_anchor_open(cli->paths.pins, &anchor);

	if (error == -ENOENT) {
		error = xb_netns_hides_sys() ? xb_pin_check_place(cli->paths.pins) : 0;
		return error ? error
			     : xb_limit_figures_read(NULL, &limits->wanted, &limits->figures);
	}
	if (error)
		return error;
	xb_anchor_note_elsewhere(&anchor);
	error = xb_limit_figures_read(&anchor, &limits->wanted, &limits->figures);
	xb_anchor_close(&anchor);
	return error;
}

static int read_limits(const struct cli *cli, struct xb_txn *txn, const struct ontrial *ontrial,
		       struct limits *limits)
{
	const struct xb_limit *added = ontrial_limit_added(ontrial);
	int error = txn ? xb_limits_get(txn, &limits->wanted) : 0;

	if (error)
		return error;
	if (added)
		xb_limits_place(&limits->wanted, added);
	return read_figures(cli, limits);
}

static json_t *trial_json(const struct ontrial *ontrial, const char *name)
{
	const struct xb_limit *added = ontrial_limit_added(ontrial);

	if (added && !strcmp(added->name, name))
		return ontrial_json(ontrial, "limit", "added");
	return ontrial_limit_deleted(ontrial, name) ? ontrial_json(ontrial, "limit", "deleted")
						    : NULL;
}

static json_t *limit_json(const struct xb_limit_figure *figure, const struct ontrial *ontrial)
{
	json_t *limit = xb_limit_figure_json(figure);
	json_t *trial = trial_json(ontrial, figure->limit.name);

	json_object_set_new(limit, "memory",
			    json_integer((json_int_t)xb_limit_memory(&figure->limit)));
	if (trial)
		json_object_set_new(limit, "trial", trial);
	return limit;
}

static int print_json(const struct cli *cli, const struct xb_limit_figures *figures,
		      const struct ontrial *ontrial)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < figures->count; i++)
		json_array_append_new(all, limit_json(&figures->item[i], ontrial));
	return cli_json(cli, json_pack("{s:o}", "limits", all));
}

enum column {
	NAME,
	RATE,
	OF,
	BURST,
	PER,
	OVER,
	KNOWN,
	CAPACITY,
	MEMORY,
	LIST,
	PACKETS,
	BYTES,
	COLUMNS
};

#define CELL XB_LIMIT_LIST_TEXT /* bytes of the longest word of a column */

/* What stands in front of the services, which are the longest. */
struct row {
	char cell[COLUMNS][CELL];
};

static const struct row head = {{
	[NAME] = "name",
	[RATE] = "rate",
	[OF] = "of",
	[BURST] = "burst",
	[PER] = "per",
	[OVER] = "over",
	[KNOWN] = "known",
	[CAPACITY] = "capacity",
	[MEMORY] = "memory",
	[LIST] = "list",
	[PACKETS] = "packets over",
	[BYTES] = "bytes over",
}};

static struct row row_of(const struct xb_limit_figure *figure)
{
	const struct xb_limit *limit = &figure->limit;
	struct row row;

	snprintf(row.cell[NAME], CELL, "%s", limit->name);
	xb_limit_format_rate(limit, row.cell[RATE]);
	snprintf(row.cell[OF], CELL, "%s", xb_limit_units[limit->of]);
	snprintf(row.cell[BURST], CELL, "%" PRIu64, limit->burst);
	xb_limit_format_per(limit, row.cell[PER]);
	snprintf(row.cell[OVER], CELL, "%s", xb_limit_over(limit));
	xb_limit_format_known(limit, row.cell[KNOWN]);
	snprintf(row.cell[CAPACITY], CELL, "%" PRIu64, limit->capacity);
	snprintf(row.cell[MEMORY], CELL, "%s", cli_bytes(xb_limit_memory(limit)));
	xb_limit_format_list(limit, row.cell[LIST]);
	snprintf(row.cell[PACKETS], CELL, "%llu", (unsigned long long)figure->over.packets);
	snprintf(row.cell[BYTES], CELL, "%llu", (unsigned long long)figure->over.bytes);
	return row;
}

static void widen(int width[COLUMNS], const struct row *row)
{
	for (enum column i = 0; i < COLUMNS; i++)
		if ((int)strlen(row->cell[i]) > width[i])
			width[i] = (int)strlen(row->cell[i]);
}

static void print_row(const int width[COLUMNS], const struct row *row, const char *to)
{
	for (enum column i = 0; i < COLUMNS; i++)
		printf("%-*s  ", width[i], row->cell[i]);
	fputs(to, stdout);
}

static void print_trial(const struct ontrial *ontrial, const char *name)
{
	const struct xb_limit *added = ontrial_limit_added(ontrial);

	if (added && !strcmp(added->name, name)) {
		ontrial_print(stdout, ontrial->left, "no such limit");
	} else if (ontrial_limit_deleted(ontrial, name)) {
		fputs(" deleted", stdout);
		ontrial_print(stdout, ontrial->left, "there again");
	}
}

static int print_text(const struct xb_limit_figures *figures, const struct ontrial *ontrial)
{
	static struct row rows[XB_LIMITS];
	char to[XB_SCOPE_TEXT];
	int width[COLUMNS] = {0};

	if (!figures->count)
		return cli_done(EXIT_DONE);
	widen(width, &head);
	for (uint32_t i = 0; i < figures->count; i++) {
		rows[i] = row_of(&figures->item[i]);
		widen(width, &rows[i]);
	}
	print_row(width, &head, "to\n");
	for (uint32_t i = 0; i < figures->count; i++) {
		const struct xb_limit *limit = &figures->item[i].limit;

		print_row(width, &rows[i], xb_scope_format(&limit->scope, to));
		print_trial(ontrial, limit->name);
		putchar('\n');
	}
	return cli_done(EXIT_DONE);
}

static int show(const struct cli *cli, struct xb_txn *txn, const struct ontrial *ontrial,
		void *context)
{
	static struct limits limits;

	(void)context;
	if (read_limits(cli, txn, ontrial, &limits))
		return cli_fail();
	return cli->json ? print_json(cli, &limits.figures, ontrial)
			 : print_text(&limits.figures, ontrial);
}

int limitlist(const struct cli *cli)
{
	return ontrial_show(cli, show, NULL);
}
