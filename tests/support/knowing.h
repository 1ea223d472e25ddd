/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rig that remembers sources, of which a test makes those known that it likes. */
#ifndef XB_TESTS_KNOWING_H
#define XB_TESTS_KNOWING_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "engine/settings.h"
#include "rig.h"
#include "store/knownwish.h"

/* Only the maps are looked at: no program may hear of the sockets of the machine. */
static inline void leave_cgroups(void)
{
	char line[4096], place[4096];
	bool found = true;

	rig_must(unshare(CLONE_NEWNS), "unshare");
	rig_must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount");
	while (found) {
		FILE *mounts = fopen("/proc/self/mountinfo", "re");

		found = false;
		while (mounts && !found && fgets(line, sizeof(line), mounts))
			found = strstr(line, " - cgroup2 ") &&
				sscanf(line, "%*s %*s %*s %*s %4095s", place) == 1;
		if (mounts)
			fclose(mounts);
		if (found)
			rig_must(umount2(place, MNT_DETACH), "umount");
	}
}

static inline int knowing_body(struct xb_writer *writer, void *context)
{
	return xb_known_wish_put(writer->txn, context);
}

/* What every command that writes begins with. */
static inline void knowing_settle(struct rig *rig)
{
	rig_must(xb_write(&rig->paths, XB_WRITE_HEAVY, NULL, NULL, &rig->written), "settle");
}

static inline void knowing_wants(struct rig *rig, bool on, uint64_t capacity, double rate)
{
	struct xb_known_wish wish = {
		.on = on, .remember = 86400, .capacity = capacity, .rate = rate};

	rig_must(xb_write(&rig->paths, XB_WRITE_HEAVY, knowing_body, &wish, &rig->written),
		 "known");
	knowing_settle(rig);
}

static inline void knowing_policy(struct rig *rig, uint32_t policy, bool known)
{
	const struct xb_request request = {
		.kind = XB_REQUEST_POLICY,
		.policy = {.policy = policy, .force = true, .known = known}};

	rig_must(xb_policy_wish(&rig->paths, &(struct xb_wish){.request = &request}, NULL,
				&rig->written),
		 "policy");
}

#endif
