/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/connurl.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define PORT	6379
#define IN_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
#define IN_IPV6 "0123456789abcdefABCDEF:."
#define IN_PORT "0123456789"

static int is_none(const char *url)
{
	return xb_input_error("'%s' is no server of a fleet: redis://HOST[:PORT], "
			      "rediss://HOST[:PORT] (with TLS) or unix:/PATH",
			      XB_SHOW(url));
}

/* Behind the host: nothing, or a port. */
static bool read_port(const char *text, uint16_t *port)
{
	unsigned long number = PORT;

	if (*text && (*text++ != ':' || !*text || strspn(text, IN_PORT) != strlen(text)))
		return false;
	if (*text)
		number = strtoul(text, NULL, 10);
	*port = (uint16_t)number;
	return number > 0 && number <= UINT16_MAX;
}

static bool read_host(const char *text, struct redis_place *place)
{
	bool bracket = *text == '[';
	size_t size = strspn(text + bracket, bracket ? IN_IPV6 : IN_NAME);
	const char *behind = text + bracket + size;

	if (!size || size >= sizeof(place->host) || (bracket && *behind++ != ']'))
		return false;
	memcpy(place->host, text + bracket, size);
	place->host[size] = '\0';
	return read_port(behind, &place->port);
}

static int read_socket(const char *path, struct redis_place *place)
{
	if (strlen(path) >= sizeof(place->socket))
		return xb_input_error("%s: the path of a socket has at most %zu bytes",
				      XB_SHOW(path), sizeof(place->socket) - 1);
	strcpy(place->socket, path);
	return 0;
}

int connurl_read(const char *url, struct redis_place *place)
{
	const char *behind = strstr(url, "://");

	if (!strncmp(url, "unix:/", 6))
		return read_socket(url + 5, place);
	if (!behind)
		return is_none(url);
	if (strchr(behind, '@'))
		return xb_input_error("the URL of a server has no user and no password: they have "
				      "settings of their own");
	place->tls = !strncmp(url, "rediss://", 9);
	if (!place->tls && strncmp(url, "redis://", 8))
		return is_none(url);
	return read_host(behind + 3, place) ? 0 : is_none(url);
}
