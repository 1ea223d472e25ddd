/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/blame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/error.h"
#include "bloomctl/display.h"
#include "model/verdict.h"
#include "store/limits.h"
#include "store/listclass.h"
#include "store/rulings.h"
#include "store/trialrecord.h"

struct blame blame_of(uint8_t reason, bool ipv6, uint8_t protocol, uint16_t sport, uint16_t dport)
{
	bool icmp = protocol == (ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
	struct blame blame = {.reason = reason};

	if (icmp) {
		blame.service = (struct xb_service){.protocol = XB_SERVICE_ICMP};
		blame.has_service = true;
	} else if ((protocol == IPPROTO_TCP || protocol == IPPROTO_UDP) && (sport || dport)) {
		blame.service = (struct xb_service){
			.protocol = protocol == IPPROTO_TCP ? XB_SERVICE_TCP : XB_SERVICE_UDP,
			.first = ntohs(dport),
			.last = ntohs(dport)};
		blame.has_service = true;
	}
	return blame;
}

bool blame_is(const struct blame *blame, const struct xb_entry *asked, const struct xb_list *list)
{
	const struct xb_scope *scope = xb_list_scope(list);

	if (xb_entry_is_name(asked))
		return true;
	if (blame->reason == XB_NOT_ADMITTED || list->verdict == XB_DOMAIN_COUNT)
		return false;
	if (xb_scope_is_all(scope) || blame->reason != XB_SCOPED_DROPPED)
		return xb_scope_is_all(scope) && blame->reason != XB_SCOPED_DROPPED;
	return !blame->has_service ||
	       xb_scope_has(scope, blame->service.protocol, blame->service.first);
}

static bool is_any(struct xb_txn *txn, const struct blame *blame, const struct xb_entry *asked,
		   struct xb_members members)
{
	struct xb_membership member;

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (list && blame_is(blame, asked, list))
			return true;
	}
	return false;
}

/* Of a name: by the first list that lists it. */
static int find_name(struct xb_txn *txn, const struct xb_entry *asked, struct xb_covers *covers,
		     struct xb_members *members)
{
	struct xb_rulings rulings;
	int found;

	xb_rulings_begin_query(asked, &rulings);
	do
		found = xb_rulings_next(txn, &rulings);
	while (found > 0 && rulings.at.entry.kind != XB_NAME);
	if (found > 0) {
		xb_covers_begin(asked, covers);
		covers->entry = rulings.at.entry;
		covers->entry.name = covers->form;
		*members = rulings.at.members;
	}
	xb_rulings_end(&rulings);
	return found;
}

int blame_find(struct xb_txn *txn, const struct blame *blame, const struct xb_entry *asked,
	       struct xb_covers *covers, struct xb_members *members)
{
	int found;

	if (xb_entry_is_name(asked))
		return find_name(txn, asked, covers, members);
	xb_covers_begin(asked, covers);
	do {
		found = xb_covers_next(txn, covers, members);
	} while (found > 0 && !is_any(txn, blame, asked, *members));
	return found;
}

json_t *blame_json(struct xb_txn *txn, const struct blame *blame, const struct xb_entry *asked,
		   const struct xb_entry *entry, struct xb_members members)
{
	struct xb_members rest = members;
	struct xb_membership member;
	json_t *whole = NULL;

	while (xb_members_next(&rest, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);
		json_t *one;

		if (!list || !blame_is(blame, asked, list))
			continue;
		one = display_entry_json(txn, entry, members, list->id);
		if (!whole) {
			whole = one;
			continue;
		}
		json_array_extend(json_object_get(whole, "lists"), json_object_get(one, "lists"));
		json_decref(one);
	}
	return whole;
}

/* A limit that is on trial is in no store yet. */
static int add_tried(struct xb_txn *txn, struct xb_limits_wanted *wanted)
{
	struct xb_trial trial;
	int error = xb_trial_get(txn, &trial);

	if (error == -EBADMSG)
		xb_error_clear();
	if (error)
		return error == -ENOENT || error == -EBADMSG ? 0 : error;
	if (trial.request.kind == XB_REQUEST_LIMIT_ADD)
		xb_limits_place(wanted, &trial.request.limit_add);
	xb_trial_free(&trial);
	return 0;
}

int blame_limit(struct xb_txn *txn, uint8_t number, char name[XB_LIMIT_NAME])
{
	struct xb_limits_wanted wanted;
	int error = xb_limits_get(txn, &wanted);

	name[0] = '\0';
	if (!error)
		error = add_tried(txn, &wanted);
	if (!error && number < XB_LIMITS)
		memcpy(name, wanted.limit[number].name, XB_LIMIT_NAME);
	return error;
}
