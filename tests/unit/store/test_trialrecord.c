/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a trial: every kind comes back as it was put, and nothing that was damaged does. */
#include <math.h>

#include "store/requestcodec.h"
#include "store/trialrecord.h"
#include "support/cmocka.h"
#include "support/scratch_txn.h"

#define IDENTITY 0x1122334455667788ULL

static char first_name[] = "eth0", second_name[] = "a-name-of-15-ch";
static char *const names[] = {first_name, second_name};

static const struct xb_request requests[] = {
	{.kind = XB_REQUEST_ATTACH,
	 .attach = {.names = names, .count = 2, .mode = XB_MODE_SKB, .refuse = 5}},
	{.kind = XB_REQUEST_POLICY, .policy = {XB_POLICY_ALLOW_ONLY, true, true}},
	{.kind = XB_REQUEST_VERDICT, .verdict = {"ads", XB_DOMAIN_NXDOMAIN}},
	{.kind = XB_REQUEST_ROTATE,
	 .rotate = {.rate = 1e-5,
		    .capacity = 1ULL << 33,
		    .set_capacity = true,
		    .set_confirm = true,
		    .confirm = true}},
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
	 .import = {.file = "-",
		    .list = "default",
		    .format = "hosts",
		    .zone = "rpz.example",
		    .include_bogons = true,
		    .force = true}},
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
	 .import = {.file = "a", .list = "b", .choice = {.set = "s", .comment = "c"}}},
	{.kind = XB_REQUEST_IMPORT,
	 .import = {.file = "a",
		    .list = "b",
		    .scopes = true,
		    .choice = {.json = "a[]", .bounded = true, .most_wrong = 1ULL << 31}}},
	{.kind = XB_REQUEST_IMPORT,
	 .import = {.file = "hosts", .list = "b", .choice = {.below = true}}},
	{.kind = XB_REQUEST_RESTORE, .restore = {"saved.json", true}},
	{.kind = XB_REQUEST_SCOPE,
	 .scope = {"spam", {2, {{XB_SERVICE_TCP, 25, 25}, {XB_SERVICE_UDP, 6000, 6063}}}}},
	{.kind = XB_REQUEST_SCOPE, .scope = {"spam", {0}}},
	{.kind = XB_REQUEST_LIMIT_ADD,
	 .limit_add = {.name = "a-name-of-32-characters-or-bytes",
		       .counts = true,
		       .bits4 = 24,
		       .bits6 = 48,
		       .of = XB_LIMIT_QUERIES,
		       .period = 3600,
		       .rate = 100,
		       .burst = 7,
		       .capacity = 1000,
		       .list = "a-list-of-64-characters-or-bytes-that-is-as-long-as-they-can-be.",
		       .timeout = 600,
		       .longest = 86400,
		       .forgeable = true,
		       .known = 10,
		       .scope = {2, {{XB_SERVICE_TCP, 53, 53}, {XB_SERVICE_UDP, 53, 53}}}}},
	{.kind = XB_REQUEST_LIMIT_ADD,
	 .limit_add = {.name = "x",
		       .bits4 = 32,
		       .bits6 = 64,
		       .period = 1,
		       .rate = 1,
		       .burst = 1,
		       .capacity = 1}},
	{.kind = XB_REQUEST_LIMIT_ADD,
	 .limit_add = {.name = "names",
		       .truncates = true,
		       .names = true,
		       .bits4 = 32,
		       .bits6 = 64,
		       .of = XB_LIMIT_QUERIES,
		       .period = 1,
		       .rate = 1,
		       .burst = 1,
		       .capacity = 1,
		       .known = 1}},
	{.kind = XB_REQUEST_LIMIT_DEL, .limit_del = "x"},
};

#define COUNT (sizeof(requests) / sizeof(requests[0]))

/* Of which a request of the kind consists, but for the names of interfaces. size 0: a text. */
#define FIELD(kind, field)                                                                         \
	{                                                                                          \
		XB_REQUEST_##kind, offsetof(struct xb_request, field),                             \
			sizeof(((struct xb_request *)NULL)->field)                                 \
	}
