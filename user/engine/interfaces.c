/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names are resolved by the kernel; what is behind a name may have changed since it was attached,
 * so that is found by its bpf_link, or by its number together with the program on it. */
#include "engine/interfaces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/driver.h"
#include "attach/medium.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

struct look {
	const struct xb_anchor *anchor;
	const struct xb_trial *trial;
	struct xb_interfaces *all;
	size_t room;
};

void xb_interfaces_free(struct xb_interfaces *all)
{
	free(all->item);
	xb_ifpins_free(&all->pins);
	*all = (struct xb_interfaces){0};
}

static int append(struct look *look, const struct xb_interface *item)
{
	struct xb_interfaces *all = look->all;
	int error = xb_array_grow(&all->item, &look->room, all->count + 1, sizeof(*all->item));

	if (!error)
		all->item[all->count++] = *item;
	return error;
}

static struct xb_interface *wanted_as(const struct look *look, const char *name)
{
	for (size_t i = 0; i < look->all->count; i++)
		if (!strcmp(look->all->item[i].wanted, name))
			return &look->all->item[i];
	return NULL;
}

static struct xb_interface *at_index(const struct look *look, uint32_t ifindex)
{
	for (size_t i = 0; i < look->all->count; i++)
		if (ifindex && look->all->item[i].now.ifindex == ifindex)
			return &look->all->item[i];
	return NULL;
}

static int hold_of(const struct look *look, const struct xb_netdev *device, enum xb_hold *hold)
{
	return xb_hold_of(look->anchor, &look->all->pins, device, hold);
}

static enum xb_difference difference_of(struct xb_interface *item)
{
	if (!item->now.ifindex)
		return XB_IFACE_MISSING;
	if (item->hold == XB_HOLD_OURS && xb_medium_check(&item->now)) {
		snprintf(item->why, sizeof(item->why), "%s", xb_error_message());
		return XB_IFACE_BLIND;
	}
	return item->hold == XB_HOLD_OURS    ? XB_IFACE_SAME
	       : item->hold == XB_HOLD_OTHER ? XB_IFACE_HELD
					     : XB_IFACE_BARE;
}

static int add_wanted(struct look *look, const char *name, enum xb_mode mode, bool lasting)
{
	struct xb_interface item = {.mode = mode, .on_trial = !lasting, .lasting = lasting};
	int error = xb_netdev_by_name(name, &item.now);

	if (!error)
		error = hold_of(look, &item.now, &item.hold);
	if (error)
		return error;
	snprintf(item.wanted, sizeof(item.wanted), "%s", name);
	item.difference = difference_of(&item);
	return append(look, &item);
}

/* udev gives such a name to an interface whose own one is still taken. */
static bool is_passing(const char *name)
{
	size_t size = strlen("rename");

	return !strncmp(name, "rename", size) && name[size] &&
	       strspn(name + size, "0123456789") == strlen(name + size);
}

/* A number is that of one interface here: if two anchors have it, one of them has it elsewhere. */
static bool is_here(const struct look *look, const struct xb_ifpin *pin,
		    const struct xb_netdev *device)
{
	return device->program == pin->program &&
	       xb_ifpins_on(&look->all->pins, pin->ifindex, pin->program) == pin;
}

/* As this look has found it by its name, if it has. */
static int device_at(const struct look *look, uint32_t ifindex, struct xb_netdev *device)
{
	const struct xb_interface *known = at_index(look, ifindex);

	if (!known)
		return xb_netdev_by_index(ifindex, device);
	*device = known->now;
	return 0;
}

/*
 * The device that was enrolled, as it is now. *elsewhere: it left this network namespace with our
 * entry. Only a bpf_link can tell: of a number the device may be another one by now.
 */
static int device_of(const struct look *look, const struct xb_enrolled *enrolled,
		     struct xb_netdev *device, bool *elsewhere)
{
	const struct xb_ifpin *pin = xb_ifpins_of(&look->all->pins, enrolled->ifindex);
	int error;

