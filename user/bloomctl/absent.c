/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a del did not find: the wider entry that covers it, and the command for what is wanted. */
#include "bloomctl/absent.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomctl/show.h"

/* Lists have names of 64 characters at most. */
#define WHERE_BYTES 160

/* "list a and 2 more" */
static void name_lists(struct xb_txn *txn, struct xb_members members, char out[WHERE_BYTES])
{
	struct xb_membership member;
	size_t used = 0, more = 0;

	out[0] = '\0';
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (list && !used)
			used = (size_t)snprintf(out, WHERE_BYTES, "list %s", list->name);
		else
			more += list != NULL;
	}
	if (more)
		snprintf(out + used, WHERE_BYTES - used, " and %zu more", more);
}

/* The automatic list among them, by its kind; NULL: there is none. */
static const char *automatic_kind(struct xb_txn *txn, struct xb_members members)
{
	struct xb_membership member;

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (list && xb_list_is_auto(list))
			return list->name + strlen(XB_LIST_AUTO);
	}
	return NULL;
}

/* The longest entry that is wider; 1: there is one. */
static int find_cover(struct xb_txn *txn, const struct xb_entry *entry, struct covers *covers,
		      struct xb_members *members)
{
	int more;

	show_covers(entry, covers);
	do
		more = show_next_cover(txn, covers, members);
	while (more > 0 && (!xb_entry_compare(&covers->entry, entry) ||
			    !xb_entry_inside(&covers->entry, entry)));
	return more;
}

#define HOW_BYTES 800

/* What covers the entry, and which command ends that for it. */
static void tell_cover(struct xb_txn *txn, const struct xb_entry *entry,
		       const struct xb_entry *cover, struct xb_members members, char how[HOW_BYTES])
{
	const char *kind = automatic_kind(txn, members);
	char text[XB_ENTRY_TEXT], wide[XB_ENTRY_TEXT], where[WHERE_BYTES];

	xb_entry_format(entry, text);
	xb_entry_format(cover, wide);
	name_lists(txn, members, where);
	if (!xb_entry_is_allow(entry))
		snprintf(how, HOW_BYTES, "%s (%s) covers it; to exempt it: bloomctl allow add %s",
			 wide, where, text);
	else if (kind)
		snprintf(how, HOW_BYTES,
			 "%s is allowed automatically; to end that: bloomctl allow refuse %s", wide,
			 kind);
	else
		snprintf(how, HOW_BYTES, "%s (%s) covers it; to end that: bloomctl allow del %s",
			 wide, where, wide);
}

/* A domain and the name alone are two entries. */
static bool twin(struct xb_txn *txn, const struct xb_entry *entry, char text[XB_ENTRY_TEXT])
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry exact = *entry;
	struct xb_members members;

	if (!xb_entry_is_name(entry) || xb_name_is_exact(entry->name, entry->length))
		return false;
	memcpy(form, entry->name, entry->length);
	exact.name = form;
	form[exact.length++] = 0;
	if (xb_members_of(txn, &exact, &members)) {
		xb_error_clear();
		return false;
	}
	xb_entry_format(&exact, text);
	return true;
}

int absent_error(struct xb_txn *txn, const struct xb_entry *entry, const char *list)
{
	bool allow = xb_entry_is_allow(entry);
	char text[XB_ENTRY_TEXT], other[XB_ENTRY_TEXT], how[HOW_BYTES];
	struct xb_members members;
	struct covers covers;

	xb_entry_format(entry, text);
	if (list && !xb_members_of(txn, entry, &members)) {
		name_lists(txn, members, how);
		xb_input_error("%s is not in list %s, but in %s", text, list, how);
	} else if (twin(txn, entry, other)) {
		xb_input_error("%s is not %s, only that name alone: bloomctl %sdel %s", text,
			       allow ? "on the allowlist" : "listed", allow ? "allow " : "", other);
	} else if (find_cover(txn, entry, &covers, &members) > 0) {
		tell_cover(txn, entry, &covers.entry, members, how);
		xb_input_error("%s has no entry of its own%s: %s", text,
			       allow ? " on the allowlist" : "", how);
	} else {
		xb_input_error("%s is not %s%s", text,
			       list    ? "in list "
			       : allow ? "on the allowlist"
				       : "listed",
			       list ? list : "");
	}
	return 1;
}

json_t *absent_cover(struct xb_txn *txn, const struct xb_entry *entry)
{
	struct xb_members members;
	struct covers covers;
	char how[HOW_BYTES];

	if (find_cover(txn, entry, &covers, &members) <= 0)
		return NULL;
	tell_cover(txn, entry, &covers.entry, members, how);
	return json_string(how);
}
