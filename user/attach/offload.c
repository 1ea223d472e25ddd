/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/offload.h"

#include <stdlib.h>

#include "attach/features.h"
#include "attach/netdev.h"
#include "base/error.h"

static const struct {
	enum xb_offload on, requested;
	const char *feature; /* the kernel's name */
	const char *name;    /* the one that ethtool has had for longer, if it has */
} offloads[] = {
	{XB_OFFLOAD_GRO_HW, XB_OFFLOAD_GRO_HW_REQUESTED, "rx-gro-hw", "rx-gro-hw"},
	{XB_OFFLOAD_LRO, XB_OFFLOAD_LRO_REQUESTED, "rx-lro", "lro"},
};

#define OFFLOADS (sizeof(offloads) / sizeof(offloads[0]))

uint32_t xb_offloads_on(const char *name)
{
	uint32_t found = 0;
	struct xb_feature one;

	for (size_t i = 0; i < OFFLOADS; i++) {
		xb_feature_get(name, offloads[i].feature, &one);
		found |= one.on ? offloads[i].on : 0;
		found |= one.requested ? offloads[i].requested : 0;
	}
	return found;
}

uint32_t xb_offloads_turn_on(const char *name, uint32_t wanted)
{
	for (size_t i = 0; i < OFFLOADS; i++)
		if (wanted & (offloads[i].on | offloads[i].requested))
			xb_feature_turn_on(name, offloads[i].feature);
	return wanted & ~xb_offloads_on(name);
}

/* The row of the interface, and what is noted in it. */
static bool find_note(const struct xb_anchor *anchor, uint32_t ifindex, uint32_t *row,
		      struct xb_iface_note *note)
{
	struct xb_enrolled *all = NULL;
	size_t count = 0;
	bool found = false;

	if (!xb_anchor_enrolled(anchor, &all, &count))
		for (size_t i = 0; i < count && !found; i++) {
			*row = all[i].row;
			found = all[i].ifindex == ifindex;
		}
	free(all);
	return found && !xb_anchor_note_get(anchor, *row, note);
}

static void put_note(const struct xb_anchor *anchor, uint32_t ifindex, uint32_t noted)
{
	struct xb_iface_note note;
	uint32_t row;

	if (!find_note(anchor, ifindex, &row, &note) || note.offloads == noted)
		return;
	note.offloads = noted;
	xb_anchor_note_put(anchor, row, &note);
}

static uint32_t noted_of(const struct xb_anchor *anchor, uint32_t ifindex)
{
	struct xb_iface_note note;
	uint32_t row;

	return find_note(anchor, ifindex, &row, &note) ? note.offloads : 0;
}

/* Its present name. */
static bool find_name(uint32_t ifindex, struct xb_netdev *now)
{
	return !xb_netdev_by_index(ifindex, now) && now->ifindex;
}

uint32_t xb_offloads_before(const struct xb_anchor *anchor, uint32_t ifindex)
{
	uint32_t noted = noted_of(anchor, ifindex);
	struct xb_netdev now;

	if (find_name(ifindex, &now))
		noted |= xb_offloads_on(now.name);
	/* Now, so that whoever is killed leaves a note. */
	put_note(anchor, ifindex, noted);
	return noted;
}

void xb_offloads_after(const struct xb_anchor *anchor, uint32_t ifindex, uint32_t before)
{
	struct xb_netdev now;

	if (before && find_name(ifindex, &now))
		put_note(anchor, ifindex, before & ~xb_offloads_on(now.name));
}

static void warn(const char *name, uint32_t off)
{
	for (size_t i = 0; i < OFFLOADS; i++)
		if (off & offloads[i].on)
			xb_warning("%s: attaching turned %s off, and it cannot be turned on "
				   "again; `ethtool -K %s %s on` tries that",
				   name, offloads[i].name, name, offloads[i].name);
}

void xb_offloads_put_back(const struct xb_anchor *anchor, uint32_t ifindex, bool finally)
{
	uint32_t off = noted_of(anchor, ifindex);
	struct xb_netdev now;

	if (!off || !find_name(ifindex, &now) || (now.program && now.mode == XB_MODE_SKB))
		return;
	off &= ~xb_offloads_on(now.name);
	if (off)
		off = xb_offloads_turn_on(now.name, off);
	put_note(anchor, ifindex, off);
	if (finally)
		warn(now.name, off);
}

void xb_offloads_move(const struct xb_anchor *anchor, uint32_t from, uint32_t to)
{
	uint32_t noted = from == to ? 0 : noted_of(anchor, from);

	if (noted)
		put_note(anchor, to, noted);
}
