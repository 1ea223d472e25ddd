/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file "known" of the state directory: what is known, for after the next boot. */
#ifndef XB_ENGINE_KNOWNFILE_H
#define XB_ENGINE_KNOWNFILE_H

#include "attach/knownpins.h"
#include "base/paths.h"

#define XB_KNOWN_FILE "known"

/*
 * Under XB_KNOWN_LOCK. Writes what the kernel has, whole or not at all; durable when it returns 0.
 * -EAGAIN: it was changed by a writer since it was opened; open it anew.
 */
int xb_knownfile_save(const struct xb_paths *paths, struct xb_knownpins *known);

/*
 * Creates maps from the file, and turns them by the time that has passed since it was written; the
 * caller publishes them. Time that went back counts as none. -ENOENT without a message: there is no
 * file. -EUCLEAN with a message: it is damaged, or of another version.
 */
int xb_knownfile_load(const struct xb_paths *paths, struct xb_knownpins *known);

/* Under XB_KNOWN_LOCK. Removes it; none is no error. */
int xb_knownfile_remove(const struct xb_paths *paths);

/* When it was written, in seconds since 1970; 0: there is none that can be read. */
uint64_t xb_knownfile_saved(const struct xb_paths *paths);

#endif
