/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a del did not find: the wider entry that covers it, and the command for what is wanted. */
#include "bloomctl/absent.h"

#include <stdio.h>

#include "base/error.h"

/* Lists have names of 64 characters at most. */
#define WHERE_BYTES 160

/* "list a and 2 more" */
static const char *name_lists(const struct xb_list_names *lists, char out[WHERE_BYTES])
{
	size_t used = 0;

	out[0] = '\0';
	if (lists->count)
		used = (size_t)snprintf(out, WHERE_BYTES, "list %s", lists->item[0].text);
	if (lists->count > 1)
		snprintf(out + used, WHERE_BYTES - used, " and %zu more", lists->count - 1);
	return out;
}

const char *absent_cover(const struct xb_cover *cover, const struct xb_entry *entry,
			 char how[ABSENT_HOW])
{
	const char *kind = xb_list_names_automatic(&cover->lists);
	char text[XB_ENTRY_TEXT], wide[XB_ENTRY_TEXT], where[WHERE_BYTES];

	xb_entry_format(entry, text);
	xb_entry_format(&cover->entry, wide);
	name_lists(&cover->lists, where);
	if (!xb_entry_is_allow(entry))
		snprintf(how, ABSENT_HOW, "%s (%s) covers it; to exempt it: bloomctl allow add %s",
			 wide, where, text);
	else if (kind)
		snprintf(how, ABSENT_HOW,
			 "%s is allowed automatically; to end that: bloomctl allow refuse %s", wide,
			 kind);
	else
		snprintf(how, ABSENT_HOW, "%s (%s) covers it; to end that: bloomctl allow del %s",
			 wide, where, wide);
	return how;
}

void absent_error(const struct xb_absence *absence, const struct xb_entry *entry, const char *list)
{
	bool allow = xb_entry_is_allow(entry);
	char text[XB_ENTRY_TEXT], twin[XB_ENTRY_TEXT], how[ABSENT_HOW], where[WHERE_BYTES];

	xb_entry_format(entry, text);
	switch (absence->kind) {
	case XB_ABSENCE_ELSEWHERE:
		xb_input_error("%s is not in list %s, but in %s", text, list,
			       name_lists(&absence->lists, where));
		break;
	case XB_ABSENCE_TWIN:
		xb_input_error("%s is not %s, only that name alone: bloomctl %sdel %s", text,
			       allow ? "on the allowlist" : "listed", allow ? "allow " : "",
			       xb_entry_format(&absence->twin, twin));
		break;
	case XB_ABSENCE_COVERED:
		xb_input_error("%s has no entry of its own%s: %s", text,
			       allow ? " on the allowlist" : "",
			       absent_cover(&absence->cover, entry, how));
		break;
	case XB_ABSENCE_ALL:
		xb_input_error("%s is not %s%s", text,
			       list    ? "in list "
			       : allow ? "on the allowlist"
				       : "listed",
			       list ? list : "");
	}
}
