/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of all tables that are damaged, or that nobody writes so: whoever reads one says so, and
 * takes nothing of it. */

#include "store/changelog.h"
#include "store/covers.h"
#include "store/exempt.h"
#include "store/expiry.h"
#include "store/flush.h"
#include "store/home.h"
#include "store/listclass.h"
#include "store/listverdict.h"
#include "store/logtail.h"
#include "store/origins.h"
#include "store/renamed.h"
#include "store/sealedrecord.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/waiting.h"

/* Where a store has the handle of a table. */
#define TABLE(name) offsetof(struct xb_store, name)

/* A key or record, and its size. */
#define BYTES(text) (text), sizeof(text) - 1

#define HOST	   "\2\300\0\2\1\40" /* key of 192.0.2.1 */
#define STEP	   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define STEP_BYTES sizeof(struct xb_step)
#define SEVENTH	   "\0\0\0\0\0\0\0\7"
#define DUE	   "\0\0\0\1\0\0\0\1" /* at second 1, of list 1 */

/* What was read last, as text. */
static struct listed_text said;

static int read_log(void)
{
	struct xb_changes changes;
	struct xb_step step;
	char entry[XB_ENTRY_TEXT], line[XB_ENTRY_TEXT + 32];
	int error = xb_changelog_read(txn, 7, &step, &changes);

	assert_int_equal(xb_changes_any(&changes), !error);
	for (size_t i = 0; i < changes.count; i++) {
		const struct xb_change *change = &changes.change[i];

		snprintf(line, sizeof(line), "%c%s %x %x;", "-+~"[change->what],
			 xb_entry_format(&change->entry, entry), change -> before, change -> after);
		add_text(&said, "%s", line);
	}
	xb_changes_free(&changes);
	return error;
}

static int trim_log(void)
{
	return xb_changelog_trim(txn, 5);
}

static int read_lists(void)
{
	char scope[XB_SCOPE_TEXT];
	int error;

	xb_lists_free(txn);
	txn->lists = NULL;
	txn->list_count = txn->list_room = 0;
	txn->by_name = txn->by_id = (struct xb_list_index){0};
	error = xb_lists_load(txn);
	if (!error)
		add_text(&said, "%s",
			 xb_scope_format(xb_list_scope(xb_list_by_name(txn, "old")), scope));
	return error;
}

static int read_wanted(void)
{
	struct xb_wanted *all = NULL;
	size_t count;
	int error = xb_wanted_all(txn, &all, &count);

	if (!error)
		add_text(&said, "%s", xb_mode_name(all[0].mode));
	assert_int_equal(!all, error < 0);
	free(all);
	return error;
}

static int sweep(void)
{
	uint64_t count;

	return xb_expiry_sweep(txn, 500, &count);
}

static int sweep_and_overlook(void)
{
	uint64_t count;
	int error = sweep();

	assert_int_equal(xb_expiry_overlook(txn, 500, &count), error);
	return error;
}

static int read_home(void)
{
	struct xb_home home;

	return xb_home_get(txn, &home);
}

static int read_origins(void)
{
	return xb_origins_load(txn);
}

static int read_renamed(void)
{
	struct xb_renamed *renamed;
	size_t count;
	int error = xb_renamed_get(txn, &renamed, &count);

	free(renamed);
	return error;
}

static int read_tail(void)
{
	const void *entry;
	size_t size;

	assert_int_equal(xb_logtail_get(txn, 1, 1, &entry, &size), 1);
	return xb_logtail_get(txn, 1, 2, &entry, &size);
}

static int read_outbox(void)
{
	struct xb_shared_changes sent;

	return xb_outbox_read(txn, 9, 9, &sent);
}

static int end_outbox(void)
{
	struct xb_shared_changes sent = {0};

	return xb_outbox_published(txn, &sent, 9);
}

/* What is read when a transaction begins, of readers and writers. */
static int begin_again(void)
{
	int error;

	assert_int_equal(xb_txn_commit(txn), 0);
	error = xb_store_read(store, &txn);
	assert_null(txn);
	assert_int_equal(xb_store_write(store, &txn), error);
	assert_null(txn);
	return error;
}

