/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order: rows that lead to no filtered interface go, so that each has one row; names are
 * followed, so that what is filtered stays wanted; what is filtered gets its row before others are
 * attached; and what nobody wants goes last. */
#include "engine/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/pin.h"
#include "attach/swap.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "engine/renames.h"
#include "store/wanted.h"

static int look(struct xb_writer *writer, const struct xb_trial *trial, struct xb_interfaces *all)
{
	struct xb_wanted *wanted = NULL;
	struct xb_txn *txn;
	size_t count = 0;
	int error = xb_store_read(writer->store, &txn);

	*all = (struct xb_interfaces){0};
	if (error)
		return error;
	error = xb_wanted_all(txn, &wanted, &count);
	xb_txn_abort(txn);
	if (!error)
		error = xb_interfaces_look(writer->anchored ? &writer->anchor : NULL, wanted, count,
					   trial, all);
	free(wanted);
	return error;
}

int xb_reconcile_look(struct xb_writer *writer)
{
	xb_interfaces_free(&writer->interfaces);
	return look(writer, &writer->trial, &writer->interfaces);
}

/* Numbers that the kernel changed on the way through another network namespace. */
static int renumber(const struct xb_writer *writer, const struct xb_interface *item)
{
	const struct xb_interfaces *all = &writer->interfaces;
	const struct xb_ifpin *there = xb_ifpins_of(&all->pins, item->now.ifindex);
	int error = 0;

	if (there && there->ifindex == item->now.ifindex)
		return 0;
	for (size_t i = 0; !error && i < all->pins.count; i++) {
		struct xb_ifpin *pin = &all->pins.item[i];

		if (pin == there || pin->ifindex != item->now.ifindex)
			continue;
		error = there ? xb_ifpin_vacate(writer->anchor.pins, there) : 0;
		if (!error)
			error = xb_ifpin_rename(writer->anchor.pins, pin);
		break;
	}
	return error;
}

/* Whether it is wanted by the name its row has, though perhaps by another one, too. */
static bool is_enrolled(const struct xb_interfaces *all, const struct xb_interface *item)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct xb_interface *other = &all->item[i];

		if (other->now.ifindex != item->now.ifindex ||
		    other->enrolled.ifindex != item->now.ifindex)
			continue;
		for (size_t j = 0; j < all->count; j++)
			if (all->item[j].now.ifindex == item->now.ifindex &&
			    !strcmp(all->item[j].wanted, other->enrolled.name))
				return true;
	}
	return false;
}

/* The row of a filtered interface has the name by which it is wanted. There is a row with that at
 * any time, if there is room, so that the interface is known when it gets another name. */
static int enrol_again(const struct xb_writer *writer, const struct xb_interface *item)
{
	const struct xb_enrolled *enrolled = &item->enrolled;
	int error;

	if (is_enrolled(&writer->interfaces, item))
		return writer->anchor.flavour == XB_FLAVOUR_LINK ? renumber(writer, item) : 0;
	error = xb_anchor_enrol(&writer->anchor, item->now.ifindex, item->wanted);
	/* Without room for two, the new row takes the place of the former one. */
	if (error && enrolled->ifindex && enrolled->ifindex != item->now.ifindex) {
		error = xb_anchor_dismiss(&writer->anchor, enrolled->ifindex);
		if (!error)
			error = xb_anchor_enrol(&writer->anchor, item->now.ifindex, item->wanted);
		if (error)
			xb_anchor_enrol(&writer->anchor, enrolled->ifindex, item->wanted);
	}
	xb_fault("row-enrolled");
	if (!error && writer->anchor.flavour == XB_FLAVOUR_LINK)
		error = renumber(writer, item);
	xb_fault("row-renumbered");
	if (!error && enrolled->ifindex && enrolled->ifindex != item->now.ifindex)
		error = xb_anchor_dismiss(&writer->anchor, enrolled->ifindex);
	return error;
}

/* What is counted for it so far was another's, whose number it has. */
static int forget_row(const struct xb_writer *writer, const struct xb_interface *item)
{
	return item->enrolled.ifindex && strcmp(item->enrolled.name, item->wanted) != 0
		       ? xb_anchor_dismiss(&writer->anchor, item->enrolled.ifindex)
		       : 0;
}

static int attach(const struct xb_writer *writer, struct xb_interface *item)
{
	enum xb_mode mode;
	int error = item->hold == XB_HOLD_FORMER ? 0 : forget_row(writer, item);

	if (!error && xb_attach(&writer->anchor, &item->now, item->mode, &mode))
		snprintf(item->why, sizeof(item->why), "%s", xb_error_message());
	return error;
}

