/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One record in the meta table, which an earlier version passes by. */
#include "store/home.h"

#include <string.h>

#include "base/boot.h"
#include "base/error.h"
#include "base/program.h"
#include "store/checksum.h"

struct record {
	uint8_t boot[16];
	uint64_t cookie, inode;
	uint32_t initial;
	uint32_t checksum; /* of the record, made while it is 0 */
};

static MDB_val record_key(void)
{
	static char name[] = "home";

	return (MDB_val){sizeof(name) - 1, name};
}

static uint32_t checksum_of(struct record record)
{
	record.checksum = 0;
	return xb_checksum(NULL, 0, &record, sizeof(record));
}

int xb_home_get(struct xb_txn *txn, struct xb_home *home)
{
	MDB_val key = record_key(), value;
	int error = mdb_get(txn->txn, txn->store->meta, &key, &value);
	struct record record;

	*home = (struct xb_home){0};
	if (error == MDB_NOTFOUND)
		return 0;
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	if (value.mv_size != sizeof(record))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	memcpy(&record, value.mv_data, sizeof(record));
	if (record.checksum != checksum_of(record))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	home->known = true;
	home->initial = record.initial;
	memcpy(home->boot, record.boot, sizeof(home->boot));
	home->netns = (struct xb_netns){record.cookie, record.inode};
	return 0;
}

static void look_here(struct xb_home *home)
{
	*home = (struct xb_home){.netns = xb_netns_self()};
	home->known = home->netns.cookie;
	home->initial = xb_netns_is_initial(&home->netns);
	xb_boot_identity(home->boot);
}

static bool is_same_boot(const struct xb_home *one, const struct xb_home *other)
{
	return !memcmp(one->boot, other->boot, sizeof(one->boot));
}

static bool is_same(const struct xb_home *one, const struct xb_home *other)
{
	if (one->initial || other->initial)
		return one->initial && other->initial;
	return is_same_boot(one, other) && one->netns.cookie == other->netns.cookie;
}

bool xb_home_is_here(const struct xb_home *home)
{
	struct xb_home now;

	look_here(&now);
	return !now.known || (home->known && is_same(home, &now));
}

int xb_home_put(struct xb_txn *txn)
{
	struct xb_home now, known;
	struct record record = {0};
	MDB_val key = record_key(), value = {sizeof(record), &record};
	int error = xb_home_get(txn, &known);

	if (error || xb_home_is_here(&known))
		return error;
	look_here(&now);
	record.cookie = now.netns.cookie;
	record.inode = now.netns.inode;
	record.initial = now.initial;
	memcpy(record.boot, now.boot, sizeof(record.boot));
	record.checksum = checksum_of(record);
	txn->edits++;
	error = mdb_put(txn->txn, txn->store->meta, &key, &value, 0);
	return error ? xb_lmdb_error(error, "cannot write the store") : 0;
}

enum xb_place xb_home_place(const struct xb_home *home)
{
	struct xb_home now;

	if (!home->known)
		return XB_PLACE_NEW;
	if (xb_home_is_here(home))
		return XB_PLACE_HOME;
	if (home->initial)
		return XB_PLACE_AWAY;
	look_here(&now);
	return !is_same_boot(home, &now) || xb_netns_is_gone(&home->netns) ? XB_PLACE_HEIR
									   : XB_PLACE_AWAY;
}

int xb_home_refuse(const struct xb_home *home, enum xb_place place, const char *state)
{
	char enter[XB_NETNS_ENTER] = "nsenter --net=/proc/1/ns/net";

	if (place == XB_PLACE_HEIR)
		return xb_system_error(0,
				       "the network namespace in which %s wants interfaces is "
				       "gone%s",
				       state, xb_advice(XB_ADVICE_GO_ON_HERE));
	if (!home->initial)
		xb_netns_enter(&home->netns, enter);
	return xb_system_error(0,
			       "%s wants interfaces of another network namespace; run this there: "
			       "%s%s (not `ip netns exec`, which hides the pins)%s",
			       state, enter, xb_advice(XB_ADVICE_RUN_THERE),
			       xb_advice(XB_ADVICE_MOVE_HERE));
}
