/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trial begins, is kept and goes back by calls of the engine alone, as a program other than
 * bloomctl makes them. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "engine/settings.h"
#include "engine/trial.h"
#include "engine/writepath.h"
#include "store/membership.h"
#include "store/store.h"
#include "store/txn.h"
#include "support/cmocka.h"
#include "support/rig.h"
#include "xdp_bloom/hash.h"

#define LISTED 0xc6336401 /* 198.51.100.1 */

static struct rig rig;
static int entry;

static int begin(void **state)
{
	rig_begin(&rig, "trial");
	rig_add(&rig, "198.51.100.1", "default");
	entry = rig_entry(&rig);
	return 0;
}

static int end(void **state)
{
	close(entry);
	rig_end(&rig);
	return 0;
}

static void assert_verdict(uint32_t verdict)
{
	assert_int_equal(rig_run_ipv4(entry, LISTED), verdict);
}

static void try_monitor(void)
{
	const struct xb_request monitor = {.kind = XB_REQUEST_POLICY,
					   .policy.policy = XB_POLICY_MONITOR};
	const struct xb_wish wish = {.request = &monitor, .seconds = 600};

	assert_verdict(XDP_DROP);
	assert_int_equal(xb_policy_wish(&rig.paths, &wish, NULL, &rig.written), 0);
	assert_verdict(XDP_PASS);
}

static void assert_nothing_to_commit(void)
{
	struct xb_commit commit;

	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 1);
}

static uint64_t deadline(void)
{
	struct xb_anchor anchor;
	uint64_t is;

	assert_int_equal(xb_anchor_open(rig.paths.pins, &anchor), 0);
	is = anchor.guard.state.deadline;
	xb_anchor_close(&anchor);
	return is;
}

TEST(is_kept)
{
	struct xb_commit commit;
	struct xb_wish wish = {.request = &commit.trial.request};

	assert_nothing_to_commit();
	try_monitor();
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 0);
	wish.commits = commit.trial.identity;
	assert_int_equal(commit.trial.request.kind, XB_REQUEST_POLICY);
	assert_int_equal(commit.trial.request.policy.policy, XB_POLICY_MONITOR);
	assert_int_equal(xb_policy_wish(&rig.paths, &wish, NULL, &rig.written), 0);
	xb_trial_commit_end(&commit);
	assert_nothing_to_commit();
	assert_verdict(XDP_PASS);
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, &rig.written), 0);
	assert_verdict(XDP_PASS);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	assert_verdict(XDP_DROP);
}

/* A commit that made nothing leaves the trial to its time, and to who ends it. */
TEST(goes_back)
{
	struct xb_commit commit;
	uint64_t first;
	bool was_tried;

	try_monitor();
	first = deadline();
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 0);
	assert_int_equal(deadline(), first);
	xb_trial_commit_end(&commit);
	assert_int_equal(deadline(), first);
	assert_verdict(XDP_PASS);
	assert_int_equal(xb_trial_abandon(&rig.paths, NULL, &was_tried), 0);
	assert_verdict(XDP_DROP);
	assert_nothing_to_commit();
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, &rig.written), 0);
	assert_verdict(XDP_DROP);
}

/* Another trial, which began after that one had ended, is not the one to keep. */
TEST(another_is_not_kept)
{
	struct xb_commit commit;
	struct xb_wish wish = {.request = &commit.trial.request};
	bool was_tried;

	try_monitor();
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 0);
	wish.commits = commit.trial.identity;
	assert_int_equal(xb_trial_abandon(&rig.paths, NULL, &was_tried), 0);
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, &rig.written), 0);
	try_monitor();
	assert_true(xb_policy_wish(&rig.paths, &wish, NULL, &rig.written) < 0);
	xb_trial_commit_end(&commit);
	assert_verdict(XDP_PASS);
	assert_int_equal(xb_trial_abandon(&rig.paths, NULL, &was_tried), 0);
	assert_verdict(XDP_DROP);
}

static void spoil_record(void)
{
	static char name[] = "trial request";
	MDB_val key = {sizeof(name) - 1, name}, value, spoiled;
	struct xb_store *store;
	struct xb_txn *txn;
	uint8_t bytes[1024];

	assert_int_equal(xb_store_open(rig.paths.state, XB_STORE_WRITE, &store), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(mdb_get(txn->txn, txn->store->meta, &key, &value), 0);
	assert_true(value.mv_size <= sizeof(bytes));
	memcpy(bytes, value.mv_data, value.mv_size);
	bytes[value.mv_size - 1] ^= 1;
	spoiled = (MDB_val){value.mv_size, bytes};
	assert_int_equal(mdb_put(txn->txn, txn->store->meta, &key, &spoiled, 0), 0);
	txn->edits++;
	assert_int_equal(xb_txn_commit(txn), 0);
	xb_store_close(store);
}

/* Nobody can keep it any more, and it keeps nobody from writing. */
TEST(ends_when_its_record_is_damaged)
{
	struct xb_commit commit;

	try_monitor();
	spoil_record();
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), -EBADMSG);
	assert_verdict(XDP_PASS);
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, &rig.written), 0);
	assert_verdict(XDP_DROP);
	assert_nothing_to_commit();
}

