/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XB_BENCH_CHECKSUM_H
#define XB_BENCH_CHECKSUM_H

#include <linux/ip.h>
#include <stdint.h>
#include <string.h>

/* RFC 791, section 3.1; the header's own field is to be 0. */
static inline uint16_t header_sum(const struct iphdr *ip)
{
	uint16_t words[sizeof(*ip) / 2];
	uint32_t sum = 0;

	memcpy(words, ip, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / 2; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

#endif
