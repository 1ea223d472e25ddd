/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order: names first, so that what is filtered stays wanted; what is added before what goes. */
#include "engine/reconcile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/pin.h"
#include "attach/swap.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "store/renamed.h"
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

static bool is_only_tried(const struct xb_interface *item)
{
	return item->on_trial && !item->lasting;
}

static const char *former_name(const struct xb_interface *item)
{
	return item->wanted[0] ? item->wanted : item->enrolled.name;
}

/* A name that cannot be typed or saved is not kept: the former one goes on to mean the interface.
 */
static bool is_renamed(const struct xb_interface *item)
{
	bool renamed = item->renamed ||
		       (item->difference == XB_IFACE_HEIR && (item->lasting || item->on_trial));

	return renamed && !xb_wanted_check(item->now.name);
}

/* Whether the wish is all that another interface has, too: one that has a name in passing, or is in
 * another network namespace. */
static bool is_wish_of_another(const struct xb_interfaces *all, const struct xb_interface *item)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct xb_interface *other = &all->item[i];

		if (other != item && !other->wanted[0] && !is_renamed(other) &&
		    (other->difference == XB_IFACE_HEIR ||
		     other->difference == XB_IFACE_ELSEWHERE) &&
		    !strcmp(other->enrolled.name, item->wanted))
			return true;
	}
	return false;
}

/* The interface is wanted under the name it has. One that is wanted by that name already keeps the
 * mode of that. */
static int move_wish(struct xb_txn *txn, const struct xb_interfaces *all,
		     const struct xb_interface *item)
{
	struct xb_wanted wanted = {.mode = item->mode};
	bool found;
	int error = 0;

	snprintf(wanted.name, sizeof(wanted.name), "%s", item->now.name);
	if (item->wanted[0] && !is_wish_of_another(all, item))
		error = xb_wanted_remove(txn, item->wanted, &found);
	if (!error)
		error = xb_wanted_has(txn, wanted.name, &found);
	return error || found ? error : xb_wanted_put(txn, &wanted);
}

static void tell_rename(const struct xb_interface *item)
{
	if (is_only_tried(item))
		xb_notice("%s is called %s now, and is on trial under that name", former_name(item),
			  item->now.name);
	else if (item->difference == XB_IFACE_HEIR)
		xb_notice("%s is called %s now, and another interface is %s: both are protected "
			  "from now on",
			  item->enrolled.name, item->now.name, item->enrolled.name);
	else
		xb_notice("%s is called %s now, and is protected under that name from now on",
			  item->wanted, item->now.name);
}

/* A trial is of the interface: another one that has its former name must not be taken for it. */
static int follow(struct xb_txn *txn, struct xb_writer *writer, const struct xb_interface *item)
{
	return is_only_tried(item)
		       ? xb_trial_rename(txn, &writer->trial, former_name(item), item->now.name)
		       : move_wish(txn, &writer->interfaces, item);
}

/* Whether an item before this one is the same interface, and was renamed. */
static bool is_told(const struct xb_interfaces *all, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (all->item[j].now.ifindex == all->item[i].now.ifindex &&
		    is_renamed(&all->item[j]))
			return true;
	return false;
}

/* Of each row the name that it will have. */
static int record_names(struct xb_txn *txn, const struct xb_interfaces *all)
{
	struct xb_renamed *renamed = calloc(all->count, sizeof(*renamed));
	size_t count = 0;
	int error;

	if (!renamed)
		return xb_out_of_memory();
	for (size_t i = 0; i < all->count; i++) {
		const struct xb_interface *item = &all->item[i];
		struct xb_renamed *its = &renamed[count];

		if (!is_renamed(item) || !item->enrolled.ifindex)
			continue;
		its->ifindex = item->enrolled.ifindex;
		snprintf(its->former, sizeof(its->former), "%s", item->enrolled.name);
		snprintf(its->name, sizeof(its->name), "%s", item->now.name);
		count++;
	}
	error = count ? xb_renamed_put(txn, renamed, count) : 0;
	free(renamed);
	return error;
}

