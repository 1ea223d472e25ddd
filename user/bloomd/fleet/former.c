/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/former.h"

#include "bloomd/fleet/logentry.h"
#include "store/logtail.h"

static int keep(struct xb_txn *txn, uint64_t term, uint64_t position)
{
	struct logentry entry = {0};
	const void *bytes;
	size_t size;
	int found = xb_logtail_get(txn, term, position, &bytes, &size);
	int error = found < 0 ? found : 0;

	if (found > 0)
		error = logentry_read(bytes, size, &entry);
	if (found > 0 && !error)
		error = xb_fleet_former_put(txn, position, entry.chain);
	logentry_free(&entry);
	return error;
}

int former_cut(struct xb_txn *txn, uint64_t term, uint64_t position)
{
	uint64_t first, last, count;
	int error = xb_logtail_span(txn, term, &first, &last);

	if (error)
		return error;
	count = last > position && first ? last - (first > position ? first - 1 : position) : 0;
	if (count > XB_FLEET_FORMER_MOST)
		count = XB_FLEET_FORMER_MOST;
	for (; !error && count; count--)
		error = keep(txn, term, last - count + 1);
	if (!error)
		error = xb_fleet_former_trim(txn);
	return error ? error : xb_logtail_cut(txn, term, position);
}
