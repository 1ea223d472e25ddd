/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames with a question in them, for programs that ask. */
#ifndef XB_BENCH_QUESTION_H
#define XB_BENCH_QUESTION_H

#include <string.h>

#include "bench/shared.h"
#include "support/dns.h"

#define QUESTION_IP	  14 /* offsets */
#define QUESTION_PROTOCOL 23
#define QUESTION_IP_SUM	  24
#define QUESTION_SOURCE	  26
#define QUESTION_PORT	  36
#define QUESTION_UDP_SUM  40

/* For the address of that name, of which the label of question marks, if it has one, is drawn: so
 * it has no sum. */
static inline struct dns_frame question_frame(const char *name, struct ask *ask)
{
	struct dns_frame frame;
	const uint8_t *drawn;

	dns_query(name, false, &frame);
	memset(frame.byte + QUESTION_UDP_SUM, 0, 2);
	drawn = memchr(frame.byte, '?', frame.size);
	ask->label = drawn ? (uint32_t)(drawn - frame.byte) : 0;
	memcpy(ask->head, frame.byte, sizeof(ask->head));
	return frame;
}

#endif
