/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/rulings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void xb_rulings_begin(const struct xb_entry *name, struct xb_rulings *rulings)
{
	*rulings = (struct xb_rulings){.next = xb_entry_as(name, XB_EXCEPT_NAME), .more = true};
	memcpy(rulings->form, name->name, name->length);
	rulings->next.name = rulings->form;
}

void xb_rulings_begin_query(const struct xb_entry *name, struct xb_rulings *rulings)
{
	xb_rulings_begin(name, rulings);
	if (!xb_name_is_exact(name->name, name->length))
		rulings->form[rulings->next.length++] = 0;
}

void xb_rulings_end(struct xb_rulings *rulings)
{
	free(rulings->seen);
	rulings->seen = NULL;
}

static bool has_seen(const struct xb_rulings *rulings, uint32_t list)
{
	for (size_t i = 0; i < rulings->count; i++)
		if (rulings->seen[i] == list)
			return true;
	return false;
}

static int see(struct xb_rulings *rulings, uint32_t list)
{
	int error = xb_array_grow(&rulings->seen, &rulings->room, rulings->count + 1,
				  sizeof(*rulings->seen));

	if (!error)
		rulings->seen[rulings->count++] = list;
	return error;
}

/* Where a list has both for the same name, the exception decides. */
static void step_entry(struct xb_rulings *rulings)
{
	rulings->at.entry = rulings->next;
	if (rulings->next.kind == XB_EXCEPT_NAME) {
		rulings->next.kind = XB_NAME;
		return;
	}
	rulings->next.kind = XB_EXCEPT_NAME;
	rulings->more = xb_entry_widen(&rulings->next);
}

int xb_rulings_next(struct xb_txn *txn, struct xb_rulings *rulings)
{
	struct xb_membership member;
	int error;

	for (;;) {
		while (xb_members_next(&rulings->rest, &member)) {
			if (has_seen(rulings, member.list))
				continue;
			rulings->at.list = member.list;
			error = see(rulings, member.list);
			return error ? error : 1;
		}
		if (!rulings->more)
			return 0;
		step_entry(rulings);
		error = xb_members_of(txn, &rulings->at.entry, &rulings->at.members);
		if (error == -ENOENT)
			rulings->at.members = (struct xb_members){0};
		else if (error)
			return error;
		rulings->rest = rulings->at.members;
	}
}

static int find_strictest(struct xb_txn *txn, struct xb_rulings *rulings, uint32_t *verdict)
{
	int more;

	*verdict = XB_DOMAIN_VERDICTS;
	while ((more = xb_rulings_next(txn, rulings)) > 0) {
		const struct xb_list *list = xb_list_by_id(txn, rulings->at.list);
		uint32_t one = list ? list->verdict : XB_DOMAIN_DROP;

		if (rulings->at.entry.kind == XB_NAME && one < *verdict)
			*verdict = one;
	}
	xb_rulings_end(rulings);
	return more;
}

int xb_name_verdict(struct xb_txn *txn, const struct xb_entry *name, uint32_t *verdict)
{
	struct xb_rulings rulings;

	xb_rulings_begin(name, &rulings);
	return find_strictest(txn, &rulings, verdict);
}

int xb_query_verdict(struct xb_txn *txn, const struct xb_entry *name, uint32_t *verdict)
{
	struct xb_rulings rulings;

	xb_rulings_begin_query(name, &rulings);
	return find_strictest(txn, &rulings, verdict);
}

static int find(struct xb_txn *txn, const struct xb_entry *name, enum xb_kind kind,
		struct xb_members *members)
{
	const struct xb_entry entry = xb_entry_as(name, kind);
	int error = xb_members_of(txn, &entry, members);

	return error || xb_members_any(*members) ? error : -ENOENT;
}

int xb_name_slot(struct xb_txn *txn, const struct xb_entry *name, uint32_t *slot)
{
	struct xb_members members;
	int error =
		txn->meta.totals.exceptions ? find(txn, name, XB_EXCEPT_NAME, &members) : -ENOENT;

	if (!error) {
		error = xb_name_verdict(txn, name, slot);
		*slot |= XB_DOMAIN_FINAL;
		return error;
	}
	if (error != -ENOENT)
		return error;
	error = find(txn, name, XB_NAME, &members);
	if (!error)
		*slot = xb_members_verdict(txn, members);
	return error;
}