#define TEXT(kind, field)                                                                          \
	{                                                                                          \
		XB_REQUEST_##kind, offsetof(struct xb_request, field), 0                           \
	}

static const struct {
	enum xb_request_kind kind;
	size_t at, size;
} fields[] = {
	FIELD(ATTACH, attach.count),
	FIELD(ATTACH, attach.mode),
	FIELD(ATTACH, attach.refuse),
	FIELD(POLICY, policy.policy),
	FIELD(POLICY, policy.force),
	FIELD(POLICY, policy.known),
	TEXT(VERDICT, verdict.list),
	FIELD(VERDICT, verdict.verdict),
	FIELD(ROTATE, rotate.rate),
	FIELD(ROTATE, rotate.capacity),
	FIELD(ROTATE, rotate.set_capacity),
	FIELD(ROTATE, rotate.set_confirm),
	FIELD(ROTATE, rotate.confirm),
	TEXT(IMPORT, import.file),
	TEXT(IMPORT, import.list),
	TEXT(IMPORT, import.format),
	TEXT(IMPORT, import.end),
	TEXT(IMPORT, import.zone),
	TEXT(IMPORT, import.choice.column),
	TEXT(IMPORT, import.choice.where),
	TEXT(IMPORT, import.choice.json),
	TEXT(IMPORT, import.choice.set),
	TEXT(IMPORT, import.choice.comment),
	FIELD(IMPORT, import.choice.bounded),
	FIELD(IMPORT, import.choice.most_wrong),
	FIELD(IMPORT, import.choice.below),
	FIELD(IMPORT, import.replace),
	FIELD(IMPORT, import.include_bogons),
	FIELD(IMPORT, import.force),
	FIELD(IMPORT, import.judges),
	FIELD(IMPORT, import.verdict),
	FIELD(IMPORT, import.scopes),
	FIELD(IMPORT, import.scope),
	FIELD(IMPORT, import.least_entries),
	FIELD(IMPORT, import.least_bytes),
	FIELD(IMPORT, import.factor),
	TEXT(RESTORE, restore.file),
	FIELD(RESTORE, restore.interfaces),
	TEXT(SCOPE, scope.list),
	FIELD(SCOPE, scope.scope),
	FIELD(LIMIT_ADD, limit_add.name),
	FIELD(LIMIT_ADD, limit_add.counts),
	FIELD(LIMIT_ADD, limit_add.bits4),
	FIELD(LIMIT_ADD, limit_add.bits6),
	FIELD(LIMIT_ADD, limit_add.of),
	FIELD(LIMIT_ADD, limit_add.period),
	FIELD(LIMIT_ADD, limit_add.rate),
	FIELD(LIMIT_ADD, limit_add.burst),
	FIELD(LIMIT_ADD, limit_add.capacity),
	FIELD(LIMIT_ADD, limit_add.list),
	FIELD(LIMIT_ADD, limit_add.timeout),
	FIELD(LIMIT_ADD, limit_add.longest),
	FIELD(LIMIT_ADD, limit_add.forgeable),
	FIELD(LIMIT_ADD, limit_add.known),
	FIELD(LIMIT_ADD, limit_add.scope),
	FIELD(LIMIT_ADD, limit_add.truncates),
	FIELD(LIMIT_ADD, limit_add.names),
	TEXT(LIMIT_DEL, limit_del),
};

static bool is_same_field(const uint8_t *one, const uint8_t *other, size_t size)
{
	const char *text, *other_text;

	if (size)
		return !memcmp(one, other, size);
	memcpy(&text, one, sizeof(text));
	memcpy(&other_text, other, sizeof(other_text));
	return text && other_text ? !strcmp(text, other_text) : text == other_text;
}

static void assert_same(const struct xb_request *one, const struct xb_request *other)
{
	assert_int_equal(one->kind, other->kind);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].kind == one->kind &&
		    !is_same_field((const uint8_t *)one + fields[i].at,
				   (const uint8_t *)other + fields[i].at, fields[i].size))
			fail_msg("field %zu of the table differs", i);
	for (uint32_t i = 0; one->kind == XB_REQUEST_ATTACH && i < one->attach.count; i++)
		assert_string_equal(one->attach.names[i], other->attach.names[i]);
}

