/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "redis/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "sandbox/beforehand.h"

#define SYSTEM_CA "/etc/ssl/certs/ca-certificates.crt"

const char *tls_error(const SSL *tls)
{
	long verified = tls ? SSL_get_verify_result(tls) : X509_V_OK;
	unsigned long error = ERR_peek_last_error();

	if (verified != X509_V_OK)
		return X509_verify_cert_error_string(verified);
	return ERR_reason_error_string(error) ?: "the handshake broke";
}

/* So that nobody is asked for the passphrase of a key. */
static int no_passphrase(char *out, int room, int writing, void *context)
{
	(void)out;
	(void)room;
	(void)writing;
	(void)context;
	return -1;
}

/* OpenSSL would wait for whatever else stands there than a plain file. */
static bool is_readable(const char *path, struct redis_end *end)
{
	char byte;
	ssize_t got = beforehand_read(path, &byte, 1);

	return got == 1 || end_set(end, REDIS_NO_KEY, "cannot read %s: %s", path,
				   got ? strerror(errno) : "it is empty");
}

static bool read_authorities(const struct redis_target *target, SSL_CTX *context,
			     struct redis_end *end)
{
	const char *path = *target->ca ? target->ca : SYSTEM_CA;

	if (!is_readable(path, end))
		return false;
	if (SSL_CTX_load_verify_locations(context, path, NULL) != 1)
		return end_set(end, REDIS_NO_KEY, "%s has no certificates: %s", path,
			       tls_error(NULL));
	return true;
}

static bool read_own(const struct redis_target *target, SSL_CTX *context, struct redis_end *end)
{
	if (!*target->cert)
		return true;
	if (!is_readable(target->cert, end) || !is_readable(target->cert_key, end))
		return false;
	if (SSL_CTX_use_certificate_chain_file(context, target->cert) != 1)
		return end_set(end, REDIS_NO_KEY, "%s has no certificate: %s", target->cert,
			       tls_error(NULL));
	if (SSL_CTX_use_PrivateKey_file(context, target->cert_key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_check_private_key(context) != 1)
		return end_set(end, REDIS_NO_KEY, "%s has no key for %s: %s", target->cert_key,
			       target->cert, tls_error(NULL));
	return true;
}

static void set_up(SSL_CTX *context)
{
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
					     SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(context,
			 SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_default_passwd_cb(context, no_passphrase);
}

bool tls_prepare(const struct redis_target *target, SSL_CTX **context, struct redis_end *end)
{
	*context = SSL_CTX_new(TLS_client_method());
	if (!*context || SSL_CTX_set_min_proto_version(*context, TLS1_2_VERSION) != 1)
		return end_set(end, REDIS_FAILED, "OpenSSL does not start");
	set_up(*context);
	return read_authorities(target, *context, end) && read_own(target, *context, end);
}

/* An address has to be in the certificate as an address. */
static bool set_host(SSL *tls, const char *host)
{
	struct in6_addr address;

	if (inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1)
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) == 1;
	SSL_set_hostflags(tls, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(tls, host) == 1 && SSL_set_tlsext_host_name(tls, host) == 1;
}

SSL *tls_begin(SSL_CTX *context, const char *host, int fd, struct redis_end *end)
{
	SSL *tls = SSL_new(context);

	if (tls && set_host(tls, host) && SSL_set_fd(tls, fd) == 1)
		return tls;
	SSL_free(tls);
	end_set(end, REDIS_FAILED, "OpenSSL refuses its options");
	return NULL;
}
