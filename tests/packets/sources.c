/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and prefixes, on the oracle that compares prefixes. */
#include "sources.h"

#include <stdlib.h>

#include "support/oracle.h"

enum set { PREFIX4, HOST4, NET6, ALLOWED, SETS };

struct sources {
	struct oracle set[SETS];
	bool has[SETS];
};

struct sources *sources_new(void)
{
	return calloc(1, sizeof(struct sources));
}

void sources_free(struct sources *sources)
{
	for (int set = 0; set < SETS; set++)
		oracle_free(&sources->set[set]);
	free(sources);
}

void sources_add(struct sources *sources, const struct xb_entry *entry)
{
	enum set set = xb_entry_is_allow(entry)	 ? ALLOWED
		       : xb_entry_is_ipv6(entry) ? NET6
		       : entry->length > 24	 ? HOST4
						 : PREFIX4;

	sources->has[set] = true;
	oracle_add(&sources->set[set], entry);
}

void sources_sort(struct sources *sources)
{
	for (int set = 0; set < SETS; set++)
		oracle_sort(&sources->set[set]);
}

static uint64_t word(const uint8_t *at)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | at[i];
	return value;
}

/* covering() of an entry says of which kind what covers it is. */
static struct xb_entry entry_of(const struct address *address)
{
	return (struct xb_entry){
		.hi = word(address->byte),
		.lo = address->ipv6 ? word(address->byte + 8) : 0,
		.kind = address->ipv6 ? XB_NET6 : XB_HOST4,
		.length = address->ipv6 ? 128 : 32,
	};
}

enum source_found sources_find(const struct sources *sources, const struct address *address)
{
	struct xb_entry entry = entry_of(address);

	if (address->ipv6)
		return oracle_covers(&sources->set[NET6], &entry) ? SOURCE_IN_NET6 : SOURCE_CLEAN;
	if (oracle_covers(&sources->set[PREFIX4], &entry))
		return SOURCE_IN_PREFIX4;
	return oracle_covers(&sources->set[HOST4], &entry) ? SOURCE_IS_HOST4 : SOURCE_CLEAN;
}

bool sources_allow(const struct sources *sources, const struct address *address)
{
	struct xb_entry entry = entry_of(address), allowed = xb_entry_allow(&entry);

	return oracle_covers(&sources->set[ALLOWED], &allowed);
}

bool sources_guess(const struct sources *sources, bool ipv6)
{
	return sources->has[ipv6 ? NET6 : HOST4];
}
