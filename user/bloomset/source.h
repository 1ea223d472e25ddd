/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of entries or lines, and how it is to be read. */
#ifndef XB_BLOOMSET_SOURCE_H
#define XB_BLOOMSET_SOURCE_H

#include <stdbool.h>

#include "bloomset/batch.h"
#include "bloomset/budget.h"
#include "model/listchoice.h"
#include "xdp_bloom/hash.h"

struct input {
	const char *path; /* "-": standard input */
	const char *name; /* for messages */
	uint32_t number;  /* of the file in the operation */
	bool again;	  /* it can be read again */
	bool packed;
	uint64_t size;			 /* of a file, in bytes; 0: nobody knows */
	uint64_t text_bytes, text_lines; /* expected, beside numbers */
	unsigned int readings;
	uint64_t bytes, sum; /* of what was in it the first time: later it is no more, nor another
			      */
	uint64_t allowed;    /* entries of an allowlist, which were left out */
};

/* How files are read. */
struct input_terms {
	bool lines; /* as they are; otherwise entries */
	const char *format;
	const char *zone; /* of a file of records, which may not name it; NULL: it does */
	struct xb_list_choice choice;
	enum number_form numbers;
	struct xb_key key;     /* of the hashes */
	uint64_t most;	       /* bytes of a line; at least half a block of cut.h */
	uint64_t unpacking;    /* bytes of memory that a packed file may take */
	struct budget *budget; /* for a long line, and for a list that must be held as a whole;
				  NULL: there is no other bound */
};

/* What one reading found. */
struct input_result {
	uint64_t bytes; /* unpacked */
	uint64_t sum;	/* of all hashes and numbers */
};

#endif
