/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/edits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "model/bogon.h"
#include "store/expiry.h"
#include "store/membership.h"

void edits_free(struct edits *edits)
{
	free(edits->op);
	free(edits->slot);
	free(edits->sorted);
	xb_arena_free(&edits->names);
	*edits = (struct edits){0};
}

#define KEPT 2048 /* entries for which the memory is kept */

void edits_clear(struct edits *edits)
{
	if (edits->op_room > KEPT)
		edits_free(edits);
	xb_arena_free(&edits->names);
	edits->count = 0;
}

static int check_width(const struct xb_entry *entry)
{
	const char *reason = xb_too_wide(entry);
	char text[XB_ENTRY_TEXT];

	if (!reason)
		return 0;
	xb_entry_format(entry, text);
	if (xb_entry_is_name(entry))
		return xb_input_error("%s has no dot and may be a whole top-level domain; it can "
				      "only be added by hand",
				      text);
	return xb_input_error("%s is a prefix %s; it can only be added by hand", text, reason);
}

int edits_take(struct edits *edits, struct edit *edit, uint32_t number, const char *text,
	       size_t size, uint32_t expires)
{
	uint8_t form[XB_NAME_BYTES];
	struct edit_op *op;
	int error;

	if (xb_array_grow(&edits->op, &edits->op_room, edits->count + 1, sizeof(*edits->op)) ||
	    xb_array_grow(&edits->slot, &edits->slot_room, edits->count + 1, sizeof(*edits->slot)))
		return -EIO;
	op = &edits->op[edits->count];
	error = (edit->allow ? xb_entry_parse : xb_entry_parse_listed)(text, size, form, &op->entry,
								       NULL);
	if (!error && edit->add)
		error = check_width(&op->entry);
	if (error)
		return error;
	if (xb_entry_is_name(&op->entry)) {
		op->entry.name = xb_arena_copy(&edits->names, form, op->entry.length);
		if (!op->entry.name)
			return -EIO;
	}
	if (edit->allow)
		op->entry = xb_entry_allow(&op->entry);
	op->slot = (uint32_t)edits->count;
	op->edit = number;
	edits->slot[edits->count++] = (struct edit_slot){.expires = expires};
	edit->count++;
	return 0;
}

void edits_cancel(struct edits *edits, struct edit *edit)
{
	edits->count -= edit->count;
	edit->count = 0;
}

static struct xb_edit_terms terms_of(const struct edit *edit)
{
	return (struct xb_edit_terms){.add = edit->add,
				      .exist = true,
				      .allow = edit->allow,
				      .list = edit->list,
				      .lasts = edit->timed,
				      .id = edit->id};
}

void edits_begin(struct edits *edits)
{
	edits->sorting = 0;
}

int edits_gather(struct edits *edits, struct xb_writer *writer, struct edit *edit)
{
	struct xb_edit_terms terms = terms_of(edit);
	struct xb_edit_refusal refusal;
	int error;

	if (xb_array_grow(&edits->sorted, &edits->sorted_room, edits->sorting + edit->count,
			  sizeof(*edits->sorted)))
		return -EIO;
	error = xb_edit_begin(writer, &terms, &refusal);
	if (error)
		return error;
	edit->id = terms.id;
	memcpy(edits->sorted + edits->sorting, edits->op + edit->first,
	       edit->count * sizeof(*edits->op));
	edits->sorting += edit->count;
	return 0;
}

/* Whether the rules of the edit let the entry be put; as ZADD has them, never is later than any
 * time. */
static bool allows(struct xb_txn *txn, const struct edit *edit, const struct xb_entry *entry,
		   uint32_t expires, int *error)
{
	struct xb_membership old;
	struct xb_members members;
	bool there;

	*error = xb_members_of(txn, entry, &members);
	if (*error && *error != -ENOENT)
		return false;
	there = !*error && xb_members_have(members, edit->id, &old);
	*error = 0;
	if (!there)
		return !(edit->rules & EDIT_OLD_ONLY);
	if (edit->rules & EDIT_NEW_ONLY)
		return false;
	/* One less than 0 is the largest of all. */
	if (edit->rules & EDIT_LATER_ONLY)
		return expires - 1 > old.expires - 1;
	return !(edit->rules & EDIT_SOONER_ONLY) || expires - 1 < old.expires - 1;
}

static int set_timeout(const struct xb_writer *writer, uint32_t expires,
		       struct xb_edit_terms *terms)
{
	if (expires && expires <= writer->now)
		return xb_input_error("the time %u is past", expires);
	terms->timeout = expires ? expires - writer->now : 0;
	return 0;
}

static int apply_one(struct edits *edits, struct xb_writer *writer, const struct edit *edit,
		     const struct edit_op *op)
{
	struct xb_edit_terms terms = terms_of(edit);
	struct edit_slot *slot = &edits->slot[op->slot];
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;
	int error = set_timeout(writer, slot->expires, &terms);

	slot->outcome = EDIT_SAME;
	if (!error && writer->overdue)
		error = xb_expiry_settle(writer->txn, &op->entry, writer->now, &writer->expired);
	if (!error && edit->rules && !allows(writer->txn, edit, &op->entry, slot->expires, &error))
		return error;
	if (!error)
		error = xb_edit_apply(writer, &terms, &op->entry, &result, &refusal);
	if (error)
		return error;
	slot->outcome = (uint8_t)(result.added	   ? EDIT_ADDED
				  : result.renewed ? EDIT_RENEWED
				  : result.removed ? EDIT_REMOVED
						   : EDIT_SAME);
	return 0;
}

int edits_apply(struct edits *edits, struct xb_writer *writer,
		const struct edit *(*find)(const void *all, uint32_t number), const void *all)
{
	int error = 0;

	if (edits->sorting > 1) {
		error = xb_entry_sort(&edits->sorted, edits->sorting, sizeof(*edits->sorted));
		edits->sorted_room = edits->sorting;
	}
	for (size_t i = 0; !error && i < edits->sorting; i++)
		error = apply_one(edits, writer, find(all, edits->sorted[i].edit),
				  &edits->sorted[i]);
	return error;
}

uint32_t edits_count(const struct edits *edits, const struct edit *edit, enum edit_outcome outcome)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < edit->count; i++)
		count += edits->slot[edit->first + i].outcome == (uint8_t)outcome;
	return count;
}
