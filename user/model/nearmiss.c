/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nearmiss.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define SHOWN 60

struct shown {
	char text[SHOWN + 1];
};

static struct shown show(const char *text, size_t size)
{
	struct shown shown = {0};

	xb_utf8_show(text, size, shown.text, sizeof(shown.text));
	return shown;
}

static bool is_address(const char *text, size_t size)
{
	char copy[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return inet_pton(AF_INET, copy, &address) == 1 || inet_pton(AF_INET6, copy, &address) == 1;
}

static bool explain_range(const char *text, size_t size)
{
	const char *dash = memchr(text, '-', size);
	size_t first = dash ? (size_t)(dash - text) : 0;

	if (!dash || !is_address(text, first) || !is_address(dash + 1, size - first - 1))
		return false;
	xb_input_error("'%s': no range of addresses is taken here; use prefixes",
		       show(text, size).text);
	return true;
}

/* RFC 3986: the host stands between "//", a user that ends with "@", and a port or a path. */
static bool explain_url(const char *text, size_t size)
{
	const char *host = memmem(text, size, "://", 3), *end, *user;

	if (!host)
		return false;
	host += 3;
	for (end = host; end < text + size && !strchr("/?#", *end); end++)
		;
	user = memrchr(host, '@', (size_t)(end - host));
	host = user ? user + 1 : host;
	if (host < end && *host == '[') {
		const char *bracket = memchr(host + 1, ']', (size_t)(end - host - 1));

		host++;
		end = bracket ? bracket : end;
	} else {
		const char *port = memchr(host, ':', (size_t)(end - host));

		end = port ? port : end;
	}
	if (host == end)
		return false;
	xb_input_error("'%s' is a URL; to list its host: %s", show(text, size).text,
		       show(host, (size_t)(end - host)).text);
	return true;
}

static bool explain_wildcard(const char *text, size_t size)
{
	if (size < 3 || memcmp(text, "*.", 2) != 0 || memchr(text + 2, '*', size - 2))
		return false;
	xb_input_error("'%s': leave out \"*.\"; %s stands for all names below it too",
		       show(text, size).text, show(text + 2, size - 2).text);
	return true;
}

void xb_near_miss_explain(const char *text, size_t size, bool names)
{
	if (!explain_range(text, size) && names && !explain_url(text, size))
		explain_wildcard(text, size);
}
