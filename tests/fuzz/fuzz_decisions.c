/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a server of CrowdSec answers. Any bytes: no answer, or records that bloomd takes as they
 * are, and a list of bans that is in order. And any bytes in place of the records: no answer, or
 * the same.
 */
#include "bloomd/crowdsec/bans.h"
#include "fetch/decisions.h"
#include "fuzz.h"

#define NOW	 1000000
#define CAPACITY 4096

static struct {
	struct fetch_records head;
	struct fetch_record record[CAPACITY];
} taken;

static bool take(void *context, const struct fetch_record *record)
{
	(void)context;
	must(record->deleted <= 1 && memchr(record->value, '\0', sizeof(record->value)));
	if (taken.head.count == CAPACITY)
		return false;
	taken.record[taken.head.count++] = *record;
	return true;
}

static void must_be_in_order(const struct bans *bans)
{
	for (size_t i = 0; i + 1 < bans->count; i++) {
		const struct ban *a = &bans->item[i], *b = &bans->item[i + 1];
		int order = xb_entry_compare(&a->entry, &b->entry);

		must(order < 0 || (!order && a->id < b->id));
	}
}

static void must_be_sound(const struct bans *after, const struct ban_changes *changes)
{
	must_be_in_order(after);
	for (size_t i = 0; i < after->count; i++)
		must(after->item[i].until > NOW && !xb_entry_is_allow(&after->item[i].entry) &&
		     !xb_entry_is_name(&after->item[i].entry));
	for (size_t i = 0; i < changes->count; i++) {
		must(!changes->item[i].until || changes->item[i].until > NOW);
		must(changes->item[i].until || changes->item[i].exact);
		must(!i ||
		     xb_entry_compare(&changes->item[i - 1].entry, &changes->item[i].entry) < 0);
	}
}

static void merge(const struct bans *before, const struct ban_answer *answer, unsigned int takes)
{
	struct ban_changes changes;
	struct bans after, again;

	must(!bans_merge(before, answer, NOW, takes, &after, &changes));
	must_be_sound(&after, &changes);
	must(bans_entries(&after) <= after.count);
	must(bans_share(&after) >= 0);
	free(changes.item);
	/* An answer that comes again changes nothing more. */
	must(!bans_merge(&after, answer, NOW, takes, &again, &changes));
	must(again.count == after.count);
	free(changes.item);
	bans_free(&after);
	bans_free(&again);
}

/* Returns whether it is an answer. */
static bool judge(const void *data, size_t size)
{
	static const struct bans none;
	struct ban_answer answer;
	bool well = !ban_answer_read(data, size, (int64_t)NOW * 1000, &answer);

	if (well) {
		must_be_in_order(&answer.added);
		must_be_in_order(&answer.deleted);
		merge(&none, &answer, BANS_ADDED | BANS_DELETED);
		merge(&answer.added, &answer, BANS_DELETED | BANS_WHOLE);
		merge(&answer.deleted, &answer, BANS_ADDED);
	}
	ban_answer_free(&answer);
	return well;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of that size, so that the sanitizer sees a read behind it. */
	char *copy = malloc(size);

	if (!size) {
		free(copy);
		return 0;
	}
	must(copy);
	memcpy(copy, data, size);
	taken.head = (struct fetch_records){.magic = FETCH_RECORDS_MAGIC};
	if (!decisions_read(copy, size, take, NULL, &taken.head.left_out))
		must(judge(&taken,
			   sizeof(taken.head) + taken.head.count * sizeof(taken.record[0])));
	free(copy);
	memcpy(&taken.head, data, size < sizeof(taken) ? size : sizeof(taken));
	judge(&taken, size < sizeof(taken) ? size : sizeof(taken));
	return 0;
}
