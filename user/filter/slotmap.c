/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lengths get slots once, in front of the first bit that names them. */
#include "filter/slotmap.h"

#include "filter/lengthmap.h"

/* Cells for each listed /32, so that a clean source seldom falls on that of another one; and for
 * those to come. */
#define CELLS_EACH  4
#define CELLS_SPARE 8192
#define CELLS_WORD  8

/* Of the table of other lengths, whose cells are wider. */
#define OTHERS_SPARE 1024

static uint64_t head_of(const struct xb_entry *entry)
{
	return entry->hi >> 32;
}

/* Entries of each length. */
static void count_lengths(const struct xb_entry *entries, size_t count, size_t lengths[129])
{
	for (size_t i = 0; i < count; i++)
		lengths[entries[i].length]++;
}

/* The length that should have the next slot: that of most entries; 129: none is left. Its count
 * becomes 0. */
static uint32_t next_length(size_t lengths[129])
{
	uint32_t best = 129;

	for (uint32_t length = 0; length <= 128; length++) {
		if (!lengths[length])
			continue;
		if (best == 129 || lengths[length] > lengths[best])
			best = length;
	}
	if (best < 129)
		lengths[best] = 0;
	return best;
}

/* Returns the number of the slot, or -1. */
static int slot_of(const uint8_t *lengths, uint32_t count, uint8_t length)
{
	for (uint32_t i = 0; i < count && i < XB_SLOTS6; i++)
		if (lengths[i] == length)
			return (int)i;
	return -1;
}

/* Different /32s among sorted entries, of those whose lengths have slots, or have none. */
static uint64_t count_heads(const struct xb_entry *entries, size_t count,
			    const struct xb_slotmap_plan *plan, bool slotted)
{
	uint64_t heads = 0, last = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		if (head_of(&entries[i]) == last ||
		    (slot_of(plan->length, plan->count, entries[i].length) >= 0) != slotted)
			continue;
		last = head_of(&entries[i]);
		heads++;
	}
	return heads;
}

static uint32_t limited(uint64_t cells)
{
	return cells < UINT32_MAX / 2 ? (uint32_t)cells : UINT32_MAX / 2;
}

struct xb_slotmap_plan xb_slotmap_plan(const struct xb_entry *entries, size_t count)
{
	struct xb_slotmap_plan plan = {0};
	uint64_t slotted = 0, others = 0;
	size_t lengths[129] = {0};
	uint32_t length;

	count_lengths(entries, count, lengths);
	while (plan.count < XB_SLOTS6 && (length = next_length(lengths)) <= 128)
		plan.length[plan.count++] = (uint8_t)length;
	if (next_length(lengths) <= 128)
		others = count_heads(entries, count, &plan, false);
	else
		plan.direct = plan.count <= 1;
	if (!plan.direct)
		slotted = count_heads(entries, count, &plan, true) + others;
	plan.cell_words = limited((CELLS_EACH * slotted + CELLS_SPARE) / CELLS_WORD);
	plan.length_cells = limited(CELLS_EACH * others + OTHERS_SPARE);
	return plan;
}

static uint64_t mask(uint32_t bits)
{
	return bits ? ~0ULL << (64 - bits) : 0;
}

/* Nothing names the slot before it is whole. */
static void give_slot(const struct xb_slotmap *map, uint8_t length)
{
	struct xb_slots6 *slots = map->slots;
	const struct xb_sum6 *sum = map->params->key6.sum;
	uint32_t number = slots->count;

	slots->slot[number] = (struct xb_slot6){
		.hi = mask(length < 64 ? length : 64),
		.lo = mask(length > 64 ? length - 64 : 0),
		.term = {xb_term6(&sum[0], length), xb_term6(&sum[1], length)},
	};
	slots->length[number] = length;
	__atomic_store_n(&slots->count, number + 1, __ATOMIC_RELEASE);
}

static void set_always(const struct xb_slotmap *map, uint32_t bits)
{
	__atomic_fetch_or(&map->slots->always, bits, __ATOMIC_RELEASE);
}

void xb_slotmap_begin(const struct xb_slotmap *map, const struct xb_slotmap_plan *plan)
{
	for (uint32_t i = 0; i < plan->count; i++) {
		give_slot(map, plan->length[i]);
		if (plan->direct)
			set_always(map, 1U << i);
	}
}

