/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the meta table under "log" and their number, 16 digits, which lie right before the
 * record "meta" that each commit writes: so a record seldom takes a page of its own to write. The
 * record: struct head, then the texts of who and what, then for each list struct counts and the
 * name; last the seal. */
#include "store/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "store/lmdberror.h"
#include "store/sealedrecord.h"

#define PREFIX	 "log"
#define KEY_SIZE (sizeof(PREFIX) - 1 + 16)
#define BEYOND	 PREFIX "g" /* behind all digits */

/* Records that go at once, so that most commits need not look at the oldest. */
#define TRIM 128

struct head {
	uint32_t when, uid;
	uint8_t who, what, lists, reserved;
};

struct counts {
	uint32_t came, went, expired, renewed;
	uint8_t name, reserved[3];
};

#define SEAL sizeof(uint32_t)
#define RECORD_MOST                                                                                \
	(sizeof(struct head) + XB_AUTHOR_WHO + XB_AUTHOR_WHAT +                                    \
	 (XB_JOURNAL_LISTS + 1) * (sizeof(struct counts) + 64) + SEAL)

struct key {
	char text[KEY_SIZE + 1];
};

static struct key key_of(uint64_t number)
{
	struct key key;

	snprintf(key.text, sizeof(key.text), PREFIX "%016" PRIx64, number);
	return key;
}

/* 0: it is another record's. */
static uint64_t number_of(const MDB_val *key)
{
	char text[17] = "";
	uint64_t number = 0;

	if (key->mv_size != KEY_SIZE || memcmp(key->mv_data, PREFIX, sizeof(PREFIX) - 1) != 0)
		return 0;
	memcpy(text, (const char *)key->mv_data + sizeof(PREFIX) - 1, 16);
	return sscanf(text, "%16" SCNx64, &number) == 1 ? number : 0;
}

void xb_journal_note(struct xb_txn *txn)
{
	txn->noted = true;
}

static bool has_changed(const struct xb_list *list)
{
	return list->came || list->went || list->expired || list->renewed;
}

static bool is_worth_it(const struct xb_txn *txn)
{
	bool worth = txn->noted;

	for (size_t i = 0; !worth && i < txn->list_count; i++)
		worth = has_changed(&txn->lists[i]);
	return worth;
}

static void add_list(struct xb_journal_record *record, const struct xb_list *list)
{
	struct xb_journal_list *to = &record->list[record->lists];

	if (record->lists < XB_JOURNAL_LISTS)
		snprintf(to->name, sizeof(to->name), "%s", list->name);
	else
		to = &record->list[XB_JOURNAL_LISTS];
	to->came += list->came;
	to->went += list->went;
	to->expired += list->expired;
	to->renewed += list->renewed;
	if (record->lists <= XB_JOURNAL_LISTS)
		record->lists++;
}

static size_t put(uint8_t *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return size;
}

/* Returns its size, seal included. */
static size_t encode(const struct xb_journal_record *record, uint8_t to[RECORD_MOST])
{
	const struct head head = {.when = record->when,
				  .uid = record->author.uid,
				  .who = (uint8_t)strlen(record->author.who),
				  .what = (uint8_t)strlen(record->author.what),
				  .lists = (uint8_t)record->lists};
	size_t used = put(to, &head, sizeof(head));

	used += put(to + used, record->author.who, head.who);
	used += put(to + used, record->author.what, head.what);
	for (uint32_t i = 0; i < record->lists; i++) {
		const struct xb_journal_list *list = &record->list[i];
		const struct counts counts = {.came = list->came,
					      .went = list->went,
					      .expired = list->expired,
					      .renewed = list->renewed,
					      .name = (uint8_t)strlen(list->name)};

		used += put(to + used, &counts, sizeof(counts));
		used += put(to + used, list->name, counts.name);
	}
	memset(to + used, 0, SEAL);
	return used + SEAL;
}

/* Takes so many bytes; false: there are fewer. */
static bool take(const uint8_t **from, const uint8_t *end, void *to, size_t size)
{
	if ((size_t)(end - *from) < size)
		return false;
	memcpy(to, *from, size);
	*from += size;
	return true;
}

