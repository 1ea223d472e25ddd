/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of lists: read as a whole, looked up by name and by number, written where it changed.
 */
#include "store/lists.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "store/listclass.h"
#include "store/lmdberror.h"
#include "store/lmdbpage.h"
#include "store/shares.h"
#include "store/table.h"

/* Behind it the services of the scope, and the imprint if the list has one. */
struct list_record {
	uint32_t id;
	uint32_t verdict;
	uint64_t members;
	uint64_t exceptions;
	uint32_t class;
	uint32_t services;
};

/* FNV-1a. Names are those of who may write the store. */
static size_t hash_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3ULL;
	return (size_t)(hash ^ hash >> 32);
}

/* Ids are given in a row. */
static size_t hash_id(uint32_t id)
{
	return id;
}

/* Open addressing: a slot has the place of a list plus one; 0 is free. */
static void put(struct xb_list_index *index, size_t hash, size_t place)
{
	size_t at = hash & (index->room - 1);

	while (index->slot[at])
		at = (at + 1) & (index->room - 1);
	index->slot[at] = (uint32_t)place + 1;
}

static int make_room(struct xb_list_index *index, size_t room)
{
	free(index->slot);
	index->slot = calloc(room, sizeof(*index->slot));
	index->room = index->slot ? room : 0;
	return index->slot ? 0 : -ENOMEM;
}

static void enter(struct xb_txn *txn, size_t place)
{
	put(&txn->by_name, hash_name(txn->lists[place].name), place);
	put(&txn->by_id, hash_id(txn->lists[place].id), place);
}

#define ROOM_MIN 64

/* At most half of the slots are taken. */
static int index_all(struct xb_txn *txn)
{
	size_t room = ROOM_MIN;

	while (room < 4 * txn->list_count)
		room *= 2;
	if (make_room(&txn->by_name, room) || make_room(&txn->by_id, room))
		return xb_out_of_memory();
	for (size_t i = 0; i < txn->list_count; i++)
		enter(txn, i);
	return 0;
}

/* The new list is the last of the array. */
static int enter_last(struct xb_txn *txn)
{
	if (2 * txn->list_count > txn->by_name.room)
		return index_all(txn);
	enter(txn, txn->list_count - 1);
	return 0;
}

/* Space for one more, not counted yet; NULL with a message. */
static struct xb_list *next_list(struct xb_txn *txn)
{
	if (xb_array_grow(&txn->lists, &txn->list_room, txn->list_count + 1, sizeof(*txn->lists))) {
		xb_out_of_memory();
		return NULL;
	}
	return &txn->lists[txn->list_count];
}

/* False: this is no record. */
static bool decode(const MDB_val *value, struct list_record *record, struct xb_scope *scope,
		   struct xb_imprint *imprint)
{
	size_t services, rest;

	*record = (struct list_record){0};
	*scope = (struct xb_scope){0};
	*imprint = (struct xb_imprint){0};
	if (value->mv_size < sizeof(*record))
		return false;
	memcpy(record, value->mv_data, sizeof(*record));
	services = record->services * sizeof(*scope->service);
	if (record->services > XB_SCOPE_SERVICES || value->mv_size < sizeof(*record) + services ||
	    record->class >= XB_CLASSES || record->exceptions > record->members)
		return false;
	scope->count = record->services;
	memcpy(scope->service, (const uint8_t *)value->mv_data + sizeof(*record), services);
	rest = value->mv_size - sizeof(*record) - services;
	if (rest == sizeof(*imprint))
		memcpy(imprint, (const uint8_t *)value->mv_data + sizeof(*record) + services, rest);
	imprint->format[sizeof(imprint->format) - 1] = '\0';
	return (!rest || rest == sizeof(*imprint)) && xb_scope_is_sound(scope);
}

static int load_one(struct xb_txn *txn, const MDB_val *key, const MDB_val *value)
{
	struct xb_list *list = next_list(txn);
	struct xb_imprint imprint;
	struct list_record record;
	struct xb_scope scope;

	if (!list)
		return -EIO;
	if (!decode(value, &record, &scope, &imprint) || key->mv_size >= sizeof(list->name))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	*list = (struct xb_list){.id = record.id,
				 .verdict = record.verdict,
				 .class = record.class,
				 .members = record.members,
				 .exceptions = record.exceptions,
				 .imprint = imprint,
				 .stored = true,
				 .stored_verdict = record.verdict,
				 .stored_members = record.members,
				 .stored_exceptions = record.exceptions};
	memcpy(list->name, key->mv_data, key->mv_size);
	list->share = xb_shares_find(txn, list->name);
	if (!xb_scope_is_all(&scope)) {
		list->scope = xb_arena_copy(&txn->scopes, &scope, sizeof(scope));
		if (!list->scope)
			return -EIO;
	}
	txn->classes |= 1U << list->class;
	txn->list_count++;
	return 0;
}

int xb_lists_load(struct xb_txn *txn)
{
	MDB_cursor *cursor;
	MDB_val key = {0}, value = {0};
	int error = mdb_cursor_open(txn->txn, txn->store->lists, &cursor), failed = 0;

	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	while (!failed && !(error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)))
		failed = load_one(txn, &key, &value);
	mdb_cursor_close(cursor);
	if (failed)
		return failed;
	if (error == MDB_NOTFOUND && !xb_table_has_all(txn, txn->store->lists, txn->list_count))
		error = MDB_CORRUPTED;
	if (error != MDB_NOTFOUND)
		return xb_lmdb_error(error, "cannot read the store");
	return index_all(txn);
}

