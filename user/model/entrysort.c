/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How entries are sorted: addresses by the bytes in which they differ, names by comparing them. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/entry.h"

/* Byte number `digit` of the sort key, least significant first: length, lo, hi, kind. */
static inline uint8_t sort_digit(const struct xb_entry *entry, unsigned int digit)
{
	if (digit == 0)
		return entry->length;
	if (digit <= 8)
		return (uint8_t)(entry->lo >> (8 * (digit - 1)));
	if (digit <= 16)
		return (uint8_t)(entry->hi >> (8 * (digit - 9)));
	return entry->kind;
}

#define SORT_DIGITS 18

/* Digits in which addresses differ, least significant first. Returns how many. */
static unsigned int digits_that_differ(const uint8_t *records, size_t count, size_t size,
				       uint8_t digits[SORT_DIGITS])
{
	const struct xb_entry *first = (const void *)records;
	struct xb_entry differ = {0};
	unsigned int found = 0;

	for (size_t i = 1; i < count; i++) {
		const struct xb_entry *entry = (const void *)(records + i * size);

		differ.hi |= entry->hi ^ first->hi;
		differ.lo |= entry->lo ^ first->lo;
		differ.length |= entry->length ^ first->length;
		differ.kind |= entry->kind ^ first->kind;
	}
	for (uint8_t digit = 0; digit < SORT_DIGITS; digit++)
		if (sort_digit(&differ, digit))
			digits[found++] = digit;
	return found;
}

#define RADIX_BITS    11
#define RADIX	      (1U << RADIX_BITS)
#define DIGITS_IN_KEY 4
#define FIRST_OF_HI   9

/* What is moved while addresses are sorted: a key in the upper half, a place in the lower. */
static inline uint32_t radix_of(uint64_t one, unsigned int shift)
{
	return (uint32_t)(one >> (32 + shift)) & (RADIX - 1);
}

/* By so many bits of the key, least significant first. Returns which of both has the outcome. */
static uint64_t *radix_sort(uint64_t *from, uint64_t *to, size_t count, unsigned int bits)
{
	static size_t place[RADIX];

	for (unsigned int shift = 0; shift < bits; shift += RADIX_BITS) {
		size_t start = 0;
		uint64_t *swap = from;

		memset(place, 0, sizeof(place));
		for (size_t i = 0; i < count; i++)
			place[radix_of(from[i], shift)]++;
		for (uint32_t value = 0; value < RADIX; value++) {
			size_t held = place[value];

			place[value] = start;
			start += held;
		}
		for (size_t i = 0; i < count; i++)
			to[place[radix_of(from[i], shift)]++] = from[i];
		from = to;
		to = swap;
	}
	return from;
}

/* Of IPv4 addresses of one length, all that differs is in a row. */
static bool is_in_hi(const uint8_t *digits, unsigned int count)
{
	return digits[0] >= FIRST_OF_HI && digits[count - 1] < SORT_DIGITS - 1 &&
	       digits[count - 1] - digits[0] < DIGITS_IN_KEY;
}

static inline uint32_t key_of(const struct xb_entry *entry, const uint8_t *digits,
			      unsigned int count)
{
	uint32_t key = 0;

	while (count--)
		key = key << 8 | sort_digit(entry, digits[count]);
	return key;
}

/* Records are of whole words, since entries begin them. */
static inline void copy_record(uint8_t *out, const uint8_t *record, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof(uint64_t))
		memcpy(out + at, record + at, sizeof(uint64_t));
}

/* Of addresses of one kind and length, with the same beside them, that differ in 32 bits in a row
 * of their first half: where these bits begin, and how many they are. */
static bool is_plain(const uint8_t *records, size_t count, size_t size, unsigned int *shift,
		     unsigned int *bits)
{
	const struct xb_entry *first = (const void *)records;
	size_t beside = sizeof(*first);
	uint64_t differ = 0;

	if (xb_entry_is_name(first))
		return false;
	for (size_t i = 1; i < count; i++) {
		const uint8_t *record = records + i * size;
		const struct xb_entry *entry = (const void *)record;

		if (entry->kind != first->kind || entry->length != first->length ||
		    entry->lo != first->lo ||
		    memcmp(record + beside, records + beside, size - beside) != 0)
			return false;
		differ |= entry->hi ^ first->hi;
	}
	if (!differ)
		return false;
	*shift = (unsigned int)__builtin_ctzll(differ);
	*bits = 64 - (unsigned int)__builtin_clzll(differ) - *shift;
	return *bits <= 32;
}

/* Such records are made anew of what is sorted, the bits that differ and a line: none is looked
 * for, and there is no second of it. */
static int sort_plain(uint8_t *records, size_t count, size_t size, unsigned int shift,
		      unsigned int bits)
{
	uint64_t *both = xb_array_alloc(count, 2 * sizeof(*both)), *order = both;
	uint64_t same = ~((uint64_t)UINT32_MAX << shift);

	if (!both)
		return xb_out_of_memory();
	for (size_t i = 0; i < count; i++) {
		const struct xb_entry *entry = (const void *)(records + i * size);

		order[i] = (uint64_t)(uint32_t)(entry->hi >> shift) << 32 | entry->line;
	}
	order = radix_sort(order, both + count, count, bits);
	for (size_t i = 0; i < count; i++) {
		struct xb_entry *entry = (void *)(records + i * size);

		entry->hi = (entry->hi & same) | (order[i] >> 32) << shift;
		entry->line = (uint32_t)order[i];
	}
	free(both);
	return 0;
}

