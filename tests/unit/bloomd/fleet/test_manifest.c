/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Manifests of snapshots: there and back, what is refused, and that no byte can change unseen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/manifest.h"
#include "support/amount.h"
#include "support/cmocka.h"

static const struct mac_key key = {{1, 2, 3}};
static struct manifest manifest;
static struct manifest_chunk chunks[3];
static struct xb_fleet_mark marks[2];
static const uint8_t name[] = "\3com\7example";

static struct xb_entry host(uint8_t last)
{
	return (struct xb_entry){
		.hi = (uint64_t)(0xc0000200U | last) << 32, .kind = XB_HOST4, .length = 32};
}

/* One that is good. */
static int fill(void **state)
{
	*state = NULL;
	chunks[0] = (struct manifest_chunk){0, 3, 40, {1}, {{UINT64_MAX, 1}}, host(1), 80, {1}};
	chunks[1] = (struct manifest_chunk){0, 2, 30, {2}, {{2, UINT64_MAX}}, host(9), 90, {2}};
	chunks[2] = (struct manifest_chunk){.list = 2,
					    .count = 1,
					    .size = 2 * CHUNK_BYTES,
					    .mac = {3},
					    .digest = {{5, 6}},
					    .first = {.name = name, .kind = XB_NAME, .length = 12},
					    .bloom_size = 2 * CHUNK_BYTES};
	marks[0] = (struct xb_fleet_mark){{1}, 9};
	marks[1] = (struct xb_fleet_mark){{2}, UINT64_MAX};
	manifest = (struct manifest){
		.id = {1},
		.maker = {2},
		.time = 1800000000123,
		.term = 300,
		.position = 70000,
		.epoch = {3},
		.chain = {4},
		.before = 60000,
		.lineage = {{{5}, 200, 50000}, {{6}, 1, 0}},
		.ancestors = 2,
		.lists = {{"bans", 5, {{1, 1}}}, {"empty", 0, {{0, 0}}}, {"names", 1, {{5, 6}}}},
		.list_count = 3,
		.chunks = chunks,
		.chunk_count = 3,
		.marks = marks,
		.mark_count = 2,
	};
	return 0;
}

TEST(manifests_come_back)
{
	struct manifest back;
	uint8_t *bytes, *again;
	size_t size, again_size;

	assert_int_equal(manifest_write(&manifest, &key, &bytes, &size), 0);
	assert_int_equal(manifest_read(bytes, size, &key, &back), 0);
	assert_memory_equal(back.id, manifest.id, XB_FLEET_ID);
	assert_memory_equal(back.maker, manifest.maker, XB_FLEET_ID);
	assert_memory_equal(back.epoch, manifest.epoch, XB_FLEET_ID);
	assert_memory_equal(back.chain, manifest.chain, MAC_BYTES);
	assert_int_equal(back.time, manifest.time);
	assert_int_equal(back.term, manifest.term);
	assert_int_equal(back.position, manifest.position);
	assert_int_equal(back.before, manifest.before);
	assert_int_equal(back.ancestors, 2);
	assert_memory_equal(back.lineage, manifest.lineage, sizeof(back.lineage));
	assert_int_equal(back.list_count, 3);
	assert_memory_equal(&back.lists[2].digest, &manifest.lists[2].digest,
			    sizeof(struct xb_digest));
	assert_int_equal(back.chunk_count, 3);
	assert_memory_equal(back.chunks, chunks, 2 * sizeof(*chunks));
	assert_memory_equal(back.chunks[2].mac, chunks[2].mac, MAC_BYTES);
	assert_int_equal(back.chunks[2].bloom_size, chunks[2].bloom_size);
	assert_int_equal(xb_entry_compare(&back.chunks[2].first, &chunks[2].first), 0);
	assert_int_equal(back.mark_count, 2);
	assert_memory_equal(back.marks, marks, sizeof(marks));
	assert_int_equal(manifest_write(&back, &key, &again, &again_size), 0);
	assert_int_equal(again_size, size);
	assert_memory_equal(again, bytes, size);
	manifest_free(&back);
	free(again);
	free(bytes);
}

TEST(lists_and_marks_are_found)
{
	assert_ptr_equal(manifest_list_of(&manifest, "names"), &manifest.lists[2]);
	assert_null(manifest_list_of(&manifest, "others"));
	assert_int_equal(manifest_mark(&manifest, marks[0].publisher), 9);
	assert_int_equal(manifest_mark(&manifest, marks[1].publisher), UINT64_MAX);
	assert_int_equal(manifest_mark(&manifest, manifest.epoch), 0);
	manifest.mark_count = 0;
	assert_int_equal(manifest_mark(&manifest, marks[0].publisher), 0);
}

TEST(no_byte_changes_unseen)
{
	struct mac_key other = {{1, 2, 4}};
	struct manifest back;
	uint8_t *bytes;
	size_t size;

	assert_int_equal(manifest_write(&manifest, &key, &bytes, &size), 0);
	for (size_t i = 0; i < size * 255; i += change_step()) {
		uint8_t by = (uint8_t)(i % 255 + 1);

		bytes[i / 255] ^= by;
		assert_int_equal(manifest_read(bytes, size, &key, &back), -EINVAL);
		manifest_free(&back);
		bytes[i / 255] ^= by;
	}
	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *shorter = malloc(cut + 1);

		memcpy(shorter, bytes, cut);
		assert_int_equal(manifest_read(shorter, cut, &key, &back), -EINVAL);
		manifest_free(&back);
		free(shorter);
	}
	assert_int_equal(manifest_read(bytes, size, &other, &back), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "another key"));
	free(bytes);
}

