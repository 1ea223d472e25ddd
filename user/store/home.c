/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/home.h"

#include <string.h>

#include "base/boot.h"
#include "base/error.h"
#include "base/program.h"
#include "store/sealedrecord.h"

struct record {
	uint8_t boot[16];
	uint64_t cookie, inode;
	uint32_t initial;
	uint32_t checksum;
};

#define KEY "home"

int xb_home_get(struct xb_txn *txn, struct xb_home *home)
{
	struct record record;
	int found = xb_sealed_get(txn, KEY, &record, sizeof(record));

	*home = (struct xb_home){0};
	if (found <= 0)
		return found;
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
	int error = xb_home_get(txn, &known);

	if (error || xb_home_is_here(&known))
		return error;
	look_here(&now);
	record.cookie = now.netns.cookie;
	record.inode = now.netns.inode;
	record.initial = now.initial;
	memcpy(record.boot, now.boot, sizeof(record.boot));
	return xb_sealed_put(txn, KEY, &record, sizeof(record));
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
