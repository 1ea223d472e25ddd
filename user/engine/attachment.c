/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All the interfaces or none. */
#include "engine/attachment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/driver.h"
#include "attach/medium.h"
#include "base/capability.h"
#include "base/error.h"
#include "base/program.h"
#include "engine/calls.h"
#include "engine/repair.h"
#include "engine/trial.h"
#include "engine/writepath.h"
#include "store/wanted.h"

static void forget_twin(struct xb_attachment *attachment, int i)
{
	for (int j = 0; j < i; j++) {
		if (attachment->device[j].ifindex != attachment->device[i].ifindex)
			continue;
		attachment->names[i] = attachment->names[--attachment->count];
		return;
	}
}

/* What was on trial is kept, whatever it is called by now. */
static const struct xb_interface *find_tried(const struct xb_writer *writer,
					     const struct xb_attachment *attachment, int i)
{
	const struct xb_interface *item =
		attachment->commits ? xb_interfaces_find(&writer->interfaces, attachment->names[i])
				    : NULL;

	return item && item->now.ifindex && item->hold == XB_HOLD_OURS ? item : NULL;
}

static int find_device(const struct xb_writer *writer, struct xb_attachment *attachment, int i)
{
	const struct xb_interface *tried = find_tried(writer, attachment, i);
	struct xb_netdev now;
	int error = tried ? xb_netdev_by_index(tried->now.ifindex, &now)
			  : xb_netdev_by_name(attachment->names[i], &now);

	if (error)
		return error;
	if (!now.ifindex)
		return xb_input_error("%s: no such interface", attachment->names[i]);
	if (attachment->commits && !tried)
		return xb_input_error("%s lacks the filter that was on trial (was the interface "
				      "made anew?): nothing to keep",
				      attachment->names[i]);
	attachment->device[i] = now;
	return 0;
}

/* The names on trial may have changed since the commit read them. */
static void take_tried_names(const struct xb_writer *writer, struct xb_attachment *attachment)
{
	char *const *names;
	size_t count = xb_trial_interfaces(&writer->trial, &names);

	for (size_t i = 0; i < count && count == (size_t)attachment->count; i++)
		attachment->names[i] = names[i];
}

/* What the kernel calls them, each once. */
static int resolve(const struct xb_writer *writer, struct xb_attachment *attachment)
{
	if (attachment->commits)
		take_tried_names(writer, attachment);
	for (int i = 0; i < attachment->count; i++) {
		int count = attachment->count, error = find_device(writer, attachment, i);

		if (error)
			return error;
		if (xb_wanted_check(attachment->device[i].name) ||
		    xb_medium_check(&attachment->device[i]))
			return -EINVAL;
		attachment->names[i] = attachment->device[i].name;
		forget_twin(attachment, i);
		i -= attachment->count < count;
	}
	return 0;
}

/* As it was: the former mode, or no filter. */
static void undo_one(struct xb_writer *writer, struct xb_attachment *attachment, int i)
{
	struct xb_netdev now;
	uint64_t open;

	if (!attachment->had_any[i])
		xb_detach(&writer->anchor, attachment->device[i].ifindex);
	else if (attachment->had[i] != attachment->got[i] &&
		 !xb_netdev_by_index(attachment->device[i].ifindex, &now) && now.program)
		xb_change_mode(&writer->anchor, &now, attachment->had[i], &open);
}

static void undo(struct xb_writer *writer, struct xb_attachment *attachment, int done)
{
	char message[1024];

	snprintf(message, sizeof(message), "%s", xb_error_message());
	while (done > 0)
		undo_one(writer, attachment, --done);
	xb_system_error(0, "%s", message);
}

/* What has our filter already. */
static int attach_again(struct xb_writer *writer, struct xb_attachment *attachment, int i)
{
	const struct xb_netdev *device = &attachment->device[i];
	enum xb_mode asked = attachment->asked->mode;
	bool left = false;
	int error;

	if (asked != XB_MODE_AUTO && asked != device->mode) {
		attachment->got[i] = asked;
		return xb_change_mode(&writer->anchor, device, asked, &attachment->open[i]);
	}
	error = asked == XB_MODE_AUTO
			? xb_leave_native(&writer->anchor, device, &left, &attachment->open[i])
			: xb_driver_check(device, asked);
	if (left)
		attachment->got[i] = XB_MODE_SKB;
	return error || left ? error
			     : xb_attach(&writer->anchor, device, asked, &attachment->got[i]);
}

