/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames with a question in them, for programs that ask. */
#ifndef XB_BENCH_QUESTION_H
#define XB_BENCH_QUESTION_H

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bench/ask.h"
#include "bench/checksum.h"
#include "xdp_bloom/hash.h"

struct frame {
	struct ethhdr ethernet;
	struct iphdr ip;
	struct udphdr udp;
	uint8_t rest[ASK_FRAME];
} __attribute__((packed));

/* The name as labels, with the root; returns their end. "": as many labels as there can be. drawn:
 * where the label of question marks stands, or NULL. */
static inline uint8_t *put_name(const char *text, uint8_t *at, uint8_t **drawn)
{
	*drawn = NULL;
	for (int i = 0; !*text && i < XB_NAME_LABELS; i++) {
		*at++ = 1;
		*at++ = (uint8_t)('a' + i % 26);
	}
	while (*text) {
		size_t size = strcspn(text, ".");

		*at++ = (uint8_t)size;
		if (*text == '?')
			*drawn = at;
		memcpy(at, text, size);
		at += size;
		text += size + (text[size] == '.');
	}
	*at++ = 0;
	return at;
}

/*
 * Fills in lengths, sum and, with `name` (NULL: 40 bytes of nothing), a question for its address;
 * returns the size. ethernet, ip and udp have what is to be in them. Sets the label of *ask.
 */
static inline uint32_t put_question(const char *name, struct frame *frame, struct ask *ask)
{
	uint8_t *at = frame->rest, *drawn = NULL;
	struct iphdr ip;
	uint16_t size;

	if (name) {
		memcpy(at, "\x12\x34\x01\0\0\1\0\0\0\0\0\0", 12);
		at = put_name(name, at + 12, &drawn);
		memcpy(at, "\0\1\0\1", 4);
		at += 4;
	} else {
		at += 40;
	}
	size = (uint16_t)(at - (uint8_t *)&frame->udp);
	frame->ethernet.h_proto = htons(ETH_P_IP);
	frame->udp.len = htons(size);
	frame->ip.version = 4;
	frame->ip.ihl = 5;
	frame->ip.ttl = 64;
	frame->ip.tot_len = htons((uint16_t)(size + sizeof(frame->ip)));
	frame->ip.check = 0;
	ip = frame->ip;
	frame->ip.check = header_sum(&ip);
	ask->label = drawn ? (uint32_t)(drawn - (uint8_t *)frame) : 0;
	memcpy(ask->head, frame, sizeof(ask->head));
	return (uint32_t)(at - (uint8_t *)frame);
}

#endif
