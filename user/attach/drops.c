/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The watcher's side of bpf/watch.h. */
#include "attach/drops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/pin.h"
#include "base/clock.h"
#include "base/error.h"

#define TICK (XB_SECOND / XB_WATCHER_TICKS)

/* Records that fit the ring even if all are of names, each behind a header of its own; more at once
 * would be lost. */
#define RING_RECORDS                                                                               \
	((int64_t)(XB_DROPS_BYTES / (sizeof(struct xb_name_drop) + BPF_RINGBUF_HDR_SZ)))

static const struct xb_watched nothing = {.directory = -1, .ifaces = -1, .stats = -1, .drops = -1};

static int64_t *budget_of(struct xb_watched *watched)
{
	return (int64_t *)&((struct xb_watch *)(void *)watched->budget.base)->budget;
}

static void set_budget(struct xb_watched *watched, int64_t budget)
{
	__atomic_store_n(budget_of(watched), budget, __ATOMIC_RELAXED);
}

/* `bloomctl test` sends frames through the filter that no attached interface has seen. */
static bool is_attached(const struct xb_watched *watched, uint32_t ifindex)
{
	const struct xb_iface_cell *cells = (const void *)watched->cells.base;

	for (uint32_t i = 0; i < XB_IFACE_PROBES; i++)
		if (cells[(xb_iface_cell_first(ifindex) + i) % XB_IFACE_CELLS].ifindex == ifindex)
			return true;
	return false;
}

static bool is_whole(const struct xb_drop *drop, size_t size)
{
	if (size < sizeof(*drop))
		return false;
	return !drop->name_bytes ||
	       (size >= sizeof(struct xb_name_drop) && drop->name_bytes < XB_NAME_BYTES);
}

static int take_record(void *context, void *data, size_t size)
{
	struct xb_watcher *watcher = context;
	const struct xb_drop *drop = data;

	if (!is_whole(drop, size) || !is_attached(&watcher->now, drop->ifindex))
		return 0;
	watcher->untold--;
	return watcher->see(drop, watcher->context);
}

