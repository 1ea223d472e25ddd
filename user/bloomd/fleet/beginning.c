/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Begins a log with a snapshot of this host's state: the entry that begins it, and what the store
 * knows once the server has both. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/parts.h"
#include "store/logtail.h"

static int set_joined(struct xb_txn *txn)
{
	struct fleet_list list[XB_SHARES_MAX];
	size_t count, used = 0;
	const struct xb_share *shares = xb_shares(txn, &count);
	int error = 0;

	for (size_t i = 0; i < count && used < XB_SHARES_MAX; i++) {
		if (shares[i].flags & XB_SHARE_JOINED)
			continue;
		memcpy(list[used].name, shares[i].list, sizeof(list[used].name));
		list[used++].flags = shares[i].flags | XB_SHARE_JOINED;
	}
	for (size_t i = 0; !error && i < used; i++)
		error = xb_share_set(txn, list[i].name, list[i].flags);
	return error;
}

/* What the log has now is what this host has: the store says so, too. */
static int body(struct xb_writer *writer, void *context)
{
	const struct fleet_snapshots *snapshots = context;
	const struct manifest *manifest = snapshots->manifest;
	struct xb_fleet fleet;
	int found = xb_fleet_get(writer->txn, &fleet), error;

	if (found <= 0)
		return found ?: xb_input_error("this host is in no fleet");
	if (fleet.term >= manifest->term)
		return xb_input_error("the fleet went on meanwhile");
	fleet.term = manifest->term;
	fleet.position = manifest->position;
	memcpy(fleet.epoch, manifest->epoch, XB_FLEET_ID);
	memcpy(fleet.chain, manifest->chain, XB_FLEET_CHAIN);
	error = xb_fleet_put(writer->txn, &fleet);
	if (!error)
		error = xb_fleet_lineage_put(writer->txn, manifest->lineage, manifest->ancestors);
	if (!error)
		error = xb_logtail_append(writer->txn, fleet.term, fleet.position, snapshots->entry,
					  snapshots->entry_size);
	return error ?: set_joined(writer->txn);
}

static void commit(struct fleet *fleet)
{
	struct agent *agent = fleet->agent;
	int error;

	if (!fleet->snapshots.manifest)
		return;
	agent_writes(agent, "fleet");
	error = xb_write(&agent->paths, 0, body, &fleet->snapshots, &agent->written);
	if (agent_is_busy(error)) {
		fleet_then(fleet, AGENT_RETRY, commit);
		return;
	}
	if (error && error != XB_UNMET) {
		snapshots_fail(fleet, xb_error_message());
		return;
	}
	agent_wrote(agent);
	log_info("fleet: began a log at %" PRIu64 ", term %" PRIu64,
		 fleet->snapshots.manifest->position, fleet->snapshots.manifest->term);
	snapshotclean_after(fleet, snapshots_made);
	fleet_works(fleet);
	reading_check(fleet);
}

static void on_begun(struct fleet *fleet, enum fleet_appended outcome)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	if (outcome == FLEET_NOT_APPENDED) {
		snapshots_fail(fleet, fleet->append.why);
		return;
	}
	if (outcome == FLEET_OVERTAKEN) {
		snapshots_stop(fleet);
		fleet_enter(
			fleet, FLEET_WAITING,
			"another host was first to begin a log, or the lease to begin one is gone");
		fleet_then(fleet, FLEET_SECOND, reading_check);
		return;
	}
	xb_fault("fleet-begun");
	snapshots->entry = fleet->append.bytes;
	snapshots->entry_size = fleet->append.size;
	fleet->append.bytes = NULL;
	commit(fleet);
}

void beginning_append(struct fleet *fleet)
{
	struct fleet_append *append = &fleet->append;

	append->end = fleet->log.any ? fleet->log.end : 0;
	append->position = fleet->snapshots.manifest->position;
	append->begins = true;
	append->term = fleet->snapshots.manifest->term;
	append->bytes = fleet->snapshots.entry;
	append->size = fleet->snapshots.entry_size;
	fleet->snapshots.entry = NULL;
	if (manifest_write(fleet->snapshots.manifest, &fleet->key, &append->manifest,
			   &append->manifest_size))
		snapshots_fail(fleet, xb_error_message());
	else
		publishing_append(fleet, on_begun);
}

int beginning_entry(const struct fleet *fleet, const struct manifest *manifest, uint8_t **bytes,
		    size_t *size, uint8_t chain[MAC_BYTES])
{
	static const uint8_t none[MAC_BYTES];
	struct logentry entry = {
		.kind = LOGENTRY_BEGIN, .time = manifest->time, .term = manifest->term};
	int error;

	memcpy(entry.epoch, manifest->epoch, XB_FLEET_ID);
	memcpy(entry.publisher, manifest->maker, XB_FLEET_ID);
	memcpy(entry.snapshot, manifest->id, XB_FLEET_ID);
	error = logentry_write(&entry, &fleet->key, manifest->position, none, bytes, size);
	memcpy(chain, entry.chain, MAC_BYTES);
	return error;
}

int beginning_place(const struct fleet *fleet, struct manifest *manifest)
{
	uint64_t here = fleet->view.fleet.position;
	uint8_t *bytes = NULL;
	size_t size;
	int error;

	/* What the log says of its term may be forged, and the terms after it must not run out. */
	if (manifest->term <= fleet->log.term && fleet->log.term < XB_FLEET_POSITION_MAX / 2)
		manifest->term = fleet->log.term + 1;
	/* Nobody has checked the ids behind this host's own position. */
	manifest->position = here < XB_FLEET_POSITION_MAX ? here + 1 : 1;
	if (getrandom(manifest->epoch, XB_FLEET_ID, 0) != XB_FLEET_ID)
		return xb_system_error(errno, "no random numbers");
	error = beginning_entry(fleet, manifest, &bytes, &size, manifest->chain);
	free(bytes);
	return error;
}
