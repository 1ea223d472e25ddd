/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/known.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/knownpins.h"
#include "base/author.h"
#include "base/error.h"
#include "bloomd/base/log.h"
#include "engine/known.h"
#include "engine/session.h"

#define SECOND 1000000ULL /* us */
#define MINUTE 60
#define HOUR   3600

struct known {
	struct agent *agent;
	sd_event_source *timer, *saver;
	uint32_t seconds; /* since it was saved */
};

static int has_saved(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct known *known = context;

	(void)source;
	if (info->si_code != CLD_EXITED || info->si_status)
		log_info("known sources could not be saved");
	sd_event_source_disable_unref(known->saver);
	known->saver = NULL;
	return 0;
}

/* In a process of its own, since a disk may take its time. */
static void save(struct known *known)
{
	pid_t child = agent_fork(known->agent);

	if (!child)
		_exit(xb_known_save(&known->agent->paths) ? 1 : 0);
	if (child < 0 || sd_event_add_child(known->agent->loop, &known->saver, child, WEXITED,
					    has_saved, known) < 0)
		log_error("known sources are not saved");
}

/* A write looks at all, if nothing of the session is believed. Busy: the next time will do. */
static void tend(struct known *known)
{
	struct agent *agent = known->agent;
	int error;

	xb_session_distrust();
	xb_author_set("events");
	error = xb_write(&agent->paths, 0, NULL, NULL, &agent->written);
	if (!error)
		agent_wrote(agent);
	else if (error != XB_UNMET && !agent_is_busy(error))
		log_error("known sources are not tended");
}

static uint32_t save_every(const struct known *known)
{
	uint32_t every = known->agent->config->known_save;

	return every ? every : HOUR;
}

/* Each minute, or as often as it is to be saved. */
static uint32_t look_every(const struct known *known)
{
	return save_every(known) < MINUTE ? save_every(known) : MINUTE;
}

static int on_time(sd_event_source *source, uint64_t time, void *context)
{
	struct known *known = context;

	(void)time;
	sd_event_source_set_time_relative(source, look_every(known) * SECOND);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	if (!xb_knownpins_identity(known->agent->paths.pins))
		return 0;
	tend(known);
	known->seconds += look_every(known);
	if (known->seconds < save_every(known) || known->saver)
		return 0;
	known->seconds = 0;
	save(known);
	return 0;
}

int known_start(struct agent *agent, struct known **out)
{
	struct known *known = calloc(1, sizeof(*known));
	int error;

	*out = known;
	if (!known)
		return xb_out_of_memory();
	known->agent = agent;
	error = sd_event_add_time_relative(agent->loop, &known->timer, CLOCK_MONOTONIC,
					   look_every(known) * SECOND, 0, on_time, known);
	return error < 0 ? xb_system_error(-error, "cannot set a timer") : 0;
}

void known_stop(struct known *known)
{
	if (!known)
		return;
	sd_event_source_disable_unref(known->timer);
	sd_event_source_disable_unref(known->saver);
	free(known);
}
