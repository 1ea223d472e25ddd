/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kind of frames an interface has, by its type. */
#include "attach/medium.h"

#include <linux/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/*
 * Their type is Ethernet, but no packet reaches XDP on them: tc redirects to an ifb behind the
 * place where XDP runs, and a VRF takes packets from its ports at the IP layer.
 */
static const struct {
	const char *kind, *instead;
} unseen[] = {
	{"ifb", "the interface its traffic is redirected from"},
	{"vrf", "the interfaces in it"},
};

int xb_medium_check(const struct xb_netdev *device)
{
	char kind[32];

	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		if (!strcmp(device->kind, unseen[i].kind))
			return xb_input_error(
				"%s: XDP sees no packet on %s devices; filter %s instead",
				device->name, device->kind, unseen[i].instead);
	if (device->type == ARPHRD_ETHER || device->type == ARPHRD_LOOPBACK)
		return 0;
	snprintf(kind, sizeof(kind), "%s", device->kind);
	if (!kind[0])
		snprintf(kind, sizeof(kind), "type %u", device->type);
	return xb_input_error("%s: packets of this device (%s) have no Ethernet header, so the "
			      "filter cannot read them; filter the Ethernet interface that they "
			      "come in on instead%s",
			      device->name, kind,
			      device->type == ARPHRD_PPP ? " (PPPoE is looked into there)" : "");
}
