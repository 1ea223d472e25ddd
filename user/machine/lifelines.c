/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of lifelines, and where somebody looked for them. */
#include "machine/lifelines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "machine/sockaddr.h"

static const char *const names[XB_LIFELINE_KINDS] = {
	[XB_LIFELINE_ADDRESS] = "address",
	[XB_LIFELINE_GATEWAY] = "gateway",
	[XB_LIFELINE_RESOLVER] = "resolver",
	[XB_LIFELINE_LOOPBACK] = "loopback",
	[XB_LIFELINE_LINK_LOCAL] = "link-local",
	[XB_LIFELINE_SSH] = "ssh",
	[XB_LIFELINE_TIME] = "time",
	[XB_LIFELINE_DHCP] = "dhcp",
	[XB_LIFELINE_PEER] = "peer",
};

const char *xb_lifeline_name(enum xb_lifeline_kind kind)
{
	return names[kind];
}

int xb_lifeline_parse(const char *text, enum xb_lifeline_kind *kind)
{
	for (unsigned int i = 0; i < XB_LIFELINE_KINDS; i++) {
		if (!strcmp(text, names[i])) {
			*kind = i;
			return 0;
		}
	}
	return xb_input_error("unknown kind of lifeline '%.64s': address, gateway, resolver, "
			      "loopback, link-local, ssh, time, dhcp or peer",
			      text);
}

static bool has(const struct xb_lifelines *lifelines, const struct xb_entry *entry,
		enum xb_lifeline_kind kind)
{
	for (size_t i = 0; i < lifelines->count; i++)
		if (lifelines->item[i].kind == kind &&
		    !xb_entry_compare(&lifelines->item[i].entry, entry))
			return true;
	return false;
}

static int append(struct xb_lifeline **array, size_t *count, size_t *room,
		  const struct xb_lifeline *one)
{
	int error = xb_array_grow(array, room, *count + 1, sizeof(*one));

	if (!error)
		(*array)[(*count)++] = *one;
	return error;
}

int xb_lifelines_add(struct xb_lifelines *lifelines, const struct xb_entry *entry,
		     enum xb_lifeline_kind kind, const char *why_format, ...)
{
	struct xb_lifeline added = {.entry = *entry, .kind = kind};
	va_list arguments;
	int error = 0;

	va_start(arguments, why_format);
	vsnprintf(added.why, sizeof(added.why), why_format, arguments);
	va_end(arguments);
	xb_utf8_clean(added.why);
	if (kind != XB_LIFELINE_ADDRESS || !xb_address_is_link_local(entry)) {
		lifelines->network |= kind == XB_LIFELINE_ADDRESS;
		error = xb_lifelines_see(lifelines, entry, kind, added.why);
	}
	if (error || has(lifelines, entry, kind))
		return error;
	return append(&lifelines->item, &lifelines->count, &lifelines->room, &added);
}

static bool is_same_place(const struct xb_lifeline *place, const struct xb_entry *entry,
			  enum xb_lifeline_kind kind, const char *why, size_t why_size)
{
	if (place->kind != kind)
		return false;
	if (kind == XB_LIFELINE_RESOLVER || kind == XB_LIFELINE_PEER)
		return true;
	return xb_entry_is_ipv6(&place->entry) == xb_entry_is_ipv6(entry) &&
	       strlen(place->why) == why_size && !memcmp(place->why, why, why_size);
}

int xb_lifelines_see(struct xb_lifelines *lifelines, const struct xb_entry *like,
		     enum xb_lifeline_kind kind, const char *why)
{
	struct xb_lifeline place = {.entry = *like, .kind = kind};

	snprintf(place.why, sizeof(place.why), "%s", why);
	xb_utf8_clean(place.why);
	if (xb_lifelines_deny(lifelines, like, kind, place.why, strlen(place.why)))
		return 0;
	return append(&lifelines->seen, &lifelines->seen_count, &lifelines->seen_room, &place);
}

int xb_lifelines_see_device(struct xb_lifelines *lifelines, const struct xb_entry *like,
			    const char *name)
{
	char why[sizeof(((struct xb_lifeline *)0)->why)];
	int error;

	snprintf(why, sizeof(why), XB_WHY_ADDRESS, name);
	error = xb_lifelines_see(lifelines, like, XB_LIFELINE_ADDRESS, why);
	snprintf(why, sizeof(why), XB_WHY_GATEWAY, name);
	return error ? error : xb_lifelines_see(lifelines, like, XB_LIFELINE_GATEWAY, why);
}

bool xb_lifelines_deny(const struct xb_lifelines *found, const struct xb_entry *entry,
		       enum xb_lifeline_kind kind, const char *why, size_t why_size)
{
	for (size_t i = 0; i < found->seen_count; i++)
		if (is_same_place(&found->seen[i], entry, kind, why, why_size))
			return true;
	return false;
}

void xb_lifelines_free(struct xb_lifelines *lifelines)
{
	free(lifelines->item);
	free(lifelines->seen);
	*lifelines = (struct xb_lifelines){0};
}