static int attach_one(struct xb_writer *writer, struct xb_attachment *attachment, int i)
{
	struct xb_netdev *device = &attachment->device[i];
	const struct xb_interface *item;
	int error = find_device(writer, attachment, i);

	if (error)
		return error;
	item = xb_interfaces_find(&writer->interfaces, device->name);
	attachment->had_any[i] = item && item->now.ifindex == device->ifindex &&
				 item->hold == XB_HOLD_OURS && device->program;
	attachment->got[i] = attachment->had[i] = device->mode;
	if (attachment->had_any[i])
		return attach_again(writer, attachment, i);
	return xb_attach(&writer->anchor, device, attachment->asked->mode, &attachment->got[i]);
}

/* Those that had no filter before, or in another mode: from now on their counters tell. */
static int begin_calls(struct xb_writer *writer, const struct xb_attachment *attachment,
		       struct xb_call_watch *watched, size_t *count)
{
	struct xb_enrolled *rows;
	size_t row_count;
	int error = xb_anchor_enrolled(&writer->anchor, &rows, &row_count);

	*count = 0;
	for (int i = 0; !error && i < attachment->count; i++) {
		uint32_t ifindex = attachment->device[i].ifindex;
		bool as_before = attachment->had_any[i] && attachment->got[i] == attachment->had[i];

		for (size_t j = 0; !as_before && j < row_count; j++) {
			struct xb_call_watch *one = &watched[*count];

			if (rows[j].ifindex != ifindex)
				continue;
			*one = (struct xb_call_watch){.row = rows[j].row};
			error = xb_calls_begin(&writer->anchor, rows[j].row, ifindex, 0);
			if (!error)
				error = xb_netdev_by_index(ifindex, &one->device);
			*count += 1;
			break;
		}
	}
	free(rows);
	return error;
}

/* The driver took the program, and does not call it. */
static int leave_native(struct xb_writer *writer, struct xb_attachment *attachment, int i,
			uint64_t missed)
{
	const char *name = attachment->device[i].name;
	struct xb_netdev now;
	uint64_t open;
	int error;

	if (attachment->asked->mode != XB_MODE_AUTO || attachment->got[i] != XB_MODE_NATIVE)
		return xb_system_error(
			0,
			"%s: the driver took the filter in %s mode and does not call "
			"it: %llu packets came in, and the filter saw none of them",
			name, xb_mode_name(attachment->got[i]), (unsigned long long)missed);
	error = xb_netdev_by_index(attachment->device[i].ifindex, &now);
	if (!error)
		error = xb_change_mode(&writer->anchor, &now, XB_MODE_SKB, &open);
	if (error)
		return error;
	attachment->got[i] = XB_MODE_SKB;
	xb_warning(
		"%s: the driver took the filter in native mode and did not call it: %llu packets "
		"came in, and the filter saw none of them; %s is protected in skb mode, which is "
		"slower",
		name, (unsigned long long)missed, name);
	return 0;
}

#define QUIET 100 /* ms without a packet, where nobody could be asked for one */

/* Attached is not filtered: frames have to reach the program. */
static int prove_all(struct xb_writer *writer, struct xb_attachment *attachment)
{
	static struct xb_call_watch watched[XB_ATTACHMENT_MAX];
	size_t count;
	int error = begin_calls(writer, attachment, watched, &count);

	if (!error)
		error = xb_calls_watch(&writer->anchor, watched, count, QUIET);
	/* The kernel shows the filter on the interface: that counters cannot be read is no refusal.
	 */
	if (error) {
		xb_warning("whether drivers call the filter is not known: %s", xb_error_message());
		return 0;
	}
	for (size_t j = 0; !error && j < count; j++) {
		int i = 0;

		if (watched[j].view.calls != XB_CALLS_MISSING ||
		    xb_calls_prove_nothing(&writer->anchor, watched[j].device.ifindex))
			continue;
		while (attachment->device[i].ifindex != watched[j].device.ifindex)
			i++;
		error = leave_native(writer, attachment, i, watched[j].view.missed);
	}
	return error;
}

