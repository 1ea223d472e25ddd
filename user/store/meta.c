/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/meta.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "store/checksum.h"
#include "store/lmdberror.h"

int xb_meta_draw(uint64_t *number)
{
	*number = 0;
	while (!*number)
		if (getrandom(number, sizeof(*number), 0) < 0)
			return xb_system_error(errno, "no random numbers");
	return 0;
}

int xb_meta_new(struct xb_meta *meta)
{
	*meta = (struct xb_meta){.schema = XB_SCHEMA,
				 .next_list = 1,
				 .ports.dns[0] = XB_DNS_PORT,
				 .answer_limit = XB_ANSWER_LIMIT};
	return xb_meta_draw(&meta->identity);
}

double xb_meta_rate(const struct xb_meta *meta)
{
	return meta->rate > 0 ? meta->rate
			      : (meta->unconfirmed ? XB_DEFAULT_RATE : XB_CONFIRMED_RATE);
}

/* Made while the checksum itself is 0. */
uint32_t xb_meta_checksum(struct xb_meta *meta)
{
	meta->checksum = 0;
	meta->checksum = xb_checksum(NULL, 0, meta, sizeof(*meta));
	return meta->checksum;
}

/* Schemas 3 to 5 ended before the mark; 5 was the first with a checksum. */
static int upgrade_unmarked(struct xb_meta *meta, const MDB_val *value)
{
	uint32_t checksum;

	*meta = (struct xb_meta){0};
	memcpy(meta, value->mv_data, XB_META_WITHOUT_MARK);
	if (meta->schema == 5) {
		checksum = meta->checksum;
		meta->checksum = 0;
		if (checksum != xb_checksum(NULL, 0, meta, XB_META_WITHOUT_MARK))
			return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	}
	if (meta->schema < 3 || meta->schema > 5)
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	meta->schema = XB_SCHEMA;
	meta->answer_limit = XB_ANSWER_LIMIT;
	return 0;
}

int xb_meta_upgrade_sealed(struct xb_meta *meta, const MDB_val *value)
{
	bool limited = value->mv_size == sizeof(*meta);
	uint32_t checksum, schema;

	*meta = (struct xb_meta){0};
	memcpy(meta, value->mv_data, value->mv_size);
	checksum = meta->checksum;
	meta->checksum = 0;
	schema = meta->schema;
	if ((limited ? schema < 7 || schema > 10 : schema != 6) ||
	    checksum != xb_checksum(NULL, 0, meta, value->mv_size))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	meta->schema = schema == 10 ? XB_SCHEMA_FLEET : XB_SCHEMA;
	if (!limited)
		meta->answer_limit = XB_ANSWER_LIMIT;
	return 0;
}

/* Schema 1 ended before the number of allowed entries, and had its default rate written out. Schema
 * 2 had no names: their number was not in the totals, and it ended before the ports. */
int xb_meta_upgrade(struct xb_meta *meta, const MDB_val *value)
{
	const size_t first = offsetof(struct xb_meta, totals.allow),
		     front = offsetof(struct xb_meta, totals.names),
		     back = offsetof(struct xb_meta, ports) - offsetof(struct xb_meta, policy);
	const char *bytes = value->mv_data;

	if (value->mv_size == XB_META_WITHOUT_MARK)
		return upgrade_unmarked(meta, value);
	*meta = (struct xb_meta){.ports.dns[0] = XB_DNS_PORT, .answer_limit = XB_ANSWER_LIMIT};
	if (value->mv_size == first) {
		memcpy(meta, bytes, first);
		if (!(meta->rate > XB_DEFAULT_RATE) && !(meta->rate < XB_DEFAULT_RATE))
			meta->rate = 0;
	} else if (value->mv_size == front + back) {
		memcpy(meta, bytes, front);
		memcpy(&meta->policy, bytes + front, back);
	} else {
		return xb_system_error(0, "the store is of another version of this program");
	}
	meta->schema = XB_SCHEMA;
	return 0;
}
