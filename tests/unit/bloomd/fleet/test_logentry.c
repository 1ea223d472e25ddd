/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of a fleet's log: there and back, what is refused, and that no byte can change unseen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/changecodec.h"
#include "bloomd/fleet/logentry.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/fleetchanges.h"

static const struct mac_key key = {{1, 2, 3}};
static const uint8_t before[MAC_BYTES] = "the one before";

static const struct change_row rows[] = {
	{"bans", "192.0.2.7", "", 1800000000, 0},
	{"bans", "198.51.100.0/24", "port scan", 1800000000, 1800003600},
	{"bans", "192.0.2.128/25", "", 0, UINT32_MAX},
	{"six", "2001:db8::/32", "", 1, 0},
	{"six", "2001:db8::1", "ünïcode", 1800000000, 0},
	{"names", "evil.example.com", "", 1800000000, 0},
	{"names", "=alone.example.com", "this name alone", 1800000000, 1800000001},
	{"bans", "192.0.2.7", NULL, 0, 0},
	{"names", "evil.example.com", NULL, 0, 0},
};
#define ROWS (sizeof(rows) / sizeof(*rows))

static struct logentry of_kind(enum logentry_kind kind)
{
	return (struct logentry){.kind = kind,
				 .term = 300,
				 .epoch = {5, 6},
				 .publisher = {7, 8},
				 .time = 1800000000123};
}

static struct logentry all_rows(void)
{
	struct logentry entry = of_kind(LOGENTRY_CHANGE);

	entry.first = 100;
	entry.last = 1000;
	for (size_t i = 0; i < ROWS; i++)
		add_row(&entry.changes, &rows[i]);
	return entry;
}

struct written {
	uint8_t *bytes;
	size_t size;
};

static struct written write_entry(struct logentry *entry)
{
	struct written written;

	assert_int_equal(logentry_write(entry, &key, 17, before, &written.bytes, &written.size), 0);
	return written;
}

static void assert_same(const struct logentry *a, const struct logentry *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->term, b->term);
	assert_memory_equal(a->epoch, b->epoch, XB_FLEET_ID);
	assert_memory_equal(a->publisher, b->publisher, XB_FLEET_ID);
	assert_memory_equal(a->snapshot, b->snapshot, XB_FLEET_ID);
	assert_int_equal(a->first, b->first);
	assert_int_equal(a->last, b->last);
	assert_int_equal(a->time, b->time);
	assert_memory_equal(a->chain, b->chain, MAC_BYTES);
	assert_int_equal(a->changes.count, b->changes.count);
	for (size_t i = 0; i < a->changes.count; i++) {
		const struct xb_shared_change *one = &a->changes.item[i],
					      *other = &b->changes.item[i];

		assert_int_equal(xb_entry_compare(&one->entry, &other->entry), 0);
		assert_string_equal(one->list, other->list);
		assert_int_equal(one->put, other->put);
		assert_int_equal(one->added, other->added);
		assert_int_equal(one->expires, other->expires);
		assert_int_equal(one->comment_size, other->comment_size);
		assert_memory_equal(one->comment, other->comment, one->comment_size);
	}
}

/* Returns how long it is. */
static size_t assert_comes_back(struct logentry *entry)
{
	struct written written = write_entry(entry), again;
	struct logentry back;

	assert_int_equal(logentry_read(written.bytes, written.size, &back), 0);
	assert_same(entry, &back);
	assert_int_equal(logentry_chains(written.bytes, written.size, &key, 17, before), 1);
	again = write_entry(&back);
	assert_int_equal(written.size, again.size);
	assert_memory_equal(written.bytes, again.bytes, again.size);
	free(again.bytes);
	free(written.bytes);
	logentry_free(&back);
	logentry_free(entry);
	return written.size;
}

TEST(entries_come_back)
{
	struct logentry changes = all_rows(), begin = of_kind(LOGENTRY_BEGIN),
			beat = of_kind(LOGENTRY_BEAT);

	assert_comes_back(&changes);
	memset(begin.snapshot, 0xaa, sizeof(begin.snapshot));
	assert_comes_back(&begin);
	assert_comes_back(&beat);
}

