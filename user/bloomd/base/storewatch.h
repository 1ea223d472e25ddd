/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What inotify tells of writes to the store, by whichever process, to who watches the state
 * directory. Pages that are written are told of before LMDB shows them to readers; the last event
 * of a commit, IN_ATTRIB, comes when it does. */
#ifndef XB_BLOOMD_STOREWATCH_H
#define XB_BLOOMD_STOREWATCH_H

#include <stdbool.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/paths.h"

#define STOREWATCH_EVENTS (IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_MOVED_TO)

/* Whether the store may say something else now. */
static inline bool storewatch_is_told(const struct inotify_event *event)
{
	return event->mask & IN_Q_OVERFLOW || (event->len && !strcmp(event->name, XB_STORE_FILE));
}

#endif
