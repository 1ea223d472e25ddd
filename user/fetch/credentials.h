/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By what bloomd-fetch is known to a server: a key, a certificate, or a socket that it may open. */
#ifndef XB_FETCH_CREDENTIALS_H
#define XB_FETCH_CREDENTIALS_H

#include "fetch/wire.h"

struct credentials {
	char key[FETCH_HEADER_MAX];	/* "": none */
	char headers[FETCH_SECRET_MAX]; /* lines, each "NAME: VALUE" and its end; "": none */
	char user[FETCH_SECRET_MAX];	/* "USER:PASSWORD"; "": none */
	char *cert, *cert_key;		/* PEM; NULL: none */
	size_t cert_size, cert_key_size;
	int socket; /* connected; -1: none */
};

/* Before the sandbox, which has no files: reads them, and connects. False: result says what failed,
 * and never what a file has. */
bool credentials_read(const struct fetch_request *request, struct credentials *credentials,
		      struct fetch_result *result);

#endif
