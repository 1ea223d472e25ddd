/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes a list in a store as no command does, so that the fleet does not hear of it: what a host
 * has then is not what it should have.
 *
 *  plant STATE put LIST ENTRY [EXPIRES [COMMENT]]
 *  plant STATE del LIST ENTRY
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/fleet.h"
#include "store/membership.h"

static int change(struct xb_txn *txn, int argc, char **argv)
{
	struct xb_membership member = {.added = 1};
	uint8_t name[XB_NAME_BYTES];
	struct xb_entry entry;
	struct xb_list *list;
	enum xb_removal removal;
	enum xb_put put;
	int error = xb_list_need(txn, argv[3], &list);

	if (!error)
		error = xb_entry_parse(argv[4], strlen(argv[4]), name, &entry, NULL);
	if (error)
		return error;
	member.list = list->id;
	member.expires = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0;
	member.comment = argc > 6 ? argv[6] : "";
	member.comment_size = (uint32_t)strlen(member.comment);
	xb_fleet_applies(txn, true);
	if (!strcmp(argv[2], "del"))
		return xb_member_remove(txn, &entry, list->id, &removal);
	return xb_member_put(txn, &entry, &member, XB_RENEW_EXPIRY | XB_RENEW_COMMENT, &put);
}

int main(int argc, char **argv)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error;

	if (argc < 5)
		return 2;
	error = xb_store_open(argv[1], XB_STORE_CREATE, &store);
	if (!error)
		error = xb_store_write(store, &txn);
	if (!error)
		error = change(txn, argc, argv);
	if (!error)
		error = xb_txn_commit(txn);
	if (error)
		fprintf(stderr, "plant: %s\n", xb_error_message());
	else
		xb_store_close(store);
	return error ? 1 : 0;
}