static int attach_all(struct xb_writer *writer, struct xb_attachment *attachment)
{
	int done = 0, error = 0;

	/* What is said of an interface holds only once the store has it. */
	xb_notices_hold();
	while (!error && done < attachment->count) {
		error = attach_one(writer, attachment, done);
		done += !error;
	}
	if (!error)
		error = prove_all(writer, attachment);
	xb_notices_resume();
	if (error)
		undo(writer, attachment, done);
	return error;
}

/* Before anything is filtered: what must not be. */
static int allow_body(struct xb_writer *writer, void *context)
{
	struct xb_attachment *attachment = context;
	uint32_t ifindexes[XB_ATTACHMENT_MAX];
	int error = resolve(writer, attachment);

	if (error)
		return error;
	for (int i = 0; i < attachment->count; i++)
		ifindexes[i] = attachment->device[i].ifindex;
	writer->adopts = true;
	return xb_repair_allow(writer, ifindexes, (size_t)attachment->count, true);
}

/* By its own name, and by no alternative one. */
static int want(struct xb_writer *writer, struct xb_attachment *attachment, int i)
{
	const struct xb_interfaces *all = &writer->interfaces;
	struct xb_wanted wanted = {.mode = attachment->asked->mode};
	int error = 0;

	for (size_t j = 0; !error && j < all->count; j++) {
		bool found;

		if (!all->item[j].wanted[0] ||
		    all->item[j].now.ifindex != attachment->device[i].ifindex)
			continue;
		attachment->renamed |= strcmp(all->item[j].wanted, attachment->names[i]) != 0;
		error = xb_wanted_remove(writer->txn, all->item[j].wanted, &found);
	}
	snprintf(wanted.name, sizeof(wanted.name), "%s", attachment->names[i]);
	return error ? error : xb_wanted_put(writer->txn, &wanted);
}

static int body(struct xb_writer *writer, void *context)
{
	struct xb_attachment *attachment = context;
	bool fresh = !writer->anchored;
	int error;

	for (int i = 0; i < attachment->count && !(writer->how & XB_WRITE_COMMIT); i++)
		if (xb_trial_names(&writer->trial, attachment->names[i]))
			return xb_input_error("%s is on trial%s", attachment->names[i],
					      xb_advice(XB_ADVICE_COMMIT));
	writer->adopts = true;
	error = xb_repair_begin(writer);
	writer->away = false;
	for (int i = 0; !error && i < attachment->count && !(writer->how & XB_WRITE_COMMIT); i++)
		error = xb_guard_release(&writer->anchor.guard, attachment->device[i].ifindex);
	if (!error)
		error = attach_all(writer, attachment);
	for (int i = 0; !error && i < attachment->count; i++)
		error = want(writer, attachment, i);
	/* Only now: a trial, or an attach that fails, refuses nothing. */
	writer->txn->meta.refused |= attachment->asked->refuse;
	if (error && fresh)
		xb_repair_end(writer, writer->txn->meta.identity);
	return error;
}

/* The interface is filtered as it was asked for: there is nothing to try. */
static bool is_as_asked(const struct xb_attachment *attachment, const struct xb_interface *item)
{
	return attachment->asked->mode == XB_MODE_AUTO || attachment->asked->mode == item->now.mode;
}

/* Of those that are attached already: only all together, and as they are; then no trial begins. */
static int find_attached(const struct xb_writer *writer, struct xb_attachment *attachment)
{
	int attached = 0;

	for (int i = 0; i < attachment->count; i++) {
		const struct xb_interface *item =
			xb_interfaces_find(&writer->interfaces, attachment->names[i]);

		if (!item || item->hold != XB_HOLD_OURS)
			continue;
		if (!is_as_asked(attachment, item))
			return xb_input_error("%s is attached already, in %s mode, and a change of "
					      "mode cannot be tried",
					      item->now.name, xb_mode_name(item->now.mode));
		attachment->got[i] = item->now.mode;
		attached++;
	}
	attachment->untried = attached == attachment->count;
	if (attached && !attachment->untried)
		return xb_input_error("some of these interfaces are attached already: name only "
				      "those that are to be tried");
	if (!attachment->untried)
		return 0;
	/* What another command has on trial may well be committed. */
	if (writer->trial.identity) {
		attachment->untried = false;
		return xb_input_error("%s is attached already: there is nothing to try",
				      attachment->names[0]);
	}
	return -EALREADY;
}

