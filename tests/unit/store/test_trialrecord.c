/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a trial: every kind comes back as it was put, and nothing that was damaged does. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/requestcodec.h"
#include "store/trialrecord.h"
#include "support/cmocka.h"
#include "support/scratch_store.h"

#define IDENTITY 0x1122334455667788ULL

static char first_name[] = "eth0", second_name[] = "a-name-of-15-ch";
static char *const names[] = {first_name, second_name};

static const struct xb_request requests[] = {
	{.kind = XB_REQUEST_ATTACH,
	 .attach = {.names = names, .count = 2, .mode = XB_MODE_SKB, .refuse = 5}},
	{.kind = XB_REQUEST_POLICY, .policy = {XB_POLICY_ALLOW_ONLY, true}},
	{.kind = XB_REQUEST_VERDICT, .verdict = {"ads", XB_DOMAIN_NXDOMAIN}},
	{.kind = XB_REQUEST_ROTATE,
	 .rotate = {.rate = 1e-5, .capacity = 1ULL << 33, .set_capacity = true, .confirm = true}},
	{.kind = XB_REQUEST_ROTATE},
	{.kind = XB_REQUEST_IMPORT,
	 .import = {.file = "/tmp/a list",
		    .list = "level1",
		    .end = "# end",
		    .replace = true,
		    .judges = true,
		    .verdict = XB_DOMAIN_COUNT,
		    .least_entries = 7,
		    .least_bytes = 1ULL << 40,
		    .factor = 1.5}},
	{.kind = XB_REQUEST_IMPORT,
	 .import = {.file = "-", .list = "default", .format = "hosts", .force = true}},
	{.kind = XB_REQUEST_IMPORT,
	 .import = {.file = "pbl",
		    .list = "pbl",
		    .scopes = true,
		    .scope = {1, {{XB_SERVICE_TCP, 25, 25}}}}},
	{.kind = XB_REQUEST_IMPORT,
	 .import = {.file = "pbl", .list = "pbl", .judges = true, .scopes = true}},
	{.kind = XB_REQUEST_IMPORT,
	 .import = {.file = "a",
		    .list = "b",
		    .choice = {.column = "1..2", .where = "3=DE", .bounded = true}}},
	{.kind = XB_REQUEST_IMPORT,
	 .import = {.file = "a",
		    .list = "b",
		    .scopes = true,
		    .choice = {.json = "a[]", .bounded = true, .most_wrong = 1ULL << 31}}},
	{.kind = XB_REQUEST_RESTORE, .restore = {"saved.json", true}},
	{.kind = XB_REQUEST_SCOPE,
	 .scope = {"spam", {2, {{XB_SERVICE_TCP, 25, 25}, {XB_SERVICE_UDP, 6000, 6063}}}}},
	{.kind = XB_REQUEST_SCOPE, .scope = {"spam", {0}}},
};

#define COUNT (sizeof(requests) / sizeof(requests[0]))

