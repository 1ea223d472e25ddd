/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A time namespace adds offsets to two clocks; /proc/self/timens_offsets tells them. */
#include "base/clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"

/* Of the initial time namespace, on every machine (PROC_TIME_INIT_INO). */
#define INITIAL_NAMESPACE 0xEFFFFFFAU

static struct {
	bool looked, unknown;
	int64_t monotonic, boot;
} shift;

static int64_t read_offset(const char *text)
{
	int64_t seconds, nanoseconds;

	if (sscanf(text, "%" SCNd64 " %" SCNd64, &seconds, &nanoseconds) != 2)
		return 0;
	return seconds * (int64_t)XB_SECOND + nanoseconds;
}

/* The file is about the namespace of children to come, which is ours unless we asked for another.
 */
static void look(void)
{
	struct stat ours, childrens;
	char line[128];
	FILE *file;

	shift.looked = true;
	if (stat("/proc/self/ns/time", &ours) || ours.st_ino == INITIAL_NAMESPACE)
		return;
	shift.unknown = stat("/proc/self/ns/time_for_children", &childrens) ||
			childrens.st_ino != ours.st_ino;
	file = fopen("/proc/self/timens_offsets", "re");
	if (!file) {
		shift.unknown = true;
		return;
	}
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "monotonic", 9))
			shift.monotonic = read_offset(line + 9);
		else if (!strncmp(line, "boottime", 8))
			shift.boot = read_offset(line + 8);
	fclose(file);
}

uint64_t xb_clock(void)
{
	struct timespec now;

	if (!shift.looked)
		look();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((int64_t)now.tv_sec * (int64_t)XB_SECOND + now.tv_nsec - shift.monotonic);
}

int64_t xb_clock_boot_shift(void)
{
	if (!shift.looked)
		look();
	return shift.boot;
}

uint32_t xb_clock_boot(void)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_BOOTTIME, &now);
	ns = (int64_t)now.tv_sec * (int64_t)XB_SECOND + now.tv_nsec - xb_clock_boot_shift();
	return ns > 0 ? (uint32_t)(ns / (int64_t)XB_SECOND) : 0;
}

int xb_clock_check(void)
{
	if (!shift.looked)
		look();
	if (!shift.unknown)
		return 0;
	return xb_system_error(0, "cannot read the kernel's clock in this time namespace: run "
				  "the command in a shell that was started in it");
}