/* Only a filter; the guard is put in front of it when this has returned. */
static int prepare_body(struct xb_writer *writer, void *context)
{
	int error = find_attached(writer, context);

	if (error)
		return error;
	writer->adopts = true;
	return xb_repair_begin(writer);
}

static int attach_body(struct xb_writer *writer, void *context)
{
	struct xb_attachment *attachment = context;

	for (int i = 0; i < attachment->count; i++)
		if (!xb_trial_names(&writer->trial, attachment->names[i]))
			return xb_system_error(0, "the trial ended before %s was attached",
					       attachment->names[i]);
	return attach_all(writer, attachment);
}

#define HOW (XB_WRITE_HEAVY | XB_WRITE_ADOPT)

/* Interfaces are attached behind the guard only: killed at any moment, none stays filtered. */
static int attach_on_trial(const struct xb_paths *paths, const struct xb_wish *asked,
			   struct xb_attachment *attachment, struct xb_written *written)
{
	struct xb_request request = *asked->request;
	struct xb_wish wish = *asked;
	char message[1024];
	bool was_tried;
	int error;

	request.attach.names = attachment->names;
	request.attach.count = (uint32_t)attachment->count;
	wish.request = &request;
	error = xb_write_wish(paths, HOW, &wish, prepare_body, attachment, written);
	if (attachment->untried)
		xb_error_clear();
	if (error)
		return attachment->untried ? 0 : error;
	error = xb_write(paths, HOW, attach_body, attachment, written);
	if (!error)
		return 0;
	snprintf(message, sizeof(message), "%s", xb_error_message());
	xb_trial_abandon(paths, NULL, &was_tried);
	return xb_system_error(0, "%s", message);
}

static int left_body(struct xb_writer *writer, void *context)
{
	const struct xb_attachment *attachment = context;

	writer->left = attachment->names;
	writer->left_count = (size_t)attachment->count;
	return 0;
}

/* What was allowed for interfaces that could not be attached is so no more. */
static int forget_allowed(const struct xb_paths *paths, struct xb_attachment *attachment, int error,
			  struct xb_written *written)
{
	enum xb_error_class class = xb_error_class();
	char message[1024];

	snprintf(message, sizeof(message), "%s", xb_error_message());
	xb_write(paths, HOW | XB_WRITE_SURVEY, left_body, attachment, written);
	if (class == XB_ERROR_INPUT)
		xb_input_error("%s", message);
	else
		xb_system_error(0, "%s", message);
	return error;
}

/* An interface that is in another network namespace was wanted by the former name, and is so by
 * none now. */
static void let_go(const struct xb_paths *paths, struct xb_written *written)
{
	if (xb_write(paths, HOW, NULL, NULL, written))
		xb_warning("attached, but a later step failed: %s", xb_error_message());
}

static int attach_in_steps(const struct xb_paths *paths, const struct xb_wish *wish,
			   struct xb_attachment *attachment, struct xb_written *written)
{
	int error = xb_capabilities_need();

	if (!error)
		error = xb_write(paths, HOW | XB_WRITE_FIRST, allow_body, attachment, written);
	if (error)
		return error;
	if (wish->seconds)
		error = attach_on_trial(paths, wish, attachment, written);
	else
		error = xb_write_wish(paths, HOW | XB_WRITE_SURVEY, wish, body, attachment,
				      written);
	xb_notices_settle(!error);
	if (error)
		return forget_allowed(paths, attachment, error, written);
	if (attachment->renamed)
		let_go(paths, written);
	return 0;
}

int xb_attach_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_attachment *attachment, struct xb_written *written)
{
	const struct xb_attach_request *asked = &wish->request->attach;
	int error;

	*attachment = (struct xb_attachment){.asked = asked, .commits = wish->commits};
	if (asked->count > XB_ATTACHMENT_MAX)
		return xb_input_error("at most %d interfaces", XB_ATTACHMENT_MAX);
	for (uint32_t i = 0; i < asked->count; i++)
		attachment->names[i] = asked->names[i];
	attachment->count = (int)asked->count;
	error = attach_in_steps(paths, wish, attachment, written);
	xb_write_last();
	return error;
}
