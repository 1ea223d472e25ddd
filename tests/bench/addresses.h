/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random IPv4 addresses, each once: the same ones for every peer. */
#ifndef XB_BENCH_ADDRESSES_H
#define XB_BENCH_ADDRESSES_H

#include <stdint.h>

/* The i-th of them, host byte order: a bijection of 32 bits (the finalizer of MurmurHash3), so no
 * two are equal. */
static inline uint32_t address_number(uint32_t i)
{
	i += 0x7f4a7c15U;
	i ^= i >> 16;
	i *= 0x85ebca6bU;
	i ^= i >> 13;
	i *= 0xc2b2ae35U;
	return i ^ i >> 16;
}

#endif
