/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/offenders.h"

#include <errno.h>
#include <unistd.h>

#include "attach/ring.h"
#include "base/error.h"

static int take(void *context, void *data, size_t size)
{
	struct xb_offenders *offenders = context;
	const struct xb_offender *offender = data;

	if (size == sizeof(*offender) &&
	    xb_ring_is_attached(&offenders->cells, offender->drop.ifindex))
		offenders->see(offender, offenders->context);
	return 0;
}

static int take_maps(struct xb_offenders *offenders, struct xb_anchor *anchor)
{
	int error = xb_ring_map(&offenders->budget, anchor->watch, sizeof(struct xb_watch));

	if (!error)
		error = xb_ring_map(&offenders->cells, anchor->ifaces,
				    XB_IFACE_CELLS * sizeof(struct xb_iface_cell));
	offenders->map = anchor->offenders;
	anchor->offenders = -1;
	return error;
}

static int open_ring(struct xb_offenders *offenders)
{
	int error;

	xb_offenders_allow(offenders, 0);
	error = xb_ring_empty(offenders->map);
	if (error)
		return error;
	offenders->ring = ring_buffer__new(offenders->map, take, offenders, NULL);
	return offenders->ring ? 0 : xb_system_error(errno, "cannot open the ring of offenders");
}

int xb_offenders_open(struct xb_offenders *offenders, const char *pins, xb_offenders_see *see,
		      void *context)
{
	struct xb_anchor anchor;
	int error;

	*offenders = (struct xb_offenders){
		.place = {.fd = -1}, .map = -1, .see = see, .context = context};
	error = xb_pins_open(pins, XB_ANCHOR_PINS, &offenders->place);
	if (!error)
		error = xb_anchor_open(pins, &anchor);
	if (!error) {
		error = take_maps(offenders, &anchor);
		xb_anchor_close(&anchor);
	}
	if (!error)
		error = xb_offenders_look(offenders, pins);
	if (!error)
		error = open_ring(offenders);
	if (error)
		xb_offenders_close(offenders);
	return error;
}

void xb_offenders_allow(struct xb_offenders *offenders, int64_t reports)
{
	struct xb_watch *watch = (struct xb_watch *)(void *)offenders->budget.base;

	__atomic_store_n(&watch->offenders, reports, __ATOMIC_RELAXED);
}

int xb_offenders_descriptor(const struct xb_offenders *offenders)
{
	return ring_buffer__epoll_fd(offenders->ring);
}

int xb_offenders_read(struct xb_offenders *offenders)
{
	int taken = ring_buffer__consume(offenders->ring);

	return taken < 0 ? xb_system_error(-taken, "cannot read the ring of offenders") : taken;
}

int xb_offenders_look(const struct xb_offenders *offenders, const char *pins)
{
	int in_place = xb_ring_is_in_place(offenders->place.fd, pins);

	return in_place < 0 ? in_place : in_place ? 0 : -ENOENT;
}

void xb_offenders_close(struct xb_offenders *offenders)
{
	if (!offenders->see)
		return;
	if (offenders->budget.base)
		xb_offenders_allow(offenders, 0);
	ring_buffer__free(offenders->ring);
	xb_mapping_close(&offenders->budget);
	xb_mapping_close(&offenders->cells);
	if (offenders->map >= 0)
		close(offenders->map);
	xb_pins_close(&offenders->place);
	*offenders = (struct xb_offenders){0};
}
