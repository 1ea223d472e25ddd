/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that some configuration lists or allows; frames are made near it. */
#ifndef XB_PACKETS_UNIVERSE_H
#define XB_PACKETS_UNIVERSE_H

#include "support/rig.h"
#include "domains.h"

#define HOSTS	 8000
#define PREFIXES 2000
#define NETS	 4000
#define ALLOWED	 600
#define NAMES	 2400
#define EXEMPT	 240

struct named {
	char text[262]; /* with "=" in front if it is alone */
	uint8_t form[XB_NAME_BYTES];
	enum domain_verdict verdict;
};

struct universe {
	struct xb_entry hosts[HOSTS], prefixes[PREFIXES], nets[NETS], allowed[ALLOWED];
	struct named names[NAMES], exempt[EXEMPT];
};

/* The same for the same seed. The caller frees it. */
struct universe *universe_new(uint64_t seed);

static inline uint32_t below(uint64_t *chance, uint32_t limit)
{
	return (uint32_t)(rig_random(chance) >> 32) % limit;
}

static inline bool one_in(uint64_t *chance, uint32_t limit)
{
	return !below(chance, limit);
}

/* An address in, beside or far from what is there; bytes in network order. */
void universe_address(const struct universe *universe, uint64_t *chance, bool ipv6, uint8_t *out);

/* Labels and the root of a name below, above, beside or far from what is there; at most 500 bytes,
 * which may be more than a name has. */
#define QUESTION_BYTES 500
uint32_t universe_name(const struct universe *universe, uint64_t *chance, uint8_t *out);

#endif