	*elsewhere = false;
	if (pin && !pin->ifindex) {
		/* Its device is gone, whoever has the number now, or somebody ended the link. */
		error = device_at(look, enrolled->ifindex, device);
		if (!error && strcmp(device->name, enrolled->name) != 0)
			*device = (struct xb_netdev){0};
		return error;
	}
	if (!pin)
		return device_at(look, enrolled->ifindex, device);
	error = device_at(look, pin->ifindex, device);
	*elsewhere = !error && !is_here(look, pin, device);
	if (*elsewhere)
		*device = (struct xb_netdev){0};
	return error;
}

static int add_elsewhere(struct look *look, const struct xb_enrolled *enrolled)
{
	struct xb_interface item = {.enrolled = *enrolled, .difference = XB_IFACE_ELSEWHERE};
	struct xb_interface *wanted = wanted_as(look, enrolled->name);

	if (!wanted)
		item.difference = XB_IFACE_UNWANTED;
	if (!wanted || wanted->now.ifindex)
		return append(look, &item);
	wanted->enrolled = *enrolled;
	wanted->difference = XB_IFACE_ELSEWHERE;
	return 0;
}

/* Also after the end of the trial, while its guard is there. */
static bool is_tried(const struct look *look, const struct xb_enrolled *enrolled)
{
	return look->anchor && xb_guard_tries(&look->anchor->guard, enrolled->ifindex);
}

/* An enrolled device that does not have a wanted name. */
static int add_nameless(struct look *look, const struct xb_enrolled *enrolled,
			const struct xb_netdev *device)
{
	struct xb_interface item = {.now = *device, .enrolled = *enrolled};
	struct xb_interface *wanted = wanted_as(look, enrolled->name);
	int error = hold_of(look, device, &item.hold);

	if (error)
		return error;
	item.difference = XB_IFACE_STALE;
	if (item.hold != XB_HOLD_OURS && item.hold != XB_HOLD_FORMER)
		return append(look, &item);
	item.difference = XB_IFACE_UNWANTED;
	item.on_trial = is_tried(look, enrolled);
	if (!wanted || (item.on_trial && !look->trial))
		return append(look, &item);
	/* A trial is of the interface, and of no other one that has its name now. */
	if (wanted->difference == XB_IFACE_ELSEWHERE ||
	    (wanted->now.ifindex && (wanted->lasting || wanted->enrolled.ifindex))) {
		item.mode = wanted->mode;
		item.on_trial |= wanted->on_trial;
		item.lasting = !item.on_trial && !is_passing(device->name);
		item.difference = XB_IFACE_HEIR;
		return append(look, &item);
	}
	wanted->now = *device;
	wanted->hold = item.hold;
	wanted->enrolled = *enrolled;
	wanted->renamed = wanted->on_trial || !is_passing(device->name);
	wanted->difference = difference_of(wanted);
	return 0;
}

/* It was renamed to a name that is wanted as well, as when two swap theirs: the name it had is
 * nobody's any more, and nothing is missing. */
static void follow_to(struct look *look, const struct xb_interface *item)
{
	struct xb_interface *former = wanted_as(look, item->enrolled.name);

	if (!former || former->now.ifindex || item->hold != XB_HOLD_OURS)
		return;
	former->now = item->now;
	former->hold = item->hold;
	former->enrolled = item->enrolled;
	former->renamed = former->lasting;
	former->difference = item->difference;
}

/* The trial's name leads to what another name wanted until the two were swapped. That wish is
 * lasting, and the trial was of another interface. */
static void keep_wish(const struct look *look, struct xb_interface *item)
{
	const struct xb_interface *former = wanted_as(look, item->enrolled.name);

	if (item->lasting || !former || !former->lasting || former == item ||
	    is_tried(look, &item->enrolled) || item->hold != XB_HOLD_OURS ||
	    is_passing(item->now.name))
		return;
	item->lasting = true;
	item->mode = former->mode;
	item->difference = XB_IFACE_HEIR;
}

