/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/covers.h"

#include <errno.h>
#include <string.h>

void xb_covers_begin(const struct xb_entry *asked, struct xb_covers *covers)
{
	*covers = (struct xb_covers){.next = *asked, .more = true};
	if (!xb_entry_is_name(asked))
		return;
	memcpy(covers->form, asked->name, asked->length);
	covers->next.name = covers->form;
	if (!xb_name_is_exact(asked->name, asked->length))
		covers->form[covers->next.length++] = 0;
}

int xb_covers_next(struct xb_txn *txn, struct xb_covers *covers, struct xb_members *members)
{
	while (covers->more) {
		int error;

		covers->entry = covers->next;
		covers->more = xb_entry_widen(&covers->next);
		error = xb_members_of(txn, &covers->entry, members);
		if (error && error != -ENOENT)
			return error;
		if (!error && xb_members_any(*members))
			return 1;
	}
	return 0;
}
