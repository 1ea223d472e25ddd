/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/forceoff.h"

#include <stdio.h>
#include <stdlib.h>

#include "attach/mtu.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "engine/interfaces.h"
#include "engine/writepath.h"

#define LOW_MTU 1500

/* An interface whose MTU is lower for the moment. */
struct lowered {
	char name[IF_NAMESIZE];
	int mtu;
	uint64_t since;
};

static int lower(const struct xb_interface *item, struct lowered *lowered)
{
	int mtu = xb_mtu_get(item->now.name), error;

	if (mtu <= LOW_MTU)
		return 0;
	error = xb_mtu_set(item->now.name, LOW_MTU);
	if (error)
		return error;
	snprintf(lowered->name, sizeof(lowered->name), "%s", item->now.name);
	lowered->mtu = mtu;
	lowered->since = xb_clock();
	return 0;
}

/* As it was, also if the program is still there. */
static void put_back(const struct lowered *lowered)
{
	double seconds = (double)(xb_clock() - lowered->since) / (double)XB_SECOND;

	if (!lowered->mtu)
		return;
	if (xb_mtu_set(lowered->name, lowered->mtu))
		xb_warning("the MTU of %s is %d now, it was %d: %s", lowered->name, LOW_MTU,
			   lowered->mtu, xb_error_message());
	else
		xb_notice("%s had the MTU %d instead of %d for %.2f s, so that the program could "
			  "come off",
			  lowered->name, LOW_MTU, lowered->mtu, seconds);
}

int forceoff(const struct cli *cli, forceoff_asked *asked, const void *request,
	     int (*off)(const struct cli *cli))
{
	const struct xb_interfaces *all = &cli->written->interfaces;
	struct lowered *lowered = calloc(all->count + 1, sizeof(*lowered));
	size_t count = all->count;
	int error = 0;

	if (!lowered)
		return xb_out_of_memory();
	for (size_t i = 0; !error && i < count; i++)
		if (all->item[i].left && asked(&all->item[i], request))
			error = lower(&all->item[i], &lowered[i]);
	xb_fault("mtu-lowered");
	/* It fills the table anew. */
	if (!error)
		error = off(cli);
	for (size_t i = 0; i < count; i++)
		put_back(&lowered[i]);
	free(lowered);
	return error;
}
