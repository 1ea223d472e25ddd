/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random addresses, each once: the same ones for every peer. */
#ifndef XB_BENCH_ADDRESSES_H
#define XB_BENCH_ADDRESSES_H

#include <endian.h>
#include <stdint.h>

/* Lists hold the first ones; from this number on none is ever listed. */
#define ADDRESSES_CLEAN 100000000U

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

/* A bijection of 64 bits (the finalizer of SplitMix64). */
static inline uint64_t address_mix(uint64_t i)
{
	i += 0x9e3779b97f4a7c15U;
	i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9U;
	i = (i ^ i >> 27) * 0x94d049bb133111ebU;
	return i ^ i >> 31;
}

/* The i-th of IPv6, network byte order, below 2000::/4: no two have the same last 64 bits. */
static inline void address6_number(uint32_t i, uint64_t address[2])
{
	address[0] = htobe64(2ULL << 60 | address_mix(~(uint64_t)i) >> 4);
	address[1] = htobe64(address_mix(i));
}

#endif
