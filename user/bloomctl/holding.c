/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/holding.h"

#include <string.h>

#include "model/verdict.h"
#include "store/listclass.h"

static bool holds_for(const struct xb_scope *scope, const struct xb_service *to)
{
	return to ? xb_scope_has(scope, to->protocol, to->first) : xb_scope_is_all(scope);
}

static void add_other(struct holding *holding, const struct xb_scope *scope)
{
	if (!holding->other)
		holding->other = scope;
	else
		holding->others |= !xb_scope_equals(holding->other, scope);
}

void holding_add(struct holding *holding, struct xb_txn *txn, struct xb_members members,
		 const struct xb_service *to)
{
	struct xb_membership member;

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (!list)
			continue;
		if (!holds_for(xb_list_scope(list), to))
			add_other(holding, list->scope);
		else if (list->verdict == XB_DOMAIN_COUNT)
			holding->counts = true;
		else
			holding->drops = true;
	}
}

const char *holding_others(const struct holding *holding, char text[XB_SCOPE_TEXT])
{
	if (!holding->others)
		return xb_scope_format(holding->other, text);
	return strcpy(text, "some services");
}
