/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two hosts of a fleet: one makes a snapshot, and the other takes it. */
#ifndef XB_TEST_FLEETHOSTS_H
#define XB_TEST_FLEETHOSTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/snapshot.h"
#include "store/logtail.h"
#include "support/cmocka.h"
#include "support/fleetchanges.h"
#include "support/texts.h"

#define NOW  2000000000U /* later than the test, which makes snapshots at its own time */
#define BOTH (XB_SHARE_PUBLISH | XB_SHARE_FOLLOW)
#define ALL  (BOTH | XB_SHARE_JOINED)

static const struct mac_key key = {{7}};
static const uint8_t epoch[XB_FLEET_ID] = {0xe1}, other_epoch[XB_FLEET_ID] = {0xe2},
		     stranger[XB_FLEET_ID] = {0x55};

/* --- hosts, each with a store; a process has one open at a time --- */

struct host {
	char directory[sizeof("/tmp/xb-store-XXXXXX")];
	struct xb_store *store;
	struct xb_txn *txn;
};
static struct host maker, taker, *present;
static struct manifest manifest;
static int chunks = -1, blooms = -1;

/* What is changed from here on comes from the fleet. */
static inline void begin_changes(struct host *host)
{
	assert_int_equal(xb_store_write(host->store, &host->txn), 0);
	xb_fleet_applies(host->txn, true);
}

static inline void go_away(void)
{
	if (!present)
		return;
	assert_int_equal(xb_txn_commit(present->txn), 0);
	xb_store_close(present->store);
	present = NULL;
}

/* The write transaction of the host; that of the other one is committed. */
static inline struct xb_txn *at(struct host *host)
{
	if (present != host) {
		go_away();
		assert_int_equal(xb_store_open(host->directory, XB_STORE_CREATE, &host->store), 0);
		begin_changes(host);
		present = host;
	}
	return host->txn;
}

static inline void settle(struct host *host)
{
	assert_int_equal(xb_txn_commit(at(host)), 0);
	begin_changes(host);
}

/* Gives up what was changed since. */
static inline void give_up(struct host *host)
{
	xb_txn_abort(at(host));
	begin_changes(host);
}

static inline void stand(struct host *host, const uint8_t of[XB_FLEET_ID], uint64_t term,
			 uint64_t position)
{
	struct xb_fleet fleet;

	assert_int_equal(xb_fleet_get(at(host), &fleet), 1);
	memcpy(fleet.epoch, of, sizeof(fleet.epoch));
	fleet.term = term;
	fleet.position = position;
	assert_int_equal(xb_fleet_put(at(host), &fleet), 0);
}

static inline int begin_host(struct host *host, uint64_t position)
{
	*host = (struct host){.directory = "/tmp/xb-store-XXXXXX"};
	if (!mkdtemp(host->directory))
		return -1;
	assert_int_equal(xb_fleet_join(at(host), "f"), 0);
	assert_int_equal(xb_share_set(at(host), "bans", ALL), 0);
	assert_int_equal(xb_share_set(at(host), "names", ALL), 0);
	stand(host, epoch, 1, position);
	settle(host);
	return 0;
}

static inline int end_host(struct host *host)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", host->directory);
	return system(command);
}

static inline int begin_hosts(void **state)
{
	manifest = (struct manifest){0};
	chunks = memfd_create("chunks", MFD_CLOEXEC);
	blooms = memfd_create("blooms", MFD_CLOEXEC);
	return begin_host(&maker, 100) || begin_host(&taker, 50);
}

static inline int end_hosts(void **state)
{
	if (present) {
		xb_txn_abort(present->txn);
		xb_store_close(present->store);
	}
	present = NULL;
	manifest_free(&manifest);
	close(chunks);
	close(blooms);
	return end_host(&maker) | end_host(&taker);
}

/* The next list of an entry, as assert_store() has it: "LIST[ until TIME][ (COMMENT)]". false:
 * there is none. */
