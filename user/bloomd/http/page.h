/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page.html, which the program has in itself. */
#ifndef XB_BLOOMD_PAGE_H
#define XB_BLOOMD_PAGE_H

#include <stdint.h>

/* Stands in the page for the nonce of its script and style. */
#define PAGE_NONCE "@NONCE-------------------------@"

extern const char page_text[]; /* not terminated */
extern const uint64_t page_bytes;

#endif
