/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a host is: nothing is asked of it. */
#ifndef XB_FETCH_LOOKUP_H
#define XB_FETCH_LOOKUP_H

#include "fetch/body.h"

/* Writes the addresses of the host that request->url names into the body, each with a newline, as
 * many as have room, and fills in the result. */
void lookup_run(const struct fetch_request *request, struct body *body,
		struct fetch_result *result);

#endif
