/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The watcher's side of bpf/watch.h. */
#include "attach/drops.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/pin.h"
#include "attach/ring.h"
#include "base/clock.h"
#include "base/error.h"

#define TICK (XB_SECOND / XB_DROPS_TICKS)

/* Records that fit the ring even if all are of names, each behind a header of its own; more at once
 * would be lost. */
#define RING_RECORDS                                                                               \
	((int64_t)(XB_DROPS_BYTES / (sizeof(struct xb_name_drop) + BPF_RINGBUF_HDR_SZ)))

static const struct xb_watched nothing = {.directory = -1, .ifaces = -1, .stats = -1, .drops = -1};

struct xb_entry xb_drop_source(const struct xb_drop *drop)
{
	struct xb_entry entry = {.kind = XB_HOST4, .length = 32};
	uint64_t words[2];

	memcpy(words, drop->source, sizeof(words));
	entry.hi = be64toh(words[0]);
	if (drop->family == 6) {
		entry.kind = XB_NET6;
		entry.length = 128;
		entry.lo = be64toh(words[1]);
	}
	return entry;
}

/* See struct xb_name_drop. */
bool xb_drop_is_told(unsigned int reason)
{
	return xb_reason_drops(reason) || xb_reason_answers(reason) || reason == XB_MONITORED ||
	       reason == XB_NAME_COUNTED;
}

static int64_t *budget_of(struct xb_watched *watched)
{
	return (int64_t *)&((struct xb_watch *)(void *)watched->budget.base)->budget;
}

static void set_budget(struct xb_watched *watched, int64_t budget)
{
	__atomic_store_n(budget_of(watched), budget, __ATOMIC_RELAXED);
}

/* A record of any other size is laid out otherwise. */
static bool is_ours(const struct xb_drop *drop, size_t size)
{
	if (size == sizeof(*drop))
		return !drop->name_bytes;
	return size == sizeof(struct xb_name_drop) && drop->name_bytes < XB_NAME_BYTES;
}

static int take_record(void *context, void *data, size_t size)
{
	struct xb_drops *watcher = context;
	const struct xb_drop *drop = data;

	if (!is_ours(drop, size) || !xb_ring_is_attached(&watcher->now.cells, drop->ifindex))
		return 0;
	watcher->untold--;
	return watcher->see(drop, watcher->context);
}

static int lock_directory(const char *pins)
{
	char path[XB_PATH_MAX];
	int error = xb_path_join(path, pins, XB_ANCHOR_PINS), fd;

	if (error)
		return error;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? -ENOENT
			       : xb_system_error(errno, "cannot open %s", path);
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	error = errno;
	close(fd);
	if (error == EWOULDBLOCK)
		return xb_system_error(0, "another process reads the drops of %s", pins), -EALREADY;
	return xb_system_error(error, "cannot lock %s", path);
}

static void leave(struct xb_watched *watched)
{
	const int fds[] = {watched->ifaces, watched->stats, watched->drops, watched->directory};

	if (watched->budget.base)
		set_budget(watched, 0);
	ring_buffer__free(watched->ring);
	xb_mapping_close(&watched->budget);
	xb_mapping_close(&watched->cells);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*watched = nothing;
}

static int take_maps(struct xb_watched *watched, struct xb_anchor *anchor)
{
	int error = xb_ring_map(&watched->budget, anchor->watch, sizeof(struct xb_watch));

	if (!error)
		error = xb_ring_map(&watched->cells, anchor->ifaces,
				    XB_IFACE_CELLS * sizeof(struct xb_iface_cell));
	watched->ifaces = anchor->ifaces;
	watched->stats = anchor->stats;
	watched->drops = anchor->drops;
	anchor->ifaces = anchor->stats = anchor->drops = -1;
	return error;
}

static int open_ring(struct xb_drops *watcher, struct xb_watched *watched)
{
	int error;

	set_budget(watched, 0);
	error = xb_ring_empty(watched->drops);
	if (error)
		return error;
	watched->ring = ring_buffer__new(watched->drops, take_record, watcher, NULL);
	return watched->ring ? 0 : xb_system_error(errno, "cannot open the ring of drops");
}

static int enter(struct xb_drops *watcher, struct xb_watched *watched)
{
	struct xb_anchor anchor;
	int error;

	*watched = nothing;
	watched->directory = lock_directory(watcher->pins);
	if (watched->directory < 0)
		return watched->directory;
	error = xb_anchor_open(watcher->pins, &anchor);
	if (!error) {
		xb_anchor_note_elsewhere(&anchor);
		error = take_maps(watched, &anchor);
		xb_anchor_close(&anchor);
	}
	/* Between lock and anchor another one may have come: its lock is not ours. */
	if (!error && xb_ring_is_in_place(watched->directory, watcher->pins) != 1)
		error = -ENOENT;
	if (!error)
		error = open_ring(watcher, watched);
	if (error)
		leave(watched);
	return error;
}