static void put(const struct xb_request *request)
{
	assert_int_equal(xb_trial_put(txn, IDENTITY, request), 0);
	commit_and_go_on();
}

TEST(every_kind_comes_back)
{
	struct xb_trial trial;

	assert_int_equal(xb_trial_get(txn, &trial), -ENOENT);
	for (size_t i = 0; i < COUNT; i++) {
		put(&requests[i]);
		assert_int_equal(xb_trial_get(txn, &trial), 0);
		assert_int_equal(trial.identity, IDENTITY);
		assert_same(&trial.request, &requests[i]);
		assert_int_equal(xb_trial_names(&trial, "eth0"), i == 0);
		assert_int_equal(xb_trial_names(&trial, second_name), i == 0);
		assert_false(xb_trial_names(&trial, "eth"));
		xb_trial_free(&trial);
	}
	assert_int_equal(xb_trial_delete(txn), 0);
	assert_int_equal(xb_trial_delete(txn), 0);
	commit_and_go_on();
	assert_int_equal(xb_trial_get(txn, &trial), -ENOENT);
}

static void assert_tried(const struct xb_trial *trial, const char *first)
{
	struct xb_request expected = requests[0];
	char *const both[] = {(char *)(uintptr_t)first, second_name};

	expected.attach.names = both;
	assert_int_equal(trial->identity, IDENTITY);
	assert_same(&trial->request, &expected);
}

TEST(interfaces_are_renamed)
{
	struct xb_trial trial, stored;

	put(&requests[0]);
	assert_int_equal(xb_trial_get(txn, &trial), 0);
	/* One that is not on trial, and to one that is already. */
	assert_int_equal(xb_trial_rename(txn, &trial, "eth1", "lan0"), 0);
	assert_int_equal(xb_trial_rename(txn, &trial, first_name, second_name), 0);
	assert_tried(&trial, first_name);
	assert_int_equal(xb_trial_rename(txn, &trial, first_name, "lan0"), 0);
	assert_tried(&trial, "lan0");
	commit_and_go_on();
	assert_int_equal(xb_trial_get(txn, &stored), 0);
	assert_tried(&stored, "lan0");
	xb_trial_free(&stored);
	xb_trial_free(&trial);
}

static int get_instead(const uint8_t *bytes, size_t size)
{
	MDB_val key = {13, "trial request"}, value = {size, (void *)(uintptr_t)bytes};
	struct xb_trial trial;
	int error;

	assert_int_equal(mdb_put(txn->txn, store->meta, &key, &value, 0), 0);
	error = xb_trial_get(txn, &trial);
	xb_trial_free(&trial);
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
	MDB_val key = {13, "trial request"}, value;
	uint8_t bytes[256] = {0};

	for (size_t i = 0; i < COUNT; i++) {
		size_t size;

		put(&requests[i]);
		assert_int_equal(mdb_get(txn->txn, store->meta, &key, &value), 0);
		size = value.mv_size;
		assert_in_range(size, 1, sizeof(bytes) - 1);
		memcpy(bytes, value.mv_data, size);
		bytes[size] = 0;
		assert_int_equal(get_instead(bytes, size), 0);
		for (size_t cut = 0; cut < size; cut++)
			assert_damaged(bytes, cut);
		assert_damaged(bytes, size + 1);
		for (size_t bit = 0; bit < size * 8; bit++) {
			bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1U << bit % 8);
			assert_damaged(bytes, size);
			bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1U << bit % 8);
		}
		abort_and_go_on();
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

/* What no seal keeps away; tests/fuzz/fuzz_request.c has any bytes. */
TEST(every_cut_of_a_request)
{
	uint8_t bytes[512];

	for (size_t i = 0; i < COUNT; i++) {
		size_t size = xb_request_size(&requests[i]);

		assert_true(size <= sizeof(bytes));
		assert_true(xb_request_encode(&requests[i], bytes));
		assert_int_equal(decode(bytes, size), 0);
		for (size_t cut = 0; cut < size; cut++)
			assert_int_equal(decode(bytes, cut), -EINVAL);
	}
}

