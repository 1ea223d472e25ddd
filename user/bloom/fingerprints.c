/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloom/fingerprints.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "xdp_bloom/hash.h"

uint64_t xb_fingerprints_slots(uint64_t count)
{
	return count + count / 2 + 16;
}

int xb_fingerprints_make(struct xb_fingerprints *set, uint64_t slots)
{
	*set = (struct xb_fingerprints){
		.slot = calloc(slots, sizeof(*set->slot)), .slots = slots, .owned = true};
	return set->slot ? 0 : xb_out_of_memory();
}

void xb_fingerprints_free(struct xb_fingerprints *set)
{
	if (set->owned)
		free(set->slot);
}

bool xb_fingerprints_adopt(struct xb_fingerprints *set, uint64_t *slot, uint64_t slots)
{
	*set = (struct xb_fingerprints){.slot = slot, .slots = slots};
	for (uint64_t i = 0; i < slots; i++)
		set->held += slot[i] != 0;
	return set->held < slots;
}

static uint64_t home_of(const struct xb_fingerprints *set, uint64_t hash)
{
	return (uint64_t)((unsigned __int128)hash * set->slots >> 64);
}

static uint64_t next_of(const struct xb_fingerprints *set, uint64_t at)
{
	return at + 1 < set->slots ? at + 1 : 0;
}

/* How many of the hash there are; *at: the last of them; *end: the free slot behind. */
static unsigned int find(const struct xb_fingerprints *set, uint64_t hash, uint64_t *at,
			 uint64_t *end)
{
	unsigned int copies = 0;
	uint64_t i = home_of(set, hash);

	for (; set->slot[i]; i = next_of(set, i)) {
		if (set->slot[i] != hash)
			continue;
		*at = i;
		copies++;
	}
	*end = i;
	return copies;
}

static int grow(struct xb_fingerprints *set)
{
	struct xb_fingerprints larger;
	int error = xb_fingerprints_make(&larger, set->slots * 2);

	for (uint64_t i = 0; !error && i < set->slots; i++) {
		uint64_t at, end;

		if (!set->slot[i])
			continue;
		find(&larger, set->slot[i], &at, &end);
		larger.slot[end] = set->slot[i];
	}
	if (error)
		return error;
	larger.held = set->held;
	xb_fingerprints_free(set);
	*set = larger;
	return 0;
}

int xb_fingerprints_add(struct xb_fingerprints *set, uint64_t hash)
{
	uint64_t at, end;
	int error = (set->held + 1) * 4 > set->slots * 3 ? grow(set) : 0;

	if (error)
		return error;
	hash = xb_fingerprint(hash);
	if (find(set, hash, &at, &end) >= XB_FINGERPRINT_COPIES)
		return 0;
	set->slot[end] = hash;
	set->held++;
	return 0;
}

/* Whether a hash at `from` may move to the free slot `to`: its home is not between them. */
static bool may_move(const struct xb_fingerprints *set, uint64_t to, uint64_t from)
{
	uint64_t home = home_of(set, set->slot[from]);

	return to < from ? home <= to || home > from : home <= to && home > from;
}

bool xb_fingerprints_take(struct xb_fingerprints *set, uint64_t hash)
{
	uint64_t at = 0, end;
	unsigned int copies = find(set, xb_fingerprint(hash), &at, &end);

	if (!copies || copies >= XB_FINGERPRINT_COPIES)
		return copies > 0;
	for (uint64_t i = next_of(set, at); set->slot[i]; i = next_of(set, i))
		if (may_move(set, at, i)) {
			set->slot[at] = set->slot[i];
			at = i;
		}
	set->slot[at] = 0;
	set->held--;
	return true;
}
