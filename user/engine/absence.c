/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/absence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/covers.h"
#include "store/rulings.h"

static int copy_entry(const struct xb_entry *entry, struct xb_entry *copy)
{
	uint8_t *form;

	*copy = *entry;
	if (!xb_entry_is_name(entry))
		return 0;
	form = malloc(XB_NAME_BYTES);
	copy->name = form;
	if (!form)
		return xb_out_of_memory();
	memcpy(form, entry->name, entry->length);
	return 0;
}

/* The first list that still lists the name does it by a wider entry. */
static int find_ruling(struct xb_txn *txn, const struct xb_entry *entry, struct xb_cover *cover)
{
	struct xb_rulings rulings;
	int more, error = 0;

	xb_rulings_begin(entry, &rulings);
	do
		more = xb_rulings_next(txn, &rulings);
	while (more > 0 &&
	       (rulings.at.entry.kind != XB_NAME || !xb_entry_compare(&rulings.at.entry, entry)));
	cover->found = more > 0;
	if (cover->found)
		error = copy_entry(&rulings.at.entry, &cover->entry);
	if (cover->found && !error)
		error = xb_list_names_of(txn, rulings.at.members, rulings.at.list, &cover->lists);
	xb_rulings_end(&rulings);
	return more < 0 ? more : error;
}

int xb_cover_find(struct xb_txn *txn, const struct xb_entry *entry, struct xb_cover *cover)
{
	struct xb_members members;
	struct xb_covers covers;
	int more, error;

	*cover = (struct xb_cover){0};
	if (entry->kind == XB_EXCEPT_NAME)
		return 0;
	if (entry->kind == XB_NAME)
		return find_ruling(txn, entry, cover);
	xb_covers_begin(entry, &covers);
	do
		more = xb_covers_next(txn, &covers, &members);
	while (more > 0 &&
	       (!xb_entry_compare(&covers.entry, entry) || !xb_entry_inside(&covers.entry, entry)));
	if (more <= 0)
		return more;
	cover->found = true;
	error = copy_entry(&covers.entry, &cover->entry);
	return error ? error : xb_list_names_of(txn, members, XB_ANY_LIST, &cover->lists);
}

void xb_cover_free(struct xb_cover *cover)
{
	if (cover->found && xb_entry_is_name(&cover->entry))
		free((void *)(uintptr_t)cover->entry.name);
	xb_list_names_free(&cover->lists);
	*cover = (struct xb_cover){0};
}

/* A domain and the name alone are two entries. 1: that one is there. */
static int find_twin(struct xb_txn *txn, const struct xb_entry *entry, struct xb_absence *absence)
{
	struct xb_members members;
	int error;

	if (!xb_entry_is_name(entry) || xb_name_is_exact(entry->name, entry->length))
		return 0;
	memcpy(absence->form, entry->name, entry->length);
	absence->twin = *entry;
	absence->twin.name = absence->form;
	absence->form[absence->twin.length++] = 0;
	error = xb_members_of(txn, &absence->twin, &members);
	return !error ? 1 : error == -ENOENT ? 0 : error;
}

static int find_elsewhere(struct xb_txn *txn, const struct xb_entry *entry,
			  struct xb_absence *absence)
{
	struct xb_members members;
	int error = xb_members_of(txn, entry, &members);

	if (error)
		return error == -ENOENT ? 0 : error;
	error = xb_list_names_of(txn, members, XB_ANY_LIST, &absence->lists);
	return error ? error : 1;
}

int xb_absence_find(struct xb_txn *txn, const struct xb_entry *entry, bool in_list,
		    struct xb_absence *absence)
{
	int found;

	*absence = (struct xb_absence){.kind = XB_ABSENCE_ELSEWHERE};
	found = in_list ? find_elsewhere(txn, entry, absence) : 0;
	if (found)
		return found < 0 ? found : 0;
	absence->kind = XB_ABSENCE_TWIN;
	found = find_twin(txn, entry, absence);
	if (found)
		return found < 0 ? found : 0;
	found = xb_cover_find(txn, entry, &absence->cover);
	absence->kind = absence->cover.found ? XB_ABSENCE_COVERED : XB_ABSENCE_ALL;
	return found;
}

void xb_absence_free(struct xb_absence *absence)
{
	xb_list_names_free(&absence->lists);
	xb_cover_free(&absence->cover);
}