static uint64_t head_hash(const struct xb_params *params, const struct xb_entry *entry)
{
	return xb_hash_head6(params->key6.head, (uint32_t)head_of(entry));
}

uint32_t xb_slotmap_word(const struct xb_params *params, const struct xb_entry *entry)
{
	return xb_cell6_word(head_hash(params, entry), params->cell_words);
}

static uint32_t shift_of(const struct xb_params *params, const struct xb_entry *entry)
{
	return xb_cell6_shift(head_hash(params, entry));
}

static uint32_t cell_of(const struct xb_slotmap *map, const struct xb_entry *entry)
{
	return map->cells[xb_slotmap_word(map->params, entry)] >> shift_of(map->params, entry) &
	       0xff;
}

static uint32_t others_of(const struct xb_slotmap *map, const struct xb_entry *entry)
{
	return xb_lengthmap_cell(&map->params->key, map->params->length_cells, entry);
}

static bool is_slot(uint32_t bit)
{
	return bit < XB_OTHERS6;
}

/* The bit of its slot, which it gets if one is left; otherwise XB_OTHERS6. */
static uint32_t bit_of(const struct xb_slotmap *map, const struct xb_entry *entry)
{
	int slot = slot_of(map->slots->length, map->slots->count, entry->length);

	if (slot < 0 && map->slots->count < XB_SLOTS6) {
		slot = (int)map->slots->count;
		give_slot(map, entry->length);
	}
	return slot >= 0 ? 1U << slot : XB_OTHERS6;
}

static void set_cell(const struct xb_slotmap *map, const struct xb_entry *entry, uint32_t bit)
{
	__atomic_fetch_or(&map->cells[xb_slotmap_word(map->params, entry)],
			  (uint64_t)bit << shift_of(map->params, entry), __ATOMIC_RELEASE);
	__atomic_store_n(&map->slots->celled, 1, __ATOMIC_RELEASE);
}

static uint32_t ones(uint64_t bits)
{
	return (uint32_t)__builtin_popcountll(bits);
}

static uint32_t ones_of(const struct xb_lengths *lengths)
{
	return ones(lengths->bits[0]) + ones(lengths->bits[1]);
}

/* Probes of these slots and XB_OTHERS6. others: the most that the latter may cost. */
static uint32_t cost(uint32_t bits, uint32_t others)
{
	return ones(bits & (XB_OTHERS6 - 1)) + ((bits & XB_OTHERS6) ? others : 0);
}

uint32_t xb_slotmap_mark(const struct xb_slotmap *map, const struct xb_entry *entry)
{
	uint32_t bit = bit_of(map, entry), cell = others_of(map, entry);

	if (!is_slot(bit))
		xb_lengthmap_mark(map->others, cell, entry);
	if (!(map->slots->always & bit))
		set_cell(map, entry, bit);
	return cost(map->slots->always | cell_of(map, entry), ones_of(&map->others[cell]));
}

bool xb_slotmap_has(const struct xb_slotmap *map, const struct xb_entry *entry)
{
	const struct xb_slots6 *slots = map->slots;
	int slot = slot_of(slots->length, slots->count, entry->length);
	uint32_t matching = slots->always | (slots->celled ? cell_of(map, entry) : 0);
	uint32_t bit = entry->length - XB_LENGTH_SPLIT;

	if (slot >= 0)
		return matching >> slot & 1;
	return matching & XB_OTHERS6 &&
	       map->others[others_of(map, entry)].bits[bit / 64] >> bit % 64 & 1;
}

/* Of the other lengths that one cell has. */
static uint32_t most_others(const struct xb_slotmap *map)
{
	return xb_lengthmap_most(map->others, map->params->length_cells);
}

uint32_t xb_slotmap_most(const struct xb_slotmap *map)
{
	uint32_t always = map->slots->always, others = most_others(map);
	uint32_t most = cost(always, others);

	for (uint32_t i = 0; i < map->params->cell_words; i++)
		for (uint64_t cells = map->cells[i]; cells; cells >>= 8) {
			uint32_t probes = cost(always | (cells & 0xff), others);

			most = probes > most ? probes : most;
		}
	return most;
}
