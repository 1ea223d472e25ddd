/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/knownwish.h"

#include "store/sealedrecord.h"

struct record {
	uint32_t on, remember;
	uint64_t capacity;
	double rate;
	uint32_t reserved;
	uint32_t checksum;
};

#define KEY "known"

int xb_known_wish_get(struct xb_txn *txn, struct xb_known_wish *wish)
{
	struct record record;
	int found = xb_sealed_get(txn, KEY, &record, sizeof(record));

	*wish = (struct xb_known_wish){.remember = XB_KNOWN_REMEMBER,
				       .capacity = XB_KNOWN_CAPACITY,
				       .rate = XB_KNOWN_RATE};
	if (found <= 0)
		return found;
	*wish = (struct xb_known_wish){.on = record.on,
				       .remember = record.remember,
				       .capacity = record.capacity,
				       .rate = record.rate};
	return 0;
}

int xb_known_wish_put(struct xb_txn *txn, const struct xb_known_wish *wish)
{
	struct record record = {.on = wish->on,
				.remember = wish->remember,
				.capacity = wish->capacity,
				.rate = wish->rate};

	return xb_sealed_put(txn, KEY, &record, sizeof(record));
}
