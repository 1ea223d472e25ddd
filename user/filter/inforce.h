/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the generation that is in force, by the program in the slot, and opens it. */
#ifndef XB_FILTER_INFORCE_H
#define XB_FILTER_INFORCE_H

#include "filter/generation.h"

/*
 * Opens the generation in force. -ENOENT without a message: none is; -ESTALE without a message: an
 * older version built it. Of a newer version, it is an error. Without its counters it can be looked
 * at (file is -1), not changed.
 */
int xb_generation_open(const struct xb_paths *paths, const struct xb_anchor *anchor,
		       struct xb_generation **generation);

/* Does the same for the generation that a trial has put in force for all interfaces. */
int xb_generation_open_tried(const struct xb_paths *paths, const struct xb_anchor *anchor,
			     struct xb_generation **generation);

/* The error for the generation in force if a newer version built it, which then stays as it is. */
int xb_generation_refuse_newer(const struct xb_anchor *anchor);

/* A descriptor of the program in the slot: a generation's, or the guard of a trial. By its pin,
 * since opening by number takes CAP_SYS_ADMIN. -ENOENT without a message: the slot is empty. */
int xb_generation_slot_program(const struct xb_anchor *anchor);

#endif
