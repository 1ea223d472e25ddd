/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One flavour each: a bpf_link of our own, or a component of libxdp's dispatcher. */
#include "attach/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/dispatcher.h"
#include "attach/driver.h"
#include "attach/extack.h"
#include "attach/linkaway.h"
#include "attach/medium.h"
#include "attach/offload.h"
#include "attach/pin.h"
#include "attach/refusal.h"
#include "base/error.h"
#include "base/program.h"

static bool is_dispatched(const struct xb_anchor *anchor)
{
	return anchor->flavour == XB_FLAVOUR_DISPATCHER;
}

static int own_hold(const struct xb_anchor *anchor, const struct xb_ifpins *pins,
		    const struct xb_netdev *device, enum xb_hold *hold)
{
	const struct xb_ifpin *pin = xb_ifpins_of(pins, device->ifindex);
	uint32_t entry;
	int error = xb_program_ask(anchor->entry, &entry);

	if (error)
		return error;
	*hold = device->program == entry ? XB_HOLD_OURS
		: pin && pin->ifindex == device->ifindex && pin->program == device->program
			? XB_HOLD_FORMER
			: XB_HOLD_OTHER;
	return 0;
}

int xb_hold_of(const struct xb_anchor *anchor, const struct xb_ifpins *pins,
	       const struct xb_netdev *device, enum xb_hold *hold)
{
	int found;

	*hold = device->program ? XB_HOLD_OTHER : XB_HOLD_NONE;
	if (!device->program || !anchor)
		return 0;
	if (!is_dispatched(anchor))
		return own_hold(anchor, pins, device, hold);
	found = xb_dispatcher_has(anchor, device->ifindex);
	if (found < 0)
		return found;
	*hold = found == 1 ? XB_HOLD_OURS : found ? XB_HOLD_FORMER : XB_HOLD_OTHER;
	return 0;
}

static int hold_now(const struct xb_anchor *anchor, const struct xb_netdev *device,
		    enum xb_hold *hold)
{
	struct xb_ifpins pins = {0};
	int error = is_dispatched(anchor) ? 0 : xb_ifpins_read(anchor->pins, &pins);

	if (!error)
		error = xb_hold_of(anchor, &pins, device, hold);
	xb_ifpins_free(&pins);
	return error;
}

/* Attaches in exactly this mode. A negative errno; *told: it has a message. Otherwise the kernel's
 * sentence is that of xb_extack(). */
static int attach_mode(const struct xb_anchor *anchor, uint32_t ifindex, enum xb_mode mode,
		       bool *told)
{
	uint32_t offloads = xb_offloads_before(anchor, ifindex);
	int error;

	xb_links_before(ifindex);
	xb_extack_begin();
	error = is_dispatched(anchor) ? xb_dispatcher_attach(anchor, ifindex, mode, told)
				      : xb_ifpin_attach(anchor->pins, ifindex, anchor->entry,
							mode == XB_MODE_SKB, told);
	xb_extack_end();
	xb_offloads_after(anchor, ifindex, offloads);
	return error;
}

/* After attach_mode(). */
static int explain(const struct xb_netdev *device, enum xb_mode mode, enum xb_mode wanted,
		   int error)
{
	const struct xb_refusal refusal = {.name = device->name,
					   .kind = device->kind,
					   .mode = mode,
					   .wanted = wanted,
					   .error = -error,
					   .sentence = xb_extack()};

	return xb_refusal_explain(&refusal);
}

/* Out of descriptors, the other mode is no way either; the rest is no matter of the mode. */
static bool other_mode_may_do(int error)
{
	return error != -EBUSY && error != -EEXIST && error != -EPERM && error != -EMFILE &&
	       error != -ENFILE && error != -ENODEV;
}

static int refuse_mixture(const struct xb_netdev *device, enum xb_mode mode)
{
	if (mode == device->mode)
		return 0;
	return xb_system_error(0,
			       "%s: other XDP programs are there in %s mode, and all of an "
			       "interface have the same%s",
			       device->name, xb_mode_name(device->mode),
			       xb_advice(device->mode == XB_MODE_NATIVE
						 ? XB_ADVICE_MODE_NATIVE_OR_AUTO
						 : XB_ADVICE_MODE_SKB_OR_AUTO));
}

static int refuse_other(const struct xb_anchor *anchor, const struct xb_netdev *device,
			enum xb_mode mode)
{
	int joins, shared;

