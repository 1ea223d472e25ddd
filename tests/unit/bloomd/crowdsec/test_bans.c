/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What answers of CrowdSec change: beside a simple reckoning over random answers, and case by case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/crowdsec/bans.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/random.h"
#include "support/texts.h"

#define NOW  1000000
#define MOST 64

/* --- answers --- */

static struct {
	struct fetch_records head;
	struct fetch_record record[MOST];
} bytes;

static void begin(void)
{
	memset(&bytes, 0, sizeof(bytes));
	bytes.head.magic = FETCH_RECORDS_MAGIC;
}

static void say(uint64_t id, const char *value, int64_t seconds, bool deleted)
{
	struct fetch_record *record = &bytes.record[bytes.head.count++];

	*record = (struct fetch_record){.id = id, .duration = seconds * 1000, .deleted = deleted};
	snprintf(record->value, sizeof(record->value), "%s", value);
}

static size_t size_of_bytes(void)
{
	return sizeof(bytes.head) + bytes.head.count * sizeof(bytes.record[0]);
}

static struct bans bans;
static struct ban_changes changes;

static void take(uint32_t now, unsigned int takes)
{
	struct ban_answer answer;
	struct bans after;

	free(changes.item);
	assert_int_equal(ban_answer_read(&bytes, size_of_bytes(), (int64_t)now * 1000, &answer), 0);
	assert_int_equal(bans_merge(&bans, &answer, now, takes, &after, &changes), 0);
	bans_free(&bans);
	bans = after;
	ban_answer_free(&answer);
	begin();
}

static int clear(void **state)
{
	bans_free(&bans);
	free(changes.item);
	changes = (struct ban_changes){0};
	begin();
	return 0;
}

/* "192.0.2.1 +60! 192.0.2.2 -!": entries, until how long after NOW, "-" not at all, "!" exactly. */
static void must_change(const char *wanted)
{
	char text[4096] = "";

	for (size_t i = 0; i < changes.count; i++) {
		const struct xb_patch_item *item = &changes.item[i];
		char entry[XB_ENTRY_TEXT], until[32] = "-";

		if (item->until)
			snprintf(until, sizeof(until), "+%d", (int)(item->until - NOW));
		sprintf(text + strlen(text), "%s%s %s%s", *text ? " " : "",
			xb_entry_format(&item->entry, entry), until, item->exact ? "!" : "");
	}
	assert_string_equal(text, wanted);
}

#define ALL (BANS_ADDED | BANS_DELETED)

/* said: "ID ENTRY SECONDS; ID ENTRY deleted; ...": an answer. */
static void say_all(const char *said)
{
	struct texts texts = texts_of(said);

	for (char *text; *said && (text = next_text(&texts));) {
		uint64_t id = strtoull(strsep(&text, " "), NULL, 10);
		const char *entry = strsep(&text, " ");
		bool deleted = !strcmp(text, "deleted");

		say(id, entry, deleted ? -1 : strtoll(text, NULL, 10), deleted);
	}
}

/* An answer that is taken so, and what it changes. */
static void step(uint32_t now, unsigned int takes, const char *said, const char *wanted)
{
	say_all(said);
	take(now, takes);
	must_change(wanted);
}

TEST(one_after_another)
{
	step(NOW, ALL | BANS_WHOLE, "1 192.0.2.2 60; 2 192.0.2.1 60; 3 192.0.2.1 90",
	     "192.0.2.1 +90 192.0.2.2 +60");
	assert_int_equal(bans_entries(&bans), 2);
	assert_int_equal(bans_live_entries(&bans, NOW + 59), 2);
	assert_int_equal(bans_live_entries(&bans, NOW + 60), 1);
	assert_int_equal(bans_live_entries(&bans, NOW + 90), 0);
	step(NOW, ALL, "", "");
	/* The other decision goes on. */
	step(NOW, ALL, "3 192.0.2.1 deleted", "192.0.2.1 +60!");
	step(NOW, ALL, "2 192.0.2.1 deleted; 4 192.0.2.2 120", "192.0.2.1 -! 192.0.2.2 +120");
	/* Whole answers say all that goes on, not only what they have. */
	step(NOW, ALL | BANS_WHOLE, "", "192.0.2.2 +120");
	/* Deletions first. */
	step(NOW, ALL, "1 192.0.2.2 deleted; 4 192.0.2.2 deleted; 5 192.0.2.2 30",
	     "192.0.2.2 +30!");
	/* By itself. */
	step(NOW + 30, ALL | BANS_WHOLE, "", "");
	assert_int_equal(bans.count, 0);
}

