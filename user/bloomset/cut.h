/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of a file that are cut into lines. A line that is longer than half a block may begin as
 * the tail of one block, go on as the head of others, and end with the head of the last. */
#ifndef XB_BLOOMSET_CUT_H
#define XB_BLOOMSET_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bloomset/batch.h"
#include "lists/unpack.h"
#include "xdp_bloom/hash.h"

#define CUT_BYTES   (256U << 10)
#define CUT_RECORDS (CUT_BYTES / 16)
#define CUT_NUMBERS (CUT_BYTES / 8)

struct cut_block {
	int error; /* negative: nothing else counts, */
	enum xb_error_class class;
	char message[1024]; /* with this message */
	uint64_t read;	    /* bytes that came with this block */
	uint64_t done;	    /* bytes of the file itself that were read up to now */
	uint64_t sum;	    /* of records and numbers */
	size_t head, tail;  /* bytes at the beginning; and from here on until `used` */
	bool head_ends;	    /* a line ends with the head, which may be empty */
	size_t used;
	size_t lines; /* that have a record or a number */
	size_t records_count, numbers_count;
	struct record records[CUT_RECORDS];
	uint32_t numbers[CUT_NUMBERS];
	char bytes[CUT_BYTES];
};

struct cut {
	struct xb_unpack *unpack;
	uint64_t left; /* bytes that count */
	enum number_form form;
	struct xb_key key;		/* of the hashes */
	const struct cut_block *former; /* with bytes that are not cut yet, from here on until
					   `used` */
	size_t from;
	bool inside; /* of a long line */
	bool ended;
};

/* An ahead_filler, with a struct cut and a struct cut_block, which is not the former. */
bool cut_fill(void *cut, void *block);

#endif