static char long_name[] = "a-name-of-16-cha", no_name[] = "";
static char *const too_long[] = {long_name}, *const empty[] = {no_name};

#define IMPORT_WITH(...)                                                                           \
	{                                                                                          \
		.kind = XB_REQUEST_IMPORT, .import = {.file = "a", .judges = true, __VA_ARGS__ }   \
	}

/* In the order of the structure. */
#define LIMIT(name, ...)                                                                           \
	{                                                                                          \
		.kind = XB_REQUEST_LIMIT_ADD, .limit_add = { name, __VA_ARGS__ }                   \
	}

TEST(what_no_request_has)
{
	const struct xb_request rows[] = {
		{0},
		{.kind = XB_REQUEST_KINDS},
		{.kind = XB_REQUEST_ATTACH},
		{.kind = XB_REQUEST_ATTACH, .attach = {too_long, 1}},
		{.kind = XB_REQUEST_ATTACH, .attach = {empty, 1}},
		{.kind = XB_REQUEST_ATTACH, .attach = {names, 2, XB_MODE_SKB + 1}},
		{.kind = XB_REQUEST_POLICY, .policy = {XB_POLICY_ALLOW_ONLY + 1}},
		{.kind = XB_REQUEST_VERDICT, .verdict = {"ads", XB_DOMAIN_VERDICTS}},
		{.kind = XB_REQUEST_VERDICT},
		{.kind = XB_REQUEST_ROTATE, .rotate.rate = -1},
		{.kind = XB_REQUEST_ROTATE, .rotate.rate = 2},
		{.kind = XB_REQUEST_ROTATE, .rotate.rate = NAN},
		{.kind = XB_REQUEST_RESTORE},
		{.kind = XB_REQUEST_SCOPE},
		/* Two that touch, and a protocol that there is not. */
		{.kind = XB_REQUEST_SCOPE,
		 .scope = {"spam", {2, {{XB_SERVICE_TCP, 25, 25}, {XB_SERVICE_TCP, 26, 26}}}}},
		{.kind = XB_REQUEST_SCOPE,
		 .scope = {"spam", {1, {{XB_SERVICE_PROTOCOLS, 25, 25}}}}},
		IMPORT_WITH(.list = "b", .verdict = XB_DOMAIN_VERDICTS),
		IMPORT_WITH(.list = "b", .factor = 0.5),
		IMPORT_WITH(.list = NULL),
		LIMIT("", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1),
		LIMIT("a b", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1),
		LIMIT("x", false, 25, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1),
		LIMIT("x", false, 32, 0, XB_LIMIT_PACKETS, 1, 1, 1, 1),
		LIMIT("x", false, 32, 64, XB_LIMIT_UNITS, 1, 1, 1, 1),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 2, 1, 1, 1),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 0, 1, 1, 1),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 0, 1, 1),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 0, 1),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 0),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1,
		      {1, {{XB_SERVICE_PROTOCOLS, 25, 25}}}),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1, {0}, "a b", 1, 1, true),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1, {0}, "over", 0, 0, true),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1, {0}, "over", 2, 1, true),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1, {0}, "over", 1, 1, false),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1, {0}, "", 0, 0, true),
		LIMIT("x", false, 32, 64, XB_LIMIT_PACKETS, 1, 1, 1, 1, {0}, "", 0, 0, false, 1001),
		{.kind = XB_REQUEST_LIMIT_ADD,
		 .limit_add = {.name = "x",
			       .truncates = true,
			       .bits4 = 32,
			       .bits6 = 64,
			       .of = XB_LIMIT_PACKETS,
			       .period = 1,
			       .rate = 1,
			       .burst = 1,
			       .capacity = 1}},
		{.kind = XB_REQUEST_LIMIT_DEL},
		{.kind = XB_REQUEST_LIMIT_DEL, .limit_del = ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t size = xb_request_size(&rows[i]);
		uint8_t bytes[512];

		assert_true(size <= sizeof(bytes));
		xb_request_encode(&rows[i], bytes);
		if (decode(bytes, size) != -EINVAL)
			fail_msg("row %zu is taken", i);
	}
}

EACH_TEST(begin_txn, end_txn);