/* Two rows of one device: a writer was killed when it had given it one of its new number. */
static int add_former_row(struct look *look, struct xb_interface *item,
			  const struct xb_enrolled *enrolled)
{
	struct xb_interface former = {.enrolled = *enrolled, .difference = XB_IFACE_STALE};

	if (enrolled->ifindex == item->now.ifindex) {
		former.enrolled = item->enrolled;
		item->enrolled = *enrolled;
	}
	return append(look, &former);
}

static int add_enrolled(struct look *look, const struct xb_enrolled *enrolled)
{
	struct xb_netdev device;
	struct xb_interface *item;
	bool elsewhere;
	int error = device_of(look, enrolled, &device, &elsewhere);

	if (error)
		return error;
	if (elsewhere)
		return add_elsewhere(look, enrolled);
	item = at_index(look, device.ifindex);
	if (!item)
		return add_nameless(look, enrolled, &device);
	if (item->enrolled.ifindex)
		return add_former_row(look, item, enrolled);
	item->enrolled = *enrolled;
	follow_to(look, item);
	keep_wish(look, item);
	return 0;
}

/* A bpf_link that no row leads to, as when its number went to another interface. */
static int add_pinned(struct look *look, const struct xb_ifpin *pin)
{
	struct xb_interface item = {.hold = XB_HOLD_OURS, .difference = XB_IFACE_UNWANTED};
	int error;

	for (size_t i = 0; pin->of && i < look->all->count; i++)
		if (look->all->item[i].enrolled.ifindex == pin->of)
			return 0;
	error = xb_netdev_by_index(pin->ifindex, &item.now);
	if (error || at_index(look, item.now.ifindex))
		return error;
	if (item.now.program != pin->program) {
		item.now = (struct xb_netdev){0};
		item.difference = XB_IFACE_ELSEWHERE;
	}
	return append(look, &item);
}

static bool can_be_called(const struct xb_interface *item)
{
	return item->now.ifindex && item->hold == XB_HOLD_OURS &&
	       item->enrolled.ifindex == item->now.ifindex;
}

static void say_uncalled(struct xb_interface *item)
{
	char since[32];

	item->difference = XB_IFACE_UNCALLED;
	snprintf(item->why, sizeof(item->why),
		 "%s: the driver does not call the filter, though it is attached: %llu packets "
		 "came in since %s, and the filter saw none of them",
		 item->now.name, (unsigned long long)item->view.missed,
		 xb_time_format(item->view.seen, since));
}

/* Known of the driver, before a packet shows it. One that attaching anew did not help is left to
 * the packets. */
static bool has_forgotten(const struct xb_interface *item)
{
	return item->view.reopened && !item->view.cures && item->now.mode == XB_MODE_NATIVE &&
	       xb_driver_forgets(&item->now);
}

/* Only of what has no other difference. */
static void take_view(const struct xb_anchor *anchor, struct xb_interface *item,
		      const struct xb_calls_view *view)
{
	item->view = *view;
	if (view->calls >= XB_CALLS_DOUBTED && xb_calls_prove_nothing(anchor, item->now.ifindex))
		item->view.calls = XB_CALLS_QUIET;
	if (item->difference != XB_IFACE_SAME)
		return;
	if (item->view.calls == XB_CALLS_MISSING) {
		say_uncalled(item);
	} else if (has_forgotten(item)) {
		item->difference = XB_IFACE_UNCALLED;
		snprintf(item->why, sizeof(item->why),
			 "%s: its driver forgets the filter when the interface is set down and up, "
			 "or gets another MTU, and this has happened",
			 item->now.name);
	}
}

static void look_at_calls(const struct xb_anchor *anchor, const struct xb_calls_row *rows,
			  struct xb_interface *item)
{
	uint32_t row = item->enrolled.row;
	struct xb_calls_view view;

	xb_calls_look(row, &rows[row % XB_IFACE_ROWS], &item->now, &view);
	take_view(anchor, item, &view);
}

