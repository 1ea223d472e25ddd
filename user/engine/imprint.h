/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a list is already what a file says: by the imprint that the list has of the file it was
 * last replaced by. */
#ifndef XB_ENGINE_IMPRINT_H
#define XB_ENGINE_IMPRINT_H

#include "lists/reader.h"
#include "store/types.h"

/* An imprint that is being taken of a file as it is read. */
struct xb_imprinting {
	struct xb_imprint of;
	struct xb_siphash hash;
};

/* Draws a key, and begins the hash with all that decides what the bytes of a file mean: the build
 * of this program, the terms, and whether bogons are taken. Returns 0, or an error with its
 * message. */
int xb_imprint_begin(struct xb_imprinting *taken, const struct xb_listfile_terms *terms,
		     bool bogons);

/* After the file was read, its bytes went into taken->hash, and bogons were left out of it (how
 * many). The items are as they are to be listed. The result is all zero if another reading of the
 * same bytes may mean something else or has something to tell: if entries expire, lines or entries
 * were left out or altered, or this build cannot be told from others. Whether the file has names is
 * for the caller to say. */
struct xb_imprint xb_imprint_end(struct xb_imprinting *taken, const struct xb_listfile *file,
				 uint64_t bogons);

/* Whether the file has this imprint. It must be one that can be read again; one that cannot be read
 * has none. Another size tells without reading. */
bool xb_imprint_matches(const struct xb_imprint *imprint, const char *path,
			const struct xb_listfile_terms *terms, bool bogons);

#endif
