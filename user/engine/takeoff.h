/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way off that is always open: interfaces lose the program though the store cannot say so. */
#ifndef XB_ENGINE_TAKEOFF_H
#define XB_ENGINE_TAKEOFF_H

#include "base/paths.h"

/*
 * Takes the program off the interfaces of these names, wanted or on trial; names NULL: off all.
 * Only the kernel is changed: whoever repairs next attaches what the store still wants. *taken: how
 * many. Waits for the writer lock as long as there is patience, and goes on without it then.
 */
int xb_take_off(const struct xb_paths *paths, char *const *names, int count, int *taken);

#endif
