/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_lines FIRST COUNT: so many lines of 64 bytes, line end included; different ranges share
 * none. bench_lines sum: how many lines standard input has, and a sum over them that does not
 * depend on their order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xdp_bloom/hash.h"

#define LINE_BYTES 64

static void print_line(uint64_t number)
{
	static const char letters[] = "0123456789abcdef";
	char line[LINE_BYTES];
	uint64_t bits = 0;

	for (unsigned int i = 0; i < LINE_BYTES - 1; i++) {
		if (i % 16 == 0)
			bits = xb_mix64(4 * number + i / 16 + 1);
		line[i] = letters[bits & 15];
		bits >>= 4;
	}
	line[LINE_BYTES - 1] = '\n';
	(void)fwrite(line, 1, sizeof(line), stdout); /* main() looks for errors at the end */
}

static uint64_t hash(const char *line, size_t size)
{
	uint64_t sum = size;

	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, line + i, size - i < sizeof(word) ? size - i : sizeof(word));
		sum = xb_mix64(sum ^ word);
	}
	return sum;
}

static int sum(void)
{
	uint64_t count = 0, all = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t size;

	while ((size = getline(&line, &room, stdin)) > 0) {
		all += hash(line, (size_t)size);
		count++;
	}
	free(line);
	printf("%" PRIu64 " %016" PRIx64 "\n", count, all);
	return ferror(stdin);
}

int main(int argc, char **argv)
{
	uint64_t first, count;

	if (argc == 2 && !strcmp(argv[1], "sum"))
		return sum();
	if (argc != 3) {
		fprintf(stderr, "usage: bench_lines FIRST COUNT | sum\n");
		return 2;
	}
	first = strtoull(argv[1], NULL, 10);
	count = strtoull(argv[2], NULL, 10);
	for (uint64_t i = first; i < first + count; i++)
		print_line(i);
	return fflush(stdout) || ferror(stdout);
}
