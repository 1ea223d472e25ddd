/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows a request as the command of bloomctl that makes it. */
#ifndef XB_ENGINE_REQUESTTEXT_H
#define XB_ENGINE_REQUESTTEXT_H

#include <stddef.h>

#include "model/request.h"

/* Writes the command to text, safe for a terminal, cut to size bytes with the NUL. */
void xb_request_command(const struct xb_request *request, char *text, size_t size);

#endif
