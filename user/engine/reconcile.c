/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order: rows that lead to no filtered interface go, so that each has one row; names are
 * followed, so that what is filtered stays wanted; what is filtered gets its row before others are
 * attached; and what nobody wants goes last. */
#include "engine/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/left.h"
#include "attach/offload.h"
#include "attach/pin.h"
#include "attach/refusal.h"
#include "attach/swap.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/program.h"
#include "engine/calls.h"
#include "engine/cure.h"
#include "engine/renames.h"
#include "engine/vlans.h"
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
	if (!error)
		xb_offloads_move(&writer->anchor, enrolled->ifindex, item->now.ifindex);
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

/* The row that the interface has got. */
static int begin_calls(const struct xb_writer *writer, struct xb_interface *item)
{
	struct xb_enrolled *all;
	size_t count;
	int error = xb_anchor_enrolled(&writer->anchor, &all, &count);

	for (size_t i = 0; !error && i < count; i++)
		if (all[i].ifindex == item->now.ifindex)
			error = xb_calls_begin(&writer->anchor, all[i].row, item->now.ifindex, 0);
	free(all);
	item->fresh = !error;
	if (error)
		xb_warning("%s: whether the driver calls the filter is not known: %s",
			   item->now.name, xb_error_message());
	return 0;
}