/* At most rate in any XB_DROPS_TICKS refills; all at once after silence, spread in a flood. */
static int64_t allowance(const struct xb_drops *watcher)
{
	int64_t share = (watcher->rate + XB_DROPS_TICKS - 1) / XB_DROPS_TICKS;
	int64_t left = watcher->rate, most = watcher->dry ? share : RING_RECORDS;

	for (int i = 0; i < XB_DROPS_TICKS; i++)
		if (i != (int)watcher->tick)
			left -= watcher->used[i];
	if (most < share)
		most = share;
	return left < 0 ? 0 : left < most ? left : most;
}

static void refill(struct xb_drops *watcher)
{
	int64_t *budget = budget_of(&watcher->now);
	int64_t left = __atomic_load_n(budget, __ATOMIC_RELAXED);

	watcher->dry = left <= 0;
	watcher->was_dry |= watcher->dry;
	watcher->used[watcher->tick] = watcher->given - (left > 0 ? left : 0);
	watcher->tick = (watcher->tick + 1) % XB_DROPS_TICKS;
	watcher->given = allowance(watcher);
	/* What is told meanwhile goes on the new account. */
	__atomic_add_fetch(budget, watcher->given - left, __ATOMIC_RELAXED);
}

static int count_drops(const struct xb_watched *watched, uint64_t *dropped)
{
	const struct xb_anchor anchor = {.ifaces = watched->ifaces, .stats = watched->stats};
	struct xb_enrolled *all;
	size_t count;
	int error = xb_anchor_enrolled(&anchor, &all, &count);

	*dropped = 0;
	for (size_t i = 0; !error && i < count; i++) {
		struct xb_counts counts;

		error = xb_anchor_counts(&anchor, all[i].row, &counts);
		for (int reason = 0; !error && reason < XB_REASON_COUNT; reason++)
			if (xb_drop_is_told((unsigned int)reason))
				*dropped += counts.reason[reason].packets;
	}
	free(all);
	return error;
}

static int start(struct xb_drops *watcher)
{
	int error = count_drops(&watcher->now, &watcher->dropped);

	watcher->gone = 0;
	watcher->untold = 0;
	watcher->was_dry = watcher->dry = false;
	watcher->given = allowance(watcher);
	watcher->refill = xb_clock() + TICK;
	set_budget(&watcher->now, watcher->given);
	return error;
}

int xb_drops_open(struct xb_drops *watcher, const char *pins, uint32_t rate, xb_drops_see *see,
		  void *context)
{
	int error;

	*watcher = (struct xb_drops){
		.now = nothing, .pins = pins, .rate = rate, .see = see, .context = context};
	error = enter(watcher, &watcher->now);
	if (error)
		return error;
	error = start(watcher);
	if (error)
		leave(&watcher->now);
	return error;
}

/* To the anchor that stands there now, if it is another one. */
static int follow(struct xb_drops *watcher, uint64_t now)
{
	struct xb_watched next;
	int in_place = xb_ring_is_in_place(watcher->now.directory, watcher->pins);
	int error = in_place < 0 ? in_place : 0;

	if (in_place == 1) {
		watcher->gone = 0;
		return 0;
	}
	if (!error)
		error = enter(watcher, &next);
	if (error == -ENOENT) {
		if (!watcher->gone)
			watcher->gone = now;
		return now - watcher->gone < XB_SECOND ? 0 : -ENOENT;
	}
	if (error)
		return error;
	leave(&watcher->now);
	watcher->now = next;
	return start(watcher);
}

int xb_drops_poll(struct xb_drops *watcher)
{
	uint64_t now = xb_clock();
	int result;

	if (now >= watcher->refill) {
		result = follow(watcher, now);
		if (result)
			return result;
		refill(watcher);
		watcher->refill = now + TICK;
	}
	result = ring_buffer__poll(watcher->now.ring,
				   (int)((watcher->refill - now + 999999) / 1000000));
	return result == -EINTR || result > 0 ? 0 : result;
}

int xb_drops_untold(struct xb_drops *watcher, uint64_t *count)
{
	uint64_t dropped;
	int error = count_drops(&watcher->now, &dropped);

	*count = 0;
	if (error)
		return error;
	/* A detached interface takes its counts along. */
	watcher->untold = dropped < watcher->dropped
				  ? 0
				  : watcher->untold + (int64_t)(dropped - watcher->dropped);
	watcher->dropped = dropped;
	if (watcher->was_dry && watcher->untold > 0) {
		*count = (uint64_t)watcher->untold;
		watcher->untold = 0;
	}
	watcher->was_dry = watcher->dry;
	return 0;
}

void xb_drops_close(struct xb_drops *watcher)
{
	leave(&watcher->now);
}
