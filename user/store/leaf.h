/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A leaf: keys in order, each with a value, as one record of the store. It has each key without the
 * beginning that it shares with the key before (front coding), and each value once for all keys
 * that have it.
 */
#ifndef XB_STORE_LEAF_H
#define XB_STORE_LEAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XB_LEAF_KEY_MAX 256 /* bytes */

/* Where a reader stands: at an entry, or behind the last. */
struct xb_leaf_reader {
	const uint8_t *values, *entries; /* not owned */
	size_t values_size, entries_size;
	size_t at, next; /* the entry begins and ends there */
	uint8_t keys[2][XB_LEAF_KEY_MAX];
	size_t sizes[2];
	unsigned int turn;  /* which of the keys it stands at; the other is the one before */
	size_t value_place; /* of its value, in values */
	const uint8_t *value;
	size_t value_size;
};

static inline const uint8_t *xb_leaf_key(const struct xb_leaf_reader *reader)
{
	return reader->keys[reader->turn];
}

static inline size_t xb_leaf_key_size(const struct xb_leaf_reader *reader)
{
	return reader->sizes[reader->turn];
}

/* These return 1 at an entry, 0 behind the last, -EUCLEAN if the bytes are no leaf; the bytes have
 * to stay as they are while they are read. */
int xb_leaf_first(struct xb_leaf_reader *reader, const void *bytes, size_t size);
int xb_leaf_next(struct xb_leaf_reader *reader);

/* Moves forward to the first entry that is not before the key. Returns as above. */
int xb_leaf_reach(struct xb_leaf_reader *reader, const uint8_t *key, size_t size);

/* Less, equal, greater than 0 as memcmp(); of keys that are alike so far the longer is greater.
 * Inline, and by the byte: most keys are short, and soon differ. */
static inline int xb_leaf_compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
	size_t least = a_size < b_size ? a_size : b_size;

	for (size_t i = 0; i < least; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return (a_size > b_size) - (a_size < b_size);
}

/* A leaf in memory, to be changed. All zero is an empty one. */
struct xb_leaf {
	uint8_t *values, *entries;
	size_t values_room, entries_room;
	/* Where the last call left off: keys in order cost no search. */
	struct xb_leaf_reader place;
};

void xb_leaf_free(struct xb_leaf *leaf);

/* Fills the leaf with a record. -EUCLEAN: the bytes are no leaf. -EIO with a message: out of
 * memory. */
int xb_leaf_load(struct xb_leaf *leaf, const void *bytes, size_t size);

/* Whether the key is, or would be, right where leaf->place stands, with an entry on both sides. */
bool xb_leaf_is_around(const struct xb_leaf *leaf, const uint8_t *key, size_t size);

/* Returns 1 with leaf->place at the key, 0 if it is not there, or -EUCLEAN. */
int xb_leaf_find(struct xb_leaf *leaf, const uint8_t *key, size_t size);

/* Put and remove the key for which xb_leaf_find() was last called. Putting replaces a former value;
 * value must not point into the leaf. */
int xb_leaf_put(struct xb_leaf *leaf, const uint8_t *key, size_t size, const void *value,
		size_t value_size);
int xb_leaf_remove(struct xb_leaf *leaf);

/* The most bytes that its record takes. */
static inline size_t xb_leaf_bytes(const struct xb_leaf *leaf)
{
	return leaf->place.values_size + leaf->place.entries_size;
}

/* A reader at the first entry; it may stand there until the leaf changes. Returns as above. */
int xb_leaf_begin(const struct xb_leaf *leaf, struct xb_leaf_reader *reader);

/*
 * Writes the entry the reader stands at and the following ones as a record, as many as fit into
 * `limit` bytes, one at least, with the values they have; the reader then stands behind them.
 * *record: allocated, the caller frees it. Returns -EUCLEAN; -EIO with a message: out of
 * memory.
 */
int xb_leaf_write(struct xb_leaf_reader *reader, size_t limit, uint8_t **record, size_t *size);

#endif
