/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/events/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/policy.h"

static uint64_t count_entries(const struct xb_totals *totals)
{
	return totals->host4 + totals->prefix4 + totals->net6 + totals->names;
}

static void compose_interfaces(const struct xb_interfaces *all, char text[64])
{
	size_t wanted = 0, open = 0;

	for (size_t i = 0; i < all->count; i++) {
		wanted += all->item[i].wanted[0] != '\0';
		open += xb_interface_is_open(&all->item[i]);
	}
	if (!wanted)
		snprintf(text, 64, "no interface");
	else if (open)
		snprintf(text, 64, "%zu of %zu interfaces", wanted - open, wanted);
	else
		snprintf(text, 64, "%zu interface%s", wanted, wanted == 1 ? "" : "s");
}

void status_compose(const struct xb_health *health, char text[STATUS_BYTES])
{
	uint64_t entries = count_entries(&health->store.meta.totals);
	const struct xb_problems *problems = &health->problems;
	char interfaces[64], more[40] = "";
	int size;

	compose_interfaces(&health->interfaces, interfaces);
	if (problems->count > 1)
		snprintf(more, sizeof(more), " (and %zu more)", problems->count - 1);
	size = snprintf(text, STATUS_BYTES, "%" PRIu64 " entr%s; policy %s on %s%s%s%s%s", entries,
			entries == 1 ? "y" : "ies", xb_policy_name(health->policy), interfaces,
			health->trial_left ? "; a change is on trial" : "",
			problems->count ? "; " : "", problems->count ? problems->item[0].text : "",
			more);
	if (size >= STATUS_BYTES)
		memcpy(text + STATUS_BYTES - sizeof("..."), "...", sizeof("..."));
}
