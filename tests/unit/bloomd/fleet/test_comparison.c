/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host compared with a snapshot: exactly what was planted is found, and no more is loaded for it
 * than needs to be; parts that are not what they should be, and what Bloom digests of chunks say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/error.h"
#include "bloomd/fleet/chunkbloom.h"
#include "bloomd/fleet/comparison.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/fleethosts.h"
#include "support/fleettail.h"
#include "support/held.h"
#include "support/random.h"

static struct snapshot_parts parts;
static struct comparison found;
static size_t chunks_loaded, blooms_loaded;

/* --- the server --- */

static void load(const struct snapshot_part *part)
{
	int file = part->kind == PART_CHUNK ? chunks : blooms;
	uint8_t *bytes = malloc(part->size);

	assert_int_equal(pread(file, bytes, part->size, part->at), part->size);
	assert_int_equal(parts_put(&parts, part, bytes), 0);
	free(bytes);
	chunks_loaded += part->kind == PART_CHUNK;
	blooms_loaded += part->kind == PART_BLOOM;
}

static int try_compare(size_t limit)
{
	struct snapshot_part part;
	int error = parts_make(&parts, &manifest, "/tmp");

	chunks_loaded = blooms_loaded = 0;
	for (unsigned int rounds = 0; !error; rounds++) {
		found.limit = limit;
		error = compare_with_snapshot(at(&taker), NOW, &parts, &key, &found);
		if (error || !found.unfinished)
			break;
		assert_true(rounds < 3);
		comparison_free(&found);
		while (parts_next(&parts, &part))
			load(&part);
	}
	parts_free(&parts);
	return error;
}

static void compare(void)
{
	comparison_free(&found);
	assert_int_equal(try_compare(1000000), 0);
	assert_int_equal(found.count, comparison_total(&found));
}

static const struct compared_list *of(const char *list)
{
	for (size_t i = 0; i < found.list_count; i++)
		if (!strcmp(found.list[i].name, list))
			return &found.list[i];
	return NULL;
}

static int begin(void **state)
{
	int error = begin_hosts(state);

	stand(&taker, epoch, 1, 100);
	return error;
}

static int end(void **state)
{
	comparison_free(&found);
	return end_hosts(state);
}

/* Even addresses, whose long comments make for several chunks. */
static void fill(struct xb_txn *txn)
{
	char text[32], comment[251] = "";

	memset(comment, 'a', sizeof(comment) - 1);
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "198.18.%u.%u", i >> 7, i * 2 & 255);
		list_with(txn, text, "bans", 0, comment);
	}
}

static void fill_both(void)
{
	fill(at(&maker));
	fill(at(&taker));
}

static void add_side(struct listed_text *out, const struct difference_side *side)
{
	char text[512];

	snprintf(text, sizeof(text), " until %u", side->expires);
	add_text(out, "%s", side->expires ? text : "");
	snprintf(text, sizeof(text), " (%.*s)", (int)side->comment_size, side->comment);
	add_text(out, "%s", side->comment_size ? text : "");
}

/* "missing|extra|changed ENTRY[ until TIME][ (COMMENT)]; ...": all that differs in "bans", as it is
 * here; what is missing, as it is there. */
static void assert_found(const char *expected)
{
	struct listed_text out = {0};
	char text[XB_ENTRY_TEXT];

	for (size_t i = 0; i < found.count; i++) {
		const struct difference *item = &found.item[i];
		bool missing = item->kind == DIFFERENCE_MISSING;

		add_text(&out, "%s", i ? "; " : "");
		add_text(&out, "%s ",
			 missing			  ? "missing"
			 : item->kind == DIFFERENCE_EXTRA ? "extra"
							  : "changed");
		add_text(&out, "%s", xb_entry_format(&item->entry, text));
		add_side(&out, missing ? &item->there : &item->here);
		assert_string_equal(item->list, "bans");
	}
	assert_string_equal(out.text, expected);
}

static void assert_loaded(size_t of_chunks, size_t of_blooms)
{
	assert_int_equal(chunks_loaded, of_chunks);
	assert_int_equal(blooms_loaded, of_blooms);
}

/* An entry of the log behind the snapshot, which the taker has applied. */
static void apply_behind(uint64_t position, const struct change_row *row)
{
	unlist(at(&taker), row->entry, row->list);
	apply(1, position, epoch, stranger, position, row);
	stand(&taker, epoch, 1, position);
}

/* --- one after another --- */

TEST(what_is_equal_loads_nothing)
{
	fill_both();
	list_with(at(&maker), "a.example.com", "names", NOW + 1, "comment");
	list_with(at(&taker), "a.example.com", "names", NOW + 1, "comment");
	list_all(at(&taker), "192.0.2.1 private; 192.0.2.2 bans until 5 (not swept yet); "
			     "10.0.0.0/7 bans; !192.0.2.66 bans");
	make();
	assert_true(manifest.chunk_count > 2);
	compare();
	assert_found("");
	assert_loaded(0, 0);
	assert_int_equal(found.list_count, 2);
	assert_int_equal(of("bans")->here, 10000);
	assert_int_equal(of("bans")->there, 10000);
	assert_int_equal(of("names")->here, 1);
	assert_false(found.behind || found.partial);
}