/* What an earlier watcher was told and did not read. */
static int discard(void *context, void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

static int empty_ring(int drops)
{
	struct ring_buffer *ring = ring_buffer__new(drops, discard, NULL, NULL);
	int taken = ring ? ring_buffer__consume(ring) : -errno;

	ring_buffer__free(ring);
	return taken < 0 ? xb_system_error(-taken, "cannot read the ring of drops") : 0;
}

static int lock_directory(const char *pins)
{
	char path[XB_PATH_MAX];
	int error = xb_pin_path(path, pins, XB_LINK_PINS), fd;

	if (error)
		return error;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? -ENOENT
			       : xb_system_error(errno, "cannot open %s", path);
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	error = errno;
	close(fd);
	if (error == EWOULDBLOCK)
		return xb_system_error(0, "another process reads the drops of %s", pins), -EBUSY;
	return xb_system_error(error, "cannot lock %s", path);
}

/* 1: the pins are those of this link; 0: of another one; -ENOENT: there are none. */
static int is_in_place(const struct xb_watched *watched, const char *pins)
{
	char path[XB_PATH_MAX];
	struct stat ours, theirs;
	int error = xb_pin_path(path, pins, XB_LINK_PINS);

	if (error)
		return error;
	if (stat(path, &theirs) < 0)
		return -ENOENT;
	return !fstat(watched->directory, &ours) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

static void leave(struct xb_watched *watched)
{
	const int fds[] = {watched->ifaces, watched->stats, watched->drops, watched->directory};

	if (watched->budget.base)
		set_budget(watched, 0);
	ring_buffer__free(watched->ring);
	xb_window_close(&watched->budget);
	xb_window_close(&watched->cells);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*watched = nothing;
}

static int map_all(struct xb_window *window, int map, size_t size)
{
	int error = xb_window_open(window, map, size);

	if (!error)
		error = xb_window_map_all(window);
	if (error)
		xb_window_close(window);
	return error;
}

static int take_maps(struct xb_watched *watched, struct xb_link *link)
{
	int error = map_all(&watched->budget, link->watch, sizeof(struct xb_watch));

	if (!error)
		error = map_all(&watched->cells, link->ifaces,
				XB_IFACE_CELLS * sizeof(struct xb_iface_cell));
	watched->ifaces = link->ifaces;
	watched->stats = link->stats;
	watched->drops = link->drops;
	link->ifaces = link->stats = link->drops = -1;
	return error;
}

static int open_ring(struct xb_watcher *watcher, struct xb_watched *watched)
{
	int error;

	set_budget(watched, 0);
	error = empty_ring(watched->drops);
	if (error)
		return error;
	watched->ring = ring_buffer__new(watched->drops, take_record, watcher, NULL);
	return watched->ring ? 0 : xb_system_error(errno, "cannot open the ring of drops");
}

static int enter(struct xb_watcher *watcher, struct xb_watched *watched)
{
	struct xb_link link;
	int error;

	*watched = nothing;
	watched->directory = lock_directory(watcher->pins);
	if (watched->directory < 0)
		return watched->directory;
	error = xb_link_open(watcher->pins, &link);
	if (!error) {
		xb_link_note_elsewhere(&link);
		error = take_maps(watched, &link);
		xb_link_close(&link);
	}
	/* Between lock and link another one may have come: its lock is not ours. */
	if (!error && is_in_place(watched, watcher->pins) != 1)
		error = -ENOENT;
	if (!error)
		error = open_ring(watcher, watched);
	if (error)
		leave(watched);
	return error;
}

/* At most rate in any XB_WATCHER_TICKS refills; all at once after silence, spread in a flood. */
static int64_t allowance(const struct xb_watcher *watcher)
{
	int64_t share = (watcher->rate + XB_WATCHER_TICKS - 1) / XB_WATCHER_TICKS;
	int64_t left = watcher->rate, most = watcher->dry ? share : RING_RECORDS;

	for (int i = 0; i < XB_WATCHER_TICKS; i++)
		if (i != (int)watcher->tick)
			left -= watcher->used[i];
	if (most < share)
		most = share;
	return left < 0 ? 0 : left < most ? left : most;
}

static void refill(struct xb_watcher *watcher)
{
	int64_t *budget = budget_of(&watcher->now);
	int64_t left = __atomic_load_n(budget, __ATOMIC_RELAXED);

	watcher->dry = left <= 0;
	watcher->was_dry |= watcher->dry;
	watcher->used[watcher->tick] = watcher->given - (left > 0 ? left : 0);
	watcher->tick = (watcher->tick + 1) % XB_WATCHER_TICKS;
	watcher->given = allowance(watcher);
	/* What is told meanwhile goes on the new account. */
	__atomic_add_fetch(budget, watcher->given - left, __ATOMIC_RELAXED);
}

/* What is told: see struct xb_name_drop. */
static bool is_told(enum xb_reason reason)
{
	return xb_reason_drops(reason) || xb_reason_answers(reason) || reason == XB_MONITORED ||
	       reason == XB_NAME_COUNTED;
}

static int count_drops(const struct xb_watched *watched, uint64_t *dropped)
{
	const struct xb_link link = {.ifaces = watched->ifaces, .stats = watched->stats};
	struct xb_enrolled *all;
	size_t count;
	int error = xb_link_enrolled(&link, &all, &count);

	*dropped = 0;
	for (size_t i = 0; !error && i < count; i++) {
		struct xb_counts counts;

		error = xb_link_counts(&link, all[i].row, &counts);
		for (int reason = 0; !error && reason < XB_REASON_COUNT; reason++)
			if (is_told((enum xb_reason)reason))
				*dropped += counts.reason[reason].packets;
	}
	free(all);
	return error;
}

static int start(struct xb_watcher *watcher)
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

int xb_watcher_open(struct xb_watcher *watcher, const char *pins, uint32_t rate,
		    xb_watcher_see *see, void *context)
{
	int error;

	*watcher = (struct xb_watcher){
		.now = nothing, .pins = pins, .rate = rate, .see = see, .context = context};
	error = enter(watcher, &watcher->now);
	if (error)
		return error;
	error = start(watcher);
	if (error)
		leave(&watcher->now);
	return error;
}

/* To the link that stands there now, if it is another one. */
static int follow(struct xb_watcher *watcher, uint64_t now)
{
	struct xb_watched next;
	int in_place = is_in_place(&watcher->now, watcher->pins);
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

int xb_watcher_poll(struct xb_watcher *watcher)
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

int xb_watcher_untold(struct xb_watcher *watcher, uint64_t *count)
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

void xb_watcher_close(struct xb_watcher *watcher)
{
	leave(&watcher->now);
}