/* Where it is, it gets the entry of a newer anchor as well. */
static int update_elsewhere(const struct xb_writer *writer, const struct xb_interface *item)
{
	const struct xb_ifpin *pin = xb_ifpins_of(&writer->interfaces.pins, item->enrolled.ifindex);

	return pin && pin->program != xb_program_id(writer->anchor.entry)
		       ? xb_ifpin_update(writer->anchor.pins, pin, writer->anchor.entry)
		       : 0;
}

static int settle(const struct xb_writer *writer, struct xb_interface *item, bool *changed)
{
	int error = item->lasting && item->now.ifindex
			    ? xb_guard_release(&writer->anchor.guard, item->now.ifindex)
			    : 0;

	if (error)
		return error;
	switch (item->difference) {
	case XB_IFACE_SAME:
		return enrol_again(writer, item);
	case XB_IFACE_BARE:
	case XB_IFACE_HELD:
		/* Without any filter in force it is as good without a program. What is wanted by
		 * the trial alone was attached when that began: another one has the name now. */
		if (!item->lasting || !xb_anchor_active(&writer->anchor))
			return 0;
		*changed = true;
		return attach(writer, item);
	case XB_IFACE_ELSEWHERE:
		return update_elsewhere(writer, item);
	default:
		return 0;
	}
}

/* What is attached may take the number of the row that another interface still has, so those that
 * are filtered get their rows first. */
static int settle_all(struct xb_writer *writer, bool filtered, bool *changed)
{
	struct xb_interfaces *all = &writer->interfaces;
	int error = 0;

	for (size_t i = 0; !error && i < all->count; i++)
		if ((all->item[i].difference == XB_IFACE_SAME) == filtered)
			error = settle(writer, &all->item[i], changed);
	return error;
}

static int drop_stale(const struct xb_writer *writer)
{
	const struct xb_interfaces *all = &writer->interfaces;
	int error = 0;

	for (size_t i = 0; !error && i < all->count; i++)
		if (all->item[i].difference == XB_IFACE_STALE)
			error = xb_anchor_dismiss(&writer->anchor, all->item[i].enrolled.ifindex);
	for (size_t i = 0; !error && i < all->pins.count; i++)
		if (!all->pins.item[i].ifindex)
			error = xb_ifpin_vacate(writer->anchor.pins, &all->pins.item[i]);
	return error;
}

int xb_reconcile_let_go(const struct xb_anchor *anchor, const struct xb_interfaces *all,
			const struct xb_interface *item)
{
	const struct xb_ifpin *pin = xb_ifpins_of(&all->pins, item->enrolled.ifindex);
	int error = 0;

	if (item->now.ifindex)
		error = xb_detach(anchor, item->now.ifindex);
	else if (pin) /* it is in another network namespace */
		error = xb_ifpin_detach(anchor->pins, pin);
	return error || !item->enrolled.ifindex ? error
						: xb_anchor_dismiss(anchor, item->enrolled.ifindex);
}

static int detach_unwanted(const struct xb_anchor *anchor, const struct xb_interfaces *all)
{
	int error = 0;

	for (size_t i = 0; !error && i < all->count; i++)
		if (all->item[i].difference == XB_IFACE_UNWANTED)
			error = xb_reconcile_let_go(anchor, all, &all->item[i]);
	return error;
}

int xb_reconcile_look_again(struct xb_writer *writer)
{
	struct xb_interfaces before = writer->interfaces;
	int error;

	writer->interfaces = (struct xb_interfaces){0};
	error = xb_reconcile_look(writer);
	for (size_t i = 0; !error && i < before.count; i++) {
		struct xb_interface *now =
			before.item[i].why[0]
				? xb_interfaces_find(&writer->interfaces, before.item[i].wanted)
				: NULL;

		if (now && xb_interface_is_open(now))
			memcpy(now->why, before.item[i].why, sizeof(now->why));
	}
	xb_interfaces_free(&before);
	return error;
}

int xb_reconcile(struct xb_writer *writer)
{
	struct xb_interfaces *all = &writer->interfaces;
	bool changed = false, followed = false;
	int error = drop_stale(writer); /* so that what is renamed has one row */

	if (!error)
		error = xb_renames_follow(writer, &followed);
	if (!error && followed)
		error = xb_reconcile_look(writer);
	if (!error)
		error = settle_all(writer, true, &changed);
	if (!error)
		error = settle_all(writer, false, &changed);
	if (!error)
		error = detach_unwanted(&writer->anchor, all);
	return error || !changed ? error : xb_reconcile_look_again(writer);
}

int xb_reconcile_release(struct xb_writer *writer)
{
	struct xb_interfaces all;
	int error = look(writer, NULL, &all);

	if (!error)
		error = detach_unwanted(&writer->anchor, &all);
	xb_interfaces_free(&all);
	return error;
}