static void assert_text(const char *text, const char *expected)
{
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

static void assert_same_rotate(const struct xb_rotate_request *one,
			       const struct xb_rotate_request *other)
{
	assert_memory_equal(&one->rate, &other->rate, sizeof(one->rate));
	assert_int_equal(one->capacity, other->capacity);
	assert_int_equal(one->set_capacity, other->set_capacity);
	assert_int_equal(one->set_confirm, other->set_confirm);
	assert_int_equal(one->confirm, other->confirm);
}

static void assert_same_import(const struct xb_import_request *one,
			       const struct xb_import_request *other)
{
	assert_text(one->file, other->file);
	assert_text(one->list, other->list);
	assert_text(one->format, other->format);
	assert_text(one->end, other->end);
	assert_text(one->choice.column, other->choice.column);
	assert_text(one->choice.where, other->choice.where);
	assert_text(one->choice.json, other->choice.json);
	assert_int_equal(one->choice.bounded, other->choice.bounded);
	assert_int_equal(one->choice.most_wrong, other->choice.most_wrong);
	assert_int_equal(one->replace, other->replace);
	assert_int_equal(one->include_bogons, other->include_bogons);
	assert_int_equal(one->force, other->force);
	assert_int_equal(one->judges, other->judges);
	assert_int_equal(one->verdict, other->verdict);
	assert_int_equal(one->scopes, other->scopes);
	assert_true(xb_scope_equals(&one->scope, &other->scope));
	assert_int_equal(one->least_entries, other->least_entries);
	assert_int_equal(one->least_bytes, other->least_bytes);
	assert_memory_equal(&one->factor, &other->factor, sizeof(one->factor));
}

static void assert_same(const struct xb_request *one, const struct xb_request *other)
{
	assert_int_equal(one->kind, other->kind);
	switch (one->kind) {
	case XB_REQUEST_ATTACH:
		assert_int_equal(one->attach.count, other->attach.count);
		for (uint32_t i = 0; i < one->attach.count; i++)
			assert_text(one->attach.names[i], other->attach.names[i]);
		assert_int_equal(one->attach.mode, other->attach.mode);
		assert_int_equal(one->attach.refuse, other->attach.refuse);
		break;
	case XB_REQUEST_POLICY:
		assert_int_equal(one->policy.policy, other->policy.policy);
		assert_int_equal(one->policy.force, other->policy.force);
		break;
	case XB_REQUEST_VERDICT:
		assert_text(one->verdict.list, other->verdict.list);
		assert_int_equal(one->verdict.verdict, other->verdict.verdict);
		break;
	case XB_REQUEST_ROTATE:
		assert_same_rotate(&one->rotate, &other->rotate);
		break;
	case XB_REQUEST_IMPORT:
		assert_same_import(&one->import, &other->import);
		break;
	case XB_REQUEST_RESTORE:
		assert_text(one->restore.file, other->restore.file);
		assert_int_equal(one->restore.interfaces, other->restore.interfaces);
		break;
	case XB_REQUEST_SCOPE:
		assert_text(one->scope.list, other->scope.list);
		assert_true(xb_scope_equals(&one->scope.scope, &other->scope.scope));
		break;
	case XB_REQUEST_NONE:
	case XB_REQUEST_KINDS:
		fail();
	}
}

static void put(const struct xb_request *request)
{
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_trial_put(txn, IDENTITY, request), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
}

static int get(struct xb_trial *trial)
{
	struct xb_txn *txn;
	int error;

	assert_int_equal(xb_store_read(store, &txn), 0);
	error = xb_trial_get(txn, trial);
	xb_txn_abort(txn);
	return error;
}

TEST(every_kind_comes_back)
{
	struct xb_trial trial;

	assert_int_equal(get(&trial), -ENOENT);
	for (size_t i = 0; i < COUNT; i++) {
		put(&requests[i]);
		assert_int_equal(get(&trial), 0);
		assert_int_equal(trial.identity, IDENTITY);
		assert_same(&trial.request, &requests[i]);
		assert_int_equal(xb_trial_names(&trial, "eth0"), i == 0);
		assert_int_equal(xb_trial_names(&trial, second_name), i == 0);
		assert_false(xb_trial_names(&trial, "eth"));
		xb_trial_free(&trial);
	}
}

static void rename_one(struct xb_trial *trial, const char *from, const char *to)
{
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_trial_rename(txn, trial, from, to), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
}

static void assert_tried(const struct xb_trial *trial, const char *first)
{
	const struct xb_attach_request *attach = &trial->request.attach;

	assert_int_equal(trial->identity, IDENTITY);
	assert_int_equal(attach->count, 2);
	assert_string_equal(attach->names[0], first);
	assert_string_equal(attach->names[1], second_name);
	assert_int_equal(attach->mode, requests[0].attach.mode);
	assert_int_equal(attach->refuse, requests[0].attach.refuse);
}

TEST(interfaces_are_renamed)
{
	struct xb_trial trial, stored;

	put(&requests[0]);
	assert_int_equal(get(&trial), 0);
	rename_one(&trial, "eth1", "lan0");	     /* is not on trial */
	rename_one(&trial, first_name, second_name); /* is on trial already */
	assert_tried(&trial, first_name);
	rename_one(&trial, first_name, "lan0");
	assert_tried(&trial, "lan0");
	assert_int_equal(get(&stored), 0);
	assert_tried(&stored, "lan0");
	xb_trial_free(&stored);
	xb_trial_free(&trial);
}

TEST(is_deleted)
{
	struct xb_trial trial;
	struct xb_txn *txn;

	put(&requests[0]);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_trial_delete(txn), 0);
	assert_int_equal(xb_trial_delete(txn), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(get(&trial), -ENOENT);
}

static MDB_val record_key(void)
{
	return (MDB_val){13, "trial request"};
}

static size_t read_record(uint8_t *bytes, size_t room)
{
	MDB_val key = record_key(), value;
	struct xb_txn *txn;

	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_int_equal(mdb_get(txn->txn, store->meta, &key, &value), 0);
	assert_true(value.mv_size <= room);
	memcpy(bytes, value.mv_data, value.mv_size);
	xb_txn_abort(txn);
	return value.mv_size;
}

/* In a transaction that is given up. */
static int get_instead(const uint8_t *bytes, size_t size)
{
	MDB_val key = record_key(), value = {size, (void *)(uintptr_t)bytes};
	struct xb_trial trial;
	struct xb_txn *txn;
	int error;

	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(mdb_put(txn->txn, store->meta, &key, &value, 0), 0);
	error = xb_trial_get(txn, &trial);
	xb_trial_free(&trial);
	xb_txn_abort(txn);
	return error;
}

static void assert_damaged(const uint8_t *bytes, size_t size)
{
	assert_int_equal(get_instead(bytes, size), -EBADMSG);
	assert_non_null(strstr(xb_error_message(), "damaged"));
	xb_error_clear();
}

TEST(damage_is_noticed)
{
	uint8_t bytes[256];

	for (size_t i = 0; i < COUNT; i++) {
		size_t size;

		put(&requests[i]);
		size = read_record(bytes, sizeof(bytes) - 1);
		assert_int_equal(get_instead(bytes, size), 0);
		for (size_t cut = 0; cut < size; cut++)
			assert_damaged(bytes, cut);
		bytes[size] = 0;
		assert_damaged(bytes, size + 1);
		for (size_t bit = 0; bit < size * 8; bit++) {
			bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1U << bit % 8);
			assert_damaged(bytes, size);
			bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1U << bit % 8);
		}
	}
}

