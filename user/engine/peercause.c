/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/peercause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "machine/peerfile.h"
#include "model/policy.h"
#include "store/covers.h"
#include "store/lists.h"
#include "store/wanted.h"

/* One that has all packets from its entries dropped; NULL: there is none. */
static const char *list_that_drops(struct xb_txn *txn, struct xb_members members)
{
	struct xb_membership member;

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (list && list->class == XB_CLASS_ALL)
			return list->name;
	}
	return NULL;
}

/* Whether an entry of the allowlist covers it; what cannot be read counts as one. */
static bool is_allowed(struct xb_txn *txn, const struct xb_entry *address)
{
	const struct xb_entry allowed = xb_entry_allow(address);
	struct xb_members members;
	struct xb_covers covers;

	xb_covers_begin(&allowed, &covers);
	return xb_covers_next(txn, &covers, &members) != 0;
}

/* NULL: none has it dropped. *entry: the one of the list that covers the address. */
static const char *find_list(struct xb_txn *txn, const struct xb_entry *address,
			     struct xb_entry *entry)
{
	struct xb_members members;
	struct xb_covers covers;
	const char *name = NULL;

	if (is_allowed(txn, address))
		return NULL;
	xb_covers_begin(address, &covers);
	while (!name && xb_covers_next(txn, &covers, &members) > 0)
		name = list_that_drops(txn, members);
	if (name)
		*entry = covers.entry;
	return name;
}

/* False: it is not listed. */
static bool tell(struct xb_txn *txn, const struct xb_peer *peer, char *out, size_t room)
{
	char address[XB_ENTRY_TEXT], covering[XB_ENTRY_TEXT];
	struct xb_entry entry;
	const char *list = find_list(txn, &peer->address, &entry);

	if (!list)
		return false;
	xb_entry_format(&peer->address, address);
	xb_entry_format(&entry, covering);
	if (xb_entry_compare(&peer->address, &entry) != 0)
		snprintf(out, room, "%s, where bloomd asks %s, is listed (%s, list %s): ", address,
			 peer->host, covering, list);
	else
		snprintf(out, room, "%s, where bloomd asks %s, is listed (list %s): ", address,
			 peer->host, list);
	return true;
}

/* Whether what is listed is dropped at all. */
static bool is_enforced(struct xb_txn *txn)
{
	struct xb_wanted *wanted = NULL;
	size_t count = 0;

	if (txn->meta.policy != XB_POLICY_ENFORCE || xb_wanted_all(txn, &wanted, &count))
		return false;
	free(wanted);
	return count > 0;
}

static void look(struct xb_txn *txn, const struct xb_peer_list *peers, const char *host, char *out,
		 size_t room)
{
	bool told = !is_enforced(txn);

	for (size_t i = 0; !told && i < peers->count; i++)
		told = !strcmp(peers->item[i].host, host) && tell(txn, &peers->item[i], out, room);
}

void xb_peer_cause(const struct xb_paths *paths, const char *url, const char *message, char *out,
		   size_t room)
{
	char host[XB_PEER_HOST_MAX], cause[2 * XB_ENTRY_TEXT + XB_PEER_HOST_MAX + 128] = "";
	struct xb_peer_list peers = {0};
	struct xb_store *store = NULL;
	struct xb_txn *txn = NULL;

	if (xb_peer_host(url, host) && !xb_peers_read(paths->run, time(NULL), &peers) &&
	    !xb_store_begin_reading(paths->state, &store, &txn))
		look(txn, &peers, host, cause, sizeof(cause));
	xb_store_end_reading(store, txn);
	xb_peers_free(&peers);
	snprintf(out, room, "%s%s", cause, message);
}
