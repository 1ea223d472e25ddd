/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sealed record: the renamed interfaces one behind the other, and the checksum. */
#include "store/renamed.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/lmdberror.h"
#include "store/sealedrecord.h"

_Static_assert(sizeof(struct xb_renamed) == 36, "store format");

#define KEY "renamed"

static bool is_name(const char *name)
{
	return name[0] && memchr(name, 0, IF_NAMESIZE);
}

int xb_renamed_get(struct xb_txn *txn, struct xb_renamed **renamed, size_t *count)
{
	const void *record;
	size_t size;
	int found = xb_sealed_find(txn, KEY, &record, &size);

	*renamed = NULL;
	*count = 0;
	if (found <= 0)
		return found;
	size -= sizeof(uint32_t);
	if (!size || size % sizeof(**renamed))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	*renamed = malloc(size);
	if (!*renamed)
		return xb_out_of_memory();
	memcpy(*renamed, record, size);
	*count = size / sizeof(**renamed);
	for (size_t i = 0; i < *count; i++)
		if (!is_name((*renamed)[i].former) || !is_name((*renamed)[i].name)) {
			free(*renamed);
			*renamed = NULL;
			*count = 0;
			return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
		}
	return 0;
}

int xb_renamed_put(struct xb_txn *txn, const struct xb_renamed *renamed, size_t count)
{
	size_t bytes = count * sizeof(*renamed);
	uint8_t *record = malloc(bytes + sizeof(uint32_t));
	int error;

	if (!record)
		return xb_out_of_memory();
	memcpy(record, renamed, bytes);
	error = xb_sealed_put(txn, KEY, record, bytes + sizeof(uint32_t));
	free(record);
	return error;
}

int xb_renamed_remove(struct xb_txn *txn)
{
	return xb_sealed_remove(txn, KEY);
}