static int write_names(struct xb_writer *writer)
{
	struct xb_interfaces *all = &writer->interfaces;
	struct xb_txn *txn;
	int error = xb_store_write(writer->store, &txn);

	if (error)
		return error;
	for (size_t i = 0; !error && i < all->count; i++)
		if (is_renamed(&all->item[i]))
			error = follow(txn, writer, &all->item[i]);
	if (!error)
		error = record_names(txn, all);
	if (error)
		xb_txn_abort(txn);
	else
		error = xb_txn_commit(txn);
	xb_fault("names-followed");
	return error;
}

static bool is_joined(const char *name, const char *head, const char *tail)
{
	size_t bytes = 0;

	while (bytes < IF_NAMESIZE && name[bytes] == head[bytes])
		bytes++;
	return !memcmp(name + bytes, tail + bytes, IF_NAMESIZE - bytes);
}

/* A writer that was killed while it copied the name may have left a part of either. */
static bool is_between(const char *name, const struct xb_renamed *renamed)
{
	return is_joined(name, renamed->name, renamed->former) ||
	       is_joined(name, renamed->former, renamed->name);
}

static int name_rows(const struct xb_anchor *anchor, const struct xb_renamed *renamed, size_t count)
{
	struct xb_enrolled *rows;
	size_t row_count;
	int error = xb_anchor_enrolled(anchor, &rows, &row_count);

	for (size_t i = 0; !error && i < row_count * count; i++) {
		const struct xb_enrolled *row = &rows[i / count];
		const struct xb_renamed *its = &renamed[i % count];

		if (row->ifindex == its->ifindex && is_between(row->name, its))
			error = xb_anchor_enrol(anchor, row->ifindex, its->name);
	}
	free(rows);
	return error;
}

static int forget_names(struct xb_writer *writer)
{
	struct xb_txn *txn;
	int error = xb_store_write(writer->store, &txn);

	if (error)
		return error;
	error = xb_renamed_remove(txn);
	if (!error)
		return xb_txn_commit(txn);
	xb_txn_abort(txn);
	return error;
}

static void try_to_forget_names(struct xb_writer *writer)
{
	if (!writer->store->read_only && forget_names(writer))
		xb_warning("cannot record that renamed interfaces are known by their names: %s",
			   xb_error_message());
}

int xb_reconcile_forget_names(struct xb_writer *writer, struct xb_txn *committed)
{
	struct xb_renamed *renamed;
	size_t count;
	int found = xb_renamed_get(committed, &renamed, &count);

	free(renamed);
	if (found <= 0)
		return found;
	if (writer->txn)
		return xb_renamed_remove(writer->txn);
	try_to_forget_names(writer);
	return 0;
}

int xb_reconcile_names(struct xb_writer *writer)
{
	struct xb_renamed *renamed;
	struct xb_txn *txn;
	size_t count;
	bool ours;
	int found, error = xb_store_read(writer->store, &txn);

	if (error)
		return error;
	ours = writer->anchored &&
	       (!writer->active || writer->active->params.store == txn->meta.identity);
	found = xb_renamed_get(txn, &renamed, &count);
	xb_txn_abort(txn);
	/* Of pins that are hidden, or of an older anchor, until they are open. */
	if (found <= 0 || !writer->anchored) {
		free(renamed);
		return found < 0 ? found : 0;
	}
	error = ours ? name_rows(&writer->anchor, renamed, count) : 0;
	free(renamed);
	xb_fault("rows-named");
	if (!error)
		try_to_forget_names(writer);
	return error;
}

/* Not to be able to write them down is no reason to stop: what is filtered stays so. */
static int follow_names(struct xb_writer *writer)
{
	struct xb_interfaces *all = &writer->interfaces;
	bool any = false;
	int error;

	for (size_t i = 0; i < all->count; i++)
		any |= is_renamed(&all->item[i]);
	if (!any)
		return 0;
	if (write_names(writer)) {
		xb_warning("cannot record that interfaces were renamed: %s", xb_error_message());
		return 0;
	}
	for (size_t i = 0; i < all->count; i++)
		if (is_renamed(&all->item[i]) && !is_told(all, i))
			tell_rename(&all->item[i]);
	error = xb_reconcile_names(writer);
	return error ? error : xb_reconcile_look(writer);
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
	bool changed = false;
	int error = drop_stale(writer); /* so that what is renamed has one row */

	if (!error)
		error = follow_names(writer);
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
