/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store in a fleet: its shares, and what waits in its outbox, as text. */
#ifndef XB_TEST_WAITING_H
#define XB_TEST_WAITING_H

#include "store/fleet.h"
#include "store/outbox.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

/* "NUMBER+ENTRY LIST[ until TIME][ (COMMENT)]; NUMBER-ENTRY LIST; ...", in order. */
static inline void assert_waiting(const char *expected)
{
	struct xb_shared_changes changes;
	struct listed_text out = {0};
	char text[XB_ENTRY_TEXT], line[1024];

	assert_int_equal(xb_outbox_read(txn, SIZE_MAX, SIZE_MAX, &changes), 0);
	for (size_t i = 0; i < changes.count; i++) {
		const struct xb_shared_change *change = &changes.item[i];
		int used = snprintf(line, sizeof(line), "%s%llu%c%s %s", i ? "; " : "",
				    (unsigned long long)changes.number[i], change->put ? '+' : '-',
				    xb_entry_format(&change->entry, text), change->list);

		if (change->expires)
			used += snprintf(line + used, sizeof(line) - (size_t)used, " until %u",
					 change->expires);
		if (change->comment_size)
			snprintf(line + used, sizeof(line) - (size_t)used, " (%.*s)",
				 (int)change->comment_size, change->comment);
		add_text(&out, "%s", line);
	}
	xb_shared_changes_free(&changes);
	assert_string_equal(out.text, expected);
}

/* As change_lists() of listed.h takes it. */
static inline void commit_change(const char *texts)
{
	change_lists(txn, texts);
	commit_and_go_on();
}

/* In the fleet `f`, with a list that is shared so. */
static inline void share(const char *list, uint32_t flags)
{
	assert_int_equal(xb_fleet_join(txn, "f"), 0);
	assert_int_equal(xb_share_set(txn, list, flags), 0);
}

#endif
