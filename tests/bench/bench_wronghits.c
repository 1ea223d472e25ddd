/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_wronghits STATE PINS RUN COUNT: so many IPv4 addresses, one a line, that hit the Bloom
 * stage of the filter in force and are not listed, if nothing but the first addresses of
 * bench_addresses is. They are secret: only who may read the filter finds them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/anchor.h"
#include "base/error.h"
#include "bench/addresses.h"
#include "bench/sources.h"
#include "filter/inforce.h"

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "bench_wronghits: %s: %s\n", what,
		xb_error_class() ? xb_error_message() : strerror(-error));
	exit(1);
}

static void print_wrong_hits(struct xb_bloom *filter, uint32_t count)
{
	for (uint32_t number = ADDRESSES_CLEAN; count; number++) {
		uint32_t address = address_number(number);

		if (passes_anyway(address) ||
		    !xb_bloom_contains(filter, xb_hash_ipv4(&filter->key, address)))
			continue;
		printf("%u.%u.%u.%u\n", address >> 24, address >> 16 & 255, address >> 8 & 255,
		       address & 255);
		count--;
	}
}

int main(int argc, char **argv)
{
	struct xb_generation *generation;
	struct xb_anchor anchor;
	struct xb_paths paths;

	if (argc != 5) {
		fprintf(stderr, "usage: bench_wronghits STATE PINS RUN COUNT; scripts/bench does "
				"it\n");
		return 2;
	}
	paths = (struct xb_paths){argv[1], argv[2], argv[3]};
	must(xb_anchor_open(paths.pins, &anchor), paths.pins);
	must(xb_generation_open(&paths, &anchor, &generation), "filter");
	must(xb_generation_map_all(generation), "filter");
	print_wrong_hits(&generation->host4, (uint32_t)strtoul(argv[4], NULL, 10));
	xb_generation_close(generation);
	xb_anchor_close(&anchor);
	return fflush(stdout) || ferror(stdout);
}
