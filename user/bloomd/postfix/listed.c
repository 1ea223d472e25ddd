/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/listed.h"

#include <string.h>

#include "model/verdict.h"
#include "store/covers.h"
#include "store/listclass.h"

#define MORE ",..."

static int is_allowed(struct xb_txn *txn, const struct xb_entry *entry)
{
	struct xb_entry allow = xb_entry_allow(entry);
	struct xb_members members;
	struct xb_covers covers;

	xb_covers_begin(&allow, &covers);
	return xb_covers_next(txn, &covers, &members);
}

static bool is_asked(const struct listed_question *question, const struct xb_list *list)
{
	if (question->list)
		return !strcmp(question->list, list->name);
	return xb_entry_is_name(question->entry) ||
	       xb_scope_has(xb_list_scope(list), question->to->protocol, question->to->first);
}

static bool has_name(const char *names, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = names; (at = strstr(at, name)); at += size)
		if ((at == names || at[-1] == ',') && (!at[size] || at[size] == ','))
			return true;
	return false;
}

static void add_name(struct listed *listed, const char *name)
{
	size_t used = strlen(listed->lists), size = strlen(name) + (used ? 1 : 0);

	if (has_name(listed->lists, name) || (used && strstr(listed->lists, MORE)))
		return;
	/* The first always fits. */
	if (used + size + sizeof(MORE) > sizeof(listed->lists)) {
		strcpy(listed->lists + used, MORE);
		return;
	}
	strcpy(listed->lists + used, used ? "," : "");
	strcat(listed->lists, name);
}

static void add_lists(struct xb_txn *txn, const struct listed_question *question,
		      struct xb_members members, struct listed *listed)
{
	struct xb_membership member;

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);
		enum listed_how how;

		if (!list || !is_asked(question, list))
			continue;
		how = list->verdict == XB_DOMAIN_COUNT ? LISTED_COUNTED : LISTED_DROPPED;
		if (how < listed->how)
			continue;
		if (how > listed->how)
			listed->lists[0] = '\0';
		listed->how = how;
		add_name(listed, list->name);
	}
}

int listed_find(struct xb_txn *txn, const struct listed_question *question, struct listed *listed)
{
	struct xb_members members;
	struct xb_covers covers;
	int more;

	*listed = (struct listed){0};
	if (!txn)
		return 0;
	xb_covers_begin(question->entry, &covers);
	while ((more = xb_covers_next(txn, &covers, &members)) > 0)
		add_lists(txn, question, members, listed);
	if (!more && listed->how != LISTED_NOT)
		more = is_allowed(txn, question->entry);
	if (more)
		*listed = (struct listed){0};
	return more < 0 ? more : 0;
}
