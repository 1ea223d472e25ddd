/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the table of entries, damaged in every way: an end, or -EUCLEAN; and what is changed
 * in one that can be read can be read again. */
#include <errno.h>

#include "fuzz.h"
#include "store/leaf.h"

static int count(const uint8_t *bytes, size_t size)
{
	struct xb_leaf_reader reader;
	int found = 0, more = xb_leaf_first(&reader, bytes, size);

	for (; more > 0; found++) {
		must(xb_leaf_key_size(&reader) <= XB_LEAF_KEY_MAX);
		more = xb_leaf_next(&reader);
	}
	must(!more || more == -EUCLEAN);
	return more ? more : found;
}

static void change(struct xb_leaf *leaf, const uint8_t *key, size_t size)
{
	int found = xb_leaf_find(leaf, key, size);

	if (found == 1 && key[0] & 1)
		found = xb_leaf_remove(leaf);
	else if (found >= 0)
		found = xb_leaf_put(leaf, key, size, key, size);
	must(!found || found == -EUCLEAN);
}

static void write_all(const struct xb_leaf *leaf)
{
	struct xb_leaf_reader reader;
	int more = xb_leaf_begin(leaf, &reader);

	while (more > 0) {
		uint8_t *record;
		size_t size;

		if (xb_leaf_write(&reader, 100, &record, &size))
			return;
		must(count(record, size) > 0);
		free(record);
		more = reader.at < reader.entries_size;
	}
}

/* The first byte: how many bytes of keys follow, before the record. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xb_leaf leaf = {0};
	size_t keys;
	bool in_order;

	if (!size || data[0] > size - 1)
		return 0;
	keys = data[0];
	in_order = count(data + 1 + keys, size - 1 - keys) >= 0;
	if (!xb_leaf_load(&leaf, data + 1 + keys, size - 1 - keys)) {
		for (size_t at = 1; at + 3 <= 1 + keys; at += 3)
			change(&leaf, data + at, 3);
		if (in_order)
			write_all(&leaf);
	}
	xb_leaf_free(&leaf);
	return 0;
}
