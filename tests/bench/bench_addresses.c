/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_addresses [-6] FIRST COUNT [BEFORE [AFTER]]: so many random addresses, one a line, between
 * the two texts. Different ranges share none.
 * bench_addresses --countries COUNT: IPv6 prefixes as lists of countries have them, one a line; a
 * few of them fewer, since some are drawn twice. */
#include <arpa/inet.h>

#include "bench/lists.h"

static void print_countries(size_t count)
{
	struct xb_contents keys = {0};
	char text[XB_ENTRY_TEXT];

	list_six(&keys, COUNTRY, count);
	for (size_t i = 0; i < keys.net6_count; i++)
		puts(xb_entry_format(&keys.net6[i], text));
	free(keys.net6);
}

int main(int argc, char **argv)
{
	int six = argc > 1 && !strcmp(argv[1], "-6");
	const char *before = "", *after = "";
	uint32_t first, count;

	argc -= six;
	argv += six;
	must_have_arguments(argc >= 3, "[-6] FIRST COUNT [BEFORE [AFTER]] | --countries COUNT");
	if (!strcmp(argv[1], "--countries")) {
		print_countries(number_of(argv[2]));
		return fflush(stdout) || ferror(stdout);
	}
	before = argc > 3 ? argv[3] : before;
	after = argc > 4 ? argv[4] : after;
	first = number_of(argv[1]);
	count = number_of(argv[2]);
	for (uint32_t i = first; i < first + count; i++) {
		uint32_t four = htonl(address_number(i));
		char text[INET6_ADDRSTRLEN];
		uint64_t address[2];

		address6_number(i, address);
		inet_ntop(six ? AF_INET6 : AF_INET, six ? (void *)address : (void *)&four, text,
			  sizeof(text));
		printf("%s%s%s\n", before, text, after);
	}
	return fflush(stdout) || ferror(stdout);
}
