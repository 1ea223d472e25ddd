/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/joining.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/author.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/fleetconfig.h"
#include "engine/rotate.h"

/* What is to be written, and what came of it. */
struct wish {
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

static int drop_others(struct xb_txn *txn, struct wish *wish)
{
	char gone[XB_SHARES_MAX][65];
	size_t count, drops = 0;
	const struct xb_share *shares = xb_shares(txn, &count);
	int error = 0;

	for (size_t i = 0; i < count && drops < XB_SHARES_MAX; i++)
		if (!wanted_flags(wish->config, shares[i].list))
			memcpy(gone[drops++], shares[i].list, sizeof(gone[0]));
	for (size_t i = 0; !error && i < drops; i++)
		error = set_share(txn, gone[i], 0, &wish->changed);
	return error;
}

static int join(struct xb_txn *txn, struct wish *wish)
{
	const struct fleet_config *config = wish->config;
	struct xb_fleet before = {0}, after = {0};
	int found = xb_fleet_get(txn, &before);
	int error = found < 0 ? found : xb_fleet_join(txn, config->name);

	if (!error)
		found = xb_fleet_get(txn, &after);
	if (!error && found < 0)
		error = found;
	wish->changed = strcmp(before.name, after.name) != 0 ||
			memcmp(before.host, after.host, XB_FLEET_ID) != 0;
	if (!error)
		error = drop_others(txn, wish);
	for (size_t i = 0; !error && i < config->lists; i++)
		error = set_share(txn, config->list[i].name, config->list[i].flags, &wish->changed);
	return error;
}

static int leave(struct xb_txn *txn, struct wish *wish)
{
	struct xb_fleet fleet;
	int found = xb_fleet_get(txn, &fleet);

	if (found <= 0)
		return found;
	wish->changed = true;
	strcpy(wish->former, fleet.name);
	return xb_fleet_leave(txn);
}

/* Given up if nothing is to be changed. */
#define AS_IT_WAS 1

static int body(struct xb_writer *writer, void *context)
{
	struct wish *wish = context;
	int error;

	wish->changed = false;
	xb_fault("fleet-joining");
	error = wish->config ? join(writer->txn, wish) : leave(writer->txn, wish);
	return error ?: wish->changed ? 0 : AS_IT_WAS;
}

static int write_wish(const struct agent *agent)
{
	struct wish wish = {.config = agent->config->fleet};
	struct xb_written written = {0};
	int error;

	xb_author_set("fleet");
	error = xb_write(&agent->paths, 0, body, &wish, &written);

	if (!error || error == XB_UNMET)
		xb_write_settle(&agent->paths, &written);
	xb_written_free(&written);
	if (error && error != XB_UNMET)
		return error == AS_IT_WAS ? 0 : error;
	if (*wish.former)
		log_info("this host is no longer in the fleet %s: its lists stay as they are",
			 wish.former);
	return 0;
}

/* --- the process --- */

struct joining {
	pid_t child;
	sd_event_source *source;
	bool quiet;
	joining_ended *ended;
	void *context;
};

static _Noreturn void work(const struct agent *agent, bool quiet)
{
	int error = write_wish(agent);

	if (!error)
		_exit(JOINING_DONE);
	if (agent_is_busy(error))
		_exit(JOINING_BUSY);
	if (!quiet)
		log_error("fleet: cannot write what the configuration says");
	_exit(JOINING_FAILED);
}

static int on_end(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct joining joining = *(struct joining *)context;

	sd_event_source_disable_unref(source);
	free(context);
	if (info->si_code != CLD_EXITED && !joining.quiet)
		xb_warning("fleet: the process that writes what the configuration says was ended");
	joining.ended(joining.context, info->si_code == CLD_EXITED
					       ? (enum joining_outcome)info->si_status
					       : JOINING_FAILED);
	return 0;
}

int joining_start(struct agent *agent, bool quiet, joining_ended *ended, void *context,
		  struct joining **out)
{
	struct joining *joining = calloc(1, sizeof(*joining));
	int error;

	*out = NULL;
	if (!joining)
		return xb_out_of_memory();
	*joining = (struct joining){.quiet = quiet, .ended = ended, .context = context};
	joining->child = agent_fork(agent);
	if (!joining->child)
		work(agent, quiet);
	error = joining->child < 0 ? joining->child
				   : sd_event_add_child(agent->loop, &joining->source,
							joining->child, WEXITED, on_end, joining);
	if (error < 0) {
		joining_stop(joining);
		return xb_system_error(-error, "cannot watch a process");
	}
	*out = joining;
	return 0;
}

void joining_stop(struct joining *joining)
{
	if (!joining)
		return;
	sd_event_source_disable_unref(joining->source);
	if (joining->child > 0) {
		kill(joining->child, SIGKILL);
		waitpid(joining->child, NULL, 0);
	}
	free(joining);
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
