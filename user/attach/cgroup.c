/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/paths.h"

/* In place, \040 and the like, as proc(5) says. */
static void unescape(char *text)
{
	char *to = text;

	for (char *from = text; *from; to++) {
		if (*from == '\\' && strspn(from + 1, "01234567") >= 3) {
			char digits[4] = {from[1], from[2], from[3], '\0'};

			*to = (char)strtoul(digits, NULL, 8);
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* Where a line of /proc/self/mountinfo mounts the root of cgroup v2; false: it does not. */
static bool is_root(const char *line, char path[XB_PATH_MAX])
{
	char root[8], place[XB_PATH_MAX];
	const char *kind = strstr(line, " - ");

	if (!kind || strncmp(kind, " - cgroup2 ", 11) != 0)
		return false;
	if (sscanf(line, "%*s %*s %*s %7s %4095s", root, place) != 2 || strcmp(root, "/") != 0)
		return false;
	unescape(place);
	strcpy(path, place);
	return true;
}

int xb_cgroup_root(void)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, path[XB_PATH_MAX];
	bool found = false;
	size_t room = 0;
	int fd;

	if (!mounts)
		return xb_system_error(errno, "cannot read /proc/self/mountinfo");
	/* The last one may cover those before it. */
	while (getline(&line, &room, mounts) > 0)
		found |= is_root(line, path);
	free(line);
	fclose(mounts);
	if (!found)
		return xb_system_error(0, "cgroup v2 is not mounted; mount it: mount -t cgroup2 "
					  "cgroup2 /sys/fs/cgroup/unified");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? xb_system_error(errno, "cannot open %s", path) : fd;
}
