/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network namespace in which a writer is: whether the wanted interfaces are those of this one,
 * and the anchor, too. */
#ifndef XB_ENGINE_PLACE_H
#define XB_ENGINE_PLACE_H

#include "engine/context.h"
#include "store/home.h"

/* Where this process is, seen from the home of the wanted interfaces. If the filter of this store
 * is in force here, that decides, whatever the record says. */
enum xb_place xb_place_of(const struct xb_writer *writer, uint64_t store,
			  const struct xb_home *home);

/* Whether the anchor is of another network namespace, is on no interface there, and will be on
 * none. wanted: the store wants interfaces. */
bool xb_place_is_dead(const struct xb_anchor *anchor, bool wanted);

/*
 * Before a repair: refuses a writer that is in another network namespace than the anchor or the
 * home of the wanted interfaces, unless it may write the store alone; that one has writer->away
 * then. A dead anchor is removed, and the store learns its home where it has none, or an heir takes
 * its place.
 */
int xb_place_choose(struct xb_writer *writer);

#endif
