/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_addresses [-6] FIRST COUNT [BEFORE [AFTER]]: so many random addresses, one a line, between
 * the two texts. Different ranges share none. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/addresses.h"

static void print4(const char *before, uint32_t number, const char *after)
{
	uint32_t address = address_number(number);

	printf("%s%u.%u.%u.%u%s\n", before, address >> 24, address >> 16 & 255, address >> 8 & 255,
	       address & 255, after);
}

static void print6(const char *before, uint32_t number, const char *after)
{
	char text[INET6_ADDRSTRLEN];
	uint64_t address[2];

	address6_number(number, address);
	printf("%s%s%s\n", before, inet_ntop(AF_INET6, address, text, sizeof(text)), after);
}

int main(int argc, char **argv)
{
	int six = argc > 1 && !strcmp(argv[1], "-6");
	const char *before, *after;
	uint32_t first, count;

	argc -= six;
	argv += six;
	if (argc < 3) {
		fprintf(stderr, "usage: bench_addresses [-6] FIRST COUNT [BEFORE [AFTER]]\n");
		return 2;
	}
	before = argc > 3 ? argv[3] : "";
	after = argc > 4 ? argv[4] : "";
	first = (uint32_t)strtoul(argv[1], NULL, 10);
	count = (uint32_t)strtoul(argv[2], NULL, 10);
	for (uint32_t i = first; i < first + count; i++)
		(six ? print6 : print4)(before, i, after);
	return fflush(stdout) || ferror(stdout);
}
