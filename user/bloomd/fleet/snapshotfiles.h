/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fleet's snapshot as files in a directory, for any web server to hand out: one is called
 * "manifest", and each of the others is a chunk, whose name never has another content. */
#ifndef XB_BLOOMD_SNAPSHOTFILES_H
#define XB_BLOOMD_SNAPSHOTFILES_H

#include "bloomd/fleet/manifest.h"

#define SNAPSHOT_MANIFEST "manifest"
#define SNAPSHOT_NAME	  96 /* bytes of a name */

/* "ID-NUMBER-MAC" of a chunk, ID and MAC in hex. Returns name. */
const char *snapshotfile_name(const struct manifest *manifest, size_t chunk,
			      char name[SNAPSHOT_NAME]);

/* The manifest that the directory has. Returns 1; 0 without a message: there is none that is whole
 * and made with the key. The caller frees it in either case. */
int snapshotfiles_read(const char *directory, const struct mac_key *key, struct manifest *manifest);

/*
 * Puts a snapshot into the directory: chunks (from a file as of chunkfile.h), then the manifest,
 * each written under another name, made durable and renamed; so whoever reads the manifest finds
 * all that it names. Then chunks go that are neither of this snapshot nor of that which the
 * directory had before; so who began with that one can end. Returns 0, or an error with its
 * message: then the directory has what it had before. For one process at a time.
 */
int snapshotfiles_write(const char *directory, const struct manifest *manifest,
			const struct mac_key *key, int chunks);

#endif
