/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Public suffixes, under which anybody can register a name: the list of publicsuffix.org, as the
 * package publicsuffix has it. */
#ifndef XB_MODEL_SUFFIX_H
#define XB_MODEL_SUFFIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "xdp_bloom/layout.h"

#define XB_SUFFIX_FILE "/usr/share/publicsuffix/public_suffix_list.dat"

/* A domain of which the list says something, or of names below it. */
struct xb_suffix_item {
	const uint8_t *form; /* see model/name.h */
	uint8_t length;	     /* its bytes */
	uint8_t says;	     /* bits of enum xb_suffix */
};

/* In order of their forms, each once. */
struct xb_suffixes {
	struct xb_suffix_item *item;
	size_t count, room;
	struct xb_arena arena; /* has the bytes of all forms */
};

/* Reads all rules of the list, also of those that are no registries of top-level domains. An error
 * with its message, also if there is no list. */
int xb_suffixes_read(const char *path, struct xb_suffixes *suffixes);

void xb_suffixes_free(struct xb_suffixes *suffixes);

#endif
