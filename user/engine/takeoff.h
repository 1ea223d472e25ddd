/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last way off: detaches interfaces even if the store cannot be written. */
#ifndef XB_ENGINE_TAKEOFF_H
#define XB_ENGINE_TAKEOFF_H

#include "base/paths.h"

/*
 * Takes the program off the interfaces with these names; names NULL: off all. It changes only the
 * kernel, so the next repair attaches the interfaces that the store still wants. It waits for the
 * writer lock as long as the process may (base/patience.h), and then goes on without it. *taken:
 * how many interfaces lost the program, or are left with it and let everything pass. Returns 0,
 * also if there is no anchor, or the first error.
 */
int xb_take_off(const struct xb_paths *paths, char *const *names, int count, int *taken);

#endif
