/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host that goes back in the log, to a snapshot or to an entry, knows what comes behind it. If it
 * read that again bit by bit, a source that was deleted there and listed again would pass between
 * the two. So what the log has is fetched before, and is part of the write that goes back.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/writeall.h"
#include "bloomd/base/scratchfile.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/parts.h"

void replay_stop(struct fleet_replay *replay)
{
	if (replay->file >= 0)
		close(replay->file);
	*replay = (struct fleet_replay){.file = -1};
}

/* --- fetching --- */

static void end(struct fleet *fleet)
{
	void (*then)(struct fleet *) = fleet->replay.then;

	fleet->replay.then = NULL;
	then(fleet);
}

/* False: there is no room, and that was told. */
static bool keep(struct fleet_replay *replay, const struct stream_entry *entry)
{
	uint32_t size = (uint32_t)entry->size;

	if (!xb_write_all(replay->file, &size, sizeof(size)) ||
	    !xb_write_all(replay->file, entry->bytes, entry->size)) {
		xb_warning("fleet: no room for the log in the state directory, so it is read in "
			   "pieces");
		return false;
	}
	replay->size += sizeof(size) + entry->size;
	return true;
}

/* Whether it is the next one, and a host of the fleet wrote it: only that much is kept, however
 * much a server sends. */
static bool is_next(const struct fleet *fleet, const struct stream_entry *found,
		    struct logentry *entry)
{
	const struct fleet_replay *replay = &fleet->replay;

	return found->position == replay->last + 1 &&
	       !logentry_read(found->bytes, found->size, entry) &&
	       logentry_chains(found->bytes, found->size, &fleet->key, found->position,
			       replay->chain) > 0;
}

static bool take(struct fleet *fleet, const struct server_reply *node)
{
	struct fleet_replay *replay = &fleet->replay;
	struct logentry entry = {0};
	struct stream_entry found;
	bool taken;

	stream_entry_read(node, &found);
	taken = is_next(fleet, &found, &entry) && keep(replay, &found);
	if (taken) {
		replay->last = found.position;
		memcpy(replay->chain, entry.chain, MAC_BYTES);
	}
	logentry_free(&entry);
	return taken;
}

static void ask(struct fleet *fleet);

static void on_page(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_replay *replay = &fleet->replay;
	bool taken = true;

	if (!replay->then)
		return;
	if (!stream_is_entries(reply)) {
		fleet_unexpected(fleet, "XRANGE", reply);
		return;
	}
	fleet->last_message = clock_now();
	for (size_t i = 0; taken && i < reply->size; i++)
		taken = take(fleet, &reply->node[i]);
	if (!taken || !reply->size)
		end(fleet);
	else
		ask(fleet);
}

static void ask(struct fleet *fleet)
{
	struct fleet_replay *replay = &fleet->replay;
	struct request request = {0};

	if (replay->last >= replay->end) {
		end(fleet);
		return;
	}
	request_words(&request, "XRANGE %slog %llu-0 %llu-0 COUNT %u", fleet->prefix,
		      (unsigned long long)replay->last + 1, (unsigned long long)replay->end,
		      fleet->count);
	fleet_ask(fleet, &request, 60, on_page);
}

void replay_fetch(struct fleet *fleet, const struct replay_span *span,
		  void (*then)(struct fleet *fleet))
{
	struct fleet_replay *replay = &fleet->replay;

	replay_stop(replay);
	replay->from = replay->last = span->from;
	replay->end = span->end;
	memcpy(replay->chain, span->chain, MAC_BYTES);
	replay->then = then;
	replay->file = scratchfile_open(fleet->agent->paths.state, "log");
	if (replay->file < 0)
		end(fleet);
	else
		ask(fleet);
}

/* --- applying --- */

static int apply(struct xb_writer *writer, const struct mac_key *key, struct follow_item *item,
		 struct replayed *replayed)
{
	const struct follow_queue queue = {.item = item, .count = 1};
	struct follow follow = {.key = key, .queue = &queue};
	int error = follow_apply(writer, &follow);

	replayed->changes += follow.changes;
	replayed->foreign |= follow.foreign;
	return error ? error : follow.stop == FOLLOW_ALL;
}

static int apply_all(struct xb_writer *writer, const struct mac_key *key, uint8_t *bytes,
		     size_t size, struct follow_item *item, struct replayed *replayed)
{
	uint32_t next;
	int applied = 1;

	for (size_t at = 0; applied > 0 && at < size; at += sizeof(next) + next) {
		memcpy(&next, bytes + at, sizeof(next));
		item->bytes = bytes + at + sizeof(next);
		item->size = next;
		applied = apply(writer, key, item, replayed);
		item->position++;
	}
	return applied < 0 ? applied : 0;
}

int replay_apply(struct xb_writer *writer, const struct fleet *fleet, struct replayed *replayed)
{
	const struct fleet_replay *replay = &fleet->replay;
	struct follow_item item = {.position = replay->from + 1};
	uint8_t *bytes;
	int error;

	*replayed = (struct replayed){0};
	if (!replay->size)
		return 0;
	bytes = mmap(NULL, replay->size, PROT_READ, MAP_PRIVATE, replay->file, 0);
	if (bytes == MAP_FAILED)
		return xb_out_of_memory();
	error = apply_all(writer, &fleet->key, bytes, replay->size, &item, replayed);
	munmap(bytes, replay->size);
	return error;
}

void replay_count(struct fleet *fleet, const struct replayed *replayed)
{
	fleet->snapshots.changes += replayed->changes;
	fleet->foreign |= replayed->foreign;
}
