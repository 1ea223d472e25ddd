/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An entry of the fleet's log, as bytes and as what they say: docs/design.md, "The log". */
#ifndef XB_BLOOMD_LOGENTRY_H
#define XB_BLOOMD_LOGENTRY_H

#include "bloomd/fleet/mac.h"
#include "store/fleet.h"
#include "store/outbox.h"

#define LOGENTRY_CHANGES 1000	 /* at most */
#define LOGENTRY_BYTES	 1048576 /* at most */

enum logentry_kind { LOGENTRY_CHANGE = 1, LOGENTRY_BEGIN = 2, LOGENTRY_BEAT = 3 };

struct logentry {
	enum logentry_kind kind;
	uint64_t term;
	uint8_t epoch[XB_FLEET_ID];
	uint8_t publisher[XB_FLEET_ID];
	uint64_t first, last;	       /* numbers of the publisher's changes; 0: it has none */
	uint64_t time;		       /* ms since 1970, by the publisher's clock */
	uint8_t snapshot[XB_FLEET_ID]; /* of a begin: the snapshot from which it goes on */
	uint8_t chain[MAC_BYTES];
	struct xb_shared_changes changes; /* in the order of the log */
};
void logentry_free(struct logentry *entry);

/*
 * Writes the entry for this position behind an entry with the chain `before`; sets entry->chain.
 * *bytes: the caller frees. Returns 0 or an error with its message: what could not be read again
 * is not written.
 */
int logentry_write(struct logentry *entry, const struct mac_key *key, uint64_t position,
		   const uint8_t before[MAC_BYTES], uint8_t **bytes, size_t *size);

/*
 * Reads an entry of untrusted bytes; the chain is not checked. Every field is: an entry that cannot
 * be listed, too wide, of the allowlist, a list's name that is none, a comment that is not UTF-8 or
 * too long, more changes than allowed, or bytes left over are errors, and so is a field that could
 * be written otherwise: what was read is written as the same bytes. Returns 0, or an error with its
 * message; the caller frees the entry in either case.
 */
int logentry_read(const void *bytes, size_t size, struct logentry *entry);

/* Whether the entry with these bytes has the chain that it must have at that position, and it is
 * one. 1: it has; 0: it has not; negative: error. */
int logentry_chains(const void *bytes, size_t size, const struct mac_key *key, uint64_t position,
		    const uint8_t before[MAC_BYTES]);

#endif
