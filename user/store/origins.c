/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sealed record: the lists that have origins, one behind the other, and the checksum. A list that
 * is gone may still be in it: numbers of lists are not given again. */
#include "store/origins.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/lists.h"
#include "store/lmdberror.h"
#include "store/sealedrecord.h"

struct item {
	uint32_t list, origins;
};
_Static_assert(sizeof(struct item) == 8, "store format");

#define KEY	 "origins"
#define CHECKSUM sizeof(uint32_t)

uint32_t xb_list_origins(const struct xb_list *list)
{
	return list->members ? list->origins : 0;
}

void xb_list_come_from(struct xb_txn *txn, struct xb_list *list, enum xb_origin origin)
{
	if (list->origins >> origin & 1)
		return;
	list->origins |= 1U << origin;
	txn->edits++;
}

static void take(struct xb_txn *txn, const uint8_t *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct xb_list *list;
		struct item item;

		memcpy(&item, items + i * sizeof(item), sizeof(item));
		list = xb_list_by_id(txn, item.list);
		if (!list)
			continue;
		list->stored_origins = item.origins;
		list->origins = list->members ? item.origins : 0;
	}
}

int xb_origins_load(struct xb_txn *txn)
{
	const void *record = NULL;
	size_t size = 0;
	int found = xb_sealed_find(txn, KEY, &record, &size);

	if (found < 0)
		return found;
	if (found && size % sizeof(struct item) != CHECKSUM)
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	if (found)
		take(txn, record, size / sizeof(struct item));
	return 0;
}

/* *count: how many lists have origins. Returns whether any has others than the record says. */
static bool count_items(const struct xb_txn *txn, size_t *count)
{
	bool differs = false;

	*count = 0;
	for (size_t i = 0; i < txn->list_count; i++) {
		uint32_t origins = xb_list_origins(&txn->lists[i]);

		*count += origins != 0;
		differs |= origins != txn->lists[i].stored_origins;
	}
	return differs;
}

static size_t write_items(const struct xb_txn *txn, uint8_t *record)
{
	size_t size = 0;

	for (size_t i = 0; i < txn->list_count; i++) {
		const struct xb_list *list = &txn->lists[i];
		struct item item = {list->id, xb_list_origins(list)};

		if (!item.origins)
			continue;
		memcpy(record + size, &item, sizeof(item));
		size += sizeof(item);
	}
	return size;
}

int xb_origins_save(struct xb_txn *txn)
{
	uint8_t *record;
	size_t count;
	int error;

	if (!count_items(txn, &count))
		return 0;
	if (!count)
		return xb_sealed_remove(txn, KEY);
	record = calloc(1, count * sizeof(struct item) + CHECKSUM);
	if (!record)
		return xb_out_of_memory();
	error = xb_sealed_put(txn, KEY, record, write_items(txn, record) + CHECKSUM);
	free(record);
	return error;
}
