/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What maps take of the kernel's memory. */
#ifndef XB_TESTS_MAPBYTES_H
#define XB_TESTS_MAPBYTES_H

#include <stdint.h>
#include <stdio.h>

/* Of the map behind the descriptor, by the kernel's own count. */
static inline uint64_t map_bytes(int fd)
{
	unsigned long bytes = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "memlock: %lu", &bytes) != 1)
		;
	if (file)
		fclose(file);
	return bytes;
}

#endif