/* Copies them to `out` in order. */
static int sort_addresses(const uint8_t *records, size_t count, size_t size, uint8_t *out)
{
	uint8_t digits[SORT_DIGITS];
	unsigned int all = digits_that_differ(records, count, size, digits);
	uint64_t *both = xb_array_alloc(count, 2 * sizeof(*both)), *order = both;

	if (!both)
		return xb_out_of_memory();
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (unsigned int first = 0; first < all; first += DIGITS_IN_KEY) {
		unsigned int some = all - first < DIGITS_IN_KEY ? all - first : DIGITS_IN_KEY;
		bool in_hi = is_in_hi(digits + first, some);
		unsigned int shift = in_hi ? 8U * (digits[first] - FIRST_OF_HI) : 0;
		unsigned int bits =
			8 * (in_hi ? digits[first + some - 1] - digits[first] + 1U : some);

		for (size_t i = 0; i < count; i++) {
			uint32_t place = (uint32_t)order[i];
			const struct xb_entry *entry = (const void *)(records + place * size);
			uint64_t key = in_hi ? (uint32_t)(entry->hi >> shift)
					     : key_of(entry, digits + first, some);

			order[i] = key << 32 | place;
		}
		order = radix_sort(order, order == both ? both + count : both, count, bits);
	}
	for (size_t i = 0; i < count; i++)
		copy_record(out + i * size, records + (uint32_t)order[i] * size, size);
	free(both);
	return 0;
}

/* Of entries that are the same, the one that came first stays first. */
static int compare_records(const void *a, const void *b)
{
	const struct xb_entry *const *first = a, *const *second = b;
	int order = xb_entry_compare(*first, *second);

	return order ? order : (*first > *second) - (*first < *second);
}

static int sort_names(const uint8_t *records, size_t count, size_t size, uint8_t *out)
{
	const struct xb_entry **order = xb_array_alloc(count, sizeof(void *));

	if (!order)
		return xb_out_of_memory();
	for (size_t i = 0; i < count; i++)
		order[i] = (const void *)(records + i * size);
	qsort(order, count, sizeof(void *), compare_records);
	for (size_t i = 0; i < count; i++)
		memcpy(out + i * size, order[i], size);
	free(order);
	return 0;
}

/* Addresses come first, as their kinds do. Returns their number. aside: as large as records. */
static size_t part_names(uint8_t *records, size_t count, size_t size, uint8_t *aside)
{
	size_t addresses = 0, names = 0;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *record = records + i * size;

		if (xb_entry_is_name((const void *)record))
			memcpy(aside + names++ * size, record, size);
		else if (addresses++ != i)
			memmove(records + (addresses - 1) * size, record, size);
	}
	memcpy(records + addresses * size, aside, names * size);
	return addresses;
}

static bool is_sorted(const uint8_t *records, size_t count, size_t size)
{
	for (size_t i = 1; i < count; i++)
		if (xb_entry_compare((const void *)(records + (i - 1) * size),
				     (const void *)(records + i * size)) > 0)
			return false;
	return true;
}

static int check_count(size_t count)
{
	return count > UINT32_MAX ? xb_input_error("more than %u entries at once", UINT32_MAX) : 0;
}

int xb_ipv4_sort(uint64_t **words, size_t count)
{
	uint64_t *from = *words, *aside, *sorted, differ = 0;
	bool ordered = true;
	int error = check_count(count);

	if (error)
		return error;
	for (size_t i = 1; i < count; i++) {
		differ |= (from[i] ^ from[0]) >> 32;
		ordered &= from[i] >> 32 >= from[i - 1] >> 32;
	}
	if (ordered)
		return 0;
	aside = xb_array_alloc(count, sizeof(*aside));
	if (!aside)
		return xb_out_of_memory();
	sorted = radix_sort(from, aside, count, 64 - (unsigned int)__builtin_clzll(differ));
	free(sorted == from ? aside : from);
	*words = sorted;
	return 0;
}

int xb_entry_sort(void *array, size_t count, size_t size)
{
	uint8_t *records, *sorted;
	unsigned int shift, bits;
	size_t addresses;
	int error = check_count(count);

	if (error)
		return error;
	memcpy(&records, array, sizeof(records));
	if (is_sorted(records, count, size))
		return 0;
	if (is_plain(records, count, size, &shift, &bits))
		return sort_plain(records, count, size, shift, bits);
	sorted = xb_array_alloc(count, size);
	if (!sorted)
		return xb_out_of_memory();
	addresses = part_names(records, count, size, sorted);
	if (addresses)
		error = sort_addresses(records, addresses, size, sorted);
	if (!error && addresses < count)
		error = sort_names(records + addresses * size, count - addresses, size,
				   sorted + addresses * size);
	if (error) {
		free(sorted);
		return error;
	}
	memcpy(array, &sorted, sizeof(sorted));
	free(records);
	return 0;
}
