/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a filter for programs: this header and the bits; if it counts, counters and
 * fingerprints. */
#ifndef XB_BLOOM_FILTERFILE_H
#define XB_BLOOM_FILTERFILE_H

#include "bloom/filterbits.h"

#define XB_FILTER_MAGIC	  "xdpbloom"
#define XB_FILTER_VERSION 1

/*
 * Little endian. Bit i of the filter is bit i % 8 of byte i / 8 behind the header; the bits end
 * with a whole word of 8 bytes. Counter i is the low half of byte i / 2 of the counters for even i,
 * else the high half. Fingerprints are 8 bytes each, as bloom/fingerprints.h has them.
 */
struct xb_filter_header {
	char magic[8];
	uint32_t version;
	uint32_t header_sum; /* CRC-32 of the header, this field 0 */
	uint32_t body_sum;   /* CRC-32 of all that follows */
	uint32_t kind;	     /* enum xb_filter_kind, of which Guava's are not written so */
	uint32_t funnel;     /* enum xb_funnel */
	uint32_t counting;   /* 0 or 1 */
	uint32_t hashes;
	uint32_t form; /* enum xb_filter_form */
	uint64_t bits;
	uint64_t expected;
	uint64_t insertions;
	double rate; /* 0: not known */
	struct xb_filter_key key;
	uint64_t slots; /* of the fingerprints; 0 if it does not count */
	uint64_t zero[4];
};
_Static_assert(sizeof(struct xb_filter_header) == 128, "part of the format");

uint32_t xb_filter_header_sum(const struct xb_filter_header *header);
/* sum: of what stands in front, 0 at the beginning. */
uint32_t xb_filter_body_sum(uint32_t sum, const void *body, size_t size);

/* Guava's: strategy, hashes, and the number of words, big endian; then the words, big endian. */
#define XB_GUAVA_HEADER 6

/* The header as Guava has it. */
void xb_guava_header_write(const struct xb_filter_info *info, uint8_t header[XB_GUAVA_HEADER]);

/* What a file of so many bytes with this beginning is, if it is Guava's: kind, hashes and bits.
 * False: it is not. */
bool xb_guava_header_read(const uint8_t *bytes, size_t size, struct xb_filter_info *info);

#endif
