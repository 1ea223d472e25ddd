/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A second parser of TLS hellos and HTTP requests, written by the RFCs alone. */
#ifndef XB_TESTS_SECOND_H
#define XB_TESTS_SECOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum second_found {
	SECOND_NOTHING,	 /* no hello, no request */
	SECOND_NAMELESS, /* one without a whole name */
	SECOND_NAME,
};

/* Text in the data, without the dot at its end. */
struct second_name {
	const char *text;
	size_t size;
	bool doubt; /* of a Host: another follows, or a folded line */
};

enum second_found second_tls(const uint8_t *data, size_t size, struct second_name *name);
enum second_found second_http(const uint8_t *data, size_t size, struct second_name *name);

#endif