static void put_mac(uint8_t *bytes, size_t size)
{
	struct mac_part parts[] = {{"manifest", sizeof("manifest")}, {bytes, size - MAC_BYTES}};

	assert_int_equal(mac_of(&key, parts, 2, bytes + size - MAC_BYTES), 0);
}

/* Without a secret key, anybody can make the MAC right: what is behind it must hold as well. */
TEST(what_is_read_could_be_written)
{
	uint8_t *bytes, *again;
	size_t size, again_size, read = 0;

	assert_int_equal(manifest_write(&manifest, &key, &bytes, &size), 0);
	for (size_t i = 0; i < (size - MAC_BYTES) * 255; i += change_step()) {
		uint8_t by = (uint8_t)(i % 255 + 1);
		struct manifest back;
		int error;

		bytes[i / 255] ^= by;
		put_mac(bytes, size);
		error = manifest_read(bytes, size, &key, &back);
		assert_true(!error || error == -EINVAL);
		if (!error) {
			assert_int_equal(manifest_write(&back, &key, &again, &again_size), 0);
			assert_int_equal(again_size, size);
			assert_memory_equal(again, bytes, size);
			free(again);
			read++;
		}
		manifest_free(&back);
		bytes[i / 255] ^= by;
	}
	/* Most bytes are of identities and MACs, which may be any. */
	assert_true(read > 255 * 100 / change_step());
	bytes[0] = 2;
	put_mac(bytes, size);
	assert_int_equal(manifest_read(bytes, size, &key, &(struct manifest){0}), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "has version 2"));
	free(bytes);
}

/* A count that the bytes cannot have must not be allocated. */
TEST(counts_are_bounded_by_the_bytes)
{
	uint8_t bytes[256] = {1, 1};
	struct manifest back;
	size_t at = 1 + 16;

	bytes[at] = 1; /* maker */
	at += 16;
	bytes[at++] = 0; /* time */
	bytes[at++] = 1; /* term */
	bytes[at] = 1;	 /* epoch */
	at += 16;
	at += 1 + 16 + 1 + 1 + 1; /* position, chain, before, no lineage, no lists */
	bytes[at++] = 0xff;	  /* chunks: 65535 */
	bytes[at++] = 0xff;
	bytes[at++] = 3;
	put_mac(bytes, sizeof(bytes));
	assert_int_equal(manifest_read(bytes, sizeof(bytes), &key, &back), -EINVAL);
	assert_null(back.chunks);
	manifest_free(&back);
}

static void assert_refused(const char *why)
{
	uint8_t *bytes;
	size_t size;

	assert_int_equal(manifest_write(&manifest, &key, &bytes, &size), -EINVAL);
	assert_null(bytes);
	assert_non_null(strstr(xb_error_message(), why));
	fill((void *[]){NULL});
}

/* With that change of one that is good, it is refused for this. */
#define REFUSED(why, ...)                                                                          \
	do {                                                                                       \
		__VA_ARGS__;                                                                       \
		assert_refused(why);                                                               \
	} while (0)

TEST(what_does_not_fit_is_refused)
{
	REFUSED("lacks", manifest.epoch[0] = 0);
	REFUSED("lacks", manifest.term = 0);
	REFUSED("time", manifest.time = (uint64_t)1 << 42);
	REFUSED("too high", manifest.position = XB_FLEET_POSITION_MAX + 1);
	REFUSED("too high", manifest.term = XB_FLEET_POSITION_MAX + 1);
	REFUSED("before", manifest.before = manifest.position);
	REFUSED("order", manifest.lineage[0].term = 300);
	REFUSED("order", manifest.lineage[1].term = 200);
	REFUSED("cannot be there", manifest.lineage[1].epoch[0] = 3);
	REFUSED("twice", strcpy(manifest.lists[1].name, "bans"));
	REFUSED("none", strcpy(manifest.lists[1].name, "auto:ssh"));
	REFUSED("are not the list", manifest.lists[0].count++);
	REFUSED("are not the list", manifest.lists[0].digest.half[1]++);
	REFUSED("are not the list", chunks[1].list = 1);
	REFUSED("are not the list", chunks[0].list = 2);
	chunks[2].list = 3;
	manifest.lists[2] = (struct manifest_list){"names", 0, {{0, 0}}};
	assert_refused("chunks are not in order");
	REFUSED("size", chunks[1].count = 0);
	REFUSED("size", chunks[2].size++);
	REFUSED("size", chunks[0].bloom_size = 0);
	REFUSED("size", chunks[2].bloom_size++);
	REFUSED("order", chunks[1].first = host(1));
	REFUSED("not in the form", chunks[0].first.length = 25);
	REFUSED("allowlist", chunks[0].first = (struct xb_entry){.kind = XB_ALLOW4});
	REFUSED("order", marks[1].publisher[0] = 1);
	REFUSED("number", marks[0].last = 0);
}

EACH_TEST(fill, NULL);
