/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory above tells when the path comes or goes, the path itself when it is changed by
 * another name: it may be a bind mount, or a link to a file elsewhere. */
#include "bloomd/base/pathevents.h"

#include <string.h>
#include <sys/inotify.h>

#include "base/paths.h"

#define CHANGES (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE)
#define GONE	(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void drop(sd_event_source **source)
{
	*source = sd_event_source_disable_unref(*source);
}

static int on_itself(sd_event_source *source, const struct inotify_event *event, void *context)
{
	struct pathevents *events = context;

	(void)source;
	/* The last name of a file that was replaced is an attribute of it. */
	if (event->mask & (GONE | IN_ATTRIB)) {
		drop(&events->itself);
		pathevents_renew(events);
	}
	events->changed(events->context);
	return 0;
}

static int on_above(sd_event_source *source, const struct inotify_event *event, void *context)
{
	struct pathevents *events = context;

	(void)source;
	if (event->mask & GONE)
		drop(&events->above);
	else if (!(event->mask & IN_Q_OVERFLOW) &&
		 (!event->len || strcmp(event->name, last_part(events->path)) != 0))
		return 0;
	drop(&events->itself);
	pathevents_renew(events);
	events->changed(events->context);
	return 0;
}

void pathevents_init(struct pathevents *events, sd_event *loop, const char *path,
		     pathevents_changed *changed, void *context)
{
	*events = (struct pathevents){
		.path = path, .loop = loop, .changed = changed, .context = context};
}

void pathevents_renew(struct pathevents *events)
{
	char above[XB_PATH_MAX];

	if (!events->itself &&
	    sd_event_add_inotify(events->loop, &events->itself, events->path,
				 CHANGES | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF, on_itself,
				 events) < 0)
		events->itself = NULL;
	if (!events->above && !xb_path_parent(above, events->path) &&
	    sd_event_add_inotify(events->loop, &events->above, above,
				 CHANGES | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR, on_above,
				 events) < 0)
		events->above = NULL;
}

void pathevents_stop(struct pathevents *events)
{
	drop(&events->itself);
	drop(&events->above);
}
