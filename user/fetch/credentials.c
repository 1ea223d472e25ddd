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

/* A file with a secret of a feed, which its owner alone may read, without blanks at its end. */
static bool read_secret(const char *path, char secret[FETCH_SECRET_MAX],
			struct fetch_result *result)
{
	ssize_t got = beforehand_read_private(path, secret, FETCH_SECRET_MAX);

	if (got < 0 || got == FETCH_SECRET_MAX) {
		*secret = '\0';
		result_set(result, FETCH_NO_KEY, "cannot read %s: %s", path,
			   got < 0 && errno == EPERM ? "others than root can read it"
			   : got < 0		     ? strerror(errno)
						     : "it is too large");
		return false;
	}
	while (got && strchr("\r\n \t", secret[got - 1]))
		got--;
	secret[got] = '\0';
	return true;
}

/* "NAME: VALUE", NAME of the characters of a token (RFC 9110, 5.6.2). */
static bool is_header(const char *line, size_t size)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t name = strspn(line, token);

	if (!name || name >= size || line[name] != ':')
		return false;
	for (size_t i = name; i < size; i++)
		if ((unsigned char)line[i] < ' ' || (unsigned char)line[i] > '~')
			return false;
	return strspn(line + name + 1, " ") < size - name - 1;
}

static bool read_headers(const char *path, char headers[FETCH_SECRET_MAX],
			 struct fetch_result *result)
{
	if (!read_secret(path, headers, result))
		return false;
	for (char *line = headers; line; line = strchr(line, '\n')) {
		size_t size;

		line += *line == '\n';
		size = strcspn(line, "\n");
		if (is_header(line, size))
			continue;
		*headers = '\0';
		result_set(result, FETCH_NO_KEY,
			   "%s has another line than headers, such as 'Key: VALUE'", path);
		return false;
	}
	return true;
}

static bool read_user(const char *path, char user[FETCH_SECRET_MAX], struct fetch_result *result)
{
	const char *colon;

	if (!read_secret(path, user, result))
		return false;
	colon = strchr(user, ':');
	if (colon && colon > user && colon[1] && wire_text_ok(user, FETCH_SECRET_MAX))
		return true;
	*user = '\0';
	result_set(result, FETCH_NO_KEY, "%s has no line USER:PASSWORD alone", path);
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
	if (*request->header_file &&
	    !read_headers(request->header_file, credentials->headers, result))
		return false;
	if (*request->user_file && !read_user(request->user_file, credentials->user, result))
		return false;
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
