/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports to and from text. */
#include "model/nameports.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define PORT_MAX 65535
#define SHOWN	 60 /* bytes of what is no port */

static const char *const names[XB_CARRIERS] = {
	[XB_CARRIER_DNS] = "dns",
	[XB_CARRIER_TLS] = "tls",
	[XB_CARRIER_HTTP] = "http",
};

const char *xb_carrier_name(enum xb_carrier carrier)
{
	return names[carrier];
}

int xb_carrier_parse(const char *text, enum xb_carrier *carrier)
{
	for (enum xb_carrier one = 0; one < XB_CARRIERS; one++) {
		if (!strcmp(text, names[one])) {
			*carrier = one;
			return 0;
		}
	}
	return xb_input_error("unknown protocol '%s': dns, tls or http", text);
}

uint16_t *xb_ports_of(struct xb_name_ports *ports, enum xb_carrier carrier)
{
	return carrier == XB_CARRIER_DNS   ? ports->dns
	       : carrier == XB_CARRIER_TLS ? ports->tls
					   : ports->http;
}

int xb_ports_add(uint16_t ports[XB_NAME_PORTS], uint64_t port)
{
	size_t count = 0, at;

	if (!port || port > PORT_MAX)
		return xb_input_error("a port is a whole number from 1 to %d", PORT_MAX);
	while (count < XB_NAME_PORTS && ports[count])
		if (ports[count++] == port)
			return xb_input_error("port %u is named twice", (unsigned int)port);
	if (count == XB_NAME_PORTS)
		return xb_input_error("at most %d ports can be named", XB_NAME_PORTS);
	for (at = count; at > 0 && ports[at - 1] > port; at--)
		ports[at] = ports[at - 1];
	ports[at] = (uint16_t)port;
	return 0;
}

/* The digits at the text; *end: what follows them. UINT64_MAX: there are none, or too many. */
static uint64_t number_at(const char *text, const char **end)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t number = 0;

	*end = text + digits;
	if (!digits || digits > 5)
		return UINT64_MAX;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (uint64_t)(text[i] - '0');
	return number;
}

int xb_ports_parse(const char *text, uint16_t ports[XB_NAME_PORTS])
{
	memset(ports, 0, XB_NAME_PORTS * sizeof(*ports));
	if (!strcmp(text, "off"))
		return 0;
	for (const char *end;; text = end + 1) {
		uint64_t port = number_at(text, &end);
		int size = (int)strcspn(text, ",");

		if (end != text + size || !port || port > PORT_MAX)
			return xb_input_error(
				"'%.*s' is not a valid port: use numbers from 1 to %d, "
				"separated by ',', or off",
				size < SHOWN ? size : SHOWN, text, PORT_MAX);
		if (xb_ports_add(ports, port))
			return -EINVAL;
		if (!*end)
			return 0;
	}
}

const char *xb_ports_format(const uint16_t ports[XB_NAME_PORTS], char out[XB_PORTS_TEXT])
{
	size_t used = 0;

	strcpy(out, "off");
	for (int i = 0; i < XB_NAME_PORTS && ports[i]; i++)
		used += (size_t)snprintf(out + used, XB_PORTS_TEXT - used, i ? ",%u" : "%u",
					 ports[i]);
	return out;
}

static bool has(const uint16_t ports[XB_NAME_PORTS], uint16_t port)
{
	for (int i = 0; i < XB_NAME_PORTS && ports[i]; i++)
		if (ports[i] == port)
			return true;
	return false;
}

static int check_pair(struct xb_name_ports *all, enum xb_carrier one, enum xb_carrier other)
{
	const uint16_t *ports = xb_ports_of(all, one);

	for (int i = 0; i < XB_NAME_PORTS && ports[i]; i++)
		if (has(xb_ports_of(all, other), ports[i]))
			return xb_input_error("port %u cannot be both %s and %s: what comes to it "
					      "is read as one of them",
					      ports[i], names[one], names[other]);
	return 0;
}

int xb_ports_check(struct xb_name_ports *ports, enum xb_carrier carrier)
{
	int error = 0;

	for (enum xb_carrier other = 0; !error && other < XB_CARRIERS; other++)
		if (other != carrier)
			error = check_pair(ports, other < carrier ? other : carrier,
					   other < carrier ? carrier : other);
	return error;
}
