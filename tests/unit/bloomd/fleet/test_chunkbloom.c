/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a snapshot that are not what they should be, and what Bloom digests of chunks say. */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/error.h"
#include "bloomd/fleet/chunkbloom.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/comparing.h"

/* --- parts that lie --- */

static void set_bloom_mac(const uint8_t *bytes, size_t size)
{
	uint64_t place = 0;
	struct mac_part of_it[] = {{"bloom", sizeof("bloom")},
				   {manifest.id, sizeof(manifest.id)},
				   {&place, sizeof(place)},
				   {bytes, size}};

	assert_int_equal(mac_of(&key, of_it, 4, manifest.chunks[0].bloom_mac), 0);
}

/* Who has the key may say what he likes in it: what is found is the same. */
TEST(bloom_digests_that_lie_change_nothing)
{
	static uint8_t bytes[CHUNK_BYTES];
	uint32_t size;

	fill_bans(at(&maker), 0, 1000);
	fill_bans(at(&taker), 1, 1000);
	list_entry(at(&taker), "192.0.2.1", "bans");
	list_entry(at(&taker), "192.0.2.2", "bans");
	make();
	size = manifest.chunks[0].bloom_size;
	for (int all = 0; all < 2; all++) {
		memset(bytes, all ? 0xff : 0, size);
		set_bloom_mac(bytes, size);
		assert_int_equal(pwrite(blooms, bytes, size, 0), size);
		compare();
		assert_int_equal(blooms_loaded, 1);
		assert_int_equal(chunks_loaded, 1);
		assert_int_equal(of("bans")->missing, 1);
		assert_int_equal(of("bans")->extra, 2);
	}
}

static void assert_refused(int file, off_t at_byte, const char *why)
{
	uint8_t byte, other;

	assert_int_equal(pread(file, &byte, 1, at_byte), 1);
	other = byte ^ 0x10;
	assert_int_equal(pwrite(file, &other, 1, at_byte), 1);
	assert_int_equal(try_compare(10), -EINVAL);
	assert_string_equal(xb_error_message(), why);
	comparison_free(&found);
	assert_int_equal(pwrite(file, &byte, 1, at_byte), 1);
}

TEST(damaged_parts_are_refused)
{
	fill_bans(at(&maker), 0, 3);
	fill_bans(at(&taker), 1, 3);
	list_entry(at(&taker), "192.0.2.1", "bans");
	list_entry(at(&taker), "192.0.2.2", "bans");
	make();
	for (uint32_t i = 0; i < manifest.chunks[0].size; i++)
		assert_refused(chunks, i, "chunk 0 of the snapshot is damaged, or of another one");
	for (uint32_t i = 0; i < manifest.chunks[0].bloom_size; i++)
		assert_refused(blooms, i,
			       "the Bloom digest of chunk 0 of the snapshot is damaged, or of "
			       "another one");
	compare();
	assert_int_equal(found.count, 3);
}

/* The manifest says where a chunk begins, and the chunk what it has. */
TEST(chunks_out_of_place_are_refused)
{
	fill_bans(at(&maker), 10, 20);
	make();
	manifest.chunks[0].first.hi -= (uint64_t)1 << 32;
	assert_int_equal(try_compare(10), -EINVAL);
	assert_string_equal(xb_error_message(),
			    "chunk 0 of the snapshot is damaged: it begins with another entry");
}

TEST(chunks_that_reach_into_the_next_are_refused)
{
	fill(at(&maker));
	/* So that the first chunk is loaded, and not the second. */
	list_entry(at(&maker), "192.0.2.1", "bans");
	make();
	fill(at(&taker));
	manifest.chunks[1].first.hi -= (uint64_t)2 << 32;
	assert_int_equal(try_compare(10), -EINVAL);
	assert_string_equal(xb_error_message(),
			    "chunk 0 of the snapshot is damaged: it is not in order");
}

/* Without a key anybody can write a manifest: it must not fill the file system of the store. */
TEST(more_than_half_of_the_room_is_not_taken)
{
	struct manifest_chunk many[3] = {{.size = 10}, {.size = 20}, {.size = 30}};
	struct statvfs room;

	manifest.chunks = many;
	manifest.chunk_count = 3;
	assert_int_equal(parts_make(&parts, &manifest, "/dev/shm"), 0);
	parts.wanted[1] = PART_CHUNK;
	assert_int_equal(parts_wanted(&parts), 20);
	assert_int_equal(parts_check_room(&parts, parts_wanted(&parts)), 0);
	assert_int_equal(fstatvfs(parts.chunks, &room), 0);
	assert_int_equal(parts_check_room(&parts, room.f_blocks / 2 * room.f_frsize), -EIO);
	assert_non_null(strstr(xb_error_message(), "no room for "));
	parts_free(&parts);
	manifest = (struct manifest){0};
}

/* --- Bloom digests by themselves --- */

TEST(bloom_digests_lack_nothing_of_theirs)
{
	static uint8_t bytes[CHUNK_BYTES];
	struct xb_filter *filter;
	uint32_t hits = 0;
	char text[64];

	fill_bans(at(&maker), 0, 20000);
	list_entry(at(&maker), "a.example.com", "bans");
	make();
	assert_int_equal(manifest.chunk_count, 1);
	assert_true(manifest.chunks[0].bloom_size < 20000 * 14 / 10);
	assert_int_equal(pread(blooms, bytes, sizeof(bytes), 0), manifest.chunks[0].bloom_size);
	assert_int_equal(
		chunkbloom_read(&manifest, 0, &key, bytes, manifest.chunks[0].bloom_size, &filter),
		0);
	for (uint32_t i = 0; i < 60000; i++) {
		snprintf(text, sizeof(text), "198.18.%u.%u", i >> 8, i & 255);
		struct xb_entry entry = entry_of(text);
		bool lacks = chunkbloom_lacks(filter, &entry);

		assert_true(i >= 20000 || !lacks);
		hits += i >= 20000 && !lacks;
	}
	/* 1 in 100 of 40,000, and five standard deviations. */
	assert_true(hits < 500);
	struct xb_entry name = entry_of("a.example.com");
	assert_false(chunkbloom_lacks(filter, &name));
	xb_filter_free(filter);
}

TEST(bloom_digests_fit_the_manifest)
{
	uint32_t size;

	for (uint32_t count = 1; count < 2 * CHUNK_BYTES / 12;
	     count += 1 + count / (is_slowed() ? 4 : 50)) {
		assert_int_equal(chunkbloom_size(count, &size), 0);
		assert_true(size <= 80 + count * 14 / 10);
	}
}

EACH_TEST(begin, end);
