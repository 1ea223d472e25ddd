/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where walks over a list go on. The cursors of SSCAN are numbers, too small for a place in the
 * store; so the places are kept here, the last ones. */
#ifndef XB_BLOOMD_CURSORS_H
#define XB_BLOOMD_CURSORS_H

#include "model/entry.h"

#define CURSORS 256

/* All zero: none. */
struct cursors {
	struct cursor {
		uint64_t number;
		uint8_t size;
		uint8_t key[XB_ENTRY_KEY_BYTES]; /* of the entry to go on with */
	} * kept;
	uint64_t last;
};
void cursors_free(struct cursors *cursors);

/* The number for this place, never 0; 0: there is no memory. */
uint64_t cursors_keep(struct cursors *cursors, const struct xb_entry *entry);

/* False: the number is none of the last ones. The entry's name lies in the cursors. */
bool cursors_find(const struct cursors *cursors, uint64_t number, struct xb_entry *entry);

#endif