/* A look at each device by itself costs more than one at all of them together. */
static int renew(struct xb_interfaces *all)
{
	struct xb_netdev *devices;
	size_t count;
	int error = xb_netdev_all(&devices, &count);

	for (size_t i = 0; !error && i < all->count; i++)
		for (size_t j = 0; j < count; j++)
			if (devices[j].ifindex == all->item[i].now.ifindex &&
			    devices[j].program == all->item[i].now.program) {
				all->item[i].now.received = devices[j].received;
				break;
			}
	free(devices);
	return error;
}

static int watch(const struct xb_anchor *anchor, struct xb_interfaces *all,
		 bool (*is_watched)(const struct xb_interface *item), unsigned int quiet)
{
	struct xb_call_watch *watched = calloc(all->count + 1, sizeof(*watched));
	size_t count = 0, told = 0;
	int error = watched ? 0 : xb_out_of_memory();

	for (size_t i = 0; !error && i < all->count; i++)
		if (can_be_called(&all->item[i]) && is_watched(&all->item[i]))
			watched[count++] = (struct xb_call_watch){
				all->item[i].enrolled.row, all->item[i].now, all->item[i].view};
	if (!error && count)
		error = xb_calls_watch(anchor, watched, count, quiet);
	for (size_t i = 0; !error && i < all->count && told < count; i++)
		if (can_be_called(&all->item[i]) && all->item[i].enrolled.row == watched[told].row)
			take_view(anchor, &all->item[i], &watched[told++].view);
	free(watched);
	return error;
}

#define FRESH_QUIET   100 /* ms, where nobody could be asked */
#define DOUBTED_QUIET 300 /* the same */
#define CURED_QUIET   500 /* packets came a moment ago */

static bool is_doubted(const struct xb_interface *item)
{
	return item->view.calls == XB_CALLS_DOUBTED;
}

static bool is_fresh(const struct xb_interface *item)
{
	return item->fresh && item->difference == XB_IFACE_SAME;
}

/* Of the others, a look a moment later says the same. */
static bool has_missed(const struct xb_interface *item)
{
	return can_be_called(item) && item->view.missed;
}

int xb_interfaces_watch(const struct xb_anchor *anchor, struct xb_interfaces *all)
{
	struct xb_enrolled *missed = calloc(all->count + 1, sizeof(*missed));
	struct xb_calls_row *rows = NULL;
	size_t count = 0;
	int error = 0;

	if (!missed)
		return xb_out_of_memory();
	for (size_t i = 0; i < all->count; i++)
		if (has_missed(&all->item[i]))
			missed[count++] = all->item[i].enrolled;
	if (count)
		error = xb_calls_read_all(anchor, missed, count, &rows);
	if (!error && count)
		error = renew(all);
	for (size_t i = 0; !error && count && i < all->count; i++)
		if (has_missed(&all->item[i]))
			look_at_calls(anchor, rows, &all->item[i]);
	free(rows);
	free(missed);
	return error || !count ? error : watch(anchor, all, is_doubted, DOUBTED_QUIET);
}

int xb_interfaces_watch_fresh(const struct xb_anchor *anchor, struct xb_interfaces *all)
{
	unsigned int quiet = FRESH_QUIET;

	for (size_t i = 0; i < all->count; i++)
		if (is_fresh(&all->item[i]) && all->item[i].view.cures)
			quiet = CURED_QUIET;
	return watch(anchor, all, is_fresh, quiet);
}

static void mark_left(const struct look *look)
{
	for (size_t i = 0; look->anchor && i < look->all->count; i++) {
		struct xb_interface *item = &look->all->item[i];

		item->left = item->difference == XB_IFACE_UNWANTED && item->now.ifindex &&
			     xb_guard_has_left(&look->anchor->guard, item->now.ifindex);
	}
}

