/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/cursors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"

void cursors_free(struct cursors *cursors)
{
	free(cursors->kept);
	*cursors = (struct cursors){0};
}

/* They begin at random, so that a number from before a restart is not mistaken. */
static int begin(struct cursors *cursors)
{
	uint32_t random = 0;

	cursors->kept = calloc(CURSORS, sizeof(*cursors->kept));
	if (!cursors->kept)
		return xb_out_of_memory();
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = 0;
	cursors->last = (uint64_t)random << 20;
	return 0;
}

uint64_t cursors_keep(struct cursors *cursors, const struct xb_entry *entry)
{
	struct cursor *cursor;

	if (!cursors->kept && begin(cursors))
		return 0;
	cursor = &cursors->kept[++cursors->last % CURSORS];
	cursor->number = cursors->last;
	cursor->size = (uint8_t)(xb_entry_encode(entry, cursor->key) - 1);
	return cursor->number;
}

bool cursors_find(const struct cursors *cursors, uint64_t number, struct xb_entry *entry)
{
	const struct cursor *cursor;

	if (!cursors->kept || !number)
		return false;
	cursor = &cursors->kept[number % CURSORS];
	return cursor->number == number &&
	       xb_entry_decode(cursor->key, (size_t)cursor->size + 1, entry);
}
