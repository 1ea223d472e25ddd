/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "takeoff.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "error.h"
#include "ifname.h"
#include "lock.h"
#include "upgrade.h"

static bool is_named(const struct xb_enrolled *one, char *const *names, int count)
{
	for (int i = 0; i < count; i++) {
		uint32_t ifindex;

		if (!strcmp(one->name, names[i]) ||
		    (!xb_ifindex(names[i], &ifindex) && ifindex == one->ifindex))
			return true;
	}
	return !names;
}

static int take_off(const struct xb_link *link, char *const *names, int count, int *taken)
{
	struct xb_enrolled *all;
	size_t enrolled;
	int error = xb_link_enrolled(link, &all, &enrolled), first = 0;

	if (error)
		return error;
	/* One that cannot be taken off does not keep the others. */
	for (size_t i = 0; i < enrolled; i++) {
		if (!is_named(&all[i], names, count))
			continue;
		error = xb_detach(link, all[i].name);
		*taken += !error;
		first = first ? first : error;
	}
	free(all);
	return first;
}

/* Of a link of an older layout no interface can be told from another. */
static int take_off_older(const struct xb_paths *paths, int *taken)
{
	int error = xb_link_set_aside(paths->pins);

	if (!error)
		error = xb_upgrade_finish(paths->pins, NULL);
	*taken = !error;
	return error;
}

int xb_take_off(const struct xb_paths *paths, char *const *names, int count, int *taken)
{
	struct xb_link link;
	int lock = xb_lock(paths->state, XB_WRITER_LOCK), error;

	*taken = 0;
	if (lock == -EBUSY)
		return lock;
	error = xb_link_open(paths->pins, &link);
	if (!error) {
		error = take_off(&link, names, count, taken);
		xb_link_close(&link);
	} else if (error == -ESTALE && !names) {
		error = take_off_older(paths, taken);
	}
	xb_unlock(lock);
	return error == -ENOENT ? 0 : error;
}
