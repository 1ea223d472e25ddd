/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of shared lists, as tests of a fleet write them down. */
#ifndef XB_TEST_FLEETCHANGES_H
#define XB_TEST_FLEETCHANGES_H

#include <string.h>

#include "store/outbox.h"
#include "support/cmocka.h"
#include "support/listed.h"

/* comment NULL: a delete; "": a put without one. */
struct change_row {
	const char *list, *entry, *comment;
	uint32_t added, expires;
};

static inline void add_row(struct xb_shared_changes *changes, const struct change_row *row)
{
	struct xb_shared_change change = {
		.entry = entry_of(row->entry),
		.list = row->list,
		.put = row->comment,
		.added = row->added,
		.expires = row->expires,
		.comment = row->comment ? row->comment : "",
		.comment_size = row->comment ? (uint32_t)strlen(row->comment) : 0,
	};

	assert_int_equal(xb_shared_changes_add(changes, &change), 0);
}

#endif