/* A record: who reads it. bytes NULL: it is lost. */
struct record {
	const char *what;
	int (*read)(void);
	size_t table;
	const char *key;
	size_t key_size;
	const void *bytes;
	size_t size;
};

static void put(const struct record *record, const void *bytes, size_t size)
{
	MDB_val key = {record->key_size, (void *)(uintptr_t)record->key},
		value = {size, (void *)(uintptr_t)bytes};
	MDB_dbi table = *(const MDB_dbi *)(const void *)((const char *)store + record->table);

	assert_int_equal(bytes ? mdb_put(txn->txn, table, &key, &value, 0)
			       : mdb_del(txn->txn, table, &key, NULL),
			 0);
}

/* detail: which size, or which byte. */
static void assert_damaged(const char *what, const char *detail, size_t number, int error)
{
	if (error != -EIO || !strstr(xb_error_message(), "damaged"))
		fail_msg("%s, %s %zu: %d, %s", what, detail, number, error, xb_error_message());
	xb_error_clear();
}

static const uint32_t skb = XB_MODE_SKB;

static const struct {
	uint32_t id, verdict;
	uint64_t members, exceptions;
	uint32_t class, services;
	struct xb_service service[2];
} old_list = {7, 0, 1, 1, 3, 2, {{XB_SERVICE_TCP, 25, 25}, {XB_SERVICE_UDP, 26, 26}}};

/* Right ones. Cut at any place, or longer, they are damage, but where they may end; so they are
 * with one of these bytes from `head` on. */
static const struct {
	struct record record;
	const char *says;
	size_t head, ends[2];
	struct {
		size_t at;
		uint8_t byte;
	} wrong[14];
} right[] = {
	{.record = {"a log", read_log, TABLE(changes), BYTES(SEVENTH),
		    BYTES(STEP "\1" HOST "\200\4\6\3com")},
	 .says = "+192.0.2.1 0 1;-com 1 0;",
	 .head = STEP_BYTES,
	 .ends = {STEP_BYTES, STEP_BYTES + 7},
	 .wrong = {{0, 3}, /* no change is this */
		   {0, 0x7f},
		   {0, 0x81}, /* an address is no name */
		   {1, 0},    /* no kind */
		   {1, 8},
		   {6, 33}, /* no length of its kind */
		   {6, 24},
		   {1, XB_PREFIX4},
		   {7, 0x83},
		   {7, 0}, /* a name without its length */
		   {8, 5}, /* a name behind the end */
		   {8, 255},
		   {9, XB_HOST4}}}, /* a name is no address */
	{.record = {"a log with classes", read_log, TABLE(changes), BYTES(SEVENTH),
		    BYTES(STEP "\102\0\2\0\4" HOST)},
	 .says = "~192.0.2.1 2 4;",
	 .head = STEP_BYTES,
	 .ends = {STEP_BYTES},
	 .wrong = {{0, 0xc2}, /* a name has none */
		   {0, 0x43}, /* no change is this */
		   {0, 0x41}, /* it did not come, nor go */
		   {0, 0x40},
		   {2, 4},	   /* the same before and after */
		   {5, 0},	   /* no kind */
		   {5, XB_NAME},   /* a name without its length */
		   {5, XB_ALLOW4}, /* what is allowed is in no class */
		   {10, 33}}},
	{.record = {"a list", read_lists, TABLE(lists), BYTES("old"), &old_list, 44},
	 .says = "tcp/25,udp/26",
	 .wrong = {{16, 2}, /* more exceptions than entries */
		   {24, XB_CLASSES},
		   {28, 1}, /* a service that does not count */
		   {28, XB_SCOPE_SERVICES + 1},
		   {34, 26},		   /* it ends before it begins */
		   {38, XB_SERVICE_TCP}}}, /* two that touch */
	{.record = {"a wanted interface", read_wanted, TABLE(ifaces), BYTES("eth0"), &skb, 4},
	 .says = "skb"},
};

static bool may_end_at(size_t size, const size_t ends[2])
{
	return size && (size == ends[0] || size == ends[1]);
}

