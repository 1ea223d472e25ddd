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

static inline void assert_same_change(const struct xb_shared_change *a,
				      const struct xb_shared_change *b)
{
	assert_int_equal(xb_entry_compare(&a->entry, &b->entry), 0);
	assert_string_equal(a->list, b->list);
	assert_int_equal(a->put, b->put);
	assert_int_equal(a->added, b->added);
	assert_int_equal(a->expires, b->expires);
	assert_int_equal(a->comment_size, b->comment_size);
	assert_memory_equal(a->comment, b->comment, a->comment_size);
}

#endif