TEST(extras_load_bloom_digests_alone)
{
	fill_both();
	list_all(at(&taker), "192.0.2.1 bans until 2000000005 (why)");
	make();
	compare();
	assert_found("extra 192.0.2.1 until 2000000005 (why)");
	assert_int_equal(blooms_loaded, 1);
	/* One in a hundred hits by accident. */
	assert_true(chunks_loaded <= 1);
}

/* Also of one that is extra behind the last one of the chunk, and in front of the next. */
TEST(what_is_missing_loads_its_chunk_alone)
{
	char text[XB_ENTRY_TEXT], expected[XB_ENTRY_TEXT + 64];
	struct xb_entry extra;

	fill_both();
	list_all(at(&maker), "192.0.2.1 bans until 2000000005 (why)");
	make();
	compare();
	assert_found("missing 192.0.2.1 until 2000000005 (why)");
	assert_int_equal(of("bans")->missing, 1);
	assert_loaded(1, 0);
	extra = manifest.chunks[1].first;
	extra.hi -= (uint64_t)1 << 32;
	list_entry(at(&taker), xb_entry_format(&extra, text), "bans");
	compare();
	snprintf(expected, sizeof(expected), "missing 192.0.2.1 until 2000000005 (why); extra %s",
		 text);
	assert_found(expected);
	assert_loaded(1, 0);
}

TEST(what_the_log_says_is_no_difference)
{
	list_all(at(&maker), "192.0.2.1 bans; 192.0.2.2 bans; 192.0.2.3 bans; 192.0.2.4 bans");
	list_all(at(&taker), "192.0.2.1 bans; 192.0.2.2 bans; 192.0.2.3 bans; 192.0.2.4 bans");
	apply_behind(101, &(struct change_row){"bans", "192.0.2.1", NULL, 0, 0});
	apply_behind(102, &(struct change_row){"bans", "192.0.2.2", "new", 1, NOW + 1});
	apply_behind(103, &(struct change_row){"bans", "192.0.2.5", "", 1, 0});
	/* Expired since, and swept. */
	apply_behind(104, &(struct change_row){"bans", "192.0.2.3", "", 1, NOW});
	unlist(at(&taker), "192.0.2.3", "bans");
	make();
	compare();
	assert_found("");
	assert_int_equal(of("bans")->of_log, 4);
	assert_false(found.behind || found.partial);
	/* These are not as the log says. */
	unlist(at(&taker), "192.0.2.2", "bans");
	unlist(at(&taker), "192.0.2.5", "bans");
	list_with(at(&taker), "192.0.2.1", "bans", NOW + 9, "");
	compare();
	assert_int_equal(of("bans")->of_log, 1);
	assert_found("changed 192.0.2.1 until 2000000009; missing 192.0.2.2");
}

TEST(what_waits_is_no_difference)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	list_entry(at(&taker), "192.0.2.1", "bans");
	change_here(&taker, "192.0.2.2", true);
	change_here(&taker, "192.0.2.1", false);
	make();
	compare();
	assert_found("");
	assert_int_equal(of("bans")->of_outbox, 2);
}

TEST(lists_that_only_one_side_has)
{
	assert_int_equal(xb_share_set(at(&maker), "theirs", ALL), 0);
	list_all(at(&maker), "192.0.2.1 names theirs");
	make();
	assert_int_equal(xb_share_set(at(&taker), "names", XB_SHARE_PUBLISH), 0);
	assert_int_equal(xb_share_set(at(&taker), "ours", XB_SHARE_FOLLOW), 0);
	list_entry(at(&taker), "192.0.2.2", "ours");
	compare();
	assert_null(of("theirs"));
	assert_null(of("names"));
	assert_int_equal(found.list_count, 2);
	assert_int_equal(of("ours")->extra, 1);
	assert_int_equal(found.count, 1);
}

TEST(a_host_that_is_behind)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	make();
	stand(&taker, epoch, 1, 99);
	compare();
	assert_true(found.behind);
	assert_int_equal(found.position, 99);
	assert_int_equal(of("bans")->missing, 1);
	stand(&taker, other_epoch, 1, 101);
	assert_int_equal(xb_fleet_mark_raise(at(&taker), stranger, 1), 0);
	compare();
	/* The tail has nothing of that epoch. */
	assert_true(found.behind && found.partial);
}