TEST(every_cut_and_wrong_byte)
{
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		const struct record *record = &right[i].record;
		uint8_t bytes[64] = {0};

		memcpy(bytes, record->bytes, record->size);
		put(record, bytes, record->size);
		said = (struct listed_text){0};
		assert_int_equal(record->read(), 0);
		assert_string_equal(said.text, right[i].says);
		for (size_t size = 0; size <= record->size + 1; size++) {
			if (size == record->size || may_end_at(size, right[i].ends))
				continue;
			put(record, bytes, size);
			assert_damaged(record->what, "bytes:", size, record->read());
		}
		for (size_t j = 0; right[i].wrong[j].at || right[i].wrong[j].byte; j++) {
			size_t at = right[i].head + right[i].wrong[j].at;
			uint8_t before = bytes[at];

			bytes[at] = right[i].wrong[j].byte;
			put(record, bytes, record->size);
			assert_damaged(record->what, "row", j, record->read());
			bytes[at] = before;
		}
		abort_and_go_on();
	}
}

/* Longer than a key of the index may be. */
static const char long_key[8 + XB_ENTRY_KEY_BYTES + 2] = DUE;

static const struct record odd[] = {
	/* Keys that would be right the other way. */
	{"a name taken for an address", read_log, TABLE(changes), BYTES(SEVENTH),
	 BYTES(STEP "\1\6\3com")},
	{"an address taken for a name", read_log, TABLE(changes), BYTES(SEVENTH),
	 BYTES(STEP "\201\5" HOST)},
	{"a short number of the log", trim_log, TABLE(changes), BYTES("1234567"), "", 0},
	{"a short time", sweep_and_overlook, TABLE(expiry), BYTES(DUE), "", 0},
	{"a long time", sweep_and_overlook, TABLE(expiry), BYTES(long_key), "", 0},
	{"a time without an entry", sweep_and_overlook, TABLE(expiry), BYTES(DUE "\2\300\0\2\1"),
	 "", 0},
	{"a time of an entry that is missing", sweep_and_overlook, TABLE(expiry),
	 BYTES(DUE "\2\300\0\2\11\40"), "", 0},
	/* Else a sweep would find it first for ever. */
	{"a time in a list that is missing", sweep, TABLE(expiry), BYTES("\0\0\0\1\0\0\0\2" HOST),
	 "", 0},
	{"a long name of an interface", read_wanted, TABLE(ifaces), BYTES("a-name-of-16-cha"), &skb,
	 4},
	{"a long name of a list", read_lists, TABLE(lists),
	 BYTES("12345678901234567890123456789012345678901234567890123456789012345"), &old_list, 44},
	{"a list as others begin", begin_again, TABLE(lists), BYTES("a"), &old_list, 15},
	{"a tail without a seal", read_tail, TABLE(tail), BYTES("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2"),
	 BYTES("no seal")},
	{"an outbox that is read", read_outbox, TABLE(outbox), BYTES("\0\0\0\0\0\0\0\1"),
	 BYTES("no seal")},
	{"an outbox that is published", end_outbox, TABLE(outbox), BYTES("\0\0\0\0\0\0\0\1"),
	 BYTES("no seal")},
	{"a share without a seal", begin_again, TABLE(fleet), BYTES("sa"), BYTES("no seal!")},
	{"a share that is lost", begin_again, TABLE(fleet), BYTES("sa"), NULL, 0},
};

static void renew_store(void **state)
{
	assert_int_equal(end_txn(state), 0);
	assert_int_equal(begin_txn(state), 0);
}

TEST(what_nobody_writes)
{
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		share("a", XB_SHARE_PUBLISH);
		change_lists(txn, "192.0.2.1 a; 192.0.2.2 b");
		assert_int_equal(list_of(txn, "b")->id, 2);
		assert_int_equal(xb_logtail_append(txn, 1, 1, "x", 1), 0);
		commit_and_go_on();
		put(&odd[i], odd[i].bytes, odd[i].size);
		assert_damaged(odd[i].what, "row", i, odd[i].read());
		renew_store(state);
	}
}

