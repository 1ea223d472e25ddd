/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All are in order, so one walk over three of them makes the fourth, entry by entry. */
#include "bloomd/crowdsec/bans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "base/writeall.h"
#include "engine/feedguard.h"
#include "model/bogon.h"

void bans_free(struct bans *bans)
{
	if (bans->mapped)
		munmap(bans->item, bans->count * sizeof(*bans->item));
	else
		free(bans->item);
	*bans = (struct bans){0};
}

int bans_save(const struct bans *bans, int fd)
{
	return xb_write_all(fd, bans->item, bans->count * sizeof(*bans->item))
		       ? 0
		       : xb_system_error(errno, "cannot keep the decisions");
}

int bans_load(int fd, struct bans *bans)
{
	struct stat about;
	size_t size;

	*bans = (struct bans){0};
	if (fstat(fd, &about))
		return xb_system_error(errno, "cannot read the decisions");
	size = (size_t)about.st_size;
	if (!size)
		return 0;
	bans->item = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (bans->item == MAP_FAILED) {
		bans->item = NULL;
		return xb_out_of_memory();
	}
	bans->count = bans->room = size / sizeof(*bans->item);
	bans->mapped = true;
	return 0;
}

void ban_answer_free(struct ban_answer *answer)
{
	bans_free(&answer->added);
	bans_free(&answer->deleted);
}

static int append(struct bans *bans, const struct ban *ban)
{
	int error = xb_array_grow(&bans->item, &bans->room, bans->count + 1, sizeof(*bans->item));

	if (!error)
		bans->item[bans->count++] = *ban;
	return error;
}

/* --- an answer --- */

static uint32_t until(int64_t now, int64_t duration)
{
	int64_t end;

	if (__builtin_add_overflow(now, duration, &end) || end > (int64_t)UINT32_MAX * 1000)
		return duration > 0 ? UINT32_MAX : 0;
	return end > 0 ? (uint32_t)((end + 999) / 1000) : 0;
}

static bool is_valid(const struct fetch_record *record)
{
	return record->deleted <= 1 && memchr(record->value, '\0', sizeof(record->value));
}

static int take_record(struct ban_answer *answer, const struct fetch_record *record, int64_t now)
{
	struct ban ban = {.id = record->id};
	bool deleted = record->deleted;

	if (xb_entry_parse(record->value, strlen(record->value), NULL, &ban.entry, NULL)) {
		xb_error_clear();
		answer->left_out.unreadable += !deleted;
		return 0;
	}
	if (xb_too_wide(&ban.entry)) {
		answer->too_wide += !deleted;
		return 0;
	}
	if (deleted)
		return append(&answer->deleted, &ban);
	ban.until = until(now, record->duration);
	return append(&answer->added, &ban);
}

