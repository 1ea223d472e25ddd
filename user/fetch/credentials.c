/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch/credentials.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/result.h"
#include "sandbox/beforehand.h"

_Static_assert(FETCH_SOCKET_MAX == BEFOREHAND_SOCKET, "a path fits");

#define FILE_MAX (64 << 10) /* bytes of a certificate or a key */

static bool read_key(const char *path, char key[FETCH_HEADER_MAX], struct fetch_result *result)
{
	ssize_t got = beforehand_read(path, key, FETCH_HEADER_MAX - 1);

	if (got < 0) {
		result_set(result, FETCH_NO_KEY, "cannot read the key in %s: %s", path,
			   strerror(errno));
		return false;
	}
	key[got] = '\0';
	key[strcspn(key, "\r\n")] = '\0';
	if (*key && !strchr(key, ' ') && wire_text_ok(key, FETCH_HEADER_MAX))
		return true;
	*key = '\0';
	result_set(result, FETCH_NO_KEY, "%s has no key in its first line", path);
	return false;
}

static bool read_pem(const char *path, char **text, size_t *size, struct fetch_result *result)
{
	ssize_t got;

	*text = malloc(FILE_MAX);
	got = *text ? beforehand_read(path, *text, FILE_MAX) : -1;
	if (got <= 0)
		result_set(result, FETCH_NO_KEY, "cannot read %s: %s", path,
			   got ? strerror(errno) : "it is empty");
	*size = got > 0 ? (size_t)got : 0;
	return got > 0;
}

bool credentials_read(const struct fetch_request *request, struct credentials *credentials,
		      struct fetch_result *result)
{
	*credentials = (struct credentials){.socket = -1};
	if (*request->key_file && !read_key(request->key_file, credentials->key, result))
		return false;
	if (*request->cert &&
	    (!read_pem(request->cert, &credentials->cert, &credentials->cert_size, result) ||
	     !read_pem(request->cert_key, &credentials->cert_key, &credentials->cert_key_size,
		       result)))
		return false;
	if (!*request->socket)
		return true;
	/* Connect now: the user nobody would not be allowed to. */
	credentials->socket = beforehand_connect(request->socket, request->seconds);
	if (credentials->socket < 0)
		result_set(result, FETCH_NO_CONNECTION, "cannot connect to %s: %s", request->socket,
			   strerror(errno));
	return credentials->socket >= 0;
}
