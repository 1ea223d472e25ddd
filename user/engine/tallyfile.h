/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of the tallies: found, created, mapped, and looked for again. One for each state
 * directory, because installations may share a run directory. */
#ifndef XB_ENGINE_TALLYFILE_H
#define XB_ENGINE_TALLYFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/paths.h"

/* What the file begins with. A file of another layout is replaced, not read. */
struct xb_tallyfile_header {
	uint64_t magic;
	uint64_t layout; /* a hash of where everything lies */
};

/*
 * The mapped file, all zero behind its header when it is new; NULL: it cannot be used. size and
 * layout are the same in each call. create: makes it if it is not there. It is mapped once; a child
 * of fork() maps it anew.
 *
 * The file is sparse. A page may be touched only if xb_tallyfile_reserve() gave it room, now or
 * earlier; the first XB_TALLYFILE_FRONT bytes have room from the start.
 */
#define XB_TALLYFILE_FRONT 4096
void *xb_tallyfile(const struct xb_paths *paths, size_t size, uint64_t layout, bool create);

/* Gives these bytes of the mapped file room. False: there is none. */
bool xb_tallyfile_reserve(size_t offset, size_t size);

/* Keeps other processes that call this out until xb_tallyfile_unlock(); false: one of them is in,
 * for the few microseconds that it takes, or the mapped file cannot be written. */
bool xb_tallyfile_try_lock(void);
void xb_tallyfile_unlock(void);

/* Whether the mapped file can be written. */
bool xb_tallyfile_is_writable(void);

/* Unmaps the file if it is not the one that the path has now. */
void xb_tallyfile_look(const struct xb_paths *paths);
void xb_tallyfile_close(void);

#endif