static bool decode(const uint8_t *from, size_t size, struct xb_journal_record *record)
{
	const uint8_t *end = from + size - SEAL;
	struct head head;

	if (size < SEAL || !take(&from, end, &head, sizeof(head)) || head.who > XB_AUTHOR_WHO ||
	    head.what > XB_AUTHOR_WHAT || head.lists > XB_JOURNAL_LISTS + 1 ||
	    !take(&from, end, record->author.who, head.who) ||
	    !take(&from, end, record->author.what, head.what))
		return false;
	record->when = head.when;
	record->author.uid = head.uid;
	record->lists = head.lists;
	for (uint32_t i = 0; i < head.lists; i++) {
		struct xb_journal_list *list = &record->list[i];
		struct counts counts;

		if (!take(&from, end, &counts, sizeof(counts)) || counts.name > 64 ||
		    !take(&from, end, list->name, counts.name))
			return false;
		list->came = counts.came;
		list->went = counts.went;
		list->expired = counts.expired;
		list->renewed = counts.renewed;
	}
	return from == end;
}

static int damaged(void)
{
	return xb_lmdb_error(MDB_CORRUPTED, "cannot read the log of changes");
}

/* The record with the highest number, or with `first` the lowest; 0: there is none. */
static int find_end(struct xb_txn *txn, bool first, uint64_t *number)
{
	const char *from = first ? PREFIX : BEYOND;
	MDB_val key = {strlen(from), (void *)(uintptr_t)from}, value = {0};
	MDB_cursor *cursor;
	int error = mdb_cursor_open(txn->txn, txn->store->meta, &cursor);

	*number = 0;
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	error = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
	if (!first)
		error = mdb_cursor_get(cursor, &key, &value,
				       error == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
	if (!error)
		*number = number_of(&key);
	mdb_cursor_close(cursor);
	return error && error != MDB_NOTFOUND ? xb_lmdb_error(error, "cannot read the store") : 0;
}

static int trim(struct xb_txn *txn, uint64_t last)
{
	uint64_t first = 0;
	int error = last % TRIM ? 0 : find_end(txn, true, &first);

	if (error || last % TRIM || !first)
		return error;
	for (; !error && first + XB_JOURNAL_MOST <= last; first++)
		error = xb_sealed_remove(txn, key_of(first).text);
	return error;
}

int xb_journal_append(struct xb_txn *txn)
{
	struct xb_journal_record record = {.when = (uint32_t)time(NULL)};
	uint8_t bytes[RECORD_MOST];
	uint64_t last = 0;
	int error;

	if (!is_worth_it(txn))
		return 0;
	error = find_end(txn, false, &last);
	if (error)
		return error;
	xb_author_get(&record.author);
	for (size_t i = 0; i < txn->list_count; i++)
		if (has_changed(&txn->lists[i]))
			add_list(&record, &txn->lists[i]);
	error = xb_sealed_put(txn, key_of(last + 1).text, bytes, encode(&record, bytes));
	return error ? error : trim(txn, last + 1);
}

int xb_journal_last(struct xb_txn *txn, uint64_t *number)
{
	return find_end(txn, false, number);
}

int xb_journal_visit(struct xb_txn *txn, uint64_t from,
		     int (*visit)(const struct xb_journal_record *record, void *context),
		     void *context)
{
	uint64_t first, last = 0;
	int error = find_end(txn, true, &first);

	if (!error)
		error = find_end(txn, false, &last);
	if (error || !last)
		return error;
	for (uint64_t number = from > first ? from : first; !error && number <= last; number++) {
		struct xb_journal_record record = {.number = number};
		const void *bytes = NULL;
		size_t size = 0;
		int found = xb_sealed_find(txn, key_of(number).text, &bytes, &size);

		if (found < 0)
			return found;
		if (!found || !decode(bytes, size, &record))
			return damaged();
		error = visit(&record, context);
	}
	return error;
}