	if (!device->program)
		return 0;
	joins = is_dispatched(anchor) ? xb_dispatcher_joins(device->ifindex) : 0;
	if (joins <= 0)
		return joins ? joins : xb_refusal_held(device);
	shared = xb_dispatcher_is_shared(anchor, device->ifindex);
	return shared > 0 ? refuse_mixture(device, mode) : shared;
}

/* The pin that the interface's bpf_link will have may be that of an interface which is gone. */
static int vacate(const struct xb_anchor *anchor, uint32_t ifindex)
{
	const struct xb_ifpin *pin;
	struct xb_ifpins pins;
	int error = is_dispatched(anchor) ? 0 : xb_ifpins_read(anchor->pins, &pins);

	if (error || is_dispatched(anchor))
		return error;
	pin = xb_ifpins_of(&pins, ifindex);
	error = pin ? xb_ifpin_vacate(anchor->pins, pin) : 0;
	xb_ifpins_free(&pins);
	return error;
}

/* A pinned bpf_link left by an earlier anchor of ours takes the new entry without a gap. */
static int take_over(const struct xb_anchor *anchor, uint32_t ifindex)
{
	const struct xb_ifpin *pin;
	struct xb_ifpins pins;
	int error = xb_ifpins_read(anchor->pins, &pins);

	if (error)
		return error;
	pin = xb_ifpins_of(&pins, ifindex);
	error = pin ? xb_ifpin_update(anchor->pins, pin, anchor->entry) : -ENOENT;
	xb_ifpins_free(&pins);
	return error;
}

/* The user did not ask for native mode, and is told why not. */
static void warn_of_skb(const struct xb_netdev *device, const char *why)
{
	xb_warning("%s; %s is protected in skb mode, which is slower", why, device->name);
}

/* Programs of others decide if there are some; otherwise native, unless the driver is known to do
 * wrong then. */
static int choose_mode(const struct xb_netdev *device, enum xb_mode wanted, enum xb_mode *mode)
{
	int error;

	*mode = wanted == XB_MODE_SKB ? XB_MODE_SKB : XB_MODE_NATIVE;
	if (wanted == XB_MODE_AUTO && device->program)
		*mode = device->mode;
	if (*mode == XB_MODE_SKB)
		return 0;
	error = xb_driver_check(device, wanted);
	if (error && wanted == XB_MODE_AUTO && !device->program) {
		warn_of_skb(device, xb_error_message());
		*mode = XB_MODE_SKB;
		return 0;
	}
	return error;
}

static int attach_anew(const struct xb_anchor *anchor, const struct xb_netdev *device,
		       enum xb_mode wanted, enum xb_mode *mode)
{
	bool told;
	int error = choose_mode(device, wanted, mode);

	if (!error)
		error = refuse_other(anchor, device, *mode);
	if (!error)
		error = vacate(anchor, device->ifindex);
	if (error)
		return error;
	if (*mode == XB_MODE_NATIVE)
		xb_driver_announce(device);
	error = attach_mode(anchor, device->ifindex, *mode, &told);
	if (error && !told && wanted == XB_MODE_AUTO && other_mode_may_do(error)) {
		explain(device, *mode, wanted, error);
		warn_of_skb(device, xb_error_message());
		*mode = XB_MODE_SKB;
		error = attach_mode(anchor, device->ifindex, XB_MODE_SKB, &told);
	}
	return error && !told ? explain(device, *mode, wanted, error) : error;
}

/* Whether what bears the name now has our entry; *mode: the mode it has. */
static int verify(const struct xb_anchor *anchor, const struct xb_netdev *device,
		  enum xb_mode *mode)
{
	struct xb_netdev now;
	enum xb_hold hold = XB_HOLD_NONE;
	int error = xb_netdev_by_name(device->name, &now);

	if (!error)
		error = hold_now(anchor, &now, &hold);
	if (error)
		return error;
	if (now.ifindex != device->ifindex)
		return xb_system_error(
			0,
			"%s: the interface was removed or renamed while it was being "
			"attached",
			device->name);
	if (hold != XB_HOLD_OURS)
		return xb_system_error(0,
				       "%s: the kernel does not show the filter on the interface",
				       device->name);
	*mode = now.mode;
	return 0;
}

int xb_attach(const struct xb_anchor *anchor, const struct xb_netdev *device, enum xb_mode wanted,
	      enum xb_mode *mode)
{
	enum xb_hold hold = XB_HOLD_NONE;
	uint32_t mute;
	int error = xb_medium_check(device);

