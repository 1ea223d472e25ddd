/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tail of a fleet's log at the taker of fleethosts.h. */
#ifndef XB_TESTS_FLEETTAIL_H
#define XB_TESTS_FLEETTAIL_H

#include "bloomd/fleet/logentry.h"
#include "store/logtail.h"
#include "support/fleetchanges.h"
#include "support/fleethosts.h"

static uint64_t tail_time = 1; /* ms since 1970: when its entries were written */

/* An entry of the log with one change, in the taker's tail. */
static inline void apply(uint64_t term, uint64_t position, const uint8_t of[XB_FLEET_ID],
			 const uint8_t publisher[XB_FLEET_ID], uint64_t number,
			 const struct change_row *row)
{
	struct logentry entry = {.kind = LOGENTRY_CHANGE, .term = term, .time = tail_time};
	uint8_t before[MAC_BYTES] = {0}, *bytes;
	size_t size;

	entry.first = entry.last = number;
	memcpy(entry.epoch, of, sizeof(entry.epoch));
	memcpy(entry.publisher, publisher, sizeof(entry.publisher));
	add_row(&entry.changes, row);
	assert_int_equal(logentry_write(&entry, &key, position, before, &bytes, &size), 0);
	assert_int_equal(xb_logtail_append(at(&taker), term, position, bytes, size), 0);
	assert_int_equal(xb_fleet_mark_raise(at(&taker), publisher, number), 0);
	free(bytes);
	logentry_free(&entry);
	if (row->comment)
		list_with(at(&taker), row->entry, row->list, row->expires, row->comment);
	else
		unlist(at(&taker), row->entry, row->list);
}

static inline void own_id(uint8_t id[XB_FLEET_ID])
{
	struct xb_fleet fleet;

	assert_int_equal(xb_fleet_get(at(&taker), &fleet), 1);
	memcpy(id, fleet.host, XB_FLEET_ID);
}

/* The taker's epoch has ended at its position 40 for the maker; the taker went on to 50. */
static inline void part_at_40(void)
{
	struct xb_ancestor ancestor = {.term = 1, .position = 40};

	memcpy(ancestor.epoch, epoch, sizeof(ancestor.epoch));
	stand(&maker, other_epoch, 2, 100);
	assert_int_equal(xb_fleet_lineage_put(at(&maker), &ancestor, 1), 0);
}

/* The taker's tail from 41 to 50, but for what a test applies itself. */
static inline void fill_tail(uint64_t from, uint64_t to)
{
	for (uint64_t position = from; position <= to; position++)
		apply(1, position, epoch, stranger, position,
		      &(struct change_row){"names", "filler.example.com", "", 1, 0});
}

#endif
