/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/joining.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/fleetconfig.h"

struct joining {
	const struct fleet_config *config; /* NULL: leave */
	bool changed;
	char former[XB_FLEET_NAME + 1]; /* "": none */
};

static uint32_t wanted_flags(const struct fleet_config *config, const char *list)
{
	for (size_t i = 0; i < config->lists; i++)
		if (!strcmp(config->list[i].name, list))
			return config->list[i].flags;
	return 0;
}

/* What is still followed stays resynced. */
static int set_share(struct xb_txn *txn, const char *list, uint32_t flags, bool *changed)
{
	const struct xb_share *share = xb_share_of(txn, list);
	uint32_t before = share ? share->flags : 0;

	if (flags & before & XB_SHARE_FOLLOW)
		flags |= before & XB_SHARE_JOINED;
	if (flags == before)
		return 0;
	*changed = true;
	return xb_share_set(txn, list, flags);
}

static int drop_others(struct xb_txn *txn, struct joining *joining)
{
	char gone[XB_SHARES_MAX][65];
	size_t count, drops = 0;
	const struct xb_share *shares = xb_shares(txn, &count);
	int error = 0;

	for (size_t i = 0; i < count && drops < XB_SHARES_MAX; i++)
		if (!wanted_flags(joining->config, shares[i].list))
			memcpy(gone[drops++], shares[i].list, sizeof(gone[0]));
	for (size_t i = 0; !error && i < drops; i++)
		error = set_share(txn, gone[i], 0, &joining->changed);
	return error;
}

static int join(struct xb_txn *txn, struct joining *joining)
{
	const struct fleet_config *config = joining->config;
	struct xb_fleet before = {0}, after = {0};
	int found = xb_fleet_get(txn, &before);
	int error = found < 0 ? found : xb_fleet_join(txn, config->name);

	if (!error)
		found = xb_fleet_get(txn, &after);
	if (!error && found < 0)
		error = found;
	joining->changed = strcmp(before.name, after.name) != 0 ||
			   memcmp(before.host, after.host, XB_FLEET_ID) != 0;
	if (!error)
		error = drop_others(txn, joining);
	for (size_t i = 0; !error && i < config->lists; i++)
		error = set_share(txn, config->list[i].name, config->list[i].flags,
				  &joining->changed);
	return error;
}

static int leave(struct xb_txn *txn, struct joining *joining)
{
	struct xb_fleet fleet;
	int found = xb_fleet_get(txn, &fleet);

	if (found <= 0)
		return found;
	joining->changed = true;
	strcpy(joining->former, fleet.name);
	return xb_fleet_leave(txn);
}

/* Given up if nothing is to be changed. */
#define AS_IT_WAS 1

static int body(struct xb_writer *writer, void *context)
{
	struct joining *joining = context;
	int error;

	joining->changed = false;
	error = joining->config ? join(writer->txn, joining) : leave(writer->txn, joining);
	return error ?: joining->changed ? 0 : AS_IT_WAS;
}

int joining_write(struct agent *agent)
{
	struct joining joining = {.config = agent->config->fleet};
	int error;

	agent_writes(agent);
	error = xb_write(&agent->paths, 0, body, &joining, &agent->written);
	if (error == AS_IT_WAS)
		return 0;
	if (error && error != XB_UNMET)
		return error;
	agent_wrote(agent);
	if (*joining.former)
		log_info("this host is no longer in the fleet %s: its lists stay as they are",
			 joining.former);
	return 0;
}

int joining_is_member(const struct agent *agent)
{
	struct xb_store *store;
	struct xb_fleet fleet;
	struct xb_txn *txn;
	int found = xb_store_begin_reading(agent->paths.state, &store, &txn);

	if (!found)
		found = xb_fleet_get(txn, &fleet);
	else if (found == -ENOENT)
		found = 0;
	xb_store_end_reading(store, txn);
	return found;
}
