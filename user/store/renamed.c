/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sealed record: the number of the transaction, the renamed interfaces one behind the other, the
 * checksum. */
#include "store/renamed.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/lmdberror.h"
#include "store/sealedrecord.h"

_Static_assert(sizeof(struct xb_renamed) == 36, "store format");

#define KEY    "renamed"
#define AROUND (sizeof(uint64_t) + sizeof(uint32_t)) /* number and checksum */

static bool is_name(const char *name)
{
	return name[0] && memchr(name, 0, IF_NAMESIZE);
}

static bool are_names(const struct xb_renamed *renamed, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_name(renamed[i].former) || !is_name(renamed[i].name))
			return false;
	return true;
}

int xb_renamed_get(struct xb_txn *txn, struct xb_renamed **renamed, size_t *count)
{
	uint64_t number;
	const void *record = NULL;
	size_t size = 0;
	int found = xb_sealed_find(txn, KEY, &record, &size);

	*renamed = NULL;
	*count = 0;
	if (found <= 0)
		return found;
	if (size < AROUND + sizeof(**renamed) || (size - AROUND) % sizeof(**renamed))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	memcpy(&number, record, sizeof(number));
	if (number != mdb_txn_id(txn->txn))
		return 1;
	*renamed = malloc(size - AROUND);
	if (!*renamed)
		return xb_out_of_memory();
	memcpy(*renamed, (const uint8_t *)record + sizeof(number), size - AROUND);
	*count = (size - AROUND) / sizeof(**renamed);
	if (are_names(*renamed, *count))
		return 1;
	free(*renamed);
	*renamed = NULL;
	*count = 0;
	return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
}

int xb_renamed_put(struct xb_txn *txn, const struct xb_renamed *renamed, size_t count)
{
	size_t bytes = count * sizeof(*renamed);
	uint8_t *record = malloc(AROUND + bytes);
	uint64_t number = mdb_txn_id(txn->txn);
	int error;

	if (!record)
		return xb_out_of_memory();
	memcpy(record, &number, sizeof(number));
	memcpy(record + sizeof(number), renamed, bytes);
	error = xb_sealed_put(txn, KEY, record, AROUND + bytes);
	free(record);
	return error;
}

int xb_renamed_remove(struct xb_txn *txn)
{
	return xb_sealed_remove(txn, KEY);
}

int xb_renamed_carry(struct xb_txn *txn)
{
	uint64_t number;
	const void *found = NULL;
	uint8_t *record;
	size_t size = 0;
	int error = xb_sealed_find(txn, KEY, &found, &size);

	if (error <= 0 || size < AROUND)
		return error < 0 ? error : 0;
	memcpy(&number, found, sizeof(number));
	if (number + 1 != mdb_txn_id(txn->txn))
		return 0;
	record = malloc(size);
	if (!record)
		return xb_out_of_memory();
	memcpy(record, found, size);
	number++;
	memcpy(record, &number, sizeof(number));
	error = xb_sealed_put(txn, KEY, record, size);
	free(record);
	return error;
}
