/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read at a time: texts, and numbers that stand for texts of one form. */
#ifndef XB_BLOOMSET_BATCH_H
#define XB_BLOOMSET_BATCH_H

#include <stddef.h>
#include <stdint.h>

/* Of which texts the number is taken: each number is of one text only. */
enum number_form {
	NUMBERS_NONE,
	NUMBERS_ADDRESSES, /* 192.0.2.1 */
	NUMBERS_INTEGERS,  /* 0 to 4294967295, without zeros in front */
};

struct record {
	const char *text; /* until the batch is taken */
	size_t size;
	uint64_t hash;
};

#define BATCH_RECORDS 128
#define BATCH_NUMBERS 4096

struct batch {
	const struct record *records;
	const uint32_t *numbers;
	size_t records_count, numbers_count; /* at most as above */
};

/* Of a number in the sum over what a file has; a text counts as its hash. */
static inline uint64_t batch_sum(uint32_t number)
{
	return (number + 1ULL) * 0x9e3779b97f4a7c15ULL;
}

/* Returns 0, or what ends the reading. */
typedef int batch_taker(void *to, const struct batch *batch);

#endif
