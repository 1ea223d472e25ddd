/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/limits.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/lmdberror.h"
#include "store/sealedrecord.h"

struct record {
	char name[XB_LIMIT_NAME];
	uint8_t counts, bits4, bits6;
	uint32_t of, period;
	uint64_t rate, burst, capacity;
	uint32_t services;
	struct xb_service service[XB_SCOPE_SERVICES];
	char list[XB_LIMIT_LIST];
	uint8_t forgeable;
	uint8_t truncates, names;
	uint32_t timeout, longest, known;
	uint32_t checksum;
};

#define KEY_BYTES 24

static void key_of(uint32_t number, char key[KEY_BYTES])
{
	snprintf(key, KEY_BYTES, "limit-%u", number);
}

static int get_one(struct xb_txn *txn, uint32_t number, struct xb_limit *limit)
{
	struct record record;
	char key[KEY_BYTES];
	int found;

	key_of(number, key);
	found = xb_sealed_get(txn, key, &record, sizeof(record));
	if (found <= 0)
		return found;
	*limit = (struct xb_limit){
		.counts = record.counts,
		.bits4 = record.bits4,
		.bits6 = record.bits6,
		.of = record.of,
		.period = record.period,
		.rate = record.rate,
		.burst = record.burst,
		.capacity = record.capacity,
		.scope = {.count = record.services},
		.timeout = record.timeout,
		.longest = record.longest,
		.forgeable = record.forgeable,
		.truncates = record.truncates,
		.names = record.names,
		.known = record.known,
	};
	memcpy(limit->list, record.list, sizeof(limit->list));
	memcpy(limit->name, record.name, sizeof(limit->name));
	memcpy(limit->scope.service, record.service, sizeof(record.service));
	return xb_limit_is_sound(limit) ? 0 : xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
}

int xb_limits_get(struct xb_txn *txn, struct xb_limits_wanted *wanted)
{
	int error = 0;

	*wanted = (struct xb_limits_wanted){0};
	for (uint32_t number = 1; !error && number < XB_LIMITS; number++)
		error = get_one(txn, number, &wanted->limit[number]);
	return error;
}

uint32_t xb_limits_find(const struct xb_limits_wanted *wanted, const char *name)
{
	for (uint32_t number = 1; number < XB_LIMITS; number++)
		if (*name && !strcmp(wanted->limit[number].name, name))
			return number;
	return 0;
}

uint32_t xb_limits_count(const struct xb_limits_wanted *wanted)
{
	uint32_t count = 0;

	for (uint32_t number = 1; number < XB_LIMITS; number++)
		count += *wanted->limit[number].name != '\0';
	return count;
}

bool xb_limits_know(const struct xb_limits_wanted *wanted)
{
	for (uint32_t number = 1; number < XB_LIMITS; number++)
		if (*wanted->limit[number].name && wanted->limit[number].known != 1)
			return true;
	return false;
}

bool xb_limits_have_names(const struct xb_limits_wanted *wanted)
{
	for (uint32_t number = 1; number < XB_LIMITS; number++)
		if (*wanted->limit[number].name && wanted->limit[number].names)
			return true;
	return false;
}

bool xb_limits_truncate(const struct xb_limits_wanted *wanted)
{
	for (uint32_t number = 1; number < XB_LIMITS; number++)
		if (*wanted->limit[number].name && wanted->limit[number].truncates)
			return true;
	return false;
}

static uint32_t free_number(const struct xb_limits_wanted *wanted)
{
	for (uint32_t number = 1; number < XB_LIMITS; number++)
		if (!*wanted->limit[number].name)
			return number;
	return 0;
}

uint32_t xb_limits_place(struct xb_limits_wanted *wanted, const struct xb_limit *limit)
{
	uint32_t number = xb_limits_find(wanted, limit->name);

	if (!number)
		number = free_number(wanted);
	if (number)
		wanted->limit[number] = *limit;
	return number;
}

int xb_limits_full(void)
{
	return xb_input_error("there can be %d limits, and no more", XB_LIMITS - 1);
}

int xb_limits_put(struct xb_txn *txn, const struct xb_limit *limit)
{
	struct record record = {
		.counts = limit->counts,
		.bits4 = limit->bits4,
		.bits6 = limit->bits6,
		.of = limit->of,
		.period = limit->period,
		.rate = limit->rate,
		.burst = limit->burst,
		.capacity = limit->capacity,
		.services = limit->scope.count,
		.timeout = limit->timeout,
		.longest = limit->longest,
		.forgeable = limit->forgeable,
		.truncates = limit->truncates,
		.names = limit->names,
		.known = limit->known,
	};
	struct xb_limits_wanted wanted;
	char key[KEY_BYTES];
	uint32_t number;
	int error = xb_limits_get(txn, &wanted);

	if (error)
		return error;
	number = xb_limits_place(&wanted, limit);
	if (!number)
		return xb_limits_full();
	memcpy(record.list, limit->list, sizeof(record.list));
	memcpy(record.name, limit->name, sizeof(record.name));
	memcpy(record.service, limit->scope.service,
	       limit->scope.count * sizeof(*limit->scope.service));
	key_of(number, key);
	xb_changes_set_bulk(&txn->change);
	txn->change.tightens = true;
	return xb_sealed_put(txn, key, &record, sizeof(record));
}

int xb_limits_remove(struct xb_txn *txn, const char *name, bool *found)
{
	struct xb_limits_wanted wanted;
	char key[KEY_BYTES];
	uint32_t number;
	int error = xb_limits_get(txn, &wanted);

	number = error ? 0 : xb_limits_find(&wanted, name);
	*found = number;
	if (!number)
		return error;
	key_of(number, key);
	xb_changes_set_bulk(&txn->change);
	return xb_sealed_remove(txn, key);
}
