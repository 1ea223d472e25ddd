/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads requests of Postfix's policy delegation (SMTPD_POLICY_README): lines "NAME=VALUE", and an
 * empty one at the end. Of all attributes three are kept, so a request may have any length.
 */
#ifndef XB_BLOOMD_POLICY_H
#define XB_BLOOMD_POLICY_H

#include "bloomd/postfix/socketmap.h"
#include "model/name.h"

/* Bytes of a line that are kept. Of the lines that count, that of the sender is the longest:
 * Postfix takes 2048 bytes from a client for it (line_length_limit). */
#define POLICY_LINE 2175

/* Begin with all zero. */
struct policy {
	char line[POLICY_LINE + 1];
	uint32_t size; /* of the line so far, with what is not kept */
	bool over;     /* the next byte begins another request */
	/* Of the request; "": there is none, or it is too long. The domain is that of the sender.
	 */
	char address[64], port[8], domain[XB_NAME_BYTES];
};

/* As socketmap_read(). */
enum postfix_result policy_read(struct policy *policy, const char *bytes, size_t size,
				size_t *used);

#endif
