/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Check sums in the store: a disk that returns other bytes than were written is noticed before they
 * are believed. CRC-32, of zlib. */
#ifndef XB_STORE_CHECKSUM_H
#define XB_STORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/* Of both, one after the other. */
static inline uint32_t xb_checksum(const void *key, size_t key_size, const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(crc32_z(0, key, key_size), bytes, size);
}

#endif