TEST(a_limit_keeps_the_first)
{
	fill_bans(at(&maker), 0, 100);
	make();
	assert_int_equal(try_compare(3), 0);
	assert_found("missing 198.18.0.0; missing 198.18.0.1; missing 198.18.0.2");
	assert_int_equal(comparison_total(&found), 100);
	comparison_free(&found);
	assert_int_equal(try_compare(0), 0);
	assert_found("");
	assert_int_equal(of("bans")->missing, 100);
}

/* --- anything --- */

#define UNIVERSE 9000

static const char *text_of(uint32_t i, char text[64])
{
	static const char *const forms[] = {"198.51.%u.%u",    "203.%u.%u.0/24",
					    "192.%u.2.%u",     "2001:db8:%x:%x::/64",
					    "2001:db8::%x:%x", "n%u.example%u.com"};

	snprintf(text, 64, forms[i % 6], i >> 8, i & 255);
	return text;
}

/* There but for one in `few`; the comments of 9,000 make for several chunks. */
static struct held any_state(uint32_t few)
{
	static char comments[3][256];

	memset(comments[1], 'a', 250);
	memset(comments[2], 'b', 250);
	return (struct held){.is = random_word() % few,
			     .expires = random_word() % 4 ? 0 : NOW - 1 + random_word() % 4,
			     .comment = comments[random_word() % 3]};
}

static struct planted {
	char text[XB_ENTRY_TEXT];
	struct held here, there;
	bool of_log; /* the log says what this host has */
} planted[UNIVERSE];

/* One in `rarity` differs; more: in that this host alone has it. */
static void plant(uint32_t rarity, bool more)
{
	for (uint32_t i = 0; i < UNIVERSE; i++) {
		struct planted *plant = &planted[i];
		char text[64];
		struct xb_entry entry = entry_of(text_of(i, text));

		xb_entry_format(&entry, plant->text);
		plant->here = plant->there = any_state(8);
		plant->of_log = false;
		if (random_word() % rarity)
			continue;
		plant->there = any_state(8);
		plant->there.is &= !more;
		plant->of_log = !(random_word() % 4);
	}
}

static void grow(void)
{
	uint64_t position = 100;

	for (uint32_t i = 0; i < UNIVERSE; i++)
		put_state(at(&maker), planted[i].text, &planted[i].there);
	for (uint32_t i = 0; i < UNIVERSE; i++) {
		const struct held *here = &planted[i].here;
		const struct change_row row = {"bans", planted[i].text,
					       here->is ? here->comment : NULL, here->is,
					       here->is ? here->expires : 0};

		if (planted[i].of_log)
			apply_behind(++position, &row);
		else
			put_state(at(&taker), planted[i].text, here);
	}
}

static bool is_same(const struct held *here, const struct held *there)
{
	return here->is == there->is && (!here->is || (here->expires == there->expires &&
						       !strcmp(here->comment, there->comment)));
}

static bool differs(const struct planted *plant)
{
	return !is_same(&plant->here, &plant->there) &&
	       (lives(&plant->here) || lives(&plant->there));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void harvest(void)
{
	static char wanted[UNIVERSE][XB_ENTRY_TEXT + 4], got[UNIVERSE][XB_ENTRY_TEXT + 4];
	uint64_t of_log = 0, here = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < UNIVERSE; i++) {
		const struct planted *plant = &planted[i];

		here += lives(&plant->here);
		if (!differs(plant))
			continue;
		if (plant->of_log)
			of_log++;
		else
			snprintf(wanted[count++], sizeof(wanted[0]), "%d %.*s",
				 !plant->there.is  ? DIFFERENCE_EXTRA
				 : !plant->here.is ? DIFFERENCE_MISSING
						   : DIFFERENCE_CHANGED,
				 XB_ENTRY_TEXT - 1, plant->text);
	}
	assert_int_equal(found.count, count);
	for (size_t i = 0; i < count; i++) {
		int used = sprintf(got[i], "%d ", found.item[i].kind);

		xb_entry_format(&found.item[i].entry, got[i] + used);
	}
	qsort(wanted, count, sizeof(wanted[0]), by_text);
	qsort(got, count, sizeof(got[0]), by_text);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(got[i], wanted[i]);
	assert_int_equal(of("bans")->of_log, of_log);
	assert_int_equal(of("bans")->here, here);
}

TEST(anything_is_found_exactly)
{
	static const uint32_t rarities[] = {3000, 300, 10, 1};

	random_begin();
	for (uint32_t round = 0; round < amount(4, 8); round++) {
		plant(rarities[round % 4], (round + round / 4) % 2);
		grow();
		make();
		assert_true(rarities[round % 4] == 1 || manifest.chunk_count > 1);
		compare();
		harvest();
		end(state);
		begin(state);
	}
}

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
	     count += 1 + count / amount(10, 50)) {
		assert_int_equal(chunkbloom_size(count, &size), 0);
		assert_true(size <= 80 + count * 14 / 10);
	}
}

EACH_TEST(begin, end);
