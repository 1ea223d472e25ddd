/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By libcrypto. */
#include "bloomd/fleet/mac.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/error.h"

#define SHA256_BYTES 32

static int failed(void)
{
	return xb_system_error(0, "libcrypto cannot compute HMAC-SHA-256");
}

/* Found once: looking for it costs as much as a digest. */
static EVP_MAC *algorithm(void)
{
	static EVP_MAC *hmac;

	if (!hmac)
		hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	return hmac;
}

static bool begin(EVP_MAC_CTX *context, const struct mac_key *key)
{
	char digest[] = "SHA256";
	OSSL_PARAM parameters[] = {OSSL_PARAM_utf8_string("digest", digest, sizeof(digest) - 1),
				   OSSL_PARAM_END};

	return EVP_MAC_init(context, key->bytes, sizeof(key->bytes), parameters) == 1;
}

static bool digest_parts(EVP_MAC_CTX *context, const struct mac_part *parts, size_t count,
			 uint8_t mac[MAC_BYTES])
{
	uint8_t whole[SHA256_BYTES];
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		if (parts[i].size && EVP_MAC_update(context, parts[i].bytes, parts[i].size) != 1)
			return false;
	if (EVP_MAC_final(context, whole, &size, sizeof(whole)) != 1 || size != sizeof(whole))
		return false;
	memcpy(mac, whole, MAC_BYTES);
	return true;
}

int mac_of(const struct mac_key *key, const struct mac_part *parts, size_t count,
	   uint8_t mac[MAC_BYTES])
{
	EVP_MAC_CTX *context = algorithm() ? EVP_MAC_CTX_new(algorithm()) : NULL;
	bool done = context && begin(context, key) && digest_parts(context, parts, count, mac);

	EVP_MAC_CTX_free(context);
	return done ? 0 : failed();
}

bool mac_equal(const uint8_t a[MAC_BYTES], const uint8_t b[MAC_BYTES])
{
	return !CRYPTO_memcmp(a, b, MAC_BYTES);
}

int mac_key_of(const void *secret, size_t size, struct mac_key *key)
{
	const char *text = secret;
	unsigned int bytes = 0;

	while (size && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		size--;
	if (!size)
		return xb_input_error("the key file is empty");
	if (EVP_Digest(secret, size, key->bytes, &bytes, EVP_sha256(), NULL) != 1)
		return failed();
	return 0;
}
