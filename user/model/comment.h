/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comment that stands beside an entry. */
#ifndef XB_MODEL_COMMENT_H
#define XB_MODEL_COMMENT_H

#include <stddef.h>

#define XB_COMMENT_MAX 255 /* bytes */

/* Valid UTF-8 without control characters, at most XB_COMMENT_MAX bytes. */
int xb_comment_check(const char *comment, size_t size);

#endif
