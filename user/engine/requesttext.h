/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request as the command of bloomctl that asks for it. */
#ifndef XB_ENGINE_REQUESTTEXT_H
#define XB_ENGINE_REQUESTTEXT_H

#include <stddef.h>

#include "model/request.h"

/* Cut to the size, safe for a terminal. */
void xb_request_command(const struct xb_request *request, char *text, size_t size);

#endif
