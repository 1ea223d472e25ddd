/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One record in the meta table: head, names, words. */
#include "store/trialrecord.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"

struct head {
	uint64_t identity;
	uint32_t name_count;
	uint32_t word_bytes;
};

static MDB_val record_key(void)
{
	static char name[] = "trial";

	return (MDB_val){sizeof(name) - 1, name};
}

void xb_trial_free(struct xb_trial *trial)
{
	free(trial->names);
	free(trial->words);
	*trial = (struct xb_trial){0};
}

int xb_trial_get(struct xb_txn *txn, struct xb_trial *trial)
{
	MDB_val key = record_key(), value;
	int error = mdb_get(txn->txn, txn->store->meta, &key, &value);
	const uint8_t *bytes;
	struct head head;
	size_t names;

	*trial = (struct xb_trial){0};
	if (error == MDB_NOTFOUND)
		return -ENOENT;
	if (error)
		return xb_store_error(error, "cannot read the store");
	bytes = value.mv_data;
	if (value.mv_size < sizeof(head))
		return xb_store_error(MDB_CORRUPTED, "cannot read the store");
	memcpy(&head, bytes, sizeof(head));
	names = (size_t)head.name_count * IF_NAMESIZE;
	if (value.mv_size != sizeof(head) + names + head.word_bytes)
		return xb_store_error(MDB_CORRUPTED, "cannot read the store");
	trial->names = calloc(head.name_count + 1, IF_NAMESIZE);
	trial->words = calloc(1, (size_t)head.word_bytes + 1);
	if (!trial->names || !trial->words) {
		xb_trial_free(trial);
		return xb_out_of_memory();
	}
	trial->identity = head.identity;
	trial->name_count = head.name_count;
	trial->word_bytes = head.word_bytes;
	memcpy(trial->names, bytes + sizeof(head), names);
	memcpy(trial->words, bytes + sizeof(head) + names, head.word_bytes);
	return 0;
}

int xb_trial_put(struct xb_txn *txn, uint64_t identity, const struct xb_wish *wish)
{
	struct head head = {.identity = identity, .name_count = (uint32_t)wish->name_count};
	size_t names = wish->name_count * IF_NAMESIZE, words = 0;
	MDB_val key = record_key(), value;
	uint8_t *bytes, *end;
	int error;

	for (int i = 0; i < wish->argc; i++)
		words += strlen(wish->argv[i]) + 1;
	head.word_bytes = (uint32_t)words;
	end = bytes = calloc(1, sizeof(head) + names + words);
	if (!bytes)
		return xb_out_of_memory();
	memcpy(end, &head, sizeof(head));
	end += sizeof(head);
	for (size_t i = 0; i < wish->name_count; i++, end += IF_NAMESIZE)
		memcpy(end, wish->names[i], strnlen(wish->names[i], IF_NAMESIZE - 1));
	for (int i = 0; i < wish->argc; i++)
		end = (uint8_t *)stpcpy((char *)end, wish->argv[i]) + 1;
	value = (MDB_val){(size_t)(end - bytes), bytes};
	error = mdb_put(txn->txn, txn->store->meta, &key, &value, 0);
	txn->edits++;
	free(bytes);
	return error ? xb_store_error(error, "cannot write the store") : 0;
}

int xb_trial_delete(struct xb_txn *txn)
{
	MDB_val key = record_key();
	int error = mdb_del(txn->txn, txn->store->meta, &key, NULL);

	txn->edits++;
	return error && error != MDB_NOTFOUND ? xb_store_error(error, "cannot write the store") : 0;
}

void xb_trial_command(const struct xb_trial *trial, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i + 1 < trial->word_bytes && used < size - 1; i++) {
		text[used++] = trial->words[i] ? trial->words[i] : ' ';
	}
	text[used] = '\0';
	xb_utf8_clean(text);
}

uint64_t xb_trial_left(const struct xb_trial *trial, const struct xb_trial_cell *guard)
{
	uint64_t now = xb_clock();

	if (!xb_trial_lives(trial, guard) || guard->deadline <= now)
		return 0;
	return (guard->deadline - now + XB_SECOND - 1) / XB_SECOND;
}

bool xb_trial_names(const struct xb_trial *trial, const char *name)
{
	for (uint32_t i = 0; i < trial->name_count; i++)
		if (!strcmp(trial->names[i], name))
			return true;
	return false;
}

bool xb_trial_lives(const struct xb_trial *trial, const struct xb_trial_cell *guard)
{
	return guard->identity == trial->identity && xb_clock() < guard->deadline;
}
