/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches one path by inotify, whatever it is: a file, a directory, a symbolic link, or nothing
 * yet. */
#ifndef XB_BLOOMD_PATHEVENTS_H
#define XB_BLOOMD_PATHEVENTS_H

#include <stddef.h>
#include <systemd/sd-event.h>

typedef void pathevents_changed(void *context);

struct pathevents {
	const char *path; /* not owned */
	sd_event *loop;
	pathevents_changed *changed;
	void *context;
	sd_event_source *itself, *above; /* NULL: not there */
};

/* Fills in what to watch; pathevents_renew() begins. */
void pathevents_init(struct pathevents *events, sd_event *loop, const char *path,
		     pathevents_changed *changed, void *context);

/* Watches what was not there before. To be called now and then: of a directory that appears where
 * there was none, nobody tells. */
void pathevents_renew(struct pathevents *events);

void pathevents_stop(struct pathevents *events);

#endif
