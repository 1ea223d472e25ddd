/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TLS by OpenSSL: the server has to show a certificate for the name that was asked for. */
#ifndef XB_REDIS_TLS_H
#define XB_REDIS_TLS_H

#include <openssl/ssl.h>

#include "redis/end.h"

/* Before the sandbox: reads the certificates. False: end says what failed. */
bool tls_prepare(const struct redis_target *target, SSL_CTX **context, struct redis_end *end);

/* Ready for SSL_connect() over the descriptor; NULL: end says what failed. */
SSL *tls_begin(SSL_CTX *context, const char *host, int fd, struct redis_end *end);

/* What the last failure was about. */
const char *tls_error(const SSL *tls);

#endif
