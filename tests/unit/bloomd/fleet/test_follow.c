/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the log has, and what this host has to publish again of the same entry. */
#include <string.h>
#include <unistd.h>

#include "bloomd/fleet/follow.h"
#include "bloomd/fleet/former.h"
#include "support/cmocka.h"
#include "support/fleettail.h"

#define ENTRY "192.0.2.3"

/* A change of the entry waits to be published again; then the log has this one of another at 51. */
static void meet(bool waits, enum xb_again whose, bool comes)
{
	const struct change_row row = {"bans", ENTRY, comes ? "" : NULL, comes, 0};
	const struct xb_shared_change change = {
		.entry = entry_of(ENTRY), .list = "bans", .put = waits, .added = waits};
	struct logentry entry = {
		.kind = LOGENTRY_CHANGE, .term = 1, .time = 1, .first = 1, .last = 1};
	struct xb_writer writer = {
		.builder_lock = -1, .writer_lock = -1, .txn = at(&taker), .now = NOW};
	struct follow_queue queue = {0};
	struct follow context = {.key = &key, .queue = &queue};
	uint8_t before[MAC_BYTES] = {0}, *bytes;
	size_t size;

	assert_int_equal(xb_outbox_put_again(at(&taker), &change, whose), 1);
	memcpy(entry.epoch, epoch, sizeof(entry.epoch));
	memcpy(entry.publisher, stranger, sizeof(entry.publisher));
	add_row(&entry.changes, &row);
	assert_int_equal(logentry_write(&entry, &key, 51, before, &bytes, &size), 0);
	assert_int_equal(follow_queue_add(&queue, 51, bytes, size), 0);
	assert_int_equal(follow_apply(&writer, &context), 0);
	assert_int_equal(context.done, 1);
	follow_queue_clear(&queue);
	free(bytes);
	logentry_free(&entry);
}

TEST(a_delete_makes_way_to_a_put)
{
	meet(false, XB_AGAIN_OWN, true);
	assert_store(at(&taker), ENTRY " bans");
	assert_waits(&taker, "");
}

/* Others' puts of it are not in the store, and are later all the same. */
TEST(also_of_a_list_that_is_not_followed)
{
	assert_int_equal(xb_share_set(at(&taker), "bans", XB_SHARE_PUBLISH), 0);
	meet(false, XB_AGAIN_OWN, true);
	assert_store(at(&taker), "");
	assert_waits(&taker, "");
}

/* Its publisher may not come back; but what a snapshot had makes way. */
TEST(a_put_of_another_does_not_make_way_to_a_delete)
{
	list_entry(at(&taker), ENTRY, "bans");
	meet(true, XB_AGAIN_ANOTHERS, false);
	assert_store(at(&taker), ENTRY " bans");
	assert_waits(&taker, ENTRY " bans");
	give_up(&taker);
	list_entry(at(&taker), ENTRY, "bans");
	meet(true, XB_AGAIN_OLDER, false);
	assert_store(at(&taker), "");
	assert_waits(&taker, "");
}

/* An earlier version has taken positions up to this one from the server. */
TEST(going_back_ends_at_the_last_number)
{
	static const uint64_t from[] = {UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX, 17, 0};
	struct logentry entry = {.kind = LOGENTRY_BEAT, .term = 1, .time = 1};
	uint8_t before[MAC_BYTES] = {0}, *bytes;
	size_t size;

	memcpy(entry.epoch, epoch, sizeof(entry.epoch));
	memcpy(entry.publisher, stranger, sizeof(entry.publisher));
	assert_int_equal(logentry_write(&entry, &key, 51, before, &bytes, &size), 0);
	alarm(60);
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		bool behind = from[i] < UINT64_MAX;

		assert_int_equal(xb_logtail_append(at(&taker), 1, UINT64_MAX, bytes, size), 0);
		assert_int_equal(former_cut(at(&taker), 1, from[i]), 0);
		assert_int_equal(xb_fleet_former_has(at(&taker), UINT64_MAX, entry.chain), behind);
		assert_int_equal(xb_fleet_former_end(at(&taker), UINT64_MAX, entry.chain), 0);
	}
	alarm(0);
	free(bytes);
}

EACH_TEST(begin_hosts, end_hosts);
