/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/session.h"

#include <errno.h>
#include <unistd.h>

#include "attach/pin.h"
#include "base/clock.h"
#include "base/error.h"

static struct {
	bool on, kept, trusted;
	uint32_t seconds;
	uint64_t repaired; /* xb_clock() */
	uint64_t opening;  /* of the store */
	uint64_t transaction;
	uint32_t anchor_id, slot;
	bool anchored;
	struct xb_anchor anchor;
	struct xb_generation *active;
} session;

static void drop(void)
{
	struct xb_writer kept = {
		.anchor = session.anchor, .anchored = session.anchored, .active = session.active};

	if (session.kept)
		xb_writer_close_kernel(&kept);
	session.kept = session.anchored = false;
	session.active = NULL;
}

void xb_session_begin(uint32_t seconds)
{
	session.on = true;
	session.seconds = seconds;
	xb_store_keep(true);
}

void xb_session_end(void)
{
	drop();
	session.on = false;
	xb_store_keep(false);
}

void xb_session_distrust(void)
{
	session.trusted = false;
}

static uint64_t last_transaction(const struct xb_writer *writer)
{
	MDB_envinfo info;

	mdb_env_info(writer->store->env, &info);
	return info.me_last_txnid;
}

/* Identity of the anchor that is pinned now; 0: there is none, or it cannot be told. */
static uint32_t pinned_anchor(const char *pins)
{
	int fd = xb_pin_open(pins, XB_ANCHOR_PINS, "identity");
	uint32_t id = 0;

	if (fd < 0)
		return 0;
	id = xb_map_id(fd);
	close(fd);
	return id;
}

/* Whether anybody could have changed anything since the last write without the loop being told. */
static bool is_as_it_was(const struct xb_writer *writer)
{
	uint32_t slot;

	if (!session.trusted || xb_clock() - session.repaired > session.seconds * XB_SECOND ||
	    writer->store->opening != session.opening ||
	    last_transaction(writer) != session.transaction ||
	    pinned_anchor(writer->paths->pins) != session.anchor_id)
		return false;
	return !session.anchored ||
	       (!xb_anchor_slot(&session.anchor, &slot) && slot == session.slot &&
		xb_generation_is_sound(session.active));
}

bool xb_session_resume(struct xb_writer *writer)
{
	bool same = session.kept && !(writer->how & ~XB_WRITE_BRIEF) && is_as_it_was(writer);

	if (!same) {
		drop();
		return false;
	}
	writer->anchor = session.anchor;
	writer->anchored = session.anchored;
	writer->active = session.active;
	session.kept = session.anchored = false;
	session.active = NULL;
	return true;
}

/* An interface that could not be attached, or taken off, is tried again by the next repair. */
static bool is_settled(const struct xb_writer *writer)
{
	return !writer->unmet && !writer->foreign && !writer->away && !writer->outdated &&
	       !writer->trial.identity && writer->anchor.guard.program < 0 &&
	       writer->anchored == (writer->active != NULL);
}

void xb_session_keep(struct xb_writer *writer)
{
	if (!session.on)
		return;
	session.trusted = is_settled(writer);
	if (!writer->resumed)
		session.repaired = xb_clock();
	session.opening = writer->store->opening;
	session.transaction = last_transaction(writer);
	session.anchor_id = writer->anchored ? xb_map_id(writer->anchor.identity) : 0;
	session.slot = 0;
	if (writer->anchored && xb_anchor_slot(&writer->anchor, &session.slot))
		session.trusted = false;
	session.anchor = writer->anchor;
	session.anchored = writer->anchored;
	session.active = writer->active;
	session.kept = true;
	writer->anchored = false;
	writer->active = NULL;
}
