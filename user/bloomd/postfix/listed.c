/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/listed.h"

#include <string.h>

#include "model/verdict.h"
#include "store/covers.h"
#include "store/listclass.h"
#include "store/rulings.h"

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

static void add_list(struct xb_txn *txn, const struct listed_question *question, uint32_t id,
		     struct listed *listed)
{
	const struct xb_list *list = xb_list_by_id(txn, id);
	enum listed_how how;

	if (!list || !is_asked(question, list))
		return;
	how = list->verdict == XB_DOMAIN_COUNT ? LISTED_COUNTED : LISTED_DROPPED;
	if (how < listed->how)
		return;
	if (how > listed->how)
		listed->lists[0] = '\0';
	listed->how = how;
	add_name(listed, list->name);
}

/* By the most specific entry of each list. */
static int find_name(struct xb_txn *txn, const struct listed_question *question,
		     struct listed *listed)
{
	struct xb_rulings rulings;
	int more;

	xb_rulings_begin_query(question->entry, &rulings);
	while ((more = xb_rulings_next(txn, &rulings)) > 0)
		if (rulings.at.entry.kind == XB_NAME)
			add_list(txn, question, rulings.at.list, listed);
	xb_rulings_end(&rulings);
	return more;
}

static int find_source(struct xb_txn *txn, const struct listed_question *question,
		       struct listed *listed)
{
	struct xb_membership member;
	struct xb_members members;
	struct xb_covers covers;
	int more;

	xb_covers_begin(question->entry, &covers);
	while ((more = xb_covers_next(txn, &covers, &members)) > 0)
		while (xb_members_next(&members, &member))
			add_list(txn, question, member.list, listed);
	return more;
}

int listed_find(struct xb_txn *txn, const struct listed_question *question, struct listed *listed)
{
	int more;

	*listed = (struct listed){0};
	if (!txn)
		return 0;
	more = xb_entry_is_name(question->entry) ? find_name(txn, question, listed)
						 : find_source(txn, question, listed);
	if (!more && listed->how != LISTED_NOT)
		more = is_allowed(txn, question->entry);
	if (more)
		*listed = (struct listed){0};
	return more < 0 ? more : 0;
}
