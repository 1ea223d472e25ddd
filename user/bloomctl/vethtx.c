/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at what is attached; a note is all that can come of it, so failures are passed over. */
#include "bloomctl/vethtx.h"

#include <stdlib.h>
#include <string.h>

#include "attach/anchor.h"
#include "attach/netdev.h"
#include "base/error.h"
#include "engine/vlans.h"
#include "machine/devices.h"
#include "store/store.h"

bool vethtx_wanted(const struct cli *cli)
{
	struct xb_store *store;
	struct xb_txn *txn;
	bool wanted = false;

	xb_store_begin_reading(cli->paths.state, &store, &txn);
	if (txn && xb_queries_answered_by(txn, &wanted))
		wanted = false;
	xb_store_end_reading(store, txn);
	return wanted;
}

static bool is_among(const char *name, char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !names;
}

static bool is_native_veth(const struct xb_enrolled *one)
{
	const struct xb_device *device = NULL;
	struct xb_devices devices;
	struct xb_netdev now;
	bool is;

	if (!xb_devices_find(&one->ifindex, 1, &devices))
		device = xb_device_chosen(&devices, one->ifindex);
	is = device && device->veth && !xb_netdev_by_index(one->ifindex, &now) && now.program &&
	     now.mode == XB_MODE_NATIVE;
	xb_devices_free(&devices);
	return is;
}

void vethtx_note(const struct cli *cli, char **names, int count)
{
	struct xb_enrolled *all = NULL;
	size_t enrolled = 0, i = 0;
	struct xb_anchor anchor;

	if (cli->quiet || cli->wish->commits || xb_anchor_open(cli->paths.pins, &anchor))
		return;
	if (xb_anchor_enrolled(&anchor, &all, &enrolled))
		enrolled = 0;
	while (i < enrolled && !(is_among(all[i].name, names, count) && is_native_veth(&all[i])))
		i++;
	if (i < enrolled)
		xb_notice("%s is a veth in native mode: answers arrive only if its other end has "
			  "an XDP program too, or after `bloomctl attach %s --mode skb`",
			  all[i].name, all[i].name);
	free(all);
	xb_anchor_close(&anchor);
}