/* What could not be read back is not put on trial. */
TEST(needs_a_request_that_can_be_read)
{
	const struct xb_request nonsense = {.kind = XB_REQUEST_POLICY, .policy.policy = 7};
	const struct xb_wish wish = {.request = &nonsense, .seconds = 600};

	assert_true(xb_policy_wish(&rig.paths, &wish, NULL, &rig.written) < 0);
	assert_verdict(XDP_DROP);
	assert_nothing_to_commit();
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, &rig.written), 0);
	assert_verdict(XDP_DROP);
}

#define CROWD 33 /* one more than two buckets hold */

/* Addresses that all have the same two buckets in the generation in force, which has no place for
 * the last one. */
static void find_crowd(struct xb_entry crowd[CROWD])
{
	struct xb_generation *generation = rig_generation(&rig);
	struct xb_spot wanted[2] = {{0}};

	for (uint32_t address = 0x0a000000, found = 0; found < CROWD; address++) {
		struct xb_spot spot[2];

		xb_exact_spots(&generation->confirm4, 0, address, spot);
		assert_true(address < 0x20000000);
		if (!found)
			memcpy(wanted, spot, sizeof(spot));
		if (spot[0].bucket == wanted[0].bucket && spot[1].bucket == wanted[1].bucket)
			crowd[found++] = (struct xb_entry){
				.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
	}
	xb_generation_close(generation);
}

static int list_crowd(struct xb_writer *writer, void *context)
{
	const struct xb_entry *crowd = context;
	struct xb_list *list;
	int error = xb_list_need(writer->txn, "default", &list);

	for (size_t i = 0; !error && i < CROWD; i++) {
		struct xb_membership member = {.list = list->id, .added = writer->now};
		enum xb_put put;

		error = xb_member_put(writer->txn, &crowd[i], &member, 0, &put);
	}
	return error;
}

static void assert_dropped(const struct xb_entry crowd[CROWD])
{
	for (size_t i = 0; i < CROWD; i++)
		assert_int_equal(rig_run_from(entry, &crowd[i]), XDP_DROP);
}

/* The lasting part of a change may need another generation than the one in force; its interfaces
 * are on trial all the same. */
TEST(begins_in_another_generation)
{
	char *names[] = {"lo"};
	const struct xb_request attach = {.kind = XB_REQUEST_ATTACH,
					  .attach = {.names = names, .count = 1}};
	const struct xb_wish wish = {.request = &attach, .seconds = 600};
	static struct xb_entry crowd[CROWD];
	bool was_tried;

	for (unsigned int how = 0; how <= XB_WRITE_HEAVY; how += XB_WRITE_HEAVY) {
		find_crowd(crowd);
		assert_int_equal(
			xb_write_wish(&rig.paths, how, &wish, list_crowd, crowd, &rig.written), 0);
		assert_dropped(crowd);
		assert_int_equal(xb_trial_abandon(&rig.paths, "lo", &was_tried), 0);
		assert_true(was_tried);
		assert_int_equal(rig_run_from(entry, &crowd[0]), XDP_PASS);
		assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, &rig.written), 0);
		assert_nothing_to_commit();
		assert_dropped(crowd);
	}
}

struct watch {
	const struct xb_entry *source;
	bool done, passed;
};

static void *look_on(void *context)
{
	struct watch *watch = context;

	while (!__atomic_load_n(&watch->done, __ATOMIC_SEQ_CST))
		watch->passed |= rig_run_from(entry, watch->source) != XDP_DROP;
	return NULL;
}

/* The former generation has no place for all of what is kept: until a new one has it, the trial
 * stays in force. */
TEST(is_kept_in_another_generation)
{
	const struct xb_request import = {.kind = XB_REQUEST_IMPORT,
					  .import = {.file = "crowd", .list = "default"}};
	struct xb_wish wish = {.request = &import, .seconds = 600};
	static struct xb_entry crowd[CROWD];
	struct watch watch = {.source = &crowd[CROWD - 1]};
	struct xb_commit commit;
	pthread_t watcher;

	find_crowd(crowd);
	assert_int_equal(xb_write_wish(&rig.paths, 0, &wish, list_crowd, crowd, &rig.written), 0);
	assert_dropped(crowd);
	assert_int_equal(pthread_create(&watcher, NULL, look_on, &watch), 0);
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 0);
	wish = (struct xb_wish){.request = &import, .commits = commit.trial.identity};
	assert_int_equal(xb_write_wish(&rig.paths, 0, &wish, list_crowd, crowd, &rig.written), 0);
	xb_trial_commit_end(&commit);
	__atomic_store_n(&watch.done, true, __ATOMIC_SEQ_CST);
	pthread_join(watcher, NULL);
	assert_false(watch.passed);
	assert_dropped(crowd);
	assert_nothing_to_commit();
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, &rig.written), 0);
	assert_dropped(crowd);
	assert_true(rig_matches_rebuild(&rig));
}

EACH_TEST(begin, end);
