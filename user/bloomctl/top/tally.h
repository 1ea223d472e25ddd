/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts drops by source, for as many sources as there is room. */
#ifndef XB_CLI_TOP_TALLY_H
#define XB_CLI_TOP_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "model/entry.h"
#include "xdp_bloom/layout.h"

struct tally_source {
	struct xb_entry source; /* kind 0: nothing is here */
	uint64_t packets;
	uint32_t ifindex; /* of its last drop, as the reason */
	uint8_t reason, limit;
	uint8_t protocol; /* the same; with ports in network byte order, 0: not told */
	uint16_t sport, dport;
};

/* All zero before the first drop. */
struct tally {
	struct tally_source *slots;
	size_t used;
	uint64_t seen; /* drops, also those for whose sources there was no room */
};

/* Returns 0 or an error with its message. */
int tally_add(struct tally *tally, const struct xb_drop *drop);

/* Copies the sources with most packets, at most `most` of them, and returns how many they are. The
 * tally begins anew. */
size_t tally_take(struct tally *tally, struct tally_source *out, size_t most);

void tally_free(struct tally *tally);

#endif
