/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_addresses FIRST COUNT [PREFIX]: that many random IPv4 addresses, one a line, behind the
 * prefix. Different ranges share none. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/addresses.h"

int main(int argc, char **argv)
{
	const char *prefix = argc > 3 ? argv[3] : "";
	uint32_t first, count;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_addresses FIRST COUNT [PREFIX]\n");
		return 2;
	}
	first = (uint32_t)strtoul(argv[1], NULL, 10);
	count = (uint32_t)strtoul(argv[2], NULL, 10);
	for (uint32_t i = first; i < first + count; i++) {
		uint32_t address = address_number(i);

		printf("%s%u.%u.%u.%u\n", prefix, address >> 24, address >> 16 & 255,
		       address >> 8 & 255, address & 255);
	}
	return fflush(stdout) || ferror(stdout);
}
