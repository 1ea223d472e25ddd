/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/meta.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/program.h"
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

static int of_another_version(uint32_t schema)
{
	bool newer = schema > XB_SCHEMA_FLEET;

	return xb_system_error(0,
			       "the store was written by %s %s (schema %u, this one has %d): use "
			       "that one; what is in force stays%s",
			       newer ? "a newer" : "an older", xb_program(), schema,
			       XB_SCHEMA_FLEET,
			       xb_advice(newer ? XB_ADVICE_GO_BACK : XB_ADVICE_BRING_OVER));
}

static int damaged(void)
{
	return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
}

/* The schema comes first in all of them. Whether the record is damaged can be told only of one of
 * the present size, and not of a newer one. */
int xb_meta_decode(const MDB_val *value, struct xb_meta *meta)
{
	bool sized = value->mv_size == sizeof(*meta), sealed;
	uint32_t schema = 0, checksum;

	if (value->mv_size < sizeof(schema))
		return damaged();
	memcpy(&schema, value->mv_data, sizeof(schema));
	if (schema > XB_SCHEMA_FLEET || (schema < XB_SCHEMA && !sized))
		return of_another_version(schema);
	if (!sized)
		return damaged();
	memcpy(meta, value->mv_data, sizeof(*meta));
	checksum = meta->checksum;
	sealed = checksum == xb_meta_checksum(meta);
	if (!sealed)
		return damaged();
	return schema < XB_SCHEMA ? of_another_version(schema) : 0;
}