int xb_interfaces_look(const struct xb_anchor *anchor, const struct xb_wanted *wanted, size_t count,
		       const struct xb_trial *trial, struct xb_interfaces *all)
{
	struct look look = {.anchor = anchor, .trial = trial, .all = all};
	struct xb_enrolled *enrolled = NULL;
	char *const *tried;
	size_t rows = 0, tried_count = trial ? xb_trial_interfaces(trial, &tried) : 0;
	struct xb_calls_row *now = NULL;
	int error = anchor ? xb_anchor_enrolled(anchor, &enrolled, &rows) : 0;

	*all = (struct xb_interfaces){0};
	if (!error && rows)
		error = xb_calls_read_all(anchor, enrolled, rows, &now);
	if (!error && anchor && anchor->flavour == XB_FLAVOUR_LINK)
		error = xb_ifpins_read(anchor->pins, &all->pins);
	for (size_t i = 0; !error && i < count; i++)
		error = add_wanted(&look, wanted[i].name, wanted[i].mode, true);
	for (size_t i = 0; !error && i < tried_count; i++)
		if (!wanted_as(&look, tried[i]))
			error = add_wanted(&look, tried[i], XB_MODE_AUTO, false);
	for (size_t i = 0; !error && i < rows; i++)
		error = add_enrolled(&look, &enrolled[i]);
	for (size_t i = 0; !error && i < all->pins.count; i++)
		if (all->pins.item[i].ifindex)
			error = add_pinned(&look, &all->pins.item[i]);
	for (size_t i = 0; !error && anchor && i < all->count; i++)
		if (can_be_called(&all->item[i]))
			look_at_calls(anchor, now, &all->item[i]);
	free(now);
	free(enrolled);
	mark_left(&look);
	return error;
}

struct xb_interface *xb_interfaces_find(const struct xb_interfaces *all, const char *name)
{
	struct look look = {.all = (struct xb_interfaces *)all};
	struct xb_interface *item = wanted_as(&look, name);
	struct xb_netdev device;

	if (item || !name[0])
		return item;
	if (!xb_netdev_by_name(name, &device) && device.ifindex)
		item = at_index(&look, device.ifindex);
	for (size_t i = 0; !item && i < all->count; i++)
		if (all->item[i].enrolled.ifindex && !strcmp(all->item[i].enrolled.name, name))
			item = &all->item[i];
	return item;
}

bool xb_interface_is_open(const struct xb_interface *item)
{
	return item->wanted[0] && item->difference != XB_IFACE_SAME &&
	       item->difference != XB_IFACE_HEIR && item->difference != XB_IFACE_ELSEWHERE;
}

static bool is_elsewhere(const struct xb_interface *item)
{
	return item->wanted[0] && item->difference == XB_IFACE_ELSEWHERE;
}

bool xb_interface_is_amiss(const struct xb_interface *item)
{
	return xb_interface_is_open(item) || is_elsewhere(item);
}

const char *xb_interface_amiss(const struct xb_interface *item, char text[XB_AMISS_TEXT])
{
	if (is_elsewhere(item))
		snprintf(text, XB_AMISS_TEXT,
			 "%s is in another network namespace, where the filter is still on it",
			 item->wanted);
	else if (item->why[0])
		snprintf(text, XB_AMISS_TEXT, "unfiltered: %s", item->why);
	else
		snprintf(text, XB_AMISS_TEXT, "%s is unfiltered: %s", item->wanted,
			 xb_interface_state(item));
	return text;
}

const char *xb_interface_state(const struct xb_interface *item)
{
	static const char *const states[] = {
		[XB_IFACE_SAME] = "attached",
		[XB_IFACE_BARE] = "not attached",
		[XB_IFACE_HELD] = "held by another program",
		[XB_IFACE_BLIND] = "cannot be filtered",
		[XB_IFACE_UNCALLED] = "attached, but the driver does not call the filter",
		[XB_IFACE_MISSING] = "missing",
		[XB_IFACE_ELSEWHERE] = "attached, in another network namespace",
		[XB_IFACE_HEIR] = "attached, renamed",
		[XB_IFACE_UNWANTED] = "attached, wanted by nobody",
		[XB_IFACE_STALE] = "gone",
	};

	return states[item->difference];
}
