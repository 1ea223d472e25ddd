/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A writer moves the wishes first, in one transaction with a record of the names that their rows
 * are to get, and names the rows then. */
#include "engine/renames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "engine/interfaces.h"
#include "store/renamed.h"
#include "store/wanted.h"

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
	error = xb_txn_end(txn, error);
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
	return xb_txn_end(txn, xb_renamed_remove(txn));
}

static void try_to_forget_names(struct xb_writer *writer)
{
	if (!writer->store->read_only && forget_names(writer))
		xb_warning("cannot record that renamed interfaces are known by their names: %s",
			   xb_error_message());
}

int xb_renames_forget(struct xb_writer *writer, struct xb_txn *committed)
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

int xb_renames_finish(struct xb_writer *writer)
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
int xb_renames_follow(struct xb_writer *writer, bool *followed)
{
	struct xb_interfaces *all = &writer->interfaces;
	bool any = false;

	*followed = false;
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
	*followed = true;
	return xb_renames_finish(writer);
}
