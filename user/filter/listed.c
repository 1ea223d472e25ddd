/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/listed.h"

#include <errno.h>

#include "store/membership.h"

int xb_listed_for_all(struct xb_txn *txn, const struct xb_entry *entry)
{
	struct xb_members members;
	int error = xb_members_of(txn, entry, &members);

	if (error)
		return error == -ENOENT ? 0 : error;
	return (xb_members_classes(txn, members) & XB_CLASSES_ALL) != 0;
}

int xb_listed_around(struct xb_txn *txn, const struct xb_entry *prefix)
{
	struct xb_entry wider = *prefix;
	int listed = 0;

	while (!listed && xb_entry_widen(&wider))
		listed = xb_listed_for_all(txn, &wider);
	return listed;
}
