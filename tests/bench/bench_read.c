/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_read bytes|lines FILE: the least that a command does with a file: looks at its bytes, or
 * splits its lines and parses the IPv4 address at the end of each. Keeps nothing but a sum, which
 * it prints.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define BEHIND 4096 /* a page */

static uint64_t sum_bytes(const uint8_t *text, size_t size)
{
	uint64_t sum = 0, word;

	for (size_t i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, text + i, sizeof(word));
		sum += word;
	}
	return sum;
}

static uint32_t is_digit(uint8_t letter)
{
	return (uint8_t)(letter - '0') < 10;
}

/* Of one to three digits; moves behind what follows it. Without branches, which nobody could
 * foresee. */
static uint32_t take_octet(const uint8_t **text)
{
	const uint8_t *digit = *text;
	uint32_t two = is_digit(digit[1]), three = two & is_digit(digit[2]), one = digit[0] - '0';

	one += two * (9 * one + digit[1] - '0');
	one += three * (9 * one + digit[2] - '0');
	*text += 2 + two + three;
	return one;
}

static uint64_t sum_lines(const uint8_t *text, size_t size)
{
	const uint8_t *end = text + size;
	uint64_t sum = 0;

	while (text < end) {
		uint32_t address = 0;

		while (!is_digit(*text) && *text)
			text++;
		for (int i = 0; i < 4; i++)
			address = address << 8 | take_octet(&text);
		sum += address;
	}
	return sum;
}

/* The file, mapped, with zeros behind it: the octets at its end can be looked at as others. */
static const uint8_t *map_file(const char *path, size_t *size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	void *text = MAP_FAILED;
	struct stat status;

	if (file >= 0 && !fstat(file, &status)) {
		*size = (size_t)status.st_size;
		text = mmap(NULL, *size + BEHIND, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	if (text != MAP_FAILED)
		text = mmap(text, *size, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, file,
			    0);
	if (text == MAP_FAILED) {
		fprintf(stderr, "bench_read: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return text;
}

int main(int argc, char **argv)
{
	const uint8_t *text;
	uint64_t sum;
	size_t size;

	if (argc != 3 || (strcmp(argv[1], "bytes") && strcmp(argv[1], "lines"))) {
		fprintf(stderr, "usage: bench_read bytes|lines FILE\n");
		return 2;
	}
	text = map_file(argv[2], &size);
	sum = *argv[1] == 'b' ? sum_bytes(text, size) : sum_lines(text, size);
	printf("%" PRIu64 "\n", sum);
	return 0;
}
