/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is found now against what was found before. */
#include "engine/autoallow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "base/ifname.h"
#include "engine/peers.h"
#include "machine/lifelines.h"
#include "machine/ssh.h"
#include "machine/survey.h"
#include "store/flush.h"
#include "store/walk.h"
#include "store/wanted.h"

#define SESSIONS_MAX 8

/* How long a lifeline is kept that surveys did not find, nor anything in its place, while the
 * machine had a network. */
#define UNSEEN_SECONDS (7 * 24 * 3600U)

/* What the machine says now. */
struct survey {
	struct xb_session sessions[SESSIONS_MAX];
	int session_count;
	struct xb_lifelines found;
};

static int look(const uint32_t *ifindexes, size_t count, const struct xb_autoallow *asked,
		unsigned int kinds, struct survey *survey)
{
	survey->session_count = xb_session_current(survey->sessions, SESSIONS_MAX);
	if (survey->session_count < 0)
		return survey->session_count;
	return asked->all ? xb_lifelines_find(ifindexes, count, asked->run, kinds, &survey->found)
			  : 0;
}

static int interfaces(struct xb_txn *txn, const struct xb_autoallow *asked, uint32_t **out,
		      size_t *count)
{
	struct xb_wanted *wanted;
	size_t wanted_count;
	int error = xb_wanted_all(txn, &wanted, &wanted_count);

	*out = NULL;
	*count = 0;
	if (error)
		return error;
	*out = calloc(wanted_count + asked->extra_count + 1, sizeof(**out));
	if (!*out) {
		free(wanted);
		return xb_out_of_memory();
	}
	for (size_t i = 0; !error && i < wanted_count; i++)
		error = xb_ifindex(wanted[i].name, &(*out)[(*count)++]);
	for (size_t i = 0; i < asked->extra_count; i++)
		(*out)[(*count)++] = asked->extra[i];
	free(wanted);
	return error;
}

/* Whether it is wanted or on trial, perhaps by another name. */
static int is_filtered(struct xb_txn *txn, const uint32_t *ifindexes, size_t count,
		       const char *name, bool *is)
{
	uint32_t ifindex;
	int error = xb_wanted_has(txn, name, is);

	if (!error)
		error = xb_ifindex(name, &ifindex);
	for (size_t i = 0; !error && ifindex && i < count; i++)
		*is |= ifindexes[i] == ifindex;
	return error;
}

/* Nothing is to be found on interfaces that were left. */
static int see_left(struct xb_txn *txn, const struct xb_autoallow *asked, const uint32_t *ifindexes,
		    size_t count, struct xb_lifelines *found)
{
	static const struct xb_entry families[] = {{.kind = XB_ALLOW4}, {.kind = XB_ALLOW6}};
	int error = 0;

	for (size_t i = 0; !error && i < asked->left_count; i++) {
		bool stays;

		error = is_filtered(txn, ifindexes, count, asked->left[i], &stays);
		for (size_t j = 0; !error && !stays && j < 2; j++)
			error = xb_lifelines_see_device(found, &families[j], asked->left[i]);
	}
	return error;
}

/* Kinds that are looked for: under allow-only also what the clock needs. */
static unsigned int kinds_wanted(const struct xb_meta *meta)
{
	unsigned int kinds = XB_LIFELINE_ALL & ~meta->refused;

	return meta->policy == XB_POLICY_ALLOW_ONLY ? kinds : kinds & ~(1U << XB_LIFELINE_TIME);
}

/* The kind an automatic list is of; XB_LIFELINE_KINDS: it is none. */
static enum xb_lifeline_kind kind_of(const struct xb_list *list)
{
	enum xb_lifeline_kind kind = 0;

	if (!list || !xb_list_is_auto(list))
		return XB_LIFELINE_KINDS;
	while (kind < XB_LIFELINE_KINDS &&
	       strcmp(list->name + strlen(XB_LIST_AUTO), xb_lifeline_name(kind)))
		kind++;
	return kind;
}

static bool has(const struct xb_lifelines *found, const struct xb_entry *entry,
		enum xb_lifeline_kind kind)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->item[i].kind == kind && !xb_entry_compare(&found->item[i].entry, entry))
			return true;
	return false;
}

/* A survey: the kinds it speaks of, those that are wanted, and what it found. */
struct finding {
	unsigned int looked, wanted;
	const struct xb_lifelines *found;
	uint32_t now;
};

enum fate { KEPT, KEPT_FOR_NOW, GONE };

/* What becomes of a lifeline that is known and was not found. */
static enum fate fate_of(const struct finding *finding, const struct xb_entry *entry,
			 enum xb_lifeline_kind kind, const struct xb_membership *member)
{
	if (!(finding->looked >> kind & 1))
		return KEPT;
	if (!(finding->wanted >> kind & 1))
		return GONE;
	if (has(finding->found, entry, kind))
		return KEPT;
	/* Sessions are sifted, not looked for. */
	if (kind == XB_LIFELINE_SSH ||
	    xb_lifelines_deny(finding->found, entry, kind, member->comment, member->comment_size))
		return GONE;
	return finding->found->network && !member->expires ? KEPT_FOR_NOW : KEPT;
}

