/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/table.h"

#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

#define SLOTS_LEAST 1024
#define ALIGNED	    4 /* bytes: a place is counted in these */
#define MOST_BYTES  ((uint64_t)UINT32_MAX * ALIGNED)
#define ROOM_LEAST  4096

struct entry {
	uint32_t size;
	struct tally tally;
	char text[];
};

static void *map(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t slot_bytes(const struct table *table)
{
	return (table->mask + 1) * sizeof(*table->slots);
}

int table_open(struct table *table, const struct rule *rule, struct budget *budget)
{
	uint64_t left = budget_left(budget);

	*table = (struct table){.rule = rule, .mask = SLOTS_LEAST - 1, .budget = budget};
	table->bytes = left < MOST_BYTES ? left : MOST_BYTES;
	budget_use(budget, table->bytes);
	table->room = table->bytes > ROOM_LEAST ? table->bytes : ROOM_LEAST;
	table->texts = map(table->room);
	table->slots = map(slot_bytes(table));
	table->used = ALIGNED; /* no entry has place 0 */
	return table->texts && table->slots ? 0 : xb_out_of_memory();
}

void table_close(struct table *table)
{
	if (table->texts)
		munmap(table->texts, table->room);
	if (table->slots)
		munmap(table->slots, slot_bytes(table));
	if (table->budget)
		budget_return(table->budget, table->bytes);
	*table = (struct table){0};
}

void table_clear(struct table *table)
{
	memset(table->slots, 0, slot_bytes(table));
	table->used = ALIGNED;
	table->count = 0;
}

static struct entry *entry_at(const struct table *table, uint64_t slot)
{
	return (struct entry *)(table->texts + (uint64_t)(uint32_t)slot * ALIGNED);
}

/* The former slots are still there while the new ones are filled. */
static int grow(struct table *table)
{
	uint64_t size = 2 * slot_bytes(table), *former = table->slots, before = table->mask + 1;

	if (table->used + size + size / 2 > table->room)
		return TABLE_FULL;
	table->slots = map(size);
	if (!table->slots) {
		table->slots = former;
		return xb_out_of_memory();
	}
	table->mask = 2 * before - 1;
	for (uint64_t i = 0; i < before; i++) {
		uint64_t at = former[i] >> 32 & table->mask;

		if (!former[i])
			continue;
		while (table->slots[at])
			at = (at + 1) & table->mask;
		table->slots[at] = former[i];
	}
	munmap(former, before * sizeof(*former));
	return 0;
}

static int add(struct table *table, uint64_t at, uint32_t file, uint64_t hash, const char *text,
	       size_t size)
{
	uint64_t bytes = (sizeof(struct entry) + size + ALIGNED - 1) / ALIGNED * ALIGNED;
	struct entry *entry;

	if (table->used + bytes + slot_bytes(table) > table->room)
		return TABLE_FULL;
	table->slots[at] = hash << 32 | table->used / ALIGNED;
	entry = entry_at(table, table->slots[at]);
	entry->size = (uint32_t)size;
	rule_begin(&entry->tally, file);
	memcpy(entry->text, text, size);
	table->used += bytes;
	table->count++;
	return 0;
}

int table_take(struct table *table, uint32_t file, uint64_t hash, const char *text, size_t size)
{
	uint64_t at;

	if (2 * table->count > table->mask) {
		int full = grow(table);

		if (full)
			return full;
	}
	for (at = hash & UINT32_MAX & table->mask; table->slots[at]; at = (at + 1) & table->mask) {
		struct entry *entry;

		if (table->slots[at] >> 32 != (uint32_t)hash)
			continue;
		entry = entry_at(table, table->slots[at]);
		if (entry->size == size && !memcmp(entry->text, text, size)) {
			rule_again(table->rule, &entry->tally, file);
			return 0;
		}
	}
	return add(table, at, file, hash, text, size);
}

int table_give(const struct table *table, table_giver *give, void *to)
{
	int stop = 0;

	for (uint64_t at = ALIGNED; !stop && at < table->used;) {
		const struct entry *entry = (const struct entry *)(table->texts + at);

		if (rule_holds(table->rule, &entry->tally))
			stop = give(to, entry->text, entry->size);
		at += (sizeof(*entry) + entry->size + ALIGNED - 1) / ALIGNED * ALIGNED;
	}
	return stop;
}
