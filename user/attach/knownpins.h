/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known sources, as pinned: their maps, and the program that learns. They outlive generations, and
 * need no anchor. */
#ifndef XB_ATTACH_KNOWNPINS_H
#define XB_ATTACH_KNOWNPINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mapping.h"
#include "xdp_bloom/known.h"

#define XB_KNOWN_PINS "known" /* directory below the pin directory */

struct xb_knownpins {
	const char *pins; /* the pin directory; not owned */
	int state, sets, counts;
	int met; /* -1: they were pinned by a version that did not count handshakes */
	int set[XB_KNOWN_SETS]; /* -1: there is none */
	struct xb_mapping window;
	struct xb_known *known; /* as the programs see it, and change it */
	struct xb_mapping bits[XB_KNOWN_SETS];
};

extern const struct xb_knownpins xb_no_knownpins;

/* Opens what is pinned. -ENOENT without a message: nothing is, or nothing that this version can
 * use. */
int xb_knownpins_open(const char *pins, struct xb_knownpins *known);
/* The error for those of a newer version, which stay as they are. */
int xb_knownpins_refuse_newer(const char *pins);
void xb_knownpins_close(struct xb_knownpins *known);

/* Creates the maps from `state`, with empty sets of its sizes, apart from all others, for this
 * network namespace and with an identity of their own. The caller fills them, and publishes or
 * closes them. */
int xb_knownpins_create(const char *pins, const struct xb_known *state, struct xb_knownpins *known);
/* From then on xb_knownpins_open() finds them. Former ones are gone, but for programs that have
 * them. */
int xb_knownpins_publish(struct xb_knownpins *known);

/* Maps the bits of a set into memory. */
struct xb_known_line *xb_knownpins_lines(struct xb_knownpins *known, uint32_t set);
/* Whether all sets of this state are mapped: a writer may have added or ended one since they were
 * opened. */
bool xb_knownpins_have(const struct xb_knownpins *known, const struct xb_known *state);

/* Adds an empty set under a number that is free. It does not learn yet. */
int xb_knownpins_add(struct xb_knownpins *known, uint32_t set, uint32_t lines);
/* Ends one, which must not be the one that learns. */
void xb_knownpins_remove(struct xb_knownpins *known, uint32_t set);

/* Loads the program that learns, and attaches it to the root of cgroup v2. */
int xb_knownpins_learn(struct xb_knownpins *known);
/* Whether it is attached, to a group that is there, and counts handshakes. */
bool xb_knownpins_learns(const char *pins);

/* What all processors have counted: XB_KNOWN_LEARNED and so on. */
int xb_knownpins_counts(const struct xb_knownpins *known, uint64_t sum[XB_KNOWN_COUNTS]);

/* What the source (hi: IPv4 in the upper half, or the /64) has completed with this port, host byte
 * order. All zero: nothing, as far as is remembered. */
int xb_knownpins_met(const struct xb_knownpins *known, bool ipv4, uint64_t hi, uint16_t port,
		     struct xb_met *met);

/* Takes the program off, and forgets the maps. Nothing there is no error. */
void xb_knownpins_destroy(const char *pins);

/* The identity of what is pinned; 0: nothing is. */
uint64_t xb_knownpins_identity(const char *pins);

#endif
