/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decisions of CrowdSec as bloomd-fetch hands them over: one head, then records. Somebody may have
 * taken that process over, so bloomd checks each field. */
#ifndef XB_FETCH_RECORD_H
#define XB_FETCH_RECORD_H

#include <stdint.h>

#define FETCH_RECORDS_MAGIC 0x78626431
#define FETCH_VALUE_MAX	    52 /* bytes of an address with a prefix length, terminator included */

/* The decisions of an answer that are no records: of another type than `ban`, for something else
 * than addresses, only simulated, or not to be understood. */
struct fetch_left_out {
	uint64_t other_type, other_scope, simulated, unreadable;
};

struct fetch_records {
	uint32_t magic, pad;
	uint64_t count; /* of records that follow */
	struct fetch_left_out left_out;
};

/* A ban, or the end of one. */
struct fetch_record {
	uint64_t id;
	int64_t duration; /* ms from now, rounded up; 0 and less: it is over */
	uint32_t deleted; /* 1: it stands among the deleted ones */
	char value[FETCH_VALUE_MAX];
};
_Static_assert(sizeof(struct fetch_record) == 72, "records have no holes");

#endif
