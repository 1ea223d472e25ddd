/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames from nothing, and what becomes of frames by chance. */
#ifndef XB_PACKETS_GENERATE_H
#define XB_PACKETS_GENERATE_H

#include "reference.h"
#include "universe.h"

/* A frame with headers in good order mostly. */
/* names: mostly of protocols in which names are looked for. */
void generate(const struct universe *universe, uint64_t *chance, bool names, struct frame *frame);

/* What IP carries in it: bytes from `at` on, at most FRAME_BYTES; returns how many. */
uint32_t generate_message(const struct universe *universe, uint64_t *chance, uint8_t *at);
uint32_t generate_stream(const struct universe *universe, uint64_t *chance, uint32_t port,
			 uint8_t *at);

#define PORTS_DNS  53, 5353
#define PORTS_TLS  443, 8443
#define PORTS_HTTP 80, 65535

#endif
