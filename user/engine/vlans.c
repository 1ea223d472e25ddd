/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The links are listed once. The mode and the driver's features are asked only of an interface that
 * has VLANs on it. */
#include "engine/vlans.h"

#include <stdlib.h>

#include "attach/features.h"
#include "base/error.h"
#include "machine/devices.h"
#include "model/verdict.h"

static bool lists_answer(const struct xb_list *lists, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (xb_domain_verdict_answers(lists[i].verdict))
			return true;
	return false;
}

bool xb_queries_answered(const struct xb_list *lists, size_t count,
			 const struct xb_limits_wanted *limits)
{
	return lists_answer(lists, count) || (limits && xb_limits_truncate(limits));
}

int xb_queries_answered_by(struct xb_txn *txn, bool *answered)
{
	struct xb_limits_wanted limits;
	int error = 0;

	*answered = lists_answer(txn->lists, txn->list_count);
	if (*answered)
		return 0;
	error = xb_limits_get(txn, &limits);
	*answered = !error && xb_limits_truncate(&limits);
	return error;
}

/* In skb mode the kernel puts the tag back in front of XDP. What cannot be told of a feature counts
 * as on: a query that is dropped does less harm than an answer into another VLAN. */
static int loses_tags(uint32_t ifindex, bool *loses)
{
	struct xb_netdev device;
	struct xb_feature stripping;
	int error = xb_netdev_by_index(ifindex, &device);

	*loses = false;
	if (error || !device.program || device.mode != XB_MODE_NATIVE)
		return error;
	*loses = xb_feature_get(device.name, "rx-vlan-hw-parse", &stripping) || stripping.on;
	return 0;
}

static int mute_of(struct xb_devices *devices, uint32_t ifindex, uint32_t *mute)
{
	bool loses = false;
	int error = 0;

	if (xb_devices_have_vlans(devices) && xb_device_has_vlans_above(devices, ifindex))
		error = loses_tags(ifindex, &loses);
	*mute = loses ? XB_MUTE_VLANS : XB_MUTE_NONE;
	return error;
}

/* An enrolled interface, what is noted of it, and what should be. */
typedef int each_row(const struct xb_anchor *anchor, const struct xb_enrolled *enrolled,
		     uint32_t noted, uint32_t mute, void *context);

static int look_at(const struct xb_anchor *anchor, struct xb_devices *devices,
		   const struct xb_enrolled *enrolled, each_row *each, void *context)
{
	struct xb_iface_note note;
	uint32_t mute = XB_MUTE_NONE;
	int error;

	/* It is gone, or in another network namespace, where this one sees no VLANs. */
	if (!xb_device_find(devices, enrolled->ifindex))
		return 0;
	error = xb_anchor_note_get(anchor, enrolled->row, &note);
	if (!error)
		error = mute_of(devices, enrolled->ifindex, &mute);
	if (error || note.mute == mute)
		return error;
	return each(anchor, enrolled, note.mute, mute, context);
}

/* Calls each() for those of which something else is noted than should be. */
static int each_other(const struct xb_anchor *anchor, each_row *each, void *context)
{
	struct xb_enrolled *enrolled = NULL;
	struct xb_devices devices = {0};
	size_t count = 0;
	int error = xb_anchor_enrolled(anchor, &enrolled, &count);

	if (!error && count)
		error = xb_devices_find(NULL, 0, &devices);
	for (size_t i = 0; !error && i < count; i++)
		error = look_at(anchor, &devices, &enrolled[i], each, context);
	xb_devices_free(&devices);
	free(enrolled);
	return error;
}

static int settle_row(const struct xb_anchor *anchor, const struct xb_enrolled *enrolled,
		      uint32_t noted, uint32_t mute, void *context)
{
	uint32_t before;
	int error = xb_anchor_mute(anchor, enrolled->ifindex, mute, &before);

	(void)noted;
	(void)context;
	if (!error && mute == XB_MUTE_VLANS)
		xb_notice("%s: the driver takes VLAN tags off before the filter sees them, so "
			  "queries are dropped where they would be answered; `ethtool -K %s "
			  "rxvlan off` lets the filter answer",
			  enrolled->name, enrolled->name);
	return error;
}

int xb_vlans_settle(const struct xb_anchor *anchor)
{
	return each_other(anchor, settle_row, NULL);
}

struct check {
	const struct xb_interfaces *all;
	struct xb_problems *problems;
};

static int check_row(const struct xb_anchor *anchor, const struct xb_enrolled *enrolled,
		     uint32_t noted, uint32_t mute, void *context)
{
	const struct check *check = context;

	(void)anchor;
	if (noted != XB_MUTE_NONE && mute != XB_MUTE_NONE)
		return 0;
	for (size_t i = 0; i < check->all->count; i++) {
		const struct xb_interface *item = &check->all->item[i];

		if (item->enrolled.ifindex != enrolled->ifindex || !item->now.program)
			continue;
		xb_problem_add(check->problems, XB_PROBLEM_VLAN_ANSWERS, item,
			       mute == XB_MUTE_NONE
				       ? "queries on %s are not answered, though answers would go "
					 "back into their VLAN"
				       : "answers to queries on %s may leave on another VLAN: the "
					 "driver takes the tags off",
			       item->now.name);
		return 0;
	}
	return 0;
}

int xb_vlans_check(const struct xb_anchor *anchor, const struct xb_interfaces *all,
		   struct xb_problems *problems)
{
	struct check check = {.all = all, .problems = problems};

	return each_other(anchor, check_row, &check);
}
