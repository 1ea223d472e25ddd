/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One record in the meta table: head, request. */
#include "store/trialrecord.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/checksum.h"
#include "store/lmdbpage.h"
#include "store/requestcodec.h"

#define LAYOUT 1

struct head {
	uint32_t layout;
	uint32_t checksum; /* of the record, made while it is 0 */
	uint64_t identity;
};

static MDB_val record_key(void)
{
	static char name[] = "trial request";

	return (MDB_val){sizeof(name) - 1, name};
}

static uint32_t checksum_of(struct head head, const uint8_t *request, size_t size)
{
	head.checksum = 0;
	return xb_checksum(&head, sizeof(head), request, size);
}

void xb_trial_free(struct xb_trial *trial)
{
	xb_request_clear(&trial->request);
	free(trial->bytes);
	*trial = (struct xb_trial){0};
}

static int damaged(void)
{
	xb_system_error(0, "the record of a trial in the store is damaged; the next change ends "
			   "that trial");
	return -EBADMSG;
}

static int decode(struct xb_trial *trial, size_t size)
{
	uint8_t *request = trial->bytes + sizeof(struct head);
	int error = -EINVAL;
	struct head head;

	memcpy(&head, trial->bytes, sizeof(head));
	size -= sizeof(head);
	trial->identity = head.identity;
	if (head.layout == LAYOUT && head.checksum == checksum_of(head, request, size))
		error = xb_request_decode(request, size, &trial->request);
	if (error)
		xb_trial_free(trial);
	return error == -EINVAL ? damaged() : error;
}

int xb_trial_get(struct xb_txn *txn, struct xb_trial *trial)
{
	MDB_val key = record_key(), value = {0};
	int error = mdb_get(txn->txn, txn->store->meta, &key, &value);

	*trial = (struct xb_trial){0};
	if (error == MDB_NOTFOUND)
		return -ENOENT;
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	if (value.mv_size < sizeof(struct head))
		return damaged();
	trial->bytes = malloc(value.mv_size);
	if (!trial->bytes)
		return xb_out_of_memory();
	memcpy(trial->bytes, value.mv_data, value.mv_size);
	return decode(trial, value.mv_size);
}

int xb_trial_put(struct xb_txn *txn, uint64_t identity, const struct xb_request *request)
{
	size_t size = xb_request_size(request);
	struct head head = {.layout = LAYOUT, .identity = identity};
	uint8_t *bytes = malloc(sizeof(head) + size);
	MDB_val key = record_key(), value = {sizeof(head) + size, bytes};
	int error;

	if (!bytes)
		return xb_out_of_memory();
	if (!xb_request_encode(request, bytes + sizeof(head))) {
		free(bytes);
		return xb_system_error(0,
				       "this change cannot be put on trial: its request is wrong");
	}
	head.checksum = checksum_of(head, bytes + sizeof(head), size);
	memcpy(bytes, &head, sizeof(head));
	error = xb_lmdbpage_check(txn->txn, txn->store->meta, &key);
	if (!error || error == MDB_NOTFOUND)
		error = mdb_put(txn->txn, txn->store->meta, &key, &value, 0);
	txn->edits++;
	free(bytes);
	return error ? xb_lmdb_error(error, "cannot write the store") : 0;
}

static int put_renamed(struct xb_txn *txn, const struct xb_trial *trial, const char *from,
		       const char *to, char **names)
{
	struct xb_request request = trial->request;

	for (uint32_t i = 0; i < request.attach.count; i++)
		names[i] = (char *)(uintptr_t)(strcmp(request.attach.names[i], from)
						       ? request.attach.names[i]
						       : to);
	request.attach.names = names;
	return xb_trial_put(txn, trial->identity, &request);
}

int xb_trial_rename(struct xb_txn *txn, struct xb_trial *trial, const char *from, const char *to)
{
	struct xb_trial renamed;
	char **names;
	int error;

	if (!xb_trial_names(trial, from) || xb_trial_names(trial, to))
		return 0;
	names = calloc(trial->request.attach.count, sizeof(*names));
	if (!names)
		return xb_out_of_memory();
	error = put_renamed(txn, trial, from, to, names);
	free(names);
	if (!error)
		error = xb_trial_get(txn, &renamed);
	if (error)
		return error;
	xb_trial_free(trial);
	*trial = renamed;
	return 0;
}

int xb_trial_delete(struct xb_txn *txn)
{
	MDB_val key = record_key();
	int error = xb_lmdbpage_delete(txn->txn, txn->store->meta, &key);

	txn->edits++;
	return error && error != MDB_NOTFOUND ? xb_lmdb_error(error, "cannot write the store") : 0;
}

uint64_t xb_trial_left(const struct xb_trial *trial, const struct xb_trial_cell *guard)
{
	uint64_t now = xb_clock();

	if (!xb_trial_lives(trial, guard) || guard->deadline <= now)
		return 0;
	return (guard->deadline - now + XB_SECOND - 1) / XB_SECOND;
}

size_t xb_trial_interfaces(const struct xb_trial *trial, char *const **names)
{
	if (trial->request.kind != XB_REQUEST_ATTACH)
		return 0;
	*names = trial->request.attach.names;
	return trial->request.attach.count;
}

bool xb_trial_names(const struct xb_trial *trial, const char *name)
{
	char *const *names;
	size_t count = xb_trial_interfaces(trial, &names);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

bool xb_trial_lives(const struct xb_trial *trial, const struct xb_trial_cell *guard)
{
	return guard->identity == trial->identity && xb_clock() < guard->deadline;
}
