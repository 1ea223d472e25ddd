/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/stamp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"

static void to_text(const struct xb_imprint *imprint, char stamp[XB_STAMP_TEXT])
{
	snprintf(stamp, XB_STAMP_TEXT, "%016" PRIx64 "%016" PRIx64, imprint->key[0],
		 imprint->key[1]);
}

static bool has(const struct xb_list *list, const char *stamp)
{
	struct xb_imprint mark = {.key = {list->imprint.key[0], list->imprint.key[1]}};
	char text[XB_STAMP_TEXT];

	to_text(&mark, text);
	return xb_imprint_is(&mark) && xb_imprint_equals(&list->imprint, &mark) &&
	       !strcmp(text, stamp);
}

int xb_stamp_put(struct xb_txn *txn, const char *list, char stamp[XB_STAMP_TEXT])
{
	struct xb_list *found = xb_list_by_name(txn, list);
	struct xb_imprint mark = {0};

	if (has(found, stamp))
		return 0;
	if (getrandom(mark.key, sizeof(mark.key), 0) != sizeof(mark.key))
		return xb_system_error(errno, "no random numbers");
	xb_list_set_imprint(txn, found, &mark);
	to_text(&mark, stamp);
	return 0;
}

bool xb_stamp_holds(const char *state, const char *list, const char *stamp)
{
	const struct xb_list *found;
	struct xb_store *store;
	struct xb_txn *txn;
	bool holds;

	if (xb_store_begin_reading(state, &store, &txn)) {
		xb_error_clear();
		return false;
	}
	found = xb_list_find(txn, list);
	holds = found && has(found, stamp);
	xb_store_end_reading(store, txn);
	return holds;
}