	if (!error)
		error = hold_now(anchor, device, &hold);
	if (!error)
		error = xb_anchor_enrol(anchor, device->ifindex, device->name);
	if (!error && hold != XB_HOLD_OURS)
		error = xb_anchor_mute(anchor, device->ifindex, XB_MUTE_UNSEEN, &mute);
	if (error)
		return error;
	if (hold == XB_HOLD_FORMER && !is_dispatched(anchor))
		error = take_over(anchor, device->ifindex);
	else if (hold != XB_HOLD_OURS)
		error = -ENOENT;
	if (error == -ENOENT)
		error = attach_anew(anchor, device, wanted, mode);
	if (!error)
		error = verify(anchor, device, mode);
	if (!error)
		return 0;
	xb_offloads_put_back(anchor, device->ifindex, true);
	xb_anchor_dismiss(anchor, device->ifindex);
	return error;
}

/* Also the pin of one that had the number and is gone. */
static const struct xb_ifpin *pin_to_end(const struct xb_ifpins *pins,
					 const struct xb_netdev *device, uint32_t ifindex)
{
	const struct xb_ifpin *pin = xb_ifpins_on(pins, ifindex, device->program);

	if (!pin)
		pin = xb_ifpins_of(pins, ifindex);
	return pin && (!pin->ifindex || pin->ifindex == ifindex) ? pin : NULL;
}

static int take_off(const struct xb_anchor *anchor, uint32_t ifindex)
{
	const struct xb_ifpin *pin;
	struct xb_netdev device;
	struct xb_ifpins pins;
	int error;

	xb_links_before(ifindex);
	if (is_dispatched(anchor))
		return xb_dispatcher_detach(anchor, ifindex);
	error = xb_netdev_by_index(ifindex, &device);
	if (error)
		return error;
	error = xb_ifpins_read(anchor->pins, &pins);
	pin = error ? NULL : pin_to_end(&pins, &device, ifindex);
	if (pin)
		error = xb_ifpin_detach(anchor->pins, pin);
	xb_ifpins_free(&pins);
	return error;
}

int xb_detach(const struct xb_anchor *anchor, uint32_t ifindex)
{
	struct xb_netdev now;
	enum xb_hold hold = XB_HOLD_NONE;
	int error = take_off(anchor, ifindex);

	if (!error)
		error = xb_netdev_by_index(ifindex, &now);
	if (!error)
		error = hold_now(anchor, &now, &hold);
	if (!error && hold == XB_HOLD_OURS && !is_dispatched(anchor))
		error = xb_system_error(0,
					"%s: the filter is on the interface, but its pin is lost; "
					"`ip link set dev %s xdp off` takes it off",
					now.name, now.name);
	if (error)
		return error;
	xb_offloads_put_back(anchor, ifindex, true);
	return xb_anchor_dismiss(anchor, ifindex);
}

/* What libxdp cannot read on an interface that is not ours is no matter of ours. */
static int detach_dispatched(const struct xb_anchor *anchor, bool former)
{
	struct xb_netdev *all;
	bool stays = false;
	size_t count;
	int error = xb_netdev_all(&all, &count);

	for (size_t i = 0; !error && i < count; i++) {
		if (!all[i].program)
			continue;
		xb_links_before(all[i].ifindex);
		error = xb_dispatcher_detach(anchor, all[i].ifindex);
		if (error && !former && !xb_anchor_is_enrolled(anchor, all[i].ifindex))
			error = 0;
		stays |= error == XB_STAYS_ON;
		error = error == XB_STAYS_ON ? 0 : error;
	}
	free(all);
	return !error && stays ? XB_STAYS_ON : error;
}

static int detach_linked(const struct xb_anchor *anchor)
{
	struct xb_ifpins pins;
	bool stays = false;
	int error = xb_ifpins_read(anchor->pins, &pins);

	for (size_t i = 0; !error && i < pins.count; i++) {
		xb_links_before(pins.item[i].ifindex);
		error = xb_ifpin_detach(anchor->pins, &pins.item[i]);
		stays |= error == XB_STAYS_ON;
		error = error == XB_STAYS_ON ? 0 : error;
	}
	xb_ifpins_free(&pins);
	return !error && stays ? XB_STAYS_ON : error;
}

static void put_back_offloads(const struct xb_anchor *anchor)
{
	struct xb_enrolled *all = NULL;
	size_t count = 0;

	if (!xb_anchor_enrolled(anchor, &all, &count))
		for (size_t i = 0; i < count; i++)
			xb_offloads_put_back(anchor, all[i].ifindex, true);
	free(all);
}

