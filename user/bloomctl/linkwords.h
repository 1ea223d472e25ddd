/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a link was away, in words. */
#ifndef XB_BLOOMCTL_LINKWORDS_H
#define XB_BLOOMCTL_LINKWORDS_H

#include "attach/linkaway.h"

#define LINK_TEXT 64

/* Of a link that was away. Returns text. */
const char *link_words(const struct xb_link *link, char text[LINK_TEXT]);

#endif
