/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who finds which kind. */
#include "machine/survey.h"

#include <string.h>

#include "machine/addresses.h"
#include "machine/devices.h"
#include "machine/gateways.h"
#include "machine/peerfile.h"
#include "machine/servers.h"
#include "machine/timeservers.h"

static int add_prefix(struct xb_lifelines *out, const char *text, enum xb_lifeline_kind kind,
		      const char *why)
{
	struct xb_entry entry;
	int error = xb_entry_parse(text, strlen(text), NULL, &entry, NULL);

	return error ? error : xb_lifelines_add(out, &entry, kind, "%s", why);
}

static int add_loopback(struct xb_lifelines *out)
{
	int error = add_prefix(out, "127.0.0.0/8", XB_LIFELINE_LOOPBACK, "this machine itself");

	return error ? error : add_prefix(out, "::1", XB_LIFELINE_LOOPBACK, "this machine itself");
}

static int add_link_local(struct xb_lifelines *out)
{
	int error = add_prefix(out, "169.254.0.0/16", XB_LIFELINE_LINK_LOCAL,
			       "autoconfiguration, cloud metadata");

	return error ? error
		     : add_prefix(out, "fe80::/10", XB_LIFELINE_LINK_LOCAL,
				  "neighbour discovery, router advertisements");
}

/* What depends on interfaces. */
static int find_on_devices(const uint32_t *ifindexes, size_t count, unsigned int kinds,
			   struct xb_lifelines *out)
{
	struct xb_devices devices = {0};
	int error = xb_devices_find(ifindexes, count, &devices);

	if (!error && kinds & 1U << XB_LIFELINE_ADDRESS)
		error = xb_device_addresses(&devices, out);
	if (!error && kinds & 1U << XB_LIFELINE_GATEWAY)
		error = xb_gateways_find(&devices, out);
	xb_devices_free(&devices);
	return error;
}

int xb_lifelines_find(const uint32_t *ifindexes, size_t count, const char *run, unsigned int kinds,
		      struct xb_lifelines *out)
{
	static const struct {
		enum xb_lifeline_kind kind;
		int (*find)(struct xb_lifelines *out);
	} finders[] = {
		{XB_LIFELINE_RESOLVER, xb_resolvers_find}, {XB_LIFELINE_LOOPBACK, add_loopback},
		{XB_LIFELINE_LINK_LOCAL, add_link_local},  {XB_LIFELINE_TIME, xb_time_servers_find},
		{XB_LIFELINE_DHCP, xb_dhcp_servers_find},
	};
	int error = 0;

	if (kinds & (1U << XB_LIFELINE_ADDRESS | 1U << XB_LIFELINE_GATEWAY))
		error = find_on_devices(ifindexes, count, kinds, out);
	for (size_t i = 0; !error && i < sizeof(finders) / sizeof(finders[0]); i++)
		if (kinds & 1U << finders[i].kind)
			error = finders[i].find(out);
	if (!error && kinds & 1U << XB_LIFELINE_PEER)
		error = xb_peers_find(run, out);
	return error;
}