TEST(numbers_and_entries)
{
	step(NOW, ALL, "1 192.0.2.1 60", "192.0.2.1 +60");
	/* The number of another entry, and an entry by another number. */
	step(NOW, ALL, "1 192.0.2.9 deleted; 2 192.0.2.1 deleted", "192.0.2.9 -!");
	step(NOW, ALL, "1 192.0.2.1/32 deleted", "192.0.2.1 -!");
}

TEST(what_comes_later)
{
	step(NOW, ALL, "1 192.0.2.1 60", "192.0.2.1 +60");
	/* An answer that took a little longer tells the same. */
	step(NOW + 4, ALL, "1 192.0.2.1 60", "");
	step(NOW, ALL, "1 192.0.2.1 90", "192.0.2.1 +90");
	/* Shortened without a deletion: what the list has stays if it is longer. */
	step(NOW, ALL, "1 192.0.2.1 10", "192.0.2.1 +10");
	step(NOW, ALL, "1 192.0.2.1 -10", "");
	/* What was over here, and is not there, goes on. */
	step(NOW, ALL, "2 192.0.2.2 2", "192.0.2.2 +2");
	step(NOW + 2, ALL, "2 192.0.2.2 3", "192.0.2.2 +5");
}

TEST(halves)
{
	step(NOW, ALL, "1 192.0.2.1 60", "192.0.2.1 +60");
	step(NOW, BANS_ADDED, "1 192.0.2.1 deleted; 2 192.0.2.2 60", "192.0.2.2 +60");
	step(NOW, BANS_DELETED, "1 192.0.2.1 deleted; 3 192.0.2.3 60", "192.0.2.1 -!");
}

/* After the clock was set, the list takes the times that are known then, also shorter ones. */
TEST(exact_times)
{
	step(NOW, ALL, "1 192.0.2.1 600; 2 192.0.2.2 600", "192.0.2.1 +600 192.0.2.2 +600");
	step(NOW, ALL | BANS_WHOLE | BANS_EXACT, "1 192.0.2.1 60",
	     "192.0.2.1 +60! 192.0.2.2 +600!");
}

/* From one process to another. */
TEST(by_a_file)
{
	struct xb_listfile file;
	struct bans loaded;
	uint32_t until;
	size_t next;
	int fd = memfd_create("bans", MFD_CLOEXEC);

	say_all("1 192.0.2.1 60; 2 192.0.2.1 90; 3 192.0.2.2 30");
	take(NOW, ALL);
	assert_int_equal(bans_save(&bans, fd), 0);
	assert_int_equal(bans_load(fd, &loaded), 0);
	close(fd);
	assert_int_equal(loaded.count, 3);
	assert_memory_equal(loaded.item, bans.item, 3 * sizeof(*bans.item));
	next = bans_step(&loaded, 0, NOW, &until);
	assert_int_equal(next, 2);
	assert_int_equal(until, NOW + 90);
	assert_int_equal(bans_step(&loaded, next, NOW + 30, &until), 3);
	assert_int_equal(until, 0);
	assert_int_equal(bans_to_file(&loaded, NOW + 30, &file), 0);
	assert_int_equal(file.count, 1);
	assert_int_equal(file.items[0].timeout, 60);
	xb_listfile_free(&file);
	bans_free(&loaded);
	/* None at all. */
	fd = memfd_create("bans", MFD_CLOEXEC);
	assert_int_equal(bans_save(&loaded, fd), 0);
	assert_int_equal(bans_load(fd, &loaded), 0);
	assert_int_equal(loaded.count, 0);
	bans_free(&loaded);
	close(fd);
}

TEST(values)
{
	struct ban_answer answer;
	struct bans after;

	say_all("1 20.1.2.3/8 1; 1 ::ffff:7.7.7.7 1; 1 2001:db8::1/32 1; 1 0.0.0.0/0 1; 1 ::/0 1; "
		"1 10.0.0.1 1; 1 dead 1; 1 1.2.3.4/33 1; 1 1.2.3 1; 1  1; 1 dead deleted; "
		"1 0.0.0.0/0 deleted");
	bytes.head.left_out.unreadable = 5;
	assert_int_equal(ban_answer_read(&bytes, size_of_bytes(), (int64_t)NOW * 1000, &answer), 0);
	assert_int_equal(answer.added.count, 4);
	assert_int_equal(answer.deleted.count, 0);
	assert_int_equal(answer.left_out.unreadable, 9);
	assert_int_equal(answer.too_wide, 2);
	assert_int_equal(bans_merge(&bans, &answer, NOW, ALL, &after, &changes), 0);
	must_change("20.0.0.0/8 +1 7.7.7.7 +1 10.0.0.1 +1 2001:db8::/32 +1");
	bans_free(&after);
	ban_answer_free(&answer);
}

