/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/dump.h"

#include <stdlib.h>
#include <time.h>

#include "engine/settingsjson.h"
#include "model/policy.h"
#include "model/verdict.h"
#include "store/expiry.h"
#include "store/knownwish.h"
#include "store/limits.h"
#include "store/origins.h"
#include "store/walk.h"
#include "store/wanted.h"

static void put_line(FILE *out, json_t *object)
{
	json_dumpf(object, out, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
	putc('\n', out);
	json_decref(object);
}

static int write_interfaces(struct xb_txn *txn, FILE *out)
{
	struct xb_wanted *wanted;
	size_t count;
	int error = xb_wanted_all(txn, &wanted, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		put_line(out, json_pack("{s:s,s:s}", "interface", wanted[i].name, "mode",
					xb_mode_name(wanted[i].mode)));
	free(wanted);
	return 0;
}

/* Lists that have no members are there by their verdict or their scope. */
static void write_list(const struct xb_list *list, FILE *out)
{
	char text[XB_SCOPE_TEXT];
	const char *scope = list->scope ? xb_scope_format(list->scope, text) : NULL;
	json_t *origins = xb_origins_json(xb_list_origins(list));

	if (list->verdict || scope || origins)
		put_line(out, json_pack("{s:s,s:s,s:s*,s:o*}", "list", list->name, "verdict",
					xb_domain_verdict_name(list->verdict), "scope", scope,
					"origins", origins));
}

static void write_lists(const struct xb_txn *txn, FILE *out)
{
	for (size_t i = 0; i < txn->list_count; i++)
		write_list(&txn->lists[i], out);
}

static int write_limits(struct xb_txn *txn, FILE *out)
{
	struct xb_limits_wanted wanted;
	int error = xb_limits_get(txn, &wanted);

	for (uint32_t number = 1; !error && number < XB_LIMITS; number++)
		if (*wanted.limit[number].name)
			put_line(out, xb_limit_json("limit", &wanted.limit[number]));
	return error;
}

static void write_entry(struct xb_txn *txn, const struct xb_entry *entry, struct xb_members members,
			FILE *out)
{
	const char *side = xb_entry_is_allow(entry) ? "allow" : "entry";
	char text[XB_ENTRY_TEXT];
	struct xb_membership member;

	xb_entry_format(entry, text);
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);
		json_t *line;

		/* What this machine allowed automatically, another finds out automatically. */
		if (!list || xb_list_is_auto(list))
			continue;
		line = json_pack("{s:s,s:s,s:I}", side, text, "list", list->name, "added",
				 (json_int_t)member.added);
		if (member.expires)
			json_object_set_new(line, "expires", json_integer(member.expires));
		if (member.comment_size)
			json_object_set_new(line, "comment",
					    json_stringn(member.comment, member.comment_size));
		put_line(out, line);
	}
}

static int write_side(struct xb_txn *txn, const struct xb_entry *first, FILE *out)
{
	struct xb_walk walk;
	int more = 0, error = xb_walk_begin(&walk, txn, first);

	if (error)
		return error;
	while (!ferror(out) && (more = xb_walk_next(&walk)) > 0)
		write_entry(txn, &walk.entry, walk.members, out);
	xb_walk_end(&walk);
	return more < 0 ? more : 0;
}

/* As many lines of entries as write_entry() writes. */
static uint64_t memberships(const struct xb_txn *txn)
{
	uint64_t count = 0;

	for (size_t i = 0; i < txn->list_count; i++)
		count += xb_list_is_auto(&txn->lists[i]) ? 0 : txn->lists[i].members;
	return count;
}

/* NULL: nobody is to be remembered. */
static int known_json(struct xb_txn *txn, json_t **known)
{
	struct xb_known_wish wish;
	int error = xb_known_wish_get(txn, &wish);

	*known = NULL;
	if (!error && wish.on)
		*known = json_pack("{s:I,s:I,s:f}", "remember", (json_int_t)wish.remember,
				   "capacity", (json_int_t)wish.capacity, "fpr", wish.rate);
	return error;
}

int xb_dump(struct xb_txn *txn, FILE *out)
{
	const struct xb_meta *meta = &txn->meta;
	json_t *known;
	int error = known_json(txn, &known);

	if (error)
		return error;
	/* What earlier versions do not know is there only if it is used. */
	put_line(out,
		 json_pack("{s:i,s:s,s:f,s:I,s:b,s:s,s:o,s:o,s:I,s:o*,s:o*,s:I}", "schema", 1,
			   "saved", "xdp-bloom", "fpr", meta->rate, "capacity",
			   (json_int_t)meta->capacity, "confirm", !meta->unconfirmed, "policy",
			   xb_policy_name(meta->policy), "refused", xb_kinds_json(meta->refused),
			   "ports", xb_all_ports_json(meta->ports), "answer_limit",
			   (json_int_t)meta->answer_limit, "known", known, "admits_known",
			   meta->admits_known ? json_true() : NULL, "memberships",
			   (json_int_t)memberships(txn)));
	error = write_interfaces(txn, out);
	write_lists(txn, out);
	if (!error)
		error = write_limits(txn, out);
	if (!error)
		error = write_side(txn, &XB_WALK_LISTED, out);
	if (!error)
		error = write_side(txn, &XB_WALK_ALLOW, out);
	return error;
}

int xb_dump_store(const char *state, FILE *out)
{
	struct xb_store *store;
	struct xb_txn *txn;
	uint64_t expired;
	int error = xb_store_begin_reading(state, &store, &txn);

	if (!error)
		error = xb_expiry_overlook(txn, (uint32_t)time(NULL), &expired);
	if (!error)
		error = xb_dump(txn, out);
	xb_store_end_reading(store, txn);
	return error;
}
