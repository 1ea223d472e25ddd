/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots that are not taken: those that would take out much of a list wait for an operator, and
 * chunks that are not what they should be are refused. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/fleet/chunkfile.h"
#include "bloomd/fleet/snapshot.h"
#include "support/cmocka.h"
#include "support/fleethosts.h"

static void take_held(uint64_t before, uint64_t after, uint64_t loses)
{
	struct snapshot_result result = take_with(false);

	assert_int_equal(result.outcome, SNAPSHOT_HELD);
	assert_int_equal(result.held_count, 1);
	assert_string_equal(result.held[0].list, "bans");
	assert_int_equal(result.held[0].before, before);
	assert_int_equal(result.held[0].after, after);
	assert_int_equal(result.held[0].loses, loses);
}

TEST(losing_more_than_half_is_held)
{
	struct snapshot_terms terms = terms_of(false);
	struct snapshot_result result;

	fill_bans(at(&maker), 0, 1000);
	fill_bans(at(&maker), 5000, 7000);
	fill_bans(at(&taker), 0, 2001);
	settle(&taker);
	make();
	/* What comes does not make up for what goes. */
	take_held(2001, 3000, 1001);
	give_up(&taker);
	terms.factor = 3;
	assert_int_equal(try_take(&terms, &result), 0);
	assert_int_equal(result.outcome, SNAPSHOT_TAKEN);
	give_up(&taker);
	terms.factor = 1.5;
	assert_int_equal(try_take(&terms, &result), 0);
	assert_int_equal(result.outcome, SNAPSHOT_HELD);
	give_up(&taker);
	assert_int_equal(take_with(true).removed, 1001);
}

TEST(half_or_a_thousand_are_taken)
{
	fill_bans(at(&maker), 0, 1);
	fill_bans(at(&taker), 0, 1000);
	settle(&taker);
	make();
	assert_int_equal(take().removed, 999);
	give_up(&taker);
	fill_bans(at(&taker), 1000, 1001);
	take_held(1001, 1, 1000);
}

TEST(emptying_is_held)
{
	fill_bans(at(&taker), 0, 1);
	settle(&taker);
	make();
	take_held(1, 0, 1);
	give_up(&taker);
	assert_int_equal(take_with(true).removed, 1);
}

TEST(a_list_that_was_not_shared_loses_nothing)
{
	fill_bans(at(&maker), 0, 100);
	fill_bans(at(&taker), 1, 101);
	assert_int_equal(xb_share_set(at(&taker), "bans", XB_SHARE_FOLLOW), 0);
	settle(&taker);
	make();
	take_held(100, 100, 1);
	give_up(&taker);
	unlist(at(&taker), "198.18.0.100", "bans");
	assert_int_equal(take().added, 1);
	assert_int_equal(xb_share_of(at(&taker), "bans")->flags, XB_SHARE_FOLLOW | XB_SHARE_JOINED);
}

/* --- chunks that are not what they should be --- */

static void assert_not_taken(const struct mac_key *with)
{
	struct snapshot_terms terms = terms_of(true);
	struct snapshot_result result;

	terms.key = with;
	assert_int_equal(try_take(&terms, &result), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "chunk"));
}

TEST(damaged_chunks_are_refused)
{
	static uint8_t bytes[3 * CHUNK_BYTES];
	struct mac_key other = {{8}};
	ssize_t size;

	fill_bans(at(&maker), 0, 3);
	list_with(at(&maker), "a.example.com", "names", NOW + 1, "comment");
	make();
	size = pread(chunks, bytes, sizeof(bytes), 0);
	assert_int_equal(size, manifest.chunks[0].size + manifest.chunks[1].size);
	for (ssize_t i = 0; i < size; i++) {
		uint8_t wrong = bytes[i] ^ 0x10;

		assert_int_equal(pwrite(chunks, &wrong, 1, i), 1);
		assert_not_taken(&key);
		assert_int_equal(pwrite(chunks, &bytes[i], 1, i), 1);
	}
	assert_not_taken(&other);
	assert_int_equal(ftruncate(chunks, size - 1), 0);
	assert_not_taken(&key);
}

/* Two lists with the same entries have chunks of one size. */
TEST(chunks_of_another_place_or_snapshot_are_refused)
{
	struct manifest second = {0};
	uint8_t first[64], swapped[128];
	int others = memfd_create("others", MFD_CLOEXEC);
	size_t size;

	list_entry(at(&maker), "192.0.2.1", "bans");
	list_entry(at(&maker), "192.0.2.2", "names");
	make();
	size = manifest.chunks[0].size;
	assert_int_equal(manifest.chunks[1].size, size);
	assert_int_equal(snapshot_make(at(&maker), &key, false, others, blooms, &second), 0);
	assert_int_equal(pread(others, first, size, 0), size);
	assert_int_equal(chunk_check(&second, 0, &key, first, size), 0);
	assert_int_equal(chunk_check(&manifest, 0, &key, first, size), 0);
	/* The same bytes are good for neither another place nor another identity. */
	assert_false(mac_equal(manifest.chunks[0].mac, second.chunks[0].mac));
	second.chunks[1] = second.chunks[0];
	assert_int_equal(chunk_check(&second, 1, &key, first, size), -EINVAL);
	assert_int_equal(chunk_check(&manifest, 1, &key, first, size), -EINVAL);
	assert_int_equal(pread(chunks, swapped + size, size, 0), size);
	assert_int_equal(pread(chunks, swapped, size, (off_t)size), size);
	assert_int_equal(pwrite(chunks, swapped, 2 * size, 0), 2 * size);
	assert_not_taken(&key);
	manifest_free(&second);
	close(others);
}

EACH_TEST(begin_hosts, end_hosts);