static void lasts_until(int64_t now, int64_t milliseconds, uint32_t until)
{
	struct ban_answer answer;

	begin();
	say(1, "192.0.2.1", 0, false);
	bytes.record[0].duration = milliseconds;
	assert_int_equal(ban_answer_read(&bytes, size_of_bytes(), now, &answer), 0);
	assert_int_equal(answer.added.item[0].until, until);
	ban_answer_free(&answer);
}

TEST(times)
{
	lasts_until(1000000, 1, 1001);
	lasts_until(1000001, 999, 1001);
	lasts_until(1000001, 1000, 1002);
	lasts_until(1000999, 0, 1001);
	lasts_until(1000000, INT64_MAX, UINT32_MAX);
	lasts_until(1000000, INT64_MAX / 1000000, UINT32_MAX);
	lasts_until(1000000, -2000000, 0);
	lasts_until(1000000, INT64_MIN, 0);
}

static void is_no_answer(size_t size)
{
	struct ban_answer answer;

	assert_true(ban_answer_read(&bytes, size, 0, &answer) < 0);
	ban_answer_free(&answer);
}

/* Somebody has taken over the process that answers. */
TEST(no_answers)
{
	say_all("1 192.0.2.1 1; 2 192.0.2.2 1");
	for (size_t size = 0; size < size_of_bytes(); size++)
		is_no_answer(size);
	bytes.head.count = UINT64_MAX;
	is_no_answer(sizeof(bytes));
	bytes.head.count = 2;
	bytes.record[1].deleted = 2;
	is_no_answer(size_of_bytes());
	bytes.record[1].deleted = 0;
	memset(bytes.record[1].value, '1', sizeof(bytes.record[1].value));
	is_no_answer(size_of_bytes());
	begin();
	bytes.head.magic++;
	is_no_answer(size_of_bytes());
}

/* --- beside a table of all decisions --- */

#define ENTRIES 8
#define IDS	6

/* When each decision ends, and when the list has each entry end, 0: it is not there. */
static uint32_t ends[ENTRIES][IDS], list[ENTRIES];

static void change_list(uint32_t now)
{
	for (size_t i = 0; i < changes.count; i++) {
		const struct xb_patch_item *item = &changes.item[i];
		uint32_t *has = &list[xb_entry_ipv4(&item->entry) & 7];

		if (item->exact || item->until > *has)
			*has = item->until;
	}
	for (size_t i = 0; i < ENTRIES; i++)
		if (list[i] <= now)
			list[i] = 0;
}

static void answer_by_chance(uint32_t now)
{
	bool deleted[ENTRIES][IDS] = {0}, added[ENTRIES][IDS] = {0};

	for (int i = 0; i < 6; i++) {
		uint32_t entry = (random_word() % ENTRIES), id = (random_word() % IDS);
		char value[32];

		snprintf(value, sizeof(value), "192.0.2.%u", entry);
		if (random_word() % 2) {
			if (added[entry][id])
				continue;
			deleted[entry][id] = true;
			say(id, value, -1, true);
			continue;
		}
		/* A decision has a number of its own, and its time does not change. */
		if (ends[entry][id] > now)
			continue;
		ends[entry][id] = now + 10 + (random_word() % 90);
		say(id, value, ends[entry][id] - now, false);
		deleted[entry][id] = false;
		added[entry][id] = true;
	}
	for (int entry = 0; entry < ENTRIES; entry++)
		for (int id = 0; id < IDS; id++)
			if (deleted[entry][id])
				ends[entry][id] = 0;
}

static void must_agree(uint32_t now)
{
	for (int entry = 0; entry < ENTRIES; entry++) {
		uint32_t last = 0;

		for (int id = 0; id < IDS; id++)
			if (ends[entry][id] > now && ends[entry][id] > last)
				last = ends[entry][id];
		if (list[entry] != last)
			fail_msg("192.0.2.%d ends at %u, not %u", entry, list[entry], last);
	}
}

TEST(by_chance)
{
	uint32_t now = NOW;

	memset(ends, 0, sizeof(ends));
	memset(list, 0, sizeof(list));
	for (uint32_t turn = 0; turn < amount(5000, 20000); turn++) {
		now += (random_word() % 8);
		answer_by_chance(now);
		take(now, ALL | ((random_word() % 8) ? 0 : BANS_WHOLE));
		change_list(now);
		must_agree(now);
	}
}

EACH_TEST(clear, clear);

BEFORE_MAIN(prepare)
{
	random_begin();
}