/* Under its seal each is read as it is: wrong sizes. */
static const struct {
	const char *key;
	int (*read)(void);
	size_t sizes[6];
} sealed[] = {
	{"home", read_home, {36, 44}},
	{"origins", read_origins, {4 + 7, 4 + 9, 4 + 12}},
	{"origins", begin_again, {4 + 7}},
	{"renamed", read_renamed, {4, 12, 44, 52, 80}},
};

TEST(sealed_records)
{
	uint8_t bytes[80] = {1, 0, 0, 0, 1};

	for (size_t i = 0; i < sizeof(sealed) / sizeof(sealed[0]); i++) {
		const struct record record = {.table = TABLE(meta),
					      .key = sealed[i].key,
					      .key_size = strlen(sealed[i].key)};

		for (size_t j = 0; sealed[i].sizes[j]; j++) {
			assert_int_equal(
				xb_sealed_put(txn, sealed[i].key, bytes, sealed[i].sizes[j]), 0);
			assert_damaged(record.key, "bytes:", sealed[i].sizes[j], sealed[i].read());
			renew_store(state);
		}
		assert_int_equal(xb_sealed_put(txn, record.key, bytes, 40), 0);
		for (size_t at = 0; at < 40 && sealed[i].read != begin_again; at++) {
			bytes[at] ^= 0x10;
			put(&record, bytes, 40);
			assert_damaged(record.key, "byte", at, sealed[i].read());
			bytes[at] ^= 0x10;
			put(&record, bytes, at);
			assert_damaged(record.key, "cut to", at, sealed[i].read());
		}
		renew_store(state);
	}
}

/* --- records of entries --- */

static int exempt_list(void)
{
	struct xb_exemptions exempt = {0};

	return xb_exempt_list(txn, list_of(txn, "default")->id, &exempt);
}

/* Itself it is found, in a record of its own. */
static int exempt_entry(void)
{
	struct xb_entry entry = entry_of("10.199.63.1");
	struct xb_exemptions exempt = {0};
	int error = xb_exempt_entry(txn, &entry, &exempt);

	assert_int_equal(exempt.count, !error);
	return error;
}

static int flush_list(void)
{
	uint64_t count;

	return xb_flush_list(txn, list_of(txn, "default")->id, &count);
}

static int flush_listed(void)
{
	return xb_flush_listed(txn);
}

static int set_verdict(void)
{
	return xb_domain_verdict_set(txn, list_of(txn, "default"), XB_DOMAIN_REFUSED);
}

static int walk(void)
{
	struct xb_walk walk;
	int more = xb_walk_begin(&walk, txn, &XB_WALK_LISTED);

	assert_int_equal(more, 0);
	do
		more = xb_walk_next(&walk);
	while (more > 0);
	xb_walk_end(&walk);
	return more;
}

static int find_names(void)
{
	return xb_walk_finds_names(txn, list_of(txn, "default"));
}

/* None of the wider ones is a gap. */
static int find_covers(void)
{
	struct xb_entry asked = entry_of("10.199.63.1");
	struct xb_members members;
	struct xb_covers covers;
	int more;

	xb_covers_begin(&asked, &covers);
	do
		more = xb_covers_next(txn, &covers, &members);
	while (more > 0);
	return more;
}

static const struct {
	const char *what, *damaged;
	int (*read)(void);
} readers[] = {
	/* Where the entries cannot be read, nobody knows whether the list has them. */
	{"exemptions of a list", "10.0.0.1", exempt_list},
	{"exemptions by the allowlist", "!10.199.0.1", exempt_list},
	{"exemptions by what is wider", "!0.0.0.0/0", exempt_entry},
	{"a flush of a list", "10.0.0.1", flush_list},
	{"a flush that keeps what is allowed", "!10.199.0.1", flush_listed},
	{"a verdict", "a.example", set_verdict},
	{"a walk", "a.example", walk},
	{"names of a list", "a.example", find_names},
	{"covers", "0.0.0.0/0", find_covers},
};

TEST(what_reads_entries)
{
	list_many(txn);
	commit_change("a.example default");
	assert_int_equal(exempt_entry(), 0);
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		damage_record_of(txn, readers[i].damaged);
		assert_damaged(readers[i].what, "row", i, readers[i].read());
		abort_and_go_on();
	}
}

EACH_TEST(begin_txn, end_txn);