/* As docs/design.md has it. */
TEST(an_ipv4_put_has_twelve_bytes)
{
	static const uint8_t expected[] = {1, 3, XB_HOST4, 192, 0, 2, 7, 32, 0x6b, 0x49, 0xd2, 0};
	struct xb_shared_change change = {
		.entry = entry_of("192.0.2.7"), .put = true, .added = 1800000000};
	uint8_t bytes[CHANGE_BYTES_MAX];
	struct bytes_out out = {bytes};

	change_write(&change, 3, &out);
	assert_int_equal(out.at - bytes, sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
}

TEST(the_largest_entry_fits)
{
	struct logentry entry = of_kind(LOGENTRY_CHANGE);
	char name[254], comment[XB_COMMENT_MAX + 1], list[65];

	entry.first = 1;
	entry.last = LOGENTRY_CHANGES;
	memset(name, 'a', sizeof(name) - 1);
	name[63] = name[127] = name[191] = '.';
	name[253] = '\0';
	memset(comment, 'c', XB_COMMENT_MAX);
	comment[XB_COMMENT_MAX] = '\0';
	memset(list, 'l', 64);
	list[64] = '\0';
	for (uint32_t i = 0; i < LOGENTRY_CHANGES; i++) {
		list[62] = (char)('0' + i % 8);
		list[63] = (char)('0' + i / 8 % 8);
		add_row(&entry.changes, &(struct change_row){list, name, comment, 1, 2});
	}
	assert_true(assert_comes_back(&entry) < LOGENTRY_BYTES);
}

/* Each other value of each byte is refused, or has another chain; so is each shorter entry. */
TEST(no_byte_changes_unseen)
{
	struct logentry entry = all_rows(), back;
	struct written written = write_entry(&entry);
	struct mac_key other_key = {{1, 2, 4}};
	uint8_t other[MAC_BYTES] = "another before";

	for (size_t i = 0; i < written.size * 255; i += change_step()) {
		uint8_t by = (uint8_t)(i % 255 + 1);

		written.bytes[i / 255] ^= by;
		/* Whatever it says, it is read within its bounds. */
		logentry_read(written.bytes, written.size, &back);
		logentry_free(&back);
		assert_int_equal(logentry_chains(written.bytes, written.size, &key, 17, before), 0);
		written.bytes[i / 255] ^= by;
	}
	for (size_t size = 0; size < written.size; size++) {
		uint8_t *cut = malloc(size + 1);

		memcpy(cut, written.bytes, size);
		assert_int_equal(logentry_read(cut, size, &back), -EINVAL);
		logentry_free(&back);
		assert_int_equal(logentry_chains(cut, size, &key, 17, before), 0);
		free(cut);
	}
	/* A chain has one place, one entry before it, and one key. */
	assert_int_equal(logentry_chains(written.bytes, written.size, &key, 18, before), 0);
	assert_int_equal(logentry_chains(written.bytes, written.size, &key, 17, other), 0);
	assert_int_equal(logentry_chains(written.bytes, written.size, &other_key, 17, before), 0);
	free(written.bytes);
	logentry_free(&entry);
}

static void assert_not_written(struct logentry entry, uint64_t position)
{
	struct written none;

	assert_int_equal(logentry_write(&entry, &key, position, before, &none.bytes, &none.size),
			 -EINVAL);
	assert_null(none.bytes);
}

/* What cannot be listed or shared, as a change of an otherwise good entry. */
static void assert_refused(struct xb_entry refused, const char *list, const char *comment,
			   const char *why)
{
	struct logentry entry = of_kind(LOGENTRY_CHANGE);
	struct xb_shared_change change = {.entry = refused,
					  .list = list,
					  .put = true,
					  .comment = comment,
					  .comment_size = (uint32_t)strlen(comment)};

	entry.first = entry.last = 1;
	assert_int_equal(xb_shared_changes_add(&entry.changes, &change), 0);
	assert_not_written(entry, 1);
	assert_non_null(strstr(xb_error_message(), why));
	logentry_free(&entry);
}

TEST(what_cannot_be_shared_is_not_written)
{
	struct xb_entry bits = entry_of("192.0.2.0/24"),
			mapped = {.lo = 0xffff01020304, .kind = XB_NET6, .length = 128};
	uint8_t dotted[] = {3, 'c', 'o', 'm', 3, 'a', '.', 'b'},
		capital[] = {3, 'c', 'o', 'm', 1, 'A'};
	struct xb_entry with_dot = {.name = dotted, .kind = XB_NAME, .length = sizeof(dotted)};
	struct xb_entry with_capital = {
		.name = capital, .kind = XB_NAME, .length = sizeof(capital)};

	bits.hi |= 1ULL << 32;
	assert_refused(entry_of("10.0.0.0/7"), "l", "", "too wide");
	assert_refused(entry_of("2000::/15"), "l", "", "too wide");
	assert_refused(entry_of("com"), "l", "", "too wide");
	assert_refused(entry_of("!192.0.2.1"), "l", "", "allowlist");
	assert_refused(entry_of("!example.com"), "l", "", "allowlist");
	assert_refused(bits, "l", "", "form");
	assert_refused(mapped, "l", "", "form");
	assert_refused(with_dot, "l", "", "form");
	assert_refused(with_capital, "l", "", "form");
	assert_refused(entry_of("192.0.2.1"), "auto:ssh", "", "name");
	assert_refused(entry_of("192.0.2.1"), "", "", "name");
	assert_refused(entry_of("192.0.2.1"), "l", "a\nb", "control");
	assert_refused(entry_of("192.0.2.1"), "l", "\xff", "UTF-8");
}

/* The changes of an entry whose head is right; MACs are the reader's concern. */
static int read_changes(const uint8_t *changes, size_t size)
{
	struct logentry entry = of_kind(LOGENTRY_BEAT);
	struct written head = write_entry(&entry);
	size_t head_size = head.size - MAC_BYTES;
	uint8_t *bytes = calloc(1, head_size + size + MAC_BYTES);
	int error;

	memcpy(bytes, head.bytes, head_size);
	bytes[1] = LOGENTRY_CHANGE;
	memcpy(bytes + head_size, changes, size);
	error = logentry_read(bytes, head_size + size + MAC_BYTES, &entry);
	logentry_free(&entry);
	free(bytes);
	free(head.bytes);
	return error;
}
#define READ(error, ...)                                                                           \
	assert_int_equal(read_changes((const uint8_t[]){__VA_ARGS__},                              \
				      sizeof((const uint8_t[]){__VA_ARGS__})),                     \
			 error)
#define GOOD(...) READ(0, __VA_ARGS__)
#define BAD(...)  READ(-EINVAL, __VA_ARGS__)

#define HOST  XB_HOST4, 192, 0, 2, 7, 32
#define ADDED 0, 0, 0, 9
#define ONE   7, 0, 1, 1, 'l' /* first, how much more last is, lists */

TEST(what_could_be_written_otherwise_is_refused)
{
	GOOD(ONE, 1, 1, 0, HOST, ADDED);
	GOOD(ONE, 1, 0, 0, HOST);
	/* a number with a zero behind it */
	BAD(0x87, 0, 0, 1, 1, 'l', 1, 1, 0, HOST, ADDED);
	/* flags: unknown, of a delete, expires 0, a comment without bytes */
	BAD(ONE, 1, 9, 0, HOST, ADDED);
	BAD(ONE, 1, 2, 0, HOST, ADDED);
	BAD(ONE, 1, 3, 0, HOST, ADDED, 0, 0, 0, 0);
	BAD(ONE, 1, 5, 0, HOST, ADDED, 0);
	GOOD(ONE, 1, 5, 0, HOST, ADDED, 1, 'c');
	/* lists: no such, twice, unused, in another order, too many */
	BAD(ONE, 1, 1, 1, HOST, ADDED);
	BAD(7, 0, 2, 1, 'l', 1, 'l', 1, 1, 0, HOST, ADDED);
	BAD(7, 0, 2, 1, 'l', 1, 'm', 1, 1, 0, HOST, ADDED);
	GOOD(7, 1, 2, 1, 'l', 1, 'm', 2, 0, 0, HOST, 0, 1, HOST);
	BAD(7, 1, 2, 1, 'l', 1, 'm', 2, 0, 1, HOST, 0, 0, HOST);
	BAD(7, 2, 2, 1, 'l', 1, 'm', 3, 0, 1, HOST, 0, 0, HOST, 0, 1, HOST);
	BAD(7, 0, 65, 1, 'l', 1, 1, 0, HOST, ADDED);
	BAD(7, 0, 1, 0, 1, 1, 0, HOST, ADDED);
	/* numbers: none, too few for the changes, too large */
	BAD(0, 0, 1, 1, 'l', 1, 0, 0, HOST);
	BAD(7, 0, 1, 1, 'l', 2, 0, 0, HOST, 0, 0, HOST);
	BAD(7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 1, 'l', 1, 0, 0, HOST);
	/* changes: none, more than are there, more than there may be, bytes left over */
	BAD(7, 0, 0, 0);
	BAD(ONE, 2, 1, 0, HOST, ADDED);
	BAD(ONE, 0xe9, 7, 1, 0, HOST, ADDED);
	BAD(ONE, 1, 1, 0, HOST, ADDED, 0);
	/* entries: of the allowlist, of no kind, a prefix as a host, a name that is too long */
	BAD(ONE, 1, 0, 0, XB_ALLOW4, 192, 0, 2, 7, 32);
	BAD(ONE, 1, 0, 0, XB_ALLOW_NAME, 3, 1, 'a', 0);
	BAD(ONE, 1, 0, 0, 9, 192, 0, 2, 7, 32);
	BAD(ONE, 1, 0, 0, XB_HOST4, 192, 0, 2, 0, 24);
	BAD(ONE, 1, 0, 0, XB_PREFIX4, 192, 0, 2, 1, 24);
	GOOD(ONE, 1, 0, 0, XB_NAME, 6, 2, 'c', 'h', 2, 'a', 'b');
	GOOD(ONE, 1, 0, 0, XB_EXCEPT_NAME, 6, 2, 'c', 'h', 2, 'a', 'b');
	BAD(ONE, 1, 0, 0, XB_ALLOW_NAME, 6, 2, 'c', 'h', 2, 'a', 'b');
	BAD(ONE, 1, 0, 0, XB_NAME, 6, 2, 'c', 'h', 2, 'a', 'B');
	BAD(ONE, 1, 0, 0, XB_NAME, 6, 2, 'c', 'h', 2, 'a', '.');
	BAD(ONE, 1, 0, 0, XB_NAME, 6, 2, 'c', 'h', 3, 'a', 'b');
	BAD(ONE, 1, 0, 0, XB_NAME, 0);
}

static void assert_read_error(const uint8_t *bytes, size_t size, const char *why)
{
	struct logentry entry;

	assert_int_equal(logentry_read(bytes, size, &entry), -EINVAL);
	assert_non_null(strstr(xb_error_message(), why));
	logentry_free(&entry);
}

#define BROKEN(change)                                                                             \
	do {                                                                                       \
		struct logentry broken = of_kind(LOGENTRY_BEAT);                                   \
                                                                                                   \
		broken.change;                                                                     \
		assert_not_written(broken, 1);                                                     \
	} while (0)

TEST(a_head_is_whole)
{
	struct logentry entry = of_kind(LOGENTRY_BEAT);
	struct written written = write_entry(&entry);

	written.bytes[0] = 2;
	assert_read_error(written.bytes, written.size, "has version 2");
	written.bytes[0] = 1;
	written.bytes[1] = 4;
	assert_read_error(written.bytes, written.size, "kind");
	free(written.bytes);
	BROKEN(term = 0);
	BROKEN(epoch[0] = broken.epoch[1] = 0);
	BROKEN(time = (uint64_t)1 << 42);
	BROKEN(last = 1);
	assert_not_written(of_kind(LOGENTRY_BEGIN), 1);
}

/* A server takes entries with ids up to 2^64 - 1. */
TEST(positions_have_an_end)
{
	struct logentry entry = of_kind(LOGENTRY_BEAT);
	struct written written;

	assert_not_written(entry, 0);
	assert_not_written(entry, XB_FLEET_POSITION_MAX + 1);
	assert_not_written(entry, UINT64_MAX - 1);
	assert_not_written(entry, UINT64_MAX);
	assert_int_equal(logentry_write(&entry, &key, XB_FLEET_POSITION_MAX, before, &written.bytes,
					&written.size),
			 0);
	assert_int_equal(
		logentry_chains(written.bytes, written.size, &key, XB_FLEET_POSITION_MAX, before),
		1);
	free(written.bytes);
	entry.term = XB_FLEET_POSITION_MAX + 1;
	assert_not_written(entry, 1);
}