/* One entry leaves the automatic lists that should not have it, now or later. */
static int settle_one(struct xb_txn *txn, const struct xb_entry *entry, struct xb_members members,
		      const struct finding *finding)
{
	struct xb_membership member;
	uint32_t leaves[XB_LIFELINE_KINDS], later[XB_LIFELINE_KINDS];
	int leaving = 0, waiting = 0, error = 0;

	while (xb_members_next(&members, &member)) {
		enum xb_lifeline_kind kind = kind_of(xb_list_by_id(txn, member.list));
		enum fate fate =
			kind == XB_LIFELINE_KINDS ? KEPT : fate_of(finding, entry, kind, &member);

		if (fate == GONE)
			leaves[leaving++] = member.list;
		else if (fate == KEPT_FOR_NOW)
			later[waiting++] = member.list;
	}
	for (int i = 0; !error && i < leaving; i++) {
		enum xb_removal removal;

		error = xb_member_remove(txn, entry, leaves[i], &removal);
	}
	for (int i = 0; !error && i < waiting; i++) {
		struct xb_membership until = {.list = later[i],
					      .expires = finding->now + UNSEEN_SECONDS};
		enum xb_put put;

		error = xb_member_put(txn, entry, &until, XB_RENEW_EXPIRY, &put);
	}
	return error;
}

static int settle(struct xb_txn *txn, const struct finding *finding)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, &XB_WALK_ALLOW);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0) {
		more = settle_one(txn, &walk.entry, walk.members, finding);
		if (more)
			break;
	}
	xb_walk_end(&walk);
	return more;
}

static int put_found(struct xb_txn *txn, const struct xb_lifelines *found)
{
	int error = 0;

	for (size_t i = 0; !error && i < found->count; i++) {
		const struct xb_lifeline *item = &found->item[i];
		struct xb_membership member = {
			.added = (uint32_t)time(NULL),
			.comment = item->why,
			.comment_size = (uint32_t)strlen(item->why),
		};
		struct xb_list *list;
		enum xb_put put;

		error = xb_list_need_auto(txn, xb_lifeline_name(item->kind), &list);
		if (error)
			break;
		member.list = list->id;
		error = xb_member_put(txn, &item->entry, &member,
				      XB_RENEW_EXPIRY | XB_RENEW_COMMENT, &put);
	}
	return error;
}

/* Writes down what was seen. */
static int record(struct xb_txn *txn, struct survey *survey, unsigned int kinds, bool all)
{
	struct xb_lifelines *found = &survey->found;
	struct finding finding = {
		.looked = all ? XB_LIFELINE_ALL : 1U << XB_LIFELINE_SSH,
		.wanted = kinds,
		.found = found,
		.now = (uint32_t)time(NULL),
	};
	bool changed = false;
	int error = 0;

	for (int i = 0; !error && i < survey->session_count; i++)
		error = xb_peers_put(txn, &survey->sessions[i], &changed);
	if (!error)
		error = xb_peers_sift(txn, kinds >> XB_LIFELINE_SSH & 1 ? found : NULL, &changed);
	if (error || (!all && !changed))
		return error;
	for (size_t i = 0; i < found->count; i++)
		found->item[i].entry = xb_entry_allow(&found->item[i].entry);
	error = put_found(txn, found);
	return error ? error : settle(txn, &finding);
}

int xb_autoallow(struct xb_txn *txn, const struct xb_autoallow *asked)
{
	unsigned int kinds = kinds_wanted(&txn->meta);
	struct survey survey = {0};
	uint32_t *ifindexes;
	size_t count;
	int error = interfaces(txn, asked, &ifindexes, &count);

	if (!error && !count && asked->all) {
		/* Nothing is filtered: nothing needs to be allowed. */
		error = settle(
			txn, &(struct finding){.looked = XB_LIFELINE_ALL, .found = &survey.found});
	} else if (!error && count) {
		/* A failed survey must not block the change; what is allowed stays allowed. */
		if (look(ifindexes, count, asked, kinds, &survey) ||
		    see_left(txn, asked, ifindexes, count, &survey.found))
			xb_warning("the automatic allowlist is not brought up to date: %s",
				   xb_error_message());
		else
			error = record(txn, &survey, kinds, asked->all);
	}
	xb_lifelines_free(&survey.found);
	free(ifindexes);
	return error;
}

/* A lifeline as it stands in the store. */
struct kept {
	struct xb_entry entry;
	struct xb_membership member;
	char comment[XB_COMMENT_MAX];
};

struct keeping {
	struct kept *item;
	size_t count, room;
};

static int keep_members(struct xb_txn *txn, const struct xb_entry *entry, struct xb_members members,
			struct keeping *keeping)
{
	struct xb_membership member;

	while (xb_members_next(&members, &member)) {
		struct kept *kept;
		int error;

		if (kind_of(xb_list_by_id(txn, member.list)) == XB_LIFELINE_KINDS)
			continue;
		error = xb_array_grow(&keeping->item, &keeping->room, keeping->count + 1,
				      sizeof(*kept));
		if (error)
			return error;
		kept = &keeping->item[keeping->count++];
		kept->entry = *entry;
		kept->member = member;
		memcpy(kept->comment, member.comment, member.comment_size);
	}
	return 0;
}

static int read_kept(struct xb_txn *txn, struct keeping *keeping)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, &XB_WALK_ALLOW);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0) {
		more = keep_members(txn, &walk.entry, walk.members, keeping);
		if (more)
			break;
	}
	xb_walk_end(&walk);
	return more;
}

int xb_autoallow_keep_only(struct xb_txn *txn)
{
	struct keeping keeping = {0};
	int error = read_kept(txn, &keeping);

	if (!error)
		error = xb_flush_all(txn);
	for (size_t i = 0; !error && i < keeping.count; i++) {
		struct kept *kept = &keeping.item[i];
		enum xb_put put;

		kept->member.comment = kept->comment;
		error = xb_member_put(txn, &kept->entry, &kept->member,
				      XB_RENEW_EXPIRY | XB_RENEW_COMMENT, &put);
	}
	free(keeping.item);
	return error;
}
