/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/meminfo; memory.max of cgroup v2 and memory.limit_in_bytes of v1, from our own group up. */
#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/paths.h"
#include "base/procfile.h"

static const struct controller {
	bool unified; /* version 2 */
	const char *root, *limit, *usage;
} controllers[] = {
	{true, "/sys/fs/cgroup", "memory.max", "memory.current"},
	{true, "/sys/fs/cgroup/unified", "memory.max", "memory.current"},
	{false, "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
};

/* The number that is all of the file. UINT64_MAX: there is none ("max"). */
static uint64_t read_number(const char *directory, const char *name)
{
	char path[XB_PATH_MAX], text[32];
	unsigned long long number;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path) ||
	    xb_procfile_read(path, text, sizeof(text)) < 0 || sscanf(text, "%llu", &number) != 1)
		return UINT64_MAX;
	return number;
}

/* The number behind the word at the beginning of a line. UINT64_MAX: there is none. */
static uint64_t find_number(const char *directory, const char *name, const char *word)
{
	char path[XB_PATH_MAX], line[256];
	uint64_t number = UINT64_MAX;
	FILE *file;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return UINT64_MAX;
	file = fopen(path, "re");
	if (!file)
		return UINT64_MAX;
	while (number == UINT64_MAX && fgets(line, sizeof(line), file)) {
		unsigned long long found;

		if (!strncmp(line, word, strlen(word)) &&
		    sscanf(line + strlen(word), " %llu", &found) == 1)
			number = found;
	}
	fclose(file);
	return number;
}

/* Pages of files are given back when memory is short; those of memory-backed files are not among
 * them. */
static uint64_t reclaimable(const char *directory)
{
	uint64_t inactive = find_number(directory, "memory.stat", "inactive_file "),
		 active = find_number(directory, "memory.stat", "active_file ");

	return (inactive == UINT64_MAX ? 0 : inactive) + (active == UINT64_MAX ? 0 : active);
}

/* Version 1 says "no limit" by a number of bytes that no machine has. */
static bool is_limit(uint64_t limit)
{
	return limit < UINT64_C(1) << 62;
}

static uint64_t room_in(const char *directory, const struct controller *controller)
{
	uint64_t limit = read_number(directory, controller->limit), used, free;

	if (!is_limit(limit))
		return UINT64_MAX;
	used = read_number(directory, controller->usage);
	if (used == UINT64_MAX)
		return UINT64_MAX;
	free = reclaimable(directory);
	used = used > free ? used - free : 0;
	return limit > used ? limit - used : 0;
}

static uint64_t least_room(const struct controller *controller, const char *group)
{
	char directory[XB_PATH_MAX];
	uint64_t least = UINT64_MAX;
	size_t root = strlen(controller->root);
	int size = snprintf(directory, sizeof(directory), "%s%s", controller->root,
			    strcmp(group, "/") ? group : "");

	if ((size_t)size >= sizeof(directory))
		return UINT64_MAX;
	while (strlen(directory) >= root) {
		uint64_t room = room_in(directory, controller);

		if (room < least)
			least = room;
		*strrchr(directory, '/') = '\0';
	}
	return least;
}

/* Lines are NUMBER:CONTROLLERS:PATH; version 2 has number 0 and no controllers. */
static uint64_t cgroup_room(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	uint64_t least = UINT64_MAX;
	char line[XB_PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (names[1] && strcmp(names + 1, "memory"))
			continue;
		for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
			uint64_t room;

			if (controllers[i].unified != !names[1])
				continue;
			room = least_room(&controllers[i], group);
			if (room < least)
				least = room;
		}
	}
	if (file)
		fclose(file);
	return least;
}

uint64_t xb_memory_available(void)
{
	uint64_t kib = find_number("/proc", "meminfo", "MemAvailable:"), room = cgroup_room(),
		 machine = kib == UINT64_MAX ? kib : kib * 1024;

	return room < machine ? room : machine;
}

static bool unbounded;

void xb_memory_bound_soon(void)
{
	unbounded = true;
}

void xb_memory_bound(void)
{
	struct rlimit limit;
	uint64_t room, data;

	if (!unbounded)
		return;
	unbounded = false;
	room = cgroup_room();
	if (room == UINT64_MAX)
		return;
	data = find_number("/proc/self", "status", "VmData:");
	if (data == UINT64_MAX || getrlimit(RLIMIT_DATA, &limit))
		return;
	room += data * 1024;
	if (room >= limit.rlim_cur)
		return;
	limit.rlim_cur = room;
	setrlimit(RLIMIT_DATA, &limit);
}