/* The anchor goes with its last interface, and the rows with it. */
int xb_detach_all(const struct xb_anchor *anchor)
{
	int error =
		is_dispatched(anchor) ? detach_dispatched(anchor, false) : detach_linked(anchor);

	if (error)
		return error;
	put_back_offloads(anchor);
	xb_rows_tell(anchor);
	return 0;
}

int xb_detach_allowed(const struct xb_anchor *anchor)
{
	return is_dispatched(anchor) ? xb_dispatcher_allowed() : 0;
}

static uint64_t microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* What can be known before anything is taken off. */
static int refuse_change(const struct xb_anchor *anchor, const struct xb_netdev *device,
			 enum xb_mode mode)
{
	int shared = is_dispatched(anchor) ? xb_dispatcher_is_shared(anchor, device->ifindex) : 0;

	if (shared)
		return shared < 0 ? shared : refuse_mixture(device, mode);
	if (mode == XB_MODE_NATIVE && xb_netdev_has_native(device->ifindex) == XB_SUPPORT_NO)
		return xb_refusal_featureless(device);
	return xb_driver_check(device, mode);
}

static int put_back_mode(const struct xb_anchor *anchor, const struct xb_netdev *device)
{
	char message[512];
	bool told;
	int error;

	snprintf(message, sizeof(message), "%s", xb_error_message());
	error = attach_mode(anchor, device->ifindex, device->mode, &told);
	if (!error)
		return xb_system_error(0, "%s; it is in %s mode as before", message,
				       xb_mode_name(device->mode));
	return xb_system_error(0, "%s; nor could %s mode be put back: %s IS UNFILTERED", message,
			       xb_mode_name(device->mode), device->name);
}

int xb_change_mode(const struct xb_anchor *anchor, const struct xb_netdev *device,
		   enum xb_mode mode, uint64_t *open)
{
	enum xb_mode got;
	uint64_t begun;
	uint32_t mute;
	bool told;
	int error = refuse_change(anchor, device, mode);

	*open = 0;
	/* The other mode may lose the tags of VLANs. */
	if (!error)
		error = xb_anchor_mute(anchor, device->ifindex, XB_MUTE_UNSEEN, &mute);
	if (error)
		return error;
	begun = microseconds();
	error = take_off(anchor, device->ifindex);
	if (error) {
		xb_anchor_mute(anchor, device->ifindex, mute, &mute);
		return error;
	}
	error = attach_mode(anchor, device->ifindex, mode, &told);
	if (error && !told)
		explain(device, mode, mode, error);
	if (error)
		error = put_back_mode(anchor, device);
	*open = microseconds() - begun;
	if (!error && mode == XB_MODE_NATIVE)
		xb_offloads_put_back(anchor, device->ifindex, false);
	return error ? error : verify(anchor, device, &got);
}

int xb_leave_native(const struct xb_anchor *anchor, const struct xb_netdev *device, bool *left,
		    uint64_t *open)
{
	char why[512], message[512];
	int error;

	*left = false;
	*open = 0;
	if (device->mode != XB_MODE_NATIVE || !xb_driver_check(device, XB_MODE_AUTO))
		return 0;
	snprintf(why, sizeof(why), "%s", xb_error_message());
	*left = true;
	error = xb_change_mode(anchor, device, XB_MODE_SKB, open);
	if (!error) {
		warn_of_skb(device, why);
		return 0;
	}
	snprintf(message, sizeof(message), "%s", xb_error_message());
	return xb_system_error(0, "%s; %s", why, message);
}

/* Own links are replaced in place, so their pins say which still have a former entry. */
static int detach_former_links(const struct xb_anchor *anchor, const char *directory)
{
	uint32_t entry = 0;
	struct xb_ifpins pins = {0};
	int error = anchor ? xb_program_ask(anchor->entry, &entry) : 0;

	if (!error)
		error = xb_ifpins_read(directory, &pins);
	for (size_t i = 0; !error && i < pins.count; i++)
		if (pins.item[i].program != entry)
			error = xb_ifpin_detach(directory, &pins.item[i]);
	xb_ifpins_free(&pins);
	return error;
}

int xb_detach_former(const struct xb_anchor *anchor, const struct xb_anchor *former)
{
	return is_dispatched(former) ? detach_dispatched(former, true)
				     : detach_former_links(anchor, former->pins);
}
