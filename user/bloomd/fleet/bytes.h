/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the fields of log entries, chunks and manifests stand in bytes: numbers of a fixed size with
 * the highest byte first, others as LEB128 (7 bits a byte, the lowest first) without zeros behind.
 */
#ifndef XB_BLOOMD_BYTES_H
#define XB_BLOOMD_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/fleet.h"

/* What is left of bytes that are read. After a failure nothing more is read, and fields are 0. */
struct bytes_in {
	const uint8_t *at;
	size_t left;
	bool wrong; /* it ended within a field, or a field has a form that is not written */
};

uint8_t bytes_byte(struct bytes_in *in);
uint32_t bytes_word(struct bytes_in *in); /* 4 bytes */
/* A number up to `most`; a larger one is wrong. */
uint64_t bytes_number(struct bytes_in *in, uint64_t most);
void bytes_copy(struct bytes_in *in, void *out, size_t size);
/* Passes over so many bytes, and returns where they begin; NULL: there are not so many. */
const uint8_t *bytes_pass(struct bytes_in *in, size_t size);
/* A name of a list, its size in front. */
void bytes_list(struct bytes_in *in, char name[65]);
void bytes_digest(struct bytes_in *in, struct xb_digest *digest);

/* Where bytes are written to; the caller has made sure that they have room. */
struct bytes_out {
	uint8_t *at;
};

#define BYTES_NUMBER_MAX 10 /* of a LEB128 */
#define BYTES_LIST_MAX	 65

void bytes_put_byte(struct bytes_out *out, uint8_t byte);
void bytes_put_word(struct bytes_out *out, uint32_t word);
void bytes_put_number(struct bytes_out *out, uint64_t number);
void bytes_put(struct bytes_out *out, const void *bytes, size_t size);
void bytes_put_list(struct bytes_out *out, const char *name);
void bytes_put_digest(struct bytes_out *out, const struct xb_digest *digest);

/* Whether an identity is all zero: it is none. */
bool bytes_are_zero(const uint8_t *bytes, size_t size);

#endif
