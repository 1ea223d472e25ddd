/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes what the server has of other snapshots than the newest. The server has a list of those
 * that may have chunks there, and a snapshot is in it before its first chunk comes: so the chunks
 * of a host that died meanwhile go with the next snapshot.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/parts.h"

#define KEEP	  600 /* seconds: somebody may still read the one before */
#define ITEM_MOST 64  /* bytes of the list for each */

/* --- the parts of one: chunks and their Bloom digests --- */

static void remove_next(struct fleet *fleet);

/* What cannot be removed now is in the list, for the next time. */
static void on_removed(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	(void)reply;
	if (!fleet->snapshots.manifest)
		return;
	fleet->snapshots.removed++;
	remove_next(fleet);
}

static void remove_next(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	const struct fleet_chunks *one = &snapshots->removes;
	const char *kind = snapshots->removed % 2 ? "bloom" : "chunk";
	uint64_t place = snapshots->removed / 2;
	struct request request = {0};
	char id[ID_TEXT];

	if (place == one->count) {
		snapshots->then(fleet);
		return;
	}
	id_format(one->id, id);
	if (snapshots->keeps)
		request_words(&request, "EXPIRE %s%s:%s:%" PRIu64 " %d", fleet->prefix, kind, id,
			      place, KEEP);
	else
		request_words(&request, "DEL %s%s:%s:%" PRIu64, fleet->prefix, kind, id, place);
	snapshots_tell(fleet, &request, on_removed);
	snapshots_keep_lease(fleet);
}

static void remove_chunks(struct fleet *fleet, struct fleet_chunks chunks, bool keeps,
			  void (*then)(struct fleet *fleet))
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	snapshots->removes = chunks;
	snapshots->removed = 0;
	snapshots->keeps = keeps;
	snapshots->then = then;
	remove_next(fleet);
}

static struct fleet_chunks chunks_of(const struct manifest *manifest)
{
	struct fleet_chunks chunks = {.count = manifest->chunk_count};

	memcpy(chunks.id, manifest->id, XB_FLEET_ID);
	return chunks;
}

/* --- the list --- */

static void write_list(struct fleet *fleet, const struct manifest *other, conn_answered *answered)
{
	const struct manifest *const both[] = {fleet->snapshots.manifest, other};
	char text[2 * ITEM_MOST], id[ID_TEXT];
	struct request request = {0};
	size_t size = 0;

	for (size_t i = 0; i < 2; i++)
		if (both[i])
			size += (size_t)snprintf(text + size, ITEM_MOST, "%s %zu\n",
						 id_format(both[i]->id, id), both[i]->chunk_count);
	request_words(&request, "SET %schunks", fleet->prefix);
	request_bytes(&request, text, size);
	snapshots_tell(fleet, &request, answered);
}

static bool read_id(const char *text, uint8_t id[XB_FLEET_ID])
{
	for (size_t i = 0; i < XB_FLEET_ID; i++) {
		char digits[3] = {text[2 * i], text[2 * i + 1]}, *end;

		id[i] = (uint8_t)strtoul(digits, &end, 16);
		if (*end)
			return false;
	}
	return true;
}

/* "ID COUNT"; what is written otherwise is nobody's. */
static bool read_item(const char *line, struct fleet_chunks *item)
{
	char *end;

	if (strspn(line, "0123456789abcdef") != ID_TEXT - 1 || line[ID_TEXT - 1] != ' ' ||
	    !read_id(line, item->id))
		return false;
	item->count = strtoull(line + ID_TEXT, &end, 10);
	return !*end && item->count <= MANIFEST_CHUNKS;
}

static void read_list(struct fleet_snapshots *snapshots, const struct server_reply *reply)
{
	char text[STORED_MOST * ITEM_MOST] = "", *rest = NULL;

	snapshots->stored_count = 0;
	if (reply->kind != REPLY_STRING || reply->size >= sizeof(text))
		return;
	memcpy(text, reply->text, reply->size);
	for (char *line = strtok_r(text, "\n", &rest);
	     line && snapshots->stored_count < STORED_MOST; line = strtok_r(NULL, "\n", &rest))
		snapshots->stored_count +=
			read_item(line, &snapshots->stored[snapshots->stored_count]);
}

/* --- before the first chunk --- */

static void on_listed(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	if (!fleet->snapshots.manifest)
		return;
	if (snapshots_is_ok(reply))
		fleet->snapshots.cleaned(fleet);
	else
		snapshots_fail_reply(fleet, reply);
}

/* All but the former one, which is the newest yet. */
static void remove_stored(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	const struct manifest *former = snapshots->former;

	while (snapshots->stored_count) {
		struct fleet_chunks *one = &snapshots->stored[--snapshots->stored_count];

		if (!former || memcmp(one->id, former->id, XB_FLEET_ID) != 0) {
			remove_chunks(fleet, *one, false, remove_stored);
			return;
		}
	}
	write_list(fleet, former, on_listed);
}

static void on_list(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	if (fleet->snapshots.manifest)
		read_list(&fleet->snapshots, reply);
}

/* If the lease is still this host's, no other one has written the list since the newest snapshot
 * was read. */
static void on_holder(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	if (!fleet->snapshots.manifest)
		return;
	if (snapshots_is_holder(fleet, reply)) {
		remove_stored(fleet);
		return;
	}
	fleet->snapshots.leased = 0;
	snapshots_fail(fleet, "it took longer than the lease");
}

void snapshotclean_before(struct fleet *fleet, void (*then)(struct fleet *fleet))
{
	struct request list = {0}, holder = {0};

	fleet->snapshots.cleaned = then;
	request_words(&list, "GET %schunks", fleet->prefix);
	request_words(&holder, "GET %slease", fleet->prefix);
	snapshots_tell(fleet, &list, on_list);
	snapshots_tell(fleet, &holder, on_holder);
}

/* --- afterwards --- */

static void on_left(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	(void)reply;
	if (fleet->snapshots.manifest)
		fleet->snapshots.cleaned(fleet);
}

static void list_newest(struct fleet *fleet)
{
	write_list(fleet, NULL, on_left);
}

void snapshotclean_after(struct fleet *fleet, void (*then)(struct fleet *fleet))
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	snapshots->cleaned = then;
	if (snapshots->former)
		remove_chunks(fleet, chunks_of(snapshots->former), true, list_newest);
	else
		list_newest(fleet);
}

static void fail(struct fleet *fleet)
{
	char why[sizeof(fleet->snapshots.why)];

	snprintf(why, sizeof(why), "%s", fleet->snapshots.why);
	snapshots_fail(fleet, why);
}

void snapshotclean_failed(struct fleet *fleet, const char *why)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	struct fleet_chunks chunks = chunks_of(snapshots->manifest);

	chunks.count = (snapshots->next + 1) / 2;
	snprintf(snapshots->why, sizeof(snapshots->why), "%s", why);
	remove_chunks(fleet, chunks, false, fail);
}