static inline bool next_list(char **rest, struct change_row *row)
{
	char *text = *rest;

	if (!text)
		return false;
	row->list = strsep(&text, " ");
	row->comment = "";
	row->expires = 0;
	if (text && !strncmp(text, "until ", 6)) {
		row->expires = (uint32_t)strtoul(text + 6, &text, 10);
		text = *text ? text + 1 : NULL;
	}
	if (text && *text == '(') {
		row->comment = text + 1;
		text = cut_text(text, ")");
		text = *text ? text + 1 : NULL;
	}
	*rest = text;
	return true;
}

/* Puts into lists what is written as assert_store() has it. */
static inline void list_all(struct xb_txn *txn, const char *all)
{
	struct texts texts = texts_of(all);
	struct change_row row;

	for (char *text; (text = next_text(&texts));) {
		row.entry = strsep(&text, " ");
		while (next_list(&text, &row))
			list_with(txn, row.entry, row.list, row.expires, row.comment);
	}
}

static inline void unlist(struct xb_txn *txn, const char *text, const char *list)
{
	struct xb_entry entry = entry_of(text);
	enum xb_removal removal;

	assert_int_equal(xb_member_remove(txn, &entry, list_of(txn, list)->id, &removal), 0);
}

/* By a command on the host: it goes to the outbox. */
static inline void change_here(struct host *host, const char *text, bool bans)
{
	settle(host);
	xb_fleet_applies(host->txn, false);
	if (bans)
		list_entry(host->txn, text, "bans");
	else
		unlist(host->txn, text, "bans");
	settle(host);
}

/* "[-]ENTRY LIST[ until TIME][ (COMMENT)]; ...": its outbox, "-": a delete. */
static inline void assert_waits(struct host *host, const char *expected)
{
	struct xb_shared_changes changes;
	struct listed_text out = {0};
	char text[XB_ENTRY_TEXT];

	assert_int_equal(xb_outbox_read(at(host), 100, 100000, &changes), 0);
	for (size_t i = 0; i < changes.count; i++) {
		const struct xb_shared_change *change = &changes.item[i];

		add_text(&out, "%s", i ? "; " : "");
		add_text(&out, "%s", change->put ? "" : "-");
		add_text(&out, "%s", xb_entry_format(&change->entry, text));
		add_text(&out, " %s", change->list);
		snprintf(text, sizeof(text), "%u", change->expires);
		if (change->expires)
			add_text(&out, " until %s", text);
		snprintf(text, sizeof(text), "%.*s", (int)change->comment_size, change->comment);
		if (change->comment_size)
			add_text(&out, " (%s)", text);
	}
	xb_shared_changes_free(&changes);
	assert_string_equal(out.text, expected);
}

/* --- making and taking --- */

static inline void make(void)
{
	assert_int_equal(snapshot_make(at(&maker), &key, false, chunks, blooms, &manifest), 0);
}

static inline struct snapshot_terms terms_of(bool accept)
{
	return (struct snapshot_terms){
		.manifest = &manifest, .chunks = chunks, .key = &key, .accept = accept};
}

static inline int try_take(const struct snapshot_terms *terms, struct snapshot_result *result)
{
	struct xb_writer writer = {
		.builder_lock = -1, .writer_lock = -1, .txn = at(&taker), .now = NOW};

	return snapshot_take(&writer, terms, result);
}

static inline struct snapshot_result take_with(bool accept)
{
	struct snapshot_terms terms = terms_of(accept);
	struct snapshot_result result;

	assert_int_equal(try_take(&terms, &result), 0);
	assert_true(!accept || result.outcome == SNAPSHOT_TAKEN);
	return result;
}

static inline struct snapshot_result take(void)
{
	struct snapshot_result result = take_with(false);

	assert_int_equal(result.outcome, SNAPSHOT_TAKEN);
	return result;
}

static inline void fill_bans(struct xb_txn *txn, uint32_t from, uint32_t to)
{
	char text[32];

	for (uint32_t i = from; i < to; i++) {
		snprintf(text, sizeof(text), "198.%u.%u.%u", 18 + (i >> 16), i >> 8 & 255, i & 255);
		list_entry(txn, text, "bans");
	}
}

#endif
