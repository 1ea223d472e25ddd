/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl save: everything, a JSON object a line; restore reads it back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/error.h"
#include "core/membership.h"
#include "core/policy.h"
#include "core/verdict.h"
#include "core/wanted.h"
#include "show.h"

static void put_line(json_t *object)
{
	json_dumpf(object, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
	putchar('\n');
	json_decref(object);
}

static int save_interfaces(struct xb_txn *txn)
{
	struct xb_wanted *wanted;
	size_t count;
	int error = xb_wanted_all(txn, &wanted, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		put_line(json_pack("{s:s,s:s}", "interface", wanted[i].name, "mode",
				   xb_mode_name(wanted[i].mode)));
	free(wanted);
	return 0;
}

/* Lists that have no members are there by their verdict. */
static void save_verdicts(const struct xb_txn *txn)
{
	for (size_t i = 0; i < txn->list_count; i++)
		if (txn->lists[i].verdict)
			put_line(json_pack("{s:s,s:s}", "list", txn->lists[i].name, "verdict",
					   xb_domain_verdict_name(txn->lists[i].verdict)));
}

static void save_entry(struct xb_txn *txn, const struct xb_entry *entry, struct xb_members members)
{
	const char *side = xb_entry_is_allow(entry) ? "allow" : "entry";
	char text[XB_ENTRY_TEXT];
	struct xb_membership member;

	xb_entry_format(entry, text);
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);
		json_t *line;

		/* What this machine allowed by itself, another finds out by itself. */
		if (!list || xb_list_is_auto(list))
			continue;
		line = json_pack("{s:s,s:s,s:I}", side, text, "list", list->name, "added",
				 (json_int_t)member.added);
		if (member.expires)
			json_object_set_new(line, "expires", json_integer(member.expires));
		if (member.comment_size)
			json_object_set_new(line, "comment",
					    json_stringn(member.comment, member.comment_size));
		put_line(line);
	}
}

static int save_side(struct xb_txn *txn, const struct xb_entry *first)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, first);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0)
		save_entry(txn, &walk.entry, walk.members);
	xb_walk_end(&walk);
	return more;
}

static int save(struct xb_txn *txn)
{
	const struct xb_meta *meta = &txn->meta;
	int error;

	put_line(json_pack("{s:i,s:s,s:f,s:I,s:b,s:s,s:o,s:o}", "schema", 1, "saved", "xdp-bloom",
			   "fpr", meta->rate, "capacity", (json_int_t)meta->capacity, "confirm",
			   !meta->unconfirmed, "policy", xb_policy_name(meta->policy), "refused",
			   show_kinds_json(meta->refused), "ports",
			   show_all_ports_json(meta->ports)));
	error = save_interfaces(txn);
	save_verdicts(txn);
	if (!error)
		error = save_side(txn, &XB_WALK_LISTED);
	if (!error)
		error = save_side(txn, &XB_WALK_ALLOW);
	return error;
}

int verb_save(struct cli *cli, int argc, char **argv)
{
	struct xb_store *store = NULL;
	struct xb_txn *txn = NULL;
	int error;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "save writes to standard output and takes no arguments");
	error = xb_store_open(cli->paths.state, false, &store);
	if (error == -ENOENT)
		error = xb_input_error("nothing to save: there is no store in %s",
				       cli->paths.state);
	if (!error)
		error = xb_store_read(store, &txn);
	if (!error)
		error = save(txn);
	xb_txn_abort(txn);
	xb_store_close(store);
	return error ? cli_fail() : cli_done(EXIT_DONE);
}
