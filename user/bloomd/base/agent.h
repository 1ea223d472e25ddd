/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all parts of bloomd have in hand: the loop, the paths and the configuration. Each part is
 * started with it, and hangs its event sources into the loop. */
#ifndef XB_BLOOMD_AGENT_H
#define XB_BLOOMD_AGENT_H

#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/paths.h"
#include "bloomd/base/config.h"
#include "engine/writepath.h"

struct agent {
	struct xb_paths paths;
	const struct config *config; /* the one that is valid now; replaced by a reload */
	sd_event *loop;
	int lock;		   /* that this bloomd is the only one; -1: not held */
	struct xb_written written; /* what writes leave, see agent_wrote() */
	uint32_t open;		   /* interfaces that are not filtered, as it was told */
	bool growing;		   /* a child builds a larger filter */
	uint64_t heard;		   /* when agent_writes() told it, agent_clock() */
	sd_event_source *locating; /* looks up the servers again, bloomd/peers.h; NULL: nobody */
	uint64_t located;	   /* when that was done, agent_clock() */
};

/* The time by which the parts wait for something: CLOCK_MONOTONIC, us. */
uint64_t agent_clock(void);

/*
 * After each write that bloomd made: warns of interfaces that are open, and grows a full filter in
 * a process of its own, so that the loop goes on meanwhile.
 */
void agent_wrote(struct agent *agent);

/* Before a write, for the log of changes as what says ("expiry"): from now on the service manager's
 * watchdog waits for the loop again, though it may have heard from the loop long ago. At most one
 * message a second. */
void agent_writes(struct agent *agent, const char *what);

/* A server cannot be reached: where it is will be looked up again soon. */
void agent_missed_server(struct agent *agent);

/*
 * As fork(), for long work beside the loop; an error has its message. The child opens all that it
 * needs anew, waits for locks as a command does, and ends with the loop's process, because it has
 * the descriptors of its sockets, too. The agent's lock it gives back: ending may take it a while,
 * and another bloomd may begin meanwhile. It ends by _exit().
 */
pid_t agent_fork(const struct agent *agent);

/*
 * Whether a write failed only because others are in the way: another writer has the lock, or a
 * trial is on. bloomd does not wait for them; the part tries again after AGENT_RETRY.
 */
bool agent_is_busy(int error);
#define AGENT_RETRY 20000 /* us */

#endif
