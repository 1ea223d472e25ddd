/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/passed.h"

#include <string.h>

#include "bloomd/fleet/logentry.h"
#include "store/logtail.h"

/* Whether the tail has the entry of the snapshot's place: 1; 0: it has none, or another. */
static int has_place(struct xb_txn *txn, const struct manifest *manifest)
{
	const void *bytes;
	size_t size;
	int found = xb_logtail_get(txn, manifest->term, manifest->position, &bytes, &size);

	if (found <= 0)
		return found;
	return size >= MAC_BYTES &&
	       !memcmp((const uint8_t *)bytes + size - MAC_BYTES, manifest->chain, MAC_BYTES);
}

/* Whether it has the entry behind that place, as that of a host that has taken this snapshot. */
static int has_next(struct xb_txn *txn, const struct manifest *manifest, const struct mac_key *key)
{
	uint64_t position = manifest->position + 1;
	const void *bytes;
	size_t size;
	int found = xb_logtail_get(txn, manifest->term, position, &bytes, &size);

	return found > 0 ? logentry_chains(bytes, size, key, position, manifest->chain) : found;
}

int passed_place(struct xb_txn *txn, const struct xb_fleet *fleet, const struct manifest *manifest,
		 const struct mac_key *key)
{
	int found = fleet->position == manifest->position &&
		    !memcmp(fleet->chain, manifest->chain, MAC_BYTES);

	if (!found)
		found = has_place(txn, manifest);
	return found ? found : has_next(txn, manifest, key);
}