static int attach(const struct xb_writer *writer, struct xb_interface *item)
{
	enum xb_mode mode;
	int error = item->hold == XB_HOLD_FORMER ? 0 : forget_row(writer, item);

	if (error)
		return error;
	if (xb_attach(&writer->anchor, &item->now, item->mode, &mode))
		snprintf(item->why, sizeof(item->why), "%s", xb_error_message());
	else
		error = begin_calls(writer, item);
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

/* An interface that cannot be cured stays as it is, and its row says why. */
static int settle_calls(const struct xb_writer *writer, struct xb_interface *item, bool *changed)
{
	if (item->difference == XB_IFACE_SAME)
		return item->enrolled.ifindex == item->now.ifindex
			       ? xb_calls_note(&writer->anchor, item->enrolled.row,
					       item->now.ifindex, &item->view)
			       : 0;
	if (item->lasting && xb_cure(writer->paths, &writer->anchor, item, changed))
		snprintf(item->why, sizeof(item->why), "%s", xb_error_message());
	return 0;
}

/* The driver may have become one that does wrong in native mode, as with another MTU. */
static int leave_native(const struct xb_writer *writer, struct xb_interface *item, bool *changed)
{
	uint64_t open;
	bool left;

	if (item->mode != XB_MODE_AUTO)
		return 0;
	if (xb_leave_native(&writer->anchor, &item->now, &left, &open)) {
		snprintf(item->why, sizeof(item->why), "%s", xb_error_message());
		xb_warning("%s", xb_error_message());
	}
	*changed |= left;
	return 0;
}

static int settle(const struct xb_writer *writer, struct xb_interface *item, bool *changed)
{
	uint32_t program;
	int error = item->lasting && item->now.ifindex
			    ? xb_guard_release(&writer->anchor.guard, item->now.ifindex)
			    : 0;

	if (error)
		return error;
	switch (item->difference) {
	case XB_IFACE_SAME:
	case XB_IFACE_UNCALLED:
		error = enrol_again(writer, item);
		if (!error)
			error = leave_native(writer, item, changed);
		return error ? error : settle_calls(writer, item, changed);
	case XB_IFACE_BARE:
	case XB_IFACE_HELD:
		/* Without any filter in force it is as good without a program. What is wanted by
		 * the trial alone was attached when that began: another one has the name now. */
		if (!item->lasting)
			return 0;
		error = xb_anchor_active(&writer->anchor, &program);
		if (error || !program)
			return error;
		*changed = true;
		return attach(writer, item);
	case XB_IFACE_ELSEWHERE:
		return update_elsewhere(writer, item);
	default:
		return 0;
	}
}

static bool is_filtered(const struct xb_interface *item)
{
	return item->difference == XB_IFACE_SAME || item->difference == XB_IFACE_UNCALLED;
}

/* What is attached may take the number of the row that another interface still has, so those that
 * are filtered get their rows first. */
static int settle_all(struct xb_writer *writer, bool filtered, bool *changed)
{
	struct xb_interfaces *all = &writer->interfaces;
	int error = 0;

	for (size_t i = 0; !error && i < all->count; i++)
		if (is_filtered(&all->item[i]) == filtered)
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

int xb_reconcile_leave(struct xb_anchor *anchor, const struct xb_interface *item)
{
	char why[512];
	bool news;
	int error;

	snprintf(why, sizeof(why), "%s", xb_error_message());
	error = xb_leave(anchor, item->now.ifindex, &news);
	if (!error && news)
		xb_warning("%s, so it stays and lets everything pass; `ip link set dev %s mtu "
			   "1500`, then the next command%s takes it off",
			   why, item->now.name, xb_advice(XB_ADVICE_DETACH_AGAIN));
	return error;
}

static int detach_one(struct xb_anchor *anchor, const struct xb_interfaces *all,
		      const struct xb_interface *item)
{
	int error = xb_reconcile_let_go(anchor, all, item);

	if (error == XB_STAYS_ON && item->now.ifindex)
		return xb_reconcile_leave(anchor, item);
	if (!error && item->left)
		error = xb_guard_release(&anchor->guard, item->now.ifindex);
	return error;
}

/* again: also those that are left, of which the kernel has not taken the program off before. */
static int detach_unwanted(struct xb_anchor *anchor, const struct xb_interfaces *all, bool again)
{
	int error = 0;

	for (size_t i = 0; !error && i < all->count; i++)
		if (all->item[i].difference == XB_IFACE_UNWANTED && (again || !all->item[i].left))
			error = detach_one(anchor, all, &all->item[i]);
	return error;
}

/* Those that are gone, or are filtered again. */
static int forget_left(const struct xb_guard *guard, const struct xb_interfaces *all)
{
	uint32_t ifindex = xb_guard_next(guard, 0), next;
	int error = 0;

	for (; !error && ifindex; ifindex = next) {
		bool stays = !xb_guard_has_left(guard, ifindex);

		next = xb_guard_next(guard, ifindex);
		for (size_t i = 0; !stays && i < all->count; i++)
			stays = all->item[i].now.ifindex == ifindex &&
				all->item[i].difference == XB_IFACE_UNWANTED;
		if (!stays)
			error = xb_guard_release(guard, ifindex);
	}
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
			before.item[i].why[0] || before.item[i].fresh
				? xb_interfaces_find(&writer->interfaces, before.item[i].wanted)
				: NULL;

		if (now && xb_interface_is_open(now) && before.item[i].why[0])
			memcpy(now->why, before.item[i].why, sizeof(now->why));
		if (now)
			now->fresh = before.item[i].fresh;
	}
	xb_interfaces_free(&before);
	return error;
}

/* A loop that waits for nothing looks again by itself. */
int xb_reconcile_prove(struct xb_writer *writer)
{
	struct xb_interfaces *all = &writer->interfaces;
	bool changed = false;
	int error =
		writer->how & XB_WRITE_BRIEF ? 0 : xb_interfaces_watch_fresh(&writer->anchor, all);

	for (size_t i = 0; !error && i < all->count; i++)
		if (all->item[i].fresh && all->item[i].difference == XB_IFACE_UNCALLED)
			error = settle_calls(writer, &all->item[i], &changed);
	for (size_t i = 0; i < all->count; i++)
		all->item[i].fresh = false;
	return error || !changed ? error : xb_reconcile_look_again(writer);
}

/* For the lists and limits that the store has: what a change makes of them is looked at with that
 * change. */
static int settle_vlans(const struct xb_writer *writer)
{
	struct xb_txn *txn;
	bool answers;
	int error = xb_store_read(writer->store, &txn);

	if (error)
		return error;
	error = xb_queries_answered_by(txn, &answers);
	xb_txn_abort(txn);
	return error || !answers ? error : xb_vlans_settle(&writer->anchor);
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
	if (!error && writer->how & XB_WRITE_HEAVY &&
	    !(writer->how & (XB_WRITE_BRIEF | XB_WRITE_LEAVE)))
		error = xb_interfaces_watch(&writer->anchor, all);
	if (!error)
		error = settle_all(writer, true, &changed);
	if (!error)
		error = settle_all(writer, false, &changed);
	if (!error)
		error = detach_unwanted(&writer->anchor, all, false);
	if (!error)
		error = settle_vlans(writer);
	if (error || !changed)
		return error;
	error = xb_reconcile_look_again(writer);
	return error ? error : xb_reconcile_prove(writer);
}

int xb_reconcile_release(struct xb_writer *writer)
{
	struct xb_interfaces all;
	int error = look(writer, NULL, &all);

	if (!error)
		error = detach_unwanted(&writer->anchor, &all, true);
	if (!error)
		error = forget_left(&writer->anchor.guard, &all);
	xb_interfaces_free(&all);
	return error;
}

/* Rows that lead nowhere would keep the names of what is detached. */
int xb_reconcile_leave_all(struct xb_writer *writer)
{
	struct xb_anchor *anchor = &writer->anchor;
	struct xb_interfaces all;
	int error = xb_interfaces_look(anchor, NULL, 0, NULL, &all);

	for (size_t i = 0; !error && i < all.count; i++) {
		if (all.item[i].difference == XB_IFACE_STALE)
			error = xb_anchor_dismiss(anchor, all.item[i].enrolled.ifindex);
		else if (all.item[i].difference == XB_IFACE_UNWANTED)
			error = detach_one(anchor, &all, &all.item[i]);
	}
	xb_interfaces_free(&all);
	return error ? error : xb_guard_clear_side(&anchor->guard, XB_TRIED);
}
