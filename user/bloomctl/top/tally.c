/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table of fixed size with linear probing. A source that has most packets comes early, so a
 * flood from ever new sources that fills the table does not hide it. */
#include "bloomctl/top/tally.h"

#include <stdlib.h>
#include <string.h>

#include "attach/drops.h"
#include "base/error.h"

#define SLOTS 16384 /* a power of two */
#define FULL  (SLOTS / 4 * 3)

static size_t first_slot(const struct xb_entry *source)
{
	uint64_t mixed = (source->hi ^ source->lo * 0x9e3779b97f4a7c15U) * 0xff51afd7ed558ccdU;

	return (mixed >> 40) % SLOTS;
}

static struct tally_source *find(const struct tally *tally, const struct xb_entry *source)
{
	for (size_t i = first_slot(source);; i = (i + 1) % SLOTS) {
		struct tally_source *slot = &tally->slots[i];

		if (!slot->source.kind || !xb_entry_compare(&slot->source, source))
			return slot;
	}
}

int tally_add(struct tally *tally, const struct xb_drop *drop)
{
	struct xb_entry source = xb_drop_source(drop);
	struct tally_source *slot;

	if (!tally->slots)
		tally->slots = calloc(SLOTS, sizeof(*tally->slots));
	if (!tally->slots)
		return xb_out_of_memory();
	tally->seen++;
	slot = find(tally, &source);
	if (!slot->source.kind) {
		if (tally->used == FULL)
			return 0;
		tally->used++;
		slot->source = source;
	}
	slot->packets++;
	slot->ifindex = drop->ifindex;
	slot->reason = drop->reason;
	slot->limit = drop->limit;
	slot->protocol = drop->protocol;
	slot->sport = drop->sport;
	slot->dport = drop->dport;
	return 0;
}

static int by_packets(const void *a, const void *b)
{
	const struct tally_source *one = a, *other = b;

	if (one->packets != other->packets)
		return one->packets < other->packets ? 1 : -1;
	return xb_entry_compare(&one->source, &other->source);
}

size_t tally_take(struct tally *tally, struct tally_source *out, size_t most)
{
	size_t count = 0, taken;

	for (size_t i = 0; tally->used && i < SLOTS; i++)
		if (tally->slots[i].source.kind)
			tally->slots[count++] = tally->slots[i];
	if (count)
		qsort(tally->slots, count, sizeof(*tally->slots), by_packets);
	taken = count < most ? count : most;
	if (taken)
		memcpy(out, tally->slots, taken * sizeof(*out));
	if (tally->used)
		memset(tally->slots, 0, SLOTS * sizeof(*tally->slots));
	tally->used = 0;
	tally->seen = 0;
	return taken;
}

void tally_free(struct tally *tally)
{
	free(tally->slots);
	*tally = (struct tally){0};
}
