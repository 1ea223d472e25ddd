/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/agent.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "base/author.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/patience.h"
#include "bloomd/base/log.h"
#include "engine/rotate.h"
#include "engine/session.h"

#define SECOND 1000000	     /* us */
#define LOCATE (30 * SECOND) /* after a round of looking up servers */

uint64_t agent_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

bool agent_is_busy(int error)
{
	return error == -EBUSY || error == -EINPROGRESS;
}

static int has_grown(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct agent *agent = context;

	(void)info;
	sd_event_source_disable_unref(source);
	agent->growing = false;
	return 0;
}

pid_t agent_fork(const struct agent *agent)
{
	pid_t parent = getpid(), child = fork();

	if (child < 0)
		xb_system_error(errno, "cannot start a process");
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	xb_unlock(agent->lock);
	if (getppid() != parent)
		_exit(0);
	xb_patience_set(XB_PATIENCE);
	xb_session_end();
	return 0;
}

void agent_missed_server(struct agent *agent)
{
	uint64_t soon = agent->located + LOCATE, due;

	if (agent->locating && sd_event_source_get_time(agent->locating, &due) >= 0 && soon < due)
		sd_event_source_set_time(agent->locating, soon);
}

static _Noreturn void grow(const struct agent *agent)
{
	struct xb_written written = {.growth_due = true};

	xb_write_settle(&agent->paths, &written);
	xb_written_free(&written);
	_exit(0);
}

static void start_growing(struct agent *agent)
{
	sd_event_source *source;
	pid_t child = agent_fork(agent);
	int error;

	if (!child)
		grow(agent);
	if (child < 0) {
		log_error("the filter is full and does not grow");
		return;
	}
	error = sd_event_add_child(agent->loop, &source, child, WEXITED, has_grown, agent);
	agent->growing = error >= 0;
}

static uint32_t count_amiss(const struct xb_interfaces *all)
{
	uint32_t amiss = 0;

	for (size_t i = 0; i < all->count; i++)
		amiss += xb_interface_is_amiss(&all->item[i]);
	return amiss;
}

/* Once, and not after each write. */
static void tell_open(struct agent *agent)
{
	uint32_t open;

	if (!agent->written.looked)
		return;
	open = count_amiss(&agent->written.interfaces);
	if (open == agent->open)
		xb_written_free(&agent->written);
	else
		xb_write_tell_open(&agent->written);
	agent->open = open;
}

void agent_writes(struct agent *agent, const char *what)
{
	uint64_t now = agent_clock();

	xb_author_set("%s", what);
	if (agent->heard && now - agent->heard < SECOND)
		return;
	agent->heard = now;
	sd_notify(0, "WATCHDOG=1");
}

void agent_wrote(struct agent *agent)
{
	bool due = agent->written.growth_due;

	tell_open(agent);
	agent->written.growth_due = false;
	if (due && !agent->growing)
		start_growing(agent);
}
