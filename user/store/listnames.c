/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/listnames.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int xb_list_names_of(struct xb_txn *txn, struct xb_members members, uint32_t only,
		     struct xb_list_names *names)
{
	struct xb_members again = members;
	struct xb_membership member;
	size_t room = 0;

	*names = (struct xb_list_names){0};
	while (xb_members_next(&again, &member))
		room++;
	if (!room)
		return 0;
	names->item = calloc(room, sizeof(*names->item));
	if (!names->item)
		return xb_out_of_memory();
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (list && (only == XB_ANY_LIST || only == list->id))
			memcpy(names->item[names->count++].text, list->name, sizeof(list->name));
	}
	return 0;
}

void xb_list_names_free(struct xb_list_names *names)
{
	free(names->item);
	*names = (struct xb_list_names){0};
}

const char *xb_list_names_automatic(const struct xb_list_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strncmp(names->item[i].text, XB_LIST_AUTO, strlen(XB_LIST_AUTO)))
			return names->item[i].text + strlen(XB_LIST_AUTO);
	return NULL;
}
