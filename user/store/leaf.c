/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record is the size of its values, the values, the entries. A value: its size, its bytes. An
 * entry: how many bytes its key shares with the one before, how many follow, these, and where in
 * the values its value begins. Numbers are in groups of 7 bits, lowest first (LEB128).
 */
#include "store/leaf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

#define NUMBER_MAX 5 /* bytes of a number */
#define ENTRY_MAX  (3 * NUMBER_MAX + XB_LEAF_KEY_MAX)

static inline size_t put_number(uint8_t *out, size_t number)
{
	size_t size = 0;

	while (number >= 0x80) {
		out[size++] = (uint8_t)(number | 0x80);
		number >>= 7;
	}
	out[size++] = (uint8_t)number;
	return size;
}

static inline bool get_number(const uint8_t *bytes, size_t end, size_t *at, size_t *number)
{
	*number = 0;
	for (unsigned int shift = 0; shift < 7 * NUMBER_MAX && *at < end; shift += 7) {
		uint8_t byte = bytes[(*at)++];

		*number |= (size_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static size_t shared_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
	size_t least = a_size < b_size ? a_size : b_size, shared = 0;

	while (shared < least && a[shared] == b[shared])
		shared++;
	return shared;
}

/* Most pieces of keys are a few bytes: too few to call for. */
static inline void copy_few(uint8_t *to, const uint8_t *from, size_t size)
{
	if (size > 16)
		memcpy(to, from, size);
	else
		for (size_t i = 0; i < size; i++)
			to[i] = from[i];
}

static bool read_value(struct xb_leaf_reader *reader)
{
	size_t at = reader->value_place;

	if (at >= reader->values_size ||
	    !get_number(reader->values, reader->values_size, &at, &reader->value_size) ||
	    reader->value_size > reader->values_size - at)
		return false;
	reader->value = reader->values + at;
	return true;
}

/* Takes the entry that begins at `next`. */
static int read_entry(struct xb_leaf_reader *reader)
{
	const uint8_t *before = reader->keys[reader->turn];
	uint8_t *key = reader->keys[!reader->turn];
	size_t at = reader->next, shared, rest, value_place;

	reader->at = at;
	if (at == reader->entries_size)
		return 0;
	if (!get_number(reader->entries, reader->entries_size, &at, &shared) ||
	    !get_number(reader->entries, reader->entries_size, &at, &rest) ||
	    shared > reader->sizes[reader->turn] || rest > XB_LEAF_KEY_MAX - shared ||
	    rest > reader->entries_size - at)
		return -EUCLEAN;
	copy_few(key, before, shared);
	copy_few(key + shared, reader->entries + at, rest);
	at += rest;
	if (!get_number(reader->entries, reader->entries_size, &at, &value_place))
		return -EUCLEAN;
	if (value_place != reader->value_place || !reader->value) {
		reader->value_place = value_place;
		if (!read_value(reader))
			return -EUCLEAN;
	}
	reader->turn = !reader->turn;
	reader->sizes[reader->turn] = shared + rest;
	reader->next = at;
	return 1;
}

static int rewind_to_first(struct xb_leaf_reader *reader)
{
	reader->next = 0;
	reader->turn = 0;
	reader->value = NULL;
	reader->value_place = 0;
	reader->sizes[0] = reader->sizes[1] = 0;
	return read_entry(reader);
}

int xb_leaf_first(struct xb_leaf_reader *reader, const void *bytes, size_t size)
{
	size_t at = 0, values;

	if (!get_number(bytes, size, &at, &values) || values > size - at)
		return -EUCLEAN;
	reader->values = (const uint8_t *)bytes + at;
	reader->values_size = values;
	reader->entries = reader->values + values;
	reader->entries_size = size - at - values;
	return rewind_to_first(reader);
}

int xb_leaf_next(struct xb_leaf_reader *reader)
{
	return reader->at == reader->entries_size ? 0 : read_entry(reader);
}

int xb_leaf_reach(struct xb_leaf_reader *reader, const uint8_t *key, size_t size)
{
	int more = reader->at < reader->entries_size;

	while (more > 0 &&
	       xb_leaf_compare(xb_leaf_key(reader), xb_leaf_key_size(reader), key, size) < 0)
		more = xb_leaf_next(reader);
	return more;
}

void xb_leaf_free(struct xb_leaf *leaf)
{
	free(leaf->values);
	free(leaf->entries);
	*leaf = (struct xb_leaf){0};
}

/* The place stays where it is. */
static int make_rooms(struct xb_leaf *leaf, size_t values, size_t entries)
{
	struct xb_leaf_reader *place = &leaf->place;
	size_t value = place->value ? (size_t)(place->value - place->values) : 0;
	int error = xb_array_grow(&leaf->values, &leaf->values_room, values, 1);

	if (!error)
		error = xb_array_grow(&leaf->entries, &leaf->entries_room, entries, 1);
	place->values = leaf->values;
	place->entries = leaf->entries;
	place->value = place->value ? leaf->values + value : NULL;
	return error;
}

int xb_leaf_load(struct xb_leaf *leaf, const void *bytes, size_t size)
{
	struct xb_leaf_reader *place = &leaf->place;
	int error = xb_leaf_first(place, bytes, size);
	const uint8_t *values = place->values, *entries = place->entries;

	if (error < 0)
		return error;
	error = make_rooms(leaf, place->values_size + 1, place->entries_size + 1);
	if (error)
		return error;
	memcpy(leaf->values, values, place->values_size);
	memcpy(leaf->entries, entries, place->entries_size);
	error = rewind_to_first(place);
	return error < 0 ? error : 0;
}

/* The key before the place, which is the only one that counts for the way on. */
static bool is_behind(const struct xb_leaf_reader *place, const uint8_t *key, size_t size)
{
	unsigned int before = place->at < place->entries_size ? !place->turn : place->turn;

	return xb_leaf_compare(place->keys[before], place->sizes[before], key, size) < 0;
}

bool xb_leaf_is_around(const struct xb_leaf *leaf, const uint8_t *key, size_t size)
{
	const struct xb_leaf_reader *place = &leaf->place;

	return place->at && place->at < place->entries_size && is_behind(place, key, size) &&
	       xb_leaf_compare(key, size, xb_leaf_key(place), xb_leaf_key_size(place)) <= 0;
}

int xb_leaf_find(struct xb_leaf *leaf, const uint8_t *key, size_t size)
{
	struct xb_leaf_reader *place = &leaf->place;
	int more = is_behind(place, key, size) ? 1 : rewind_to_first(place);

	if (more >= 0)
		more = xb_leaf_reach(place, key, size);
	return more > 0 && !xb_leaf_compare(xb_leaf_key(place), xb_leaf_key_size(place), key, size)
		       ? 1
	       : more < 0 ? more
			  : 0;
}

/* Where the value stands among the values, which is made if there is none. */
static int place_value(struct xb_leaf *leaf, const void *value, size_t size, size_t *place)
{
	struct xb_leaf_reader *reader = &leaf->place;
	size_t at = 0, begin, found;
	int error;

	while (at < reader->values_size) {
		begin = at;
		if (!get_number(leaf->values, reader->values_size, &at, &found) ||
		    found > reader->values_size - at)
			return -EUCLEAN;
		if (found == size && !memcmp(leaf->values + at, value, size)) {
			*place = begin;
			return 0;
		}
		at += found;
	}
	error = make_rooms(leaf, reader->values_size + NUMBER_MAX + size, reader->entries_size);
	if (error)
		return error;
	*place = reader->values_size;
	reader->values_size += put_number(leaf->values + reader->values_size, size);
	memcpy(leaf->values + reader->values_size, value, size);
	reader->values_size += size;
	return 0;
}

/* An entry behind the key `before`. */
static size_t put_entry(uint8_t *out, const uint8_t *before, size_t before_size, const uint8_t *key,
			size_t key_size, size_t value_place)
{
	size_t shared = shared_bytes(before, before_size, key, key_size), rest = key_size - shared;
	size_t size = put_number(out, shared);

	size += put_number(out + size, rest);
	copy_few(out + size, key + shared, rest);
	size += rest;
	return size + put_number(out + size, value_place);
}

/* Puts these bytes where the entries from `at` to `end` are. */
static int replace(struct xb_leaf *leaf, size_t at, size_t end, const uint8_t *bytes, size_t size)
{
	struct xb_leaf_reader *place = &leaf->place;
	int error = make_rooms(leaf, place->values_size, place->entries_size + size);

	if (error)
		return error;
	memmove(leaf->entries + at + size, leaf->entries + end, place->entries_size - end);
	memcpy(leaf->entries + at, bytes, size);
	place->entries_size += size - (end - at);
	return 0;
}

static int insert(struct xb_leaf *leaf, const uint8_t *key, size_t size, size_t value_place)
{
	struct xb_leaf_reader *place = &leaf->place;
	bool last = place->at == place->entries_size;
	unsigned int before = last ? place->turn : !place->turn;
	uint8_t bytes[2 * ENTRY_MAX];
	size_t first =
		put_entry(bytes, place->keys[before], place->sizes[before], key, size, value_place);
	size_t all = first;
	int error;

	/* The one that follows shares more with the new key than with the one before that. */
	if (!last)
		all += put_entry(bytes + first, key, size, xb_leaf_key(place),
				 xb_leaf_key_size(place), place->value_place);
	error = replace(leaf, place->at, last ? place->at : place->next, bytes, all);
	if (error)
		return error;
	memcpy(place->keys[!before], key, size);
	place->sizes[!before] = size;
	place->turn = !before;
	place->next = place->at + first;
	place->value_place = value_place;
	return 0;
}

static int exchange_value(struct xb_leaf *leaf, size_t value_place)
{
	struct xb_leaf_reader *place = &leaf->place;
	uint8_t bytes[ENTRY_MAX];
	size_t size = put_entry(bytes, place->keys[!place->turn], place->sizes[!place->turn],
				xb_leaf_key(place), xb_leaf_key_size(place), value_place);
	int error = replace(leaf, place->at, place->next, bytes, size);

	if (error)
		return error;
	place->next = place->at + size;
	place->value_place = value_place;
	return 0;
}

static bool stands_at(const struct xb_leaf_reader *place, const uint8_t *key, size_t size)
{
	return place->at < place->entries_size &&
	       !xb_leaf_compare(xb_leaf_key(place), xb_leaf_key_size(place), key, size);
}

int xb_leaf_put(struct xb_leaf *leaf, const uint8_t *key, size_t size, const void *value,
		size_t value_size)
{
	size_t value_place;
	int error = place_value(leaf, value, value_size, &value_place);

	if (error)
		return error;
	error = stands_at(&leaf->place, key, size) ? exchange_value(leaf, value_place)
						   : insert(leaf, key, size, value_place);
	if (error)
		return error;
	return read_value(&leaf->place) ? 0 : -EUCLEAN;
}

int xb_leaf_remove(struct xb_leaf *leaf)
{
	struct xb_leaf_reader *place = &leaf->place;
	uint8_t before[XB_LEAF_KEY_MAX], bytes[ENTRY_MAX] = {0};
	size_t at = place->at, before_size = place->sizes[!place->turn], size = 0;
	int error, more;

	memcpy(before, place->keys[!place->turn], before_size);
	more = xb_leaf_next(place);
	if (more < 0)
		return more;
	if (more)
		size = put_entry(bytes, before, before_size, xb_leaf_key(place),
				 xb_leaf_key_size(place), place->value_place);
	error = replace(leaf, at, place->next, bytes, size);
	if (error)
		return error;
	/* It stands at the one that follows, or at the end behind the one before. */
	place->at = at;
	place->next = at + size;
	memcpy(place->keys[more ? !place->turn : place->turn], before, before_size);
	place->sizes[more ? !place->turn : place->turn] = before_size;
	return 0;
}

int xb_leaf_begin(const struct xb_leaf *leaf, struct xb_leaf_reader *reader)
{
	*reader = (struct xb_leaf_reader){
		.values = leaf->values,
		.values_size = leaf->place.values_size,
		.entries = leaf->entries,
		.entries_size = leaf->place.entries_size,
	};
	return rewind_to_first(reader);
}

/* A record that grows. */
struct record {
	uint8_t *values, *entries; /* room for all of the leaf's */
	size_t values_size, entries_size;
	uint32_t *moved; /* where a value of the leaf is now, and 1; 0: nowhere */
};

/* Takes the entry into the record. 0: that would make it larger than the limit; -EUCLEAN: values
 * of the leaf overlap. */
static int take(struct record *record, const struct xb_leaf_reader *reader, size_t limit,
		const uint8_t *before, size_t before_size)
{
	uint32_t *moved = &record->moved[reader->value_place];
	size_t place = *moved ? *moved - 1 : record->values_size, more = 0, size;

	if (!*moved) {
		uint8_t head[NUMBER_MAX];
		size_t head_size = put_number(head, reader->value_size);

		more = head_size + reader->value_size;
		if (more > reader->values_size - place)
			return -EUCLEAN;
		memcpy(record->values + place, head, head_size);
		memcpy(record->values + place + head_size, reader->value, reader->value_size);
	}
	/* Behind the one it was behind, with the same place of its value, it is as it was. */
	if (record->entries_size && place == reader->value_place) {
		size = reader->next - reader->at;
		memcpy(record->entries + record->entries_size, reader->entries + reader->at, size);
	} else {
		size = put_entry(record->entries + record->entries_size, before, before_size,
				 xb_leaf_key(reader), xb_leaf_key_size(reader), place);
	}
	if (record->entries_size &&
	    NUMBER_MAX + record->values_size + more + record->entries_size + size > limit)
		return 0;
	*moved = (uint32_t)place + 1;
	record->values_size += more;
	record->entries_size += size;
	return 1;
}

static int take_all(struct record *record, struct xb_leaf_reader *reader, size_t limit)
{
	int more = reader->at < reader->entries_size;
	size_t before_size = 0;

	while (more > 0) {
		more = take(record, reader, limit, reader->keys[!reader->turn], before_size);
		if (more > 0)
			more = xb_leaf_next(reader);
		before_size = reader->sizes[!reader->turn];
	}
	return more < 0 ? more : 0;
}

int xb_leaf_write(struct xb_leaf_reader *reader, size_t limit, uint8_t **out, size_t *size)
{
	/* Of an entry, which has three bytes at least, the place of its value may take four more.
	 */
	size_t entries = 3 * (reader->entries_size - reader->at) + ENTRY_MAX;
	size_t begin = reader->values_size + NUMBER_MAX;
	uint8_t *bytes = malloc(begin + NUMBER_MAX + entries);
	struct record record = {.moved = calloc(reader->values_size + 1, sizeof(uint32_t))};
	uint8_t head[NUMBER_MAX];
	size_t head_size;
	int error;

	if (!bytes || !record.moved) {
		free(bytes);
		free(record.moved);
		return xb_out_of_memory();
	}
	record.values = bytes + NUMBER_MAX;
	record.entries = bytes + begin + NUMBER_MAX;
	error = take_all(&record, reader, limit);
	free(record.moved);
	if (error) {
		free(bytes);
		return error;
	}
	head_size = put_number(head, record.values_size);
	memmove(bytes + head_size, record.values, record.values_size);
	memcpy(bytes, head, head_size);
	memmove(bytes + head_size + record.values_size, record.entries, record.entries_size);
	*size = head_size + record.values_size + record.entries_size;
	*out = bytes;
	return 0;
}