static int compare_ids(const void *one, const void *two)
{
	const struct ban *a = one, *b = two;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Of those with one entry and one id, the last to end stays. */
static void drop_repeats(struct bans *bans)
{
	size_t kept = 0;

	for (size_t i = 0; i < bans->count; i++) {
		const struct ban *ban = &bans->item[i];
		struct ban *last = kept ? &bans->item[kept - 1] : NULL;

		if (!last || last->id != ban->id || xb_entry_compare(&last->entry, &ban->entry))
			bans->item[kept++] = *ban;
		else if (ban->until > last->until)
			last->until = ban->until;
	}
	bans->count = kept;
}

/* Behind the last ban of the entry that stands at `from`. */
static size_t end_of(const struct bans *bans, size_t from)
{
	size_t at = from + 1;

	while (at < bans->count &&
	       !xb_entry_compare(&bans->item[at].entry, &bans->item[from].entry))
		at++;
	return at;
}

static int sort(struct bans *bans)
{
	int error = xb_entry_sort(&bans->item, bans->count, sizeof(*bans->item));

	bans->room = bans->count;
	for (size_t at = 0, end; !error && at < bans->count; at = end) {
		end = end_of(bans, at);
		if (end - at > 1)
			qsort(&bans->item[at], end - at, sizeof(*bans->item), compare_ids);
	}
	if (!error)
		drop_repeats(bans);
	return error;
}

int ban_answer_read(const void *bytes, size_t size, int64_t now, struct ban_answer *answer)
{
	const char *at = bytes;
	struct fetch_records head;
	int error = 0;

	*answer = (struct ban_answer){0};
	if (size < sizeof(head))
		return xb_system_error(0, "bloomd-fetch gave no valid decisions");
	memcpy(&head, at, sizeof(head));
	if (head.magic != FETCH_RECORDS_MAGIC ||
	    head.count != (size - sizeof(head)) / sizeof(struct fetch_record) ||
	    (size - sizeof(head)) % sizeof(struct fetch_record))
		return xb_system_error(0, "bloomd-fetch gave no valid decisions");
	answer->left_out = head.left_out;
	for (uint64_t i = 0; !error && i < head.count; i++) {
		struct fetch_record record;

		memcpy(&record, at + sizeof(head) + i * sizeof(record), sizeof(record));
		error = is_valid(&record)
				? take_record(answer, &record, now)
				: xb_system_error(0, "bloomd-fetch gave no valid decisions");
	}
	if (!error)
		error = sort(&answer->added);
	return error ? error : sort(&answer->deleted);
}

/* --- what it changes --- */

/* The bans of one entry in one of the lists. */
struct group {
	const struct ban *at, *end;
};

struct merging {
	const struct bans *from[3]; /* before, added, deleted */
	size_t at[3];
	uint32_t now;
	unsigned int takes;
	struct bans *after;
	struct ban_changes *changes;
};

enum { BEFORE, ADDED, DELETED };

static const struct xb_entry *next_entry(const struct merging *merging)
{
	const struct xb_entry *next = NULL;

	for (int i = 0; i < 3; i++) {
		const struct bans *bans = merging->from[i];

		if (merging->at[i] < bans->count &&
		    (!next || xb_entry_compare(&bans->item[merging->at[i]].entry, next) < 0))
			next = &bans->item[merging->at[i]].entry;
	}
	return next;
}

static struct group take_group(struct merging *merging, int i, const struct xb_entry *entry)
{
	const struct bans *bans = merging->from[i];
	size_t from = merging->at[i];

	if (from == bans->count || xb_entry_compare(&bans->item[from].entry, entry))
		return (struct group){NULL, NULL};
	merging->at[i] = end_of(bans, from);
	return (struct group){&bans->item[from], &bans->item[merging->at[i]]};
}

/* The groups are walked in the order of ids: everything before the id is passed by. */
static const struct ban *with_id(struct group *group, uint64_t id)
{
	while (group->at < group->end && group->at->id < id)
		group->at++;
	return group->at < group->end && group->at->id == id ? group->at : NULL;
}

static bool is_same_time(uint32_t known, uint32_t told, uint32_t now)
{
	return known > now && told <= (uint64_t)known + BANS_SLACK &&
	       known <= (uint64_t)told + BANS_SLACK;
}

/* The decisions of the entry that go on. What was added wins over what was deleted: deletions come
 * first. */
static int merge_group(struct merging *merging, struct group before, struct group added,
		       struct group deleted)
{
	int error = 0;

	while (!error && (before.at < before.end || added.at < added.end)) {
		bool is_new = before.at == before.end ||
			      (added.at < added.end && added.at->id <= before.at->id);
		struct ban ban = is_new ? *added.at : *before.at;
		const struct ban *known = with_id(&before, ban.id);

		if (is_new && known && is_same_time(known->until, ban.until, merging->now))
			ban.until = known->until;
		if (ban.until > merging->now && (is_new || !with_id(&deleted, ban.id)))
			error = append(merging->after, &ban);
		if (known)
			before.at++;
		if (is_new)
			added.at++;
	}
	return error;
}

static uint32_t last_end(const struct bans *bans, size_t from, size_t to, uint32_t now)
{
	uint32_t last = 0;

	for (size_t i = from; i < to; i++)
		if (bans->item[i].until > now && bans->item[i].until > last)
			last = bans->item[i].until;
	return last;
}

static int change(struct ban_changes *changes, const struct xb_entry *entry, uint32_t until_then,
		  bool exact)
{
	int error = xb_array_grow(&changes->item, &changes->room, changes->count + 1,
				  sizeof(*changes->item));

	if (!error)
		changes->item[changes->count++] = (struct xb_patch_item){
			.entry = *entry, .until = until_then, .exact = exact};
	return error;
}

static int merge_entry(struct merging *merging, const struct xb_entry *entry)
{
	size_t known = merging->at[BEFORE];
	struct group before = take_group(merging, BEFORE, entry);
	struct group added = take_group(merging, ADDED, entry);
	struct group deleted = take_group(merging, DELETED, entry);
	uint32_t was = last_end(merging->from[BEFORE], known, merging->at[BEFORE], merging->now),
		 is;
	bool whole = merging->takes & BANS_WHOLE;
	size_t first = merging->after->count;
	bool ended = deleted.at < deleted.end;
	int error = merge_group(merging, before, added, deleted);

	if (error)
		return error;
	is = last_end(merging->after, first, merging->after->count, merging->now);
	if (is ? is != was || whole : ended)
		return change(merging->changes, entry, is, ended || merging->takes & BANS_EXACT);
	return 0;
}

int bans_merge(const struct bans *before, const struct ban_answer *answer, uint32_t now,
	       unsigned int takes, struct bans *after, struct ban_changes *changes)
{
	static const struct bans none;
	struct merging merging = {
		.from = {before, takes & BANS_ADDED ? &answer->added : &none,
			 takes & BANS_DELETED ? &answer->deleted : &none},
		.now = now,
		.takes = takes,
		.after = after,
		.changes = changes,
	};
	const struct xb_entry *entry;
	int error = 0;

	*after = (struct bans){0};
	*changes = (struct ban_changes){0};
	while (!error && (entry = next_entry(&merging)))
		error = merge_entry(&merging, entry);
	return error;
}

size_t bans_entries(const struct bans *bans)
{
	size_t count = 0;

	for (size_t at = 0; at < bans->count; at = end_of(bans, at))
		count++;
	return count;
}

size_t bans_step(const struct bans *bans, size_t at, uint32_t now, uint32_t *until)
{
	size_t end = end_of(bans, at);

	*until = last_end(bans, at, end, now);
	return end;
}

size_t bans_live_entries(const struct bans *bans, uint32_t now)
{
	size_t count = 0;
	uint32_t until;

	for (size_t at = 0; at < bans->count; count += until != 0)
		at = bans_step(bans, at, now, &until);
	return count;
}

int bans_to_file(const struct bans *bans, uint32_t now, struct xb_listfile *file)
{
	uint32_t until;

	*file = (struct xb_listfile){.items =
					     xb_array_alloc(bans->count + 1, sizeof(*file->items))};
	if (!file->items)
		return xb_out_of_memory();
	for (size_t at = 0, next; at < bans->count; at = next) {
		next = bans_step(bans, at, now, &until);
		if (until)
			file->items[file->count++] = (struct xb_item){.entry = bans->item[at].entry,
								      .timeout = until - now};
	}
	return 0;
}

double bans_share(const struct bans *bans)
{
	struct xb_listfile file;
	double four, six;

	if (bans_to_file(bans, 0, &file)) {
		xb_error_clear();
		return -1;
	}
	four = xb_feed_share(&file, false);
	six = xb_feed_share(&file, true);
	xb_listfile_free(&file);
	return four > six ? four : six;
}
