/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checksums in the store show when a disk returns other bytes than were written. CRC-32, of zlib.
 */
#ifndef XB_STORE_CHECKSUM_H
#define XB_STORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/* The checksum of the key followed by the bytes. */
static inline uint32_t xb_checksum(const void *key, size_t key_size, const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(crc32_z(0, key, key_size), bytes, size);
}

#endif