/* In memory of just this size, so that a step beyond it shows under ASan and valgrind. */
static int decode(const uint8_t *bytes, size_t size)
{
	uint8_t *exact = malloc(size + !size);
	struct xb_request request;
	int error;

	assert_non_null(exact);
	memcpy(exact, bytes, size);
	error = xb_request_decode(exact, size, &request);
	xb_request_clear(&request);
	free(exact);
	return error;
}

/* What no seal keeps away: whoever wrote it counted wrong. */
TEST(any_bytes_are_checked)
{
	static const uint8_t others[] = {0, 1, 2, 6, 7, 0x10, 0x7f, 0x80, 0xff};
	uint8_t bytes[256];

	for (size_t i = 0; i < COUNT; i++) {
		size_t size = xb_request_size(&requests[i]);

		assert_true(size <= sizeof(bytes));
		xb_request_encode(&requests[i], bytes);
		assert_int_equal(decode(bytes, size), 0);
		for (size_t cut = 0; cut < size; cut++)
			assert_int_equal(decode(bytes, cut), -EINVAL);
		for (size_t at = 0; at < size; at++) {
			uint8_t right = bytes[at];

			for (size_t other = 0; other < sizeof(others); other++) {
				bytes[at] = others[other];
				decode(bytes, size);
			}
			bytes[at] = right;
		}
	}
}

static void assert_refused(struct xb_request request)
{
	size_t size = xb_request_size(&request);
	uint8_t bytes[256];

	assert_true(size <= sizeof(bytes));
	xb_request_encode(&request, bytes);
	assert_int_equal(decode(bytes, size), -EINVAL);
}

TEST(what_no_request_has)
{
	static char long_name[] = "a-name-of-16-cha", no_name[] = "";
	static char *const too_long[] = {long_name}, *const empty[] = {no_name};
	struct xb_request request;

	assert_refused((struct xb_request){0});
	assert_refused((struct xb_request){.kind = XB_REQUEST_KINDS});
	assert_refused((struct xb_request){.kind = XB_REQUEST_ATTACH});
	assert_refused((struct xb_request){.kind = XB_REQUEST_ATTACH, .attach = {too_long, 1}});
	assert_refused((struct xb_request){.kind = XB_REQUEST_ATTACH, .attach = {empty, 1}});
	assert_refused((struct xb_request){.kind = XB_REQUEST_ATTACH,
					   .attach = {names, 2, XB_MODE_SKB + 1}});
	assert_refused((struct xb_request){.kind = XB_REQUEST_POLICY,
					   .policy = {XB_POLICY_ALLOW_ONLY + 1}});
	assert_refused((struct xb_request){.kind = XB_REQUEST_VERDICT,
					   .verdict = {"ads", XB_DOMAIN_VERDICTS}});
	assert_refused((struct xb_request){.kind = XB_REQUEST_VERDICT});
	assert_refused((struct xb_request){.kind = XB_REQUEST_ROTATE, .rotate.rate = -1});
	assert_refused((struct xb_request){.kind = XB_REQUEST_ROTATE, .rotate.rate = 2});
	assert_refused((struct xb_request){.kind = XB_REQUEST_ROTATE, .rotate.rate = NAN});
	assert_refused((struct xb_request){.kind = XB_REQUEST_RESTORE});
	assert_refused((struct xb_request){.kind = XB_REQUEST_SCOPE});
	/* Two that touch, and a protocol that there is not. */
	assert_refused((struct xb_request){
		.kind = XB_REQUEST_SCOPE,
		.scope = {"spam", {2, {{XB_SERVICE_TCP, 25, 25}, {XB_SERVICE_TCP, 26, 26}}}}});
	assert_refused(
		(struct xb_request){.kind = XB_REQUEST_SCOPE,
				    .scope = {"spam", {1, {{XB_SERVICE_PROTOCOLS, 25, 25}}}}});
	request = requests[5];
	request.import.verdict = XB_DOMAIN_VERDICTS;
	assert_refused(request);
	request = requests[5];
	request.import.factor = 0.5;
	assert_refused(request);
	request = requests[5];
	request.import.list = NULL;
	assert_refused(request);
}

EACH_TEST(begin, end);
