/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One answer over HTTP, by libcurl. */
#ifndef XB_FETCH_TRANSFER_H
#define XB_FETCH_TRANSFER_H

#include "fetch/body.h"
#include "fetch/credentials.h"

/* Before the sandbox: reads the certificates, which are to be trusted for https, and lets the
 * libraries read what they want. False: result says what failed. */
bool transfer_prepare(const struct fetch_request *request, struct fetch_result *result);

/* In the sandbox: sends the request, follows redirects, writes the body, and fills in the result.
 */
void transfer_run(const struct fetch_request *request, const struct credentials *credentials,
		  struct body *body, struct fetch_result *result);

#endif