static bool exists(const struct xb_list *list)
{
	return list->members || list->verdict || list->scope;
}

static bool is_stored(const struct xb_list *list)
{
	return list->stored ? list->members == list->stored_members &&
				      list->exceptions == list->stored_exceptions &&
				      list->verdict == list->stored_verdict && !list->reassigned
			    : !exists(list);
}

static int save_one(struct xb_txn *txn, struct xb_list *list)
{
	const struct list_record record = {.id = list->id,
					   .verdict = list->verdict,
					   .members = list->members,
					   .exceptions = list->exceptions,
					   .class = list->class,
					   .services = list->scope ? list->scope->count : 0};
	size_t services = record.services * sizeof(*list->scope->service);
	uint8_t stored[sizeof(record) + sizeof(list->scope->service) + sizeof(list->imprint)];
	MDB_val key = {strlen(list->name), list->name};
	MDB_val value = {sizeof(record) + services, stored};

	memcpy(stored, &record, sizeof(record));
	if (services)
		memcpy(stored + sizeof(record), list->scope->service, services);
	if (xb_imprint_is(&list->imprint)) {
		memcpy(stored + value.mv_size, &list->imprint, sizeof(list->imprint));
		value.mv_size += sizeof(list->imprint);
	}
	return mdb_put(txn->txn, txn->store->lists, &key, &value, 0);
}

int xb_lists_save(struct xb_txn *txn)
{
	int error = 0;

	for (size_t i = 0; !error && i < txn->list_count; i++) {
		struct xb_list *list = &txn->lists[i];
		MDB_val key = {strlen(list->name), list->name};

		if (is_stored(list))
			continue;
		error = exists(list) ? save_one(txn, list)
				     : xb_lmdbpage_delete(txn->txn, txn->store->lists, &key);
	}
	return error;
}

void xb_lists_free(struct xb_txn *txn)
{
	free(txn->lists);
	free(txn->by_name.slot);
	free(txn->by_id.slot);
	xb_arena_free(&txn->scopes);
}

struct xb_list *xb_list_by_name(struct xb_txn *txn, const char *name)
{
	const struct xb_list_index *index = &txn->by_name;

	for (size_t at = hash_name(name) & (index->room - 1); index->slot[at];
	     at = (at + 1) & (index->room - 1)) {
		struct xb_list *list = &txn->lists[index->slot[at] - 1];

		if (!strcmp(list->name, name))
			return list;
	}
	return NULL;
}

struct xb_list *xb_list_by_id(struct xb_txn *txn, uint32_t id)
{
	const struct xb_list_index *index = &txn->by_id;

	for (size_t at = hash_id(id) & (index->room - 1); index->slot[at];
	     at = (at + 1) & (index->room - 1)) {
		struct xb_list *list = &txn->lists[index->slot[at] - 1];

		if (list->id == id)
			return list;
	}
	return NULL;
}

bool xb_list_name_ok(const char *name)
{
	size_t size = strlen(name);

	if (!size || size > 64 || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return true;
}

struct xb_list *xb_list_find(struct xb_txn *txn, const char *name)
{
	struct xb_list *list = xb_list_by_name(txn, name);

	return list && exists(list) ? list : NULL;
}

static int need_list(struct xb_txn *txn, const char *name, struct xb_list **out)
{
	struct xb_list *list;

	*out = xb_list_by_name(txn, name);
	if (*out)
		return 0;
	list = next_list(txn);
	if (!list)
		return -EIO;
	*list = (struct xb_list){.id = txn->meta.next_list++};
	memcpy(list->name, name, strlen(name) + 1);
	list->share = xb_shares_find(txn, name);
	txn->list_count++;
	*out = list;
	return enter_last(txn);
}

int xb_list_need(struct xb_txn *txn, const char *name, struct xb_list **list)
{
	if (!xb_list_name_ok(name))
		return xb_input_error(
			"invalid list name '%s': up to 64 letters, digits, '.', '_' and '-', "
			"a letter or digit first",
			XB_SHOW(name));
	return need_list(txn, name, list);
}

bool xb_imprint_equals(const struct xb_imprint *a, const struct xb_imprint *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool xb_imprint_is(const struct xb_imprint *imprint)
{
	static const struct xb_imprint none;

	return !xb_imprint_equals(imprint, &none);
}

void xb_list_changed(struct xb_list *list)
{
	if (!xb_imprint_is(&list->imprint))
		return;
	list->imprint = (struct xb_imprint){0};
	list->reassigned = true;
}

void xb_list_set_imprint(struct xb_txn *txn, struct xb_list *list, const struct xb_imprint *imprint)
{
	list->imprint = *imprint;
	list->reassigned = true;
	txn->edits++;
}

bool xb_list_is_auto(const struct xb_list *list)
{
	return !strncmp(list->name, XB_LIST_AUTO, strlen(XB_LIST_AUTO));
}

bool xb_list_has_verdict(const struct xb_list *list)
{
	return !xb_list_is_auto(list) && strcmp(list->name, XB_LIST_ALLOW) != 0;
}

int xb_list_need_auto(struct xb_txn *txn, const char *kind, struct xb_list **list)
{
	char name[sizeof((*list)->name)];

	snprintf(name, sizeof(name), XB_LIST_AUTO "%s", kind);
	return need_list(txn, name, list);
}
